//! The speed of a link that is known to the last digit: a modelled drive on the simulated clock, and one in real time,
//! with requests of which a turn holds many, a few, or not even one.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use keyway_lab::load::{self, Turn};
use keyway_lab::workload::Data;
use keyway_lab::{Cell, Metric, Mix, Pattern, Subject};
use keyway_model::{Clock, DriveModel, ModelDrive, NullStore};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use support::Reads;

/// 10^6 bytes a second, of every link here.
const LINK: f64 = 545.0;
/// By so much a machine that is not busy wakes nobody late.
const LATE: Duration = Duration::from_millis(1);

/// A drive whose link is all that takes time worth telling.
fn linked() -> Subject {
    let text = include_str!("../../keyway-model/drives/samsung-840-pro.toml");
    let figures = text.find("[[figure]]").expect("it has figures");
    let mut text = text[..figures].to_owned();
    for (from, to) in [
        ("\nmb_s = 540.0", "\nmb_s = 545.0"),
        ("\nmb_s = 520.0", "\nmb_s = 545.0"),
        ("spread = 0.05", "spread = 0.0"),
        ("tail_share = 0.001", "tail_share = 0.0"),
        ("drain_mb_s = 520.0", "drain_mb_s = 545.0"),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let model = DriveModel::parse(&text).expect("a model");
    let store = NullStore::new(model.capacity_bytes, 512);
    let drive = ModelDrive::over(model, Clock::simulated(), Box::new(store));
    let len = drive.model().capacity_bytes;
    Subject::Queued { open: Arc::new(move || Box::new(drive.queue())), start: 0, len }
}

/// A link in real time, for threads that wait for it one after the other.
fn wire() -> Subject {
    let free = Mutex::new(Instant::now());
    let read = move |bytes: usize, _: u64| {
        let due = {
            let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
            *free = (*free).max(Instant::now()) + Duration::from_secs_f64(bytes as f64 / LINK / 1e6);
            *free
        };
        // A sleeper is woken late, by more than a fiftieth of what a small request takes.
        std::thread::sleep(due.saturating_duration_since(Instant::now() + LATE));
        while Instant::now() < due {
            std::hint::spin_loop();
        }
    };
    Subject::InProcess(Arc::new(Reads { size: 1 << 30, read }))
}

/// MB/s of a turn.
fn speed(subject: &Subject, mix: Mix, block_bytes: u64, queue_depth: u32, bytes: Option<u64>) -> f64 {
    let (name, pattern) = ("test".to_owned(), Pattern::Sequential);
    let cell = Cell { name, pattern, mix, block_bytes, queue_depth, threads: 1, span_bytes: 256 << 20 };
    let (stop, place) = (AtomicBool::new(false), Default::default());
    // As long as a turn of ATTO's.
    let (time, ramp) = (Duration::from_millis(125), Duration::from_micros(12_500));
    let turn =
        Turn { time, bytes, ramp, data: Data::Zero, seed: 1, place: &place, verify: false, stop: &stop };
    let sample = load::run(subject, &cell, turn).expect("it runs");
    sample.value(Metric::MbS).expect("a speed")
}

#[test]
fn large_requests_are_as_fast_as_the_link() {
    for bytes in [None, Some(32 << 20)] {
        for mix in [Mix::Read, Mix::Write] {
            for mib in [8, 16, 32, 64] {
                for depth in [1, 2, 4, 10] {
                    // A write cache that has room takes what comes as fast as the link.
                    let speed = speed(&linked(), mix, mib << 20, depth, bytes);
                    let off = speed / LINK - 1.0;
                    assert!(
                        off.abs() < 0.01,
                        "{mib} MiB, {depth} in flight, {mix:?}, {bytes:?}: {speed:.1} MB/s"
                    );
                }
            }
        }
    }
}

#[test]
fn threads_on_a_link_are_as_fast_as_the_link() {
    let wire = wire();
    for (mib, depth) in [(8, 1), (8, 4), (16, 2), (64, 4)] {
        // A machine that is busy wakes sleepers late, and then a turn is slower; none may be faster. With one request in
        // flight the time between two of them is lost to the link as well.
        let slower = if depth == 1 { -0.05 } else { -0.02 };
        let mut best = f64::MIN;
        for _ in 0..40 {
            best = best.max(speed(&wire, Mix::Read, mib << 20, depth, None) / LINK - 1.0);
            if best > slower {
                break;
            }
        }
        assert!((slower..0.02).contains(&best), "{mib} MiB, {depth} in flight: off by {best}");
    }
}
