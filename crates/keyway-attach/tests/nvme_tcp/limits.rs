//! What hosts can take that do nothing, or not what they announced: places, time and memory.

use crate::client::{Client, NQN, capsule, connect, entry, ic_req};
use crate::protocol::{guarded, served_as};
use keyway_attach::nvme_tcp::Options;
use keyway_testkit::{PATIENCE, wait_until};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Nothing moves the clock on but hosts.
fn patient() -> Options {
    Options { handshake: PATIENCE * 10, idle: PATIENCE * 10, stall: PATIENCE * 10, ..Options::default() }
}

/// A host that is served like any other.
fn all_is_well(address: SocketAddr) {
    let (_admin, controller) = Client::admin(address);
    let mut io = Client::io(address, controller);
    assert_eq!(io.write(16, &[5; 16384], false).status, 0);
    assert_eq!(io.read(16, 32).data, [5; 16384]);
}

#[test]
fn who_says_nothing_or_too_little_keeps_nobody_out() {
    let options = [patient(), Options { credentials: guarded().credentials, ..patient() }];
    for options in options {
        let guarded = options.credentials.is_some();
        served_as(&options, |address, _| {
            let try_it = || match guarded {
                false => all_is_well(address),
                true => assert_eq!(Client::new(address).send(connect(0, 0xffff, NQN), &[]).status, 0),
            };
            let silent: Vec<_> = (0..200).map(|_| TcpStream::connect(address).expect("it listens")).collect();
            try_it();
            let halfway: Vec<_> = (0..200)
                .map(|_| {
                    let mut stream = TcpStream::connect(address).expect("it listens");
                    stream.write_all(&ic_req()[..77]).expect("sent");
                    stream
                })
                .collect();
            try_it();
            let agreed: Vec<_> = (0..200).map(|_| Client::new(address)).collect();
            try_it();
            drop((silent, halfway, agreed));
        });
    }
}

#[test]
fn who_says_a_byte_now_and_then_does_not_stay_for_it() {
    let handshake = Duration::from_millis(500);
    served_as(&Options { handshake, ..patient() }, |address, _| {
        let (mut admin, _) = Client::admin(address);
        let mut slow = TcpStream::connect(address).expect("it listens");
        // Each of these has the time that a message has.
        wait_until("it is hung up on", || {
            std::thread::sleep(Duration::from_millis(20));
            slow.write_all(&[0]).is_err()
        });
        let mut talks = Client::new(address);
        let since = Instant::now();
        let read = capsule(&entry(2, 1, 512, false, &[]), &[]);
        wait_until("it is hung up on", || {
            assert!(since.elapsed() < PATIENCE);
            let sent = talks.stream.write_all(&read);
            sent.is_err() || !matches!(talks.stream.read(&mut [0; 24]), Ok(1..))
        });
        assert_eq!(admin.simple(0x18, 0, 0, &[]).status, 0, "who has a queue may be silent");
    });
}

#[test]
fn who_stops_in_the_middle_of_a_message_is_hung_up_on_and_who_is_silent_between_two_is_not() {
    let stall = Duration::from_millis(200);
    served_as(&Options { stall, ..patient() }, |address, _| {
        let (mut admin, controller) = Client::admin(address);
        let mut io = Client::io(address, controller);
        let write = |len: usize, in_capsule| {
            entry(1, 1, len, in_capsule, &[(48, &((len / 512 - 1) as u16).to_le_bytes())])
        };
        let stops: [(&str, Vec<u8>); 4] = [
            ("four bytes of a header", vec![4, 0, 72, 0]),
            ("a header alone", capsule(&[0; 64], &[])[..8].to_vec()),
            ("data in the capsule", capsule(&write(4096, true), &[1; 4096])[..1000].to_vec()),
            ("data that it was asked for", capsule(&write(8192, false), &[])),
        ];
        for (n, (what, bytes)) in stops.iter().enumerate() {
            for queue in [0, 1] {
                let (other_admin, other) = Client::admin(address);
                let (mut client, _admin) = match queue {
                    0 => (other_admin, None),
                    _ => (Client::io(address, other), Some(other_admin)),
                };
                client.stream.write_all(bytes).expect("sent");
                if n == 3 {
                    assert_eq!(client.pdu().0, 9, "it is asked for");
                }
                assert!(client.ended_within(PATIENCE), "{what}, queue {queue}");
            }
        }
        // A part of what was asked for, and then a piece of which nothing comes.
        let (_third, other) = Client::admin(address);
        let mut client = Client::io(address, other);
        client.stream.write_all(&capsule(&write(8192, false), &[])).expect("sent");
        let (kind, head, _) = client.pdu();
        assert_eq!(kind, 9);
        let mut data = vec![6, 0, 24, 24, 24, 32, 0, 0];
        data.extend_from_slice(&head[..4]);
        data.extend_from_slice(&[0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0]);
        data.extend_from_slice(&[7; 100]);
        client.stream.write_all(&data).expect("sent");
        assert!(client.ended_within(PATIENCE));
        assert_eq!(io.read(0, 1).status, 0);
        assert_eq!(admin.simple(0x18, 0, 0, &[]).status, 0);
    });
}

