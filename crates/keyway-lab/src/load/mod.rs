//! The load generator: keeps up a fixed number of requests and times each.
//!
//! Files and devices are driven through io_uring, a ring per thread; stores that have a queue of their
//! own (modelled drives) by a queue per thread; other sectors in this process by a thread per request
//! in flight. All draw their offsets from the same generator, and count in the same way.

mod cache_watch;
mod fill;
mod lane;
mod meter;
mod offsets;
mod queued;
mod ring;
mod tally;
mod turn;
mod verify;
mod workers;

pub(crate) use fill::{PIECE, fill, refresh, write_noise};
pub(crate) use lane::{Lane, sectors};
pub(crate) use meter::Meter;
pub(crate) use offsets::{Rng, seed_of};
pub use turn::Turn;

use crate::cell::Cell;
use crate::error::LabError;
use crate::result::{Flag, Metric, Sample};
use crate::sectors::Subject;
use cache_watch::CacheWatch;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tally::{Load, Progress, counted_time};
use verify::Proof;

/// Runs a cell on a subject for one turn.
///
/// # Errors
/// The subject is too small or refuses a request; there is no io_uring; it was stopped.
pub fn run(subject: &Subject, cell: &Cell, turn: Turn<'_>) -> Result<Sample, LabError> {
    let span = cell.span_bytes.min(subject.size()) / cell.block_bytes * cell.block_bytes;
    if span == 0 {
        let what = "the medium".to_owned();
        return Err(LabError::TooSmall { what, present: subject.size(), needed: cell.block_bytes });
    }
    let cell = Cell { span_bytes: span, ..cell.clone() };
    let cache = CacheWatch::start(subject, &cell);
    let meter = Meter::start();
    let proof = Proof::of(&cell, turn);
    let (progress, from) = (Progress::of(&cell, turn), turn.place.load(Ordering::Relaxed));
    let (proof_of, origin) = (proof.as_ref(), Instant::now());
    let load = Load { cell: &cell, turn, proof: proof_of, progress: &progress, from, origin };
    let tallies = match subject {
        Subject::File { path, start, direct, .. } => ring::run(path, *start, *direct, load)?,
        Subject::InProcess(sectors) => workers::run(sectors.as_ref(), load)?,
        Subject::Queued { open, start, .. } => queued::run(open.as_ref(), *start, load)?,
    };
    if turn.stop.load(Ordering::Relaxed) {
        return Err(LabError::Stopped);
    }
    let (seconds, counted) = counted_time(&tallies);
    let mut sample = Sample { seconds, ..Sample::default() };
    for tally in tallies {
        sample.bytes_read += tally.reads * cell.block_bytes;
        sample.bytes_written += tally.writes * cell.block_bytes;
        sample.operations += tally.reads + tally.writes;
        sample.latency.merge(&tally.latency);
    }
    if cache.answered(sample.bytes_read) {
        sample.flags.push(Flag::PageCache);
    }
    if sample.operations > 0 {
        sample.values.insert(Metric::LatencyUs, sample.latency.mean_us());
    }
    // What was spent before counting began is left out; the share is by time.
    let (cpu, joules) = meter.spent();
    sample.machine_cpu_seconds = meter.spent_by_all().map(|all| all * counted);
    sample.cpu_seconds = cpu * counted;
    sample.joules = joules.map(|j| j * counted);
    if let Some(proof) = &proof {
        proof.check(subject, &cell, turn.stop)?;
    }
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Mix, Pattern};
    use crate::workload::Data;
    use keyway_store::MemStore;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    fn cell(pattern: Pattern, mix: Mix, queue_depth: u32, threads: u32) -> Cell {
        let name = "test".to_owned();
        Cell { name, pattern, mix, block_bytes: 4096, queue_depth, threads, span_bytes: 1 << 20 }
    }

    fn turn(stop: &AtomicBool, time: Duration) -> Turn<'_> {
        let place = Box::leak(Box::default());
        Turn { time, bytes: None, ramp: time / 6, data: Data::Random, seed: 1, place, verify: false, stop }
    }

    const SHORT: Duration = Duration::from_millis(60);

    /// A sample of most of its time, with some requests in it: a short turn on a busy machine may have neither.
    fn sample(subject: &Subject, cell: &Cell, stop: &AtomicBool) -> (Sample, Duration) {
        let mut time = SHORT;
        loop {
            let sample = run(subject, cell, turn(stop, time)).expect("it runs");
            let enough = sample.operations >= 100 && sample.seconds > time.as_secs_f64() * 2.0 / 3.0;
            if enough || time > 100 * SHORT {
                return (sample, time);
            }
            time *= 4;
        }
    }

    fn subjects() -> Vec<(Subject, Option<tempfile::TempDir>)> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, vec![1; 1 << 20]).expect("written");
        let memory: Arc<dyn crate::sectors::Sectors> =
            Arc::new(crate::sectors::Stored(Arc::new(MemStore::new(1 << 20))));
        vec![
            (Subject::InProcess(memory), None),
            (Subject::File { path, start: 0, len: 1 << 20, direct: false }, Some(folder)),
        ]
    }

    #[test]
    fn every_request_is_counted_once_and_in_its_direction() {
        let stop = AtomicBool::new(false);
        for (subject, _folder) in subjects() {
            for (pattern, mix) in [
                (Pattern::Random, Mix::Read),
                (Pattern::Sequential, Mix::Write),
                (Pattern::Random, Mix::Mix70),
            ] {
                let (sample, time) = sample(&subject, &cell(pattern, mix, 3, 2), &stop);
                assert_eq!(sample.bytes(), sample.operations * 4096);
                assert_eq!(sample.latency.count(), sample.operations);
                assert!(
                    sample.seconds > time.as_secs_f64() * 2.0 / 3.0 && sample.operations > 0,
                    "{sample:?} of {time:?}"
                );
                // A turn may have few requests: then chance has its way with their directions.
                let chance = 5.0 * (0.7 * 0.3 / sample.operations as f64).sqrt();
                let reads = sample.bytes_read as f64 / sample.bytes() as f64;
                match mix {
                    Mix::Read => assert_eq!(sample.bytes_written, 0),
                    Mix::Write => assert_eq!(sample.bytes_read, 0),
                    Mix::Mix70 => assert!((reads - 0.7).abs() < chance, "{reads} of {}", sample.operations),
                }
            }
        }
    }

    #[test]
    fn a_failing_medium_and_a_stop_are_told() {
        let stop = AtomicBool::new(false);
        let read_only: Arc<dyn crate::sectors::Sectors> =
            Arc::new(crate::sectors::Stored(Arc::new(MemStore::new(1 << 20).read_only())));
        let failed =
            run(&Subject::InProcess(read_only), &cell(Pattern::Random, Mix::Write, 2, 2), turn(&stop, SHORT));
        assert!(matches!(failed, Err(LabError::Io { .. })), "{failed:?}");
        stop.store(true, Ordering::Relaxed);
        for (subject, _folder) in subjects() {
            let stopped = run(&subject, &cell(Pattern::Random, Mix::Read, 1, 1), turn(&stop, SHORT));
            assert!(matches!(stopped, Err(LabError::Stopped)), "{stopped:?}");
        }
    }
}
