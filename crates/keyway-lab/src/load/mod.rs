//! The load generator: keeps up a fixed number of requests and times each.
//!
//! Files and devices are driven through io_uring, a ring per thread; stores that have a queue of their
//! own (modelled drives) by a queue per thread; other sectors in this process by a thread per request
//! in flight. All draw their offsets from the same generator and stop at the
//! same moment: a request counts when it is finished before the end.

mod cache_watch;
mod offsets;
mod queued;
mod ring;
mod verify;
mod workers;

use crate::workload::Data;
use crate::{Cell, Direction, Flag, Histogram, LabError, Metric, Sample, Subject};
pub use queued::OpenQueue;

use cache_watch::CacheWatch;
pub(crate) use offsets::Rng;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use verify::Proof;

/// How one turn is run.
#[derive(Clone, Copy)]
pub struct Turn<'a> {
    /// How long requests are counted.
    pub time: Duration,
    /// Requests are made for so long before any is counted.
    pub ramp: Duration,
    /// What is written.
    pub data: Data,
    /// Turns with the same seed touch the same blocks in the same order.
    pub seed: u64,
    /// Whether what was written is read back and compared once the turn is over.
    pub verify: bool,
    /// Set from outside to end it early.
    pub stop: &'a AtomicBool,
}

/// A turn goes on until every thread of the generator has finished so many requests, however long
/// they take: a turn of no request has no speed.
const LEAST: u64 = 2;

/// A turn as the generators get it.
#[derive(Clone, Copy)]
struct Load<'a> {
    cell: &'a Cell,
    turn: Turn<'a>,
    /// What is to be written so that it can be verified.
    proof: Option<&'a Proof>,
}

/// What one thread of the generator counted.
#[derive(Default)]
struct Tally {
    reads: u64,
    writes: u64,
    latency: Histogram,
}

impl Tally {
    fn count(&mut self, direction: Direction) {
        match direction {
            Direction::Read => self.reads += 1,
            Direction::Write => self.writes += 1,
        }
    }

    fn has_enough(&self) -> bool {
        self.reads + self.writes >= LEAST
    }
}

/// The moments of a turn, the same for all its threads.
#[derive(Clone, Copy)]
struct Times {
    counted_from: Instant,
    until: Instant,
}

impl Times {
    fn of(turn: Turn<'_>, began: Instant) -> Self {
        let counted_from = began + turn.ramp;
        Self { counted_from, until: counted_from + turn.time }
    }

    /// Whether a request that was finished at `at` counts.
    fn counts(&self, at: Instant, tally: &Tally) -> bool {
        at >= self.counted_from && (at <= self.until || !tally.has_enough())
    }

    /// How long requests were counted, in seconds, where the last that counts was finished at `last`:
    /// to the end, or longer where it had to wait for that one.
    fn seconds(&self, last: Instant) -> f64 {
        self.until.max(last).saturating_duration_since(self.counted_from).as_secs_f64().max(1e-9)
    }
}

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
    let load = Load { cell: &cell, turn, proof: proof.as_ref() };
    let (tallies, seconds) = match subject {
        Subject::File { path, start, direct, .. } => ring::run(path, *start, *direct, load)?,
        Subject::InProcess(sectors) => workers::run(sectors.as_ref(), load)?,
        Subject::Queued { open, start, .. } => queued::run(open.as_ref(), *start, load)?,
    };
    if turn.stop.load(Ordering::Relaxed) {
        return Err(LabError::Stopped);
    }
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
    // What was spent on the ramp is not counted; the share is by time.
    let counted = seconds / (seconds + turn.ramp.as_secs_f64());
    let (cpu, joules) = meter.spent();
    sample.cpu_seconds = cpu * counted;
    sample.joules = joules.map(|j| j * counted);
    if let Some(proof) = &proof {
        proof.check(subject, &cell, turn.stop)?;
    }
    Ok(sample)
}

