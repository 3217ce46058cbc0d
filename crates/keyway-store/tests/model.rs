//! Modelled drives as stores and as queues: the bytes, the order, the time.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use keyway_store::model::{Clock, DriveModel, ModelDrive};
use keyway_store::{Action, AlignedBuf, Completion, Queue, Request, Store};
use std::time::{Duration, Instant};

fn drive(name: &str, clock: Clock) -> ModelDrive {
    ModelDrive::new(DriveModel::named(name).unwrap(), clock)
}

fn filled(byte: u8, len: usize) -> AlignedBuf {
    let mut buf = AlignedBuf::zeroed(len);
    buf.fill(byte);
    buf
}

#[test]
fn the_queue_and_the_store_show_the_same_bytes() {
    let drive = drive("samsung-990-pro", Clock::simulated());
    let mut queue = drive.queue();
    for tag in 0..64u64 {
        let buf = filled(tag as u8 + 1, 4096);
        queue.submit(Request { tag, action: Action::Write, offset: tag << 32, buf }).unwrap();
    }
    let mut done = Vec::new();
    queue.complete(64, &mut done).unwrap();
    assert_eq!((done.len(), queue.in_flight()), (64, 0));
    for tag in 0..64u64 {
        let mut back = [0; 4096];
        drive.read_at(&mut back, tag << 32).unwrap();
        assert_eq!(back, [tag as u8 + 1; 4096]);
        let buf = AlignedBuf::zeroed(4096);
        queue.submit(Request { tag, action: Action::Read, offset: tag << 32, buf }).unwrap();
    }
    done.clear();
    queue.complete(usize::MAX, &mut done).unwrap();
    assert_eq!(done.len(), 64);
    assert!(done.iter().all(|c| c.buf.iter().all(|b| *b == c.tag as u8 + 1)));
}

#[test]
fn completions_come_in_the_order_of_time_and_no_earlier_than_asked() {
    let drive = drive("samsung-950-pro", Clock::simulated());
    let mut queue = drive.queue();
    // A long read and a short write, which overtakes it.
    let (long, short) = (AlignedBuf::zeroed(1 << 20), AlignedBuf::zeroed(4096));
    queue.submit(Request { tag: 1, action: Action::Read, offset: 0, buf: long }).unwrap();
    queue.submit(Request { tag: 2, action: Action::Write, offset: 1 << 30, buf: short }).unwrap();
    let mut done: Vec<Completion> = Vec::new();
    queue.complete(0, &mut done).unwrap();
    assert!(done.is_empty(), "nothing is due at once");
    queue.complete(1, &mut done).unwrap();
    assert_eq!(done.iter().map(|c| c.tag).collect::<Vec<_>>(), [2]);
    let first = queue.now();
    queue.complete(5, &mut done).unwrap();
    assert_eq!(done.iter().map(|c| c.tag).collect::<Vec<_>>(), [2, 1]);
    assert!(queue.now() > first);
}

#[test]
fn a_request_past_the_end_fails_in_its_completion() {
    let drive = drive("samsung-840-pro", Clock::simulated());
    let mut queue = drive.queue();
    let buf = AlignedBuf::zeroed(4096);
    queue.submit(Request { tag: 0, action: Action::Read, offset: drive.size() - 512, buf }).unwrap();
    let mut done = Vec::new();
    queue.complete(1, &mut done).unwrap();
    assert!(done[0].result.is_err());
}

#[test]
fn a_write_cache_takes_a_burst_and_then_gives_the_discs_own_pace() {
    let drive = drive("toshiba-x300", Clock::simulated());
    let block = vec![0; 4096];
    let mut times = Vec::new();
    let mut place = 1u64;
    for _ in 0..4000 {
        place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let before = drive.clock().now();
        drive.write_at(&block, (place >> 24) % (drive.size() / 4096) * 4096).unwrap();
        times.push(drive.clock().now() - before);
    }
    let mean = |times: &[u64]| times.iter().sum::<u64>() as f64 / times.len() as f64;
    assert!(mean(&times[..400]) < 200e3, "into the cache");
    assert!(mean(&times[2000..]) > 3e6, "as fast as the arm moves");
    let before = drive.clock().now();
    drive.flush().unwrap();
    assert!(drive.clock().now() - before > 1_000_000_000, "what the cache held is written out");
}

#[test]
fn threads_wait_side_by_side_in_real_time() {
    // 8 reads of 24 ms at least, on a drive with many channels. On a machine that is busy with other things they may
    // look like one after the other now and then, but not ten times.
    let text = include_str!("../src/model/drives/samsung-840-pro.toml");
    let slow = text.replacen("latency_us = 92.5", "latency_us = 30000.0", 1);
    let drive = ModelDrive::new(DriveModel::parse(&slow).unwrap(), Clock::real());
    let side_by_side = (0..10).any(|_| {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for n in 0..8u64 {
                let drive = &drive;
                scope.spawn(move || drive.read_at(&mut [0; 4096], n << 30).unwrap());
            }
        });
        let took = start.elapsed();
        assert!(took >= Duration::from_millis(24), "{took:?}");
        took < Duration::from_millis(150)
    });
    assert!(side_by_side, "they did not overlap");
    assert!(drive.lateness().waits <= 80);
}
