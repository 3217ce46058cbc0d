//! Modelled drives as stores and as queues: the bytes, the order, the time.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use keyway_model::{Clock, DriveModel, ModelDrive, NullStore};
use keyway_store::{Action, AlignedBuf, Completion, Queue, Request, Store, StoreError};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
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

/// Writes that go on from each other are one stretch to the cache: small ones behind large ones wait for none of those while
/// there is room, and then go at the disc's pace.
#[test]
fn a_write_cache_takes_what_goes_on_as_one_stretch() {
    let model = DriveModel::named("toshiba-x300").unwrap();
    // Nobody reads the bytes.
    let store = NullStore::new(model.capacity_bytes, model.sector_bytes);
    let drive = ModelDrive::over(model, Clock::simulated(), Box::new(store));
    let (bytes, mut at) = (vec![0; 1 << 20], 0);
    let mut took = |len: usize| {
        let before = drive.clock().now();
        drive.write_at(&bytes[..len], at).unwrap();
        at += len as u64;
        drive.clock().now() - before
    };
    (0..200).for_each(|_| assert!(took(1 << 20) < 2_100_000, "into the cache, at the interface's pace"));
    let pieces: Vec<u64> = (0..12_000).map(|_| took(64 << 10)).collect();
    let slowest = pieces[..640].iter().max().unwrap();
    assert!(*slowest < 200_000, "{slowest} ns: more pieces than it has commands, and room for all of them");
    let last = &pieces[11_000..];
    let mb_s = last.len() as f64 * 65_536.0 * 1e3 / last.iter().sum::<u64>() as f64;
    assert!((mb_s / 254.0 - 1.0).abs() < 0.01, "it is full: {mb_s}");
}

/// GNOME Disks' stretches: a page, so that the heads are there, and 10 MiB from the same place on.
#[test]
fn a_stretch_after_its_first_page_is_as_fast_as_its_track() {
    const LEN: usize = 10 << 20;
    for (name, outer, inner) in [("toshiba-x300", 254.0, 115.0), ("seagate-ultra-slim", 140.0, 65.0)] {
        let drive = drive(name, Clock::simulated());
        let mut bytes = vec![0; LEN];
        for n in 0..100u64 {
            let at = (drive.size() - LEN as u64) / 100 * n / 4096 * 4096;
            drive.read_at(&mut bytes[..4096], at).unwrap();
            let before = drive.clock().now();
            drive.read_at(&mut bytes, at).unwrap();
            let mb_s = LEN as f64 * 1e3 / (drive.clock().now() - before) as f64;
            let track = outer - (outer - inner) * at as f64 / drive.size() as f64;
            assert!((0.98..1.02).contains(&(mb_s / track)), "{name} at {n} %: {mb_s:.1} for {track:.1}");
        }
    }
}

#[test]
fn what_was_read_or_read_ahead_comes_from_memory_and_nothing_else_does() {
    let drive = drive("toshiba-x300", Clock::simulated());
    let took = |at: u64, len: usize| {
        let before = drive.clock().now();
        drive.read_at(&mut vec![0; len], at).unwrap();
        (drive.clock().now() - before) as f64 / 1e6
    };
    let far = 1 << 40;
    assert!(took(far, 1 << 20) > 4.0);
    assert!(took(far, 4096) < 0.1, "it was just read");
    assert!(took(far + (512 << 10), 4096) < 0.1, "so was that");
    // Before it, and further on than is kept, nothing was read.
    assert!(took(far - 4096, 4096) > 1.0);
    assert!(took(far + (64 << 20), 4096) > 1.0);
    assert!(took(far, 4096) > 1.0, "another place is in memory now");
}

/// A flash drive with reads that take so long.
fn slow(latency_us: u32) -> DriveModel {
    let text = include_str!("../drives/samsung-840-pro.toml");
    let slow = text.replacen("latency_us = 92.5", &format!("latency_us = {latency_us}.0"), 1);
    assert_ne!(slow, text);
    DriveModel::parse(&slow).unwrap()
}

#[test]
fn a_read_takes_its_time_in_real_time() {
    let drive = ModelDrive::new(slow(30_000), Clock::real());
    let start = Instant::now();
    drive.read_at(&mut [0; 4096], 0).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(24), "{:?}", start.elapsed());
    assert_eq!(drive.lateness().waits, 1);
}

/// A store of zeros that tells of each read, which the drive makes after it has taken the request and before it waits.
struct Telling(mpsc::Sender<()>, NullStore);

impl Store for Telling {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let _ = self.0.send(());
        self.1.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.1.write_at(buf, offset)
    }
    fn flush(&self) -> Result<(), StoreError> {
        self.1.flush()
    }
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.1.discard(offset, len)
    }
    fn size(&self) -> u64 {
        self.1.size()
    }
    fn sector_bytes(&self) -> u32 {
        self.1.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        false
    }
}

#[test]
fn threads_wait_side_by_side_in_real_time() {
    // Reads of 10 s: nobody waits for their end. Were the drive to take one request only when the one before is done,
    // the second would be taken after a first had ended; how busy the machine is plays no part in it.
    let model = slow(10_000_000);
    let (tell, told) = mpsc::channel();
    let store = Telling(tell, NullStore::new(model.capacity_bytes, 512));
    let drive = ModelDrive::over(model, Clock::real(), Box::new(store));
    let done = Arc::new(AtomicUsize::new(0));
    for n in 0..8u64 {
        let (drive, done) = (drive.clone(), done.clone());
        std::thread::spawn(move || {
            drive.read_at(&mut [0; 4096], n << 30).unwrap();
            done.fetch_add(1, Ordering::SeqCst);
        });
    }
    for _ in 0..8 {
        told.recv().unwrap();
    }
    assert_eq!(done.load(Ordering::SeqCst), 0, "a read was taken only when another was done");
}
