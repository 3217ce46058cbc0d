//! Replays: what depends on what, think time, figures, and places past the end.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use keyway_lab::trace::{self, Replay, Replayed, Think, ThreadQueue, Trace, TraceError, TraceRecord};
use keyway_lab::{LabError, Sectors, Stored};
use keyway_model::{Clock, DriveModel, ModelDrive};
use keyway_store::{Action, MemStore, Queue, Store};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn record(start_us: u64, took_us: u32, action: Action, offset: u64, len: u32) -> TraceRecord {
    TraceRecord { start_us, took_us: Some(took_us), action, offset, len }
}

/// The 840 Pro without scatter: every read of 4 KiB takes the same time.
fn drive() -> ModelDrive {
    let mut model = DriveModel::named("samsung-840-pro").unwrap();
    if let keyway_model::Mechanism::Flash(p) = &mut model.mechanism {
        (p.spread, p.tail_share, p.flush_us) = (0.0, 0.0, 1000.0);
        p.read.latency_us = 100.0;
        p.read.sequential_us = 100.0;
    }
    ModelDrive::new(model, Clock::simulated())
}

fn run(drive: &ModelDrive, trace: &Trace, think: Think) -> Replayed {
    let mut replay = Replay::new(trace, drive.size(), 512).unwrap().with_think(think);
    replay.run(&mut drive.queue(), &AtomicBool::new(false)).unwrap()
}

const READ_US: f64 = 100.0 + 4096.0 / 545.0;

#[test]
fn what_overlapped_overlaps_and_what_waited_waits() {
    let read = |start, took, n: u64| record(start, took, Action::Read, n << 20, 4096);
    // Four at once, then one that waited for them.
    let at_once: Vec<_> = (0..4).map(|n| read(n, 500, n)).chain([read(600, 500, 9)]).collect();
    let together = run(&drive(), &Trace::new(1 << 30, at_once), Think::Removed);
    assert!((together.seconds * 1e6 - 2.0 * READ_US).abs() < 35.0, "{together:?}");
    // The same one after the other.
    let chain: Vec<_> = (0..5).map(|n| read(n * 600, 500, n)).collect();
    let chained = run(&drive(), &Trace::new(1 << 30, chain), Think::Removed);
    assert!((chained.seconds * 1e6 - 5.0 * READ_US).abs() < 1.0, "{chained:?}");
    assert!((chained.access_us - READ_US).abs() < 0.1);
}

#[test]
fn think_time_is_kept_or_removed_and_never_counted_as_busy() {
    let reads: Vec<_> = (0..10).map(|n| record(n * 5_100, 100, Action::Read, n << 20, 4096)).collect();
    let trace = Trace::new(1 << 30, reads);
    let (removed, kept) = (run(&drive(), &trace, Think::Removed), run(&drive(), &trace, Think::Kept));
    assert!((removed.seconds * 1e6 - 10.0 * READ_US).abs() < 2.0, "{removed:?}");
    // 9 pauses of 5 ms.
    assert!((kept.seconds * 1e6 - 10.0 * READ_US - 9.0 * 5000.0).abs() < 10.0, "{kept:?}");
    assert!((kept.busy_seconds - removed.busy_seconds).abs() < 1e-6);
    assert!((kept.mb_s() - 4096.0 / READ_US).abs() < 0.2, "{}", kept.mb_s());
    let score = (kept.mb_s() * 1e6 / kept.access_us).sqrt();
    assert_eq!(kept.score(), score);
}

#[test]
fn flushes_take_time_and_are_no_accesses() {
    let trace = Trace::new(
        1 << 20,
        vec![
            record(0, 50, Action::Write, 0, 4096),
            record(60, 900, Action::Flush, 0, 0),
            record(1000, 100, Action::Read, 8192, 4096),
        ],
    );
    let replayed = run(&drive(), &trace, Think::Removed);
    assert_eq!((replayed.operations, replayed.flushes), (2, 1));
    assert_eq!((replayed.bytes_read, replayed.bytes_written), (4096, 4096));
    assert!(replayed.seconds > 1.1e-3 && replayed.access_us < 120.0, "{replayed:?}");
}

#[test]
fn a_trace_without_times_keeps_a_fixed_number_in_flight() {
    let reads = (0..64u64).map(|n| TraceRecord {
        start_us: 0,
        took_us: None,
        action: Action::Read,
        offset: n << 20,
        len: 4096,
    });
    let trace = Trace::new(1 << 30, reads.collect());
    let time = |depth| {
        let drive = drive();
        let mut replay = Replay::new(&trace, drive.size(), 512).unwrap().with_depth(depth);
        assert_eq!(replay.most_in_flight(), depth);
        replay.run(&mut drive.queue(), &AtomicBool::new(false)).unwrap().seconds
    };
    // Not quite eight times: the controller takes one command every 10 µs.
    assert!((7.0..8.0).contains(&(time(1) / time(8))), "{} {}", time(1), time(8));
}

