//! What clients can take that do nothing, or not what they announced: places, time and memory.

use crate::client::{Client, EXPORT_NAME, READ, WRITE};
use crate::rig::{Rig, device_on};
use keyway_attach::nbd::Options;
use keyway_engine::Access;
use keyway_store::MemStore;
use keyway_testkit::{PATIENCE, wait_until};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The largest request that is taken.
const LARGEST: u32 = 32 << 20;

fn rig(bytes: usize, options: Options) -> Rig {
    Rig::with(device_on(MemStore::new(bytes), Access::ReadWrite), options)
}

/// Nothing moves the clock on but clients.
fn patient() -> Options {
    Options { handshake: PATIENCE * 10, idle: PATIENCE * 10, stall: PATIENCE * 10, ..Options::default() }
}

#[test]
fn who_says_nothing_keeps_nobody_out() {
    let rig = rig(65536, patient());
    let silent: Vec<_> = (0..100).map(|_| UnixStream::connect(&rig.socket).expect("it listens")).collect();
    let mut client = rig.client();
    assert_eq!(client.read(0, 512), [0; 512]);
    drop(silent);
}

#[test]
fn more_idle_clients_than_there_were_places_leave_one_for_the_owner() {
    let rig = rig(65536, patient());
    let mut idle: Vec<_> = (0..32).map(|_| rig.client()).collect();
    let mut owner = rig.client();
    assert_eq!(owner.read(0, 512), [0; 512]);
    for client in &mut idle {
        assert_eq!(client.read(0, 512), [0; 512]);
    }
    // There is an end to it; those who are there stay.
    idle.extend((0..31).map(|_| rig.client()));
    // An older client can only be hung up on.
    let mut refused = Client::connect(&rig.socket);
    refused.send_option(EXPORT_NAME, b"");
    refused.expect_end();
    for client in &mut idle {
        assert_eq!(client.read(0, 512), [0; 512]);
    }
}

#[test]
fn where_places_are_short_who_was_silent_longest_leaves() {
    let rig = rig(65536, Options { idle: Duration::ZERO, ..patient() });
    let mut idle: Vec<_> = (0..64).map(|_| rig.client()).collect();
    // The clock behind it counts milliseconds.
    let since = Instant::now();
    wait_until("time passes", || since.elapsed() > Duration::from_millis(20));
    for client in &mut idle[1..] {
        assert_eq!(client.read(0, 512), [0; 512]);
    }
    let mut newcomer = rig.client();
    assert_eq!(newcomer.read(0, 512), [0; 512]);
    idle[0].expect_end();
    for client in &mut idle[1..] {
        assert_eq!(client.read(0, 512), [0; 512]);
    }
}

#[test]
fn who_stops_in_the_middle_of_a_message_is_hung_up_on_and_who_is_silent_between_two_is_not() {
    let stall = Duration::from_millis(100);
    let rig = rig(65536, Options { stall, ..patient() });
    let mut silent = rig.client();
    let mut halfway = rig.client();
    halfway.stream.write_all(&0x2560_9513u32.to_be_bytes()).expect("sent");
    let mut announced = rig.client();
    announced.send(0, WRITE, 0, 4096, &[1; 100]);
    halfway.expect_end();
    announced.expect_end();
    assert_eq!(silent.read(0, 512), [0; 512]);
}

/// Bytes of memory that this process has.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it is told");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

#[test]
fn short_messages_take_no_memory_to_speak_of() {
    let rig = rig(LARGEST as usize, patient());
    let mut others = rig.client();
    let before = resident();
    let mut idle: Vec<_> =
        (0..30).map(|n| if n % 2 == 0 { rig.client() } else { Client::connect(&rig.socket).go() }).collect();
    for (n, client) in idle.iter_mut().enumerate() {
        if n % 3 == 0 {
            // 32 MiB are announced, and 64 KiB come.
            client.send(0, WRITE, 0, LARGEST, &vec![1; 64 << 10]);
        } else {
            // The answers are not fetched.
            for _ in 0..16 {
                client.send(0, READ, 0, LARGEST >> 3, &[]);
            }
            client.send(0, READ, 0, LARGEST, &[]);
        }
    }
    // Small requests of others are served all the while.
    let since = Instant::now();
    let mut most = 0;
    while since.elapsed() < Duration::from_secs(3) {
        assert_eq!(others.read(0, 4096).len(), 4096);
        most = most.max(resident().saturating_sub(before));
    }
    eprintln!("30 clients that pin what they can take {} MiB", most >> 20);
    assert!(most < 256 << 20, "{} MiB", most >> 20);
    // What they wait for comes when they fetch it.
    for client in &mut idle {
        let _ = client.stream.shutdown(std::net::Shutdown::Write);
    }
    let mut last = idle.remove(1);
    drop(idle);
    let mut rest = Vec::new();
    last.stream.read_to_end(&mut rest).expect("answers");
    assert!(rest.len() >= 16 * (LARGEST as usize >> 3) + LARGEST as usize);
}