#[test]
fn where_places_are_short_the_host_that_was_silent_longest_leaves() {
    served_as(&patient(), |address, _| {
        let mut hosts: Vec<_> = (0..16).map(|_| Client::admin(address).0).collect();
        assert_eq!(Client::new(address).send(connect(0, 0xffff, NQN), &[]).status, 0x181);
        for host in &mut hosts {
            assert_eq!(host.simple(0x18, 0, 0, &[]).status, 0, "who was there stays");
        }
    });
    served_as(&Options { idle: Duration::ZERO, ..patient() }, |address, _| {
        let mut hosts: Vec<_> = (0..16).map(|_| Client::admin(address)).collect();
        let mut io = Client::io(address, hosts[3].1);
        // The clock behind it counts milliseconds.
        let since = Instant::now();
        wait_until("time passes", || since.elapsed() > Duration::from_millis(20));
        for (n, (host, _)) in hosts.iter_mut().enumerate() {
            if n != 3 {
                assert_eq!(host.simple(0x18, 0, 0, &[]).status, 0);
            }
        }
        all_is_well(address);
        assert!(io.ended_within(PATIENCE));
        for (n, (host, _)) in hosts.iter_mut().enumerate() {
            if n != 3 {
                assert_eq!(host.simple(0x18, 0, 0, &[]).status, 0);
            } else {
                assert!(host.ended_within(PATIENCE));
            }
        }
    });
}

/// Bytes of memory that this process has.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it is told");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

#[test]
fn what_is_announced_takes_no_memory_before_it_comes() {
    const MIB: usize = 1 << 20;
    served_as(&patient(), |address, _| {
        let before = resident();
        let mut admins = Vec::new();
        let mut queues = Vec::new();
        for _ in 0..8 {
            let (admin, controller) = Client::admin(address);
            admins.push(admin);
            for queue in 1..5u16 {
                let mut client = Client::new(address);
                assert_eq!(client.send(connect(queue, controller, NQN), &[]).status, 0);
                queues.push(client);
            }
        }
        for client in &mut queues {
            for n in 0..64u16 {
                let write = entry(1, 1, MIB, false, &[(2, &(n + 100).to_le_bytes()), (48, &[0xff, 7])]);
                client.stream.write_all(&capsule(&write, &[])).expect("sent");
            }
            // As many are asked for as there is memory for, and no more.
            for n in 0..4u16 {
                let (kind, head, _) = client.pdu();
                assert_eq!((kind, u16::from_le_bytes([head[0], head[1]])), (9, n + 100));
            }
            client.stream.set_read_timeout(Some(Duration::from_millis(20))).expect("a socket");
            assert!(client.stream.read(&mut [0]).is_err(), "more than 4 MiB on their way");
        }
        let took = resident().saturating_sub(before);
        assert!(took < 48 << 20, "{} MiB", took >> 20);
        let (mut admin, _) = Client::admin(address);
        assert_eq!(admin.simple(0x18, 0, 0, &[]).status, 0);
    });
}