/// Processor time and energy since a moment.
pub struct Meter {
    cpu: f64,
    energy: Option<f64>,
}

impl Meter {
    /// From now on.
    pub fn start() -> Self {
        Self { cpu: cpu_seconds(), energy: package_joules() }
    }

    /// Processor seconds of this process, and joules of the package where the machine tells them.
    pub fn spent(&self) -> (f64, Option<f64>) {
        let joules = self.energy.zip(package_joules()).map(|(from, to)| to - from);
        // The counter wraps; a turn in which it did has no figure.
        (cpu_seconds() - self.cpu, joules.filter(|j| *j >= 0.0))
    }
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The processor packages' energy counters together, in joules
/// (`Documentation/power/powercap/powercap.rst` in the kernel).
fn package_joules() -> Option<f64> {
    let zones = std::fs::read_dir("/sys/class/powercap").ok()?;
    let mut joules = None;
    for zone in zones.flatten() {
        let name = zone.file_name();
        // `intel-rapl:0` is a package, `intel-rapl:0:0` a part of one; AMD's have the same names.
        let Some(name) = name.to_str().filter(|n| n.starts_with("intel-rapl:")) else { continue };
        if name.matches(':').count() != 1 {
            continue;
        }
        let text = std::fs::read_to_string(zone.path().join("energy_uj")).ok()?;
        *joules.get_or_insert(0.0) += text.trim().parse::<f64>().ok()? / 1e6;
    }
    joules
}

/// Fills a buffer with what the workload writes.
pub(crate) fn fill(buf: &mut [u8], data: Data, rng: &mut Rng) {
    match data {
        Data::Zero => buf.fill(0),
        Data::Pattern => {
            for (n, byte) in buf.iter_mut().enumerate() {
                *byte = (n % 16) as u8;
            }
        }
        Data::Random => {
            for chunk in buf.chunks_mut(8) {
                let word = rng.next().to_le_bytes();
                chunk.copy_from_slice(word.get(..chunk.len()).unwrap_or_default());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mix, Pattern};
    use keyway_store::MemStore;
    use std::sync::Arc;

    fn cell(pattern: Pattern, mix: Mix, queue_depth: u32, threads: u32) -> Cell {
        let name = "test".to_owned();
        Cell { name, pattern, mix, block_bytes: 4096, queue_depth, threads, span_bytes: 1 << 20 }
    }

    fn turn(stop: &AtomicBool) -> Turn<'_> {
        let (time, ramp) = (Duration::from_millis(60), Duration::from_millis(10));
        Turn { time, ramp, data: Data::Random, seed: 1, verify: false, stop }
    }

    fn subjects() -> Vec<(Subject, Option<tempfile::TempDir>)> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, vec![1; 1 << 20]).expect("written");
        let memory: Arc<dyn crate::Sectors> = Arc::new(crate::Stored(Arc::new(MemStore::new(1 << 20))));
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
                let sample = run(&subject, &cell(pattern, mix, 3, 2), turn(&stop)).expect("it runs");
                assert_eq!(sample.bytes(), sample.operations * 4096);
                assert_eq!(sample.latency.count(), sample.operations);
                assert!(sample.seconds > 0.04 && sample.operations > 0, "{sample:?}");
                // On a busy machine a turn has few requests: then chance may have its way with their directions.
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
        let read_only: Arc<dyn crate::Sectors> =
            Arc::new(crate::Stored(Arc::new(MemStore::new(1 << 20).read_only())));
        let failed =
            run(&Subject::InProcess(read_only), &cell(Pattern::Random, Mix::Write, 2, 2), turn(&stop));
        assert!(matches!(failed, Err(LabError::Io { .. })), "{failed:?}");
        stop.store(true, Ordering::Relaxed);
        for (subject, _folder) in subjects() {
            let stopped = run(&subject, &cell(Pattern::Random, Mix::Read, 1, 1), turn(&stop));
            assert!(matches!(stopped, Err(LabError::Stopped)), "{stopped:?}");
        }
    }
}