#[test]
fn a_trace_past_the_end_is_refused_or_folded() {
    let trace =
        Trace::new(0, (0..50).map(|n| record(n * 10, 5, Action::Write, n * 999_424 + 512, 8192)).collect());
    let size = 1 << 20;
    match Replay::new(&trace, size, 512) {
        Err(TraceError::PastEnd { needed, present }) => {
            assert_eq!((needed, present), (49 * 999_424 + 512 + 8192, size));
        }
        other => panic!("{:?}", other.err()),
    }
    let store: Arc<dyn Store> = Arc::new(MemStore::new(size as usize));
    let sectors: Arc<dyn Sectors> = Arc::new(Stored(store));
    let mut queue = ThreadQueue::new(&sectors, 4).unwrap();
    let mut folded = Replay::folded(&trace, size, 4096).unwrap();
    let replayed = folded.run(&mut queue, &AtomicBool::new(false)).unwrap();
    // Whole units: 512 to 8704 touches three of 4096.
    assert_eq!((replayed.operations, replayed.bytes_written), (50, 50 * 12_288));
    assert_eq!(queue.in_flight(), 0);
    assert!(matches!(Replay::folded(&trace, 4096, 512), Err(TraceError::PastEnd { .. })));
    assert!(matches!(Replay::new(&Trace::default(), 1, 512), Err(TraceError::Empty)));
    let late = Trace::new(1 << 20, vec![record(u64::MAX, 1, Action::Read, 0, 512)]);
    assert!(matches!(Replay::new(&late, 1 << 20, 512), Err(TraceError::TooLate)));
}

#[test]
fn the_same_bytes_reach_a_volume_with_and_without_a_cipher_in_between() {
    let drive = drive();
    let plain = Trace::new(1 << 20, vec![record(0, 10, Action::Write, 4096, 8192)]);
    let mut queue = trace::encrypted(Box::new(drive.queue()), "aes-twofish", 1 << 20).unwrap();
    let mut replay = Replay::new(&plain, 1 << 20, 512).unwrap();
    replay.run(queue.as_mut(), &AtomicBool::new(false)).unwrap();
    let mut stored = vec![0; 8192];
    drive.read_at(&mut stored, 4096).unwrap();
    let device = keyway_engine::Device::new(
        Box::new(drive.clone()),
        trace::layout("aes-twofish", 1 << 20).unwrap(),
        keyway_engine::Access::ReadOnly,
    )
    .unwrap();
    let mut opened = vec![0; 8192];
    device.read_at(&mut opened, 4096).unwrap();
    assert_ne!(opened, stored);
    assert!(trace::encrypted(Box::new(drive.queue()), "rot13", 1 << 20).is_err());

    let mut again = Replay::new(&plain, 1 << 20, 512).unwrap();
    again.run(&mut drive.queue(), &AtomicBool::new(false)).unwrap();
    let mut unencrypted = vec![0; 8192];
    drive.read_at(&mut unencrypted, 4096).unwrap();
    assert_eq!(unencrypted, opened, "the first run of each writes the same");
}

#[test]
fn a_replay_can_be_stopped_and_a_failing_request_ends_it() {
    let trace = Trace::new(1 << 20, vec![record(0, 10, Action::Read, 0, 4096)]);
    let mut replay = Replay::new(&trace, 1 << 20, 512).unwrap();
    let drive = drive();
    assert!(matches!(replay.run(&mut drive.queue(), &AtomicBool::new(true)), Err(LabError::Stopped)));
    let small: Arc<dyn Store> = Arc::new(MemStore::new(512));
    let sectors: Arc<dyn Sectors> = Arc::new(Stored(small));
    let mut queue = ThreadQueue::new(&sectors, 1).unwrap();
    assert!(matches!(replay.run(&mut queue, &AtomicBool::new(false)), Err(LabError::Store(_))));
}

/// A queue under a cipher hands large requests to the drive in pieces. On simulated time the cipher
/// itself takes none, so what is left is what the pieces alone gain or cost: nothing worth a tenth of
/// what AES costs may come from the drive's model.
#[test]
fn requests_in_pieces_are_no_faster_for_a_modelled_drive() {
    let trace = trace::named("tree-copy").unwrap();
    let mb_s = |pieces: bool| {
        let model = DriveModel::named("samsung-990-pro").unwrap();
        let store = keyway_model::NullStore::new(trace.volume_bytes, 512);
        let queue = ModelDrive::over(model, Clock::simulated(), Box::new(store)).queue();
        let mut queue: Box<dyn Queue> = match pieces {
            true => trace::encrypted(Box::new(queue), "aes", trace.volume_bytes).unwrap(),
            false => Box::new(queue),
        };
        let mut replay = Replay::new(&trace, trace.volume_bytes, 512).unwrap();
        replay.run(&mut queue, &AtomicBool::new(false)).unwrap().mb_s()
    };
    let (whole, pieces) = (mb_s(false), mb_s(true));
    eprintln!("whole requests {whole:.0} MB/s, in pieces {pieces:.0} MB/s");
    assert!(pieces < whole * 1.003, "{whole} and {pieces}");
}
