//! Makes a trace's requests again.
//!
//! What a program asked for next depended on what it had got so far. So a request is made when all
//! those are done that were done when it was made in the recording; what overlapped then overlaps
//! again, and what waited waits. The pause between the last of those and the request is the
//! program's think time, kept or left out. A trace that does not say how long requests took (a fio
//! iolog) is replayed with a fixed number in flight.
//!
//! Three figures come out, as PCMark 10's storage benchmark defines them: *bandwidth*, bytes by the
//! time during which at least one request was in flight; *access time*, the mean time of a read or
//! write; and the *score*, the geometric mean of bandwidth in MB/s and accesses a second (1 / access
//! time).

use crate::error::LabError;
use crate::load::{Rng, fill};
use crate::trace_error::TraceError;
use crate::workload::Data;
use keyway_model::trace::{Trace, TraceRecord};
use keyway_store::{Action, AlignedBuf, Completion, Queue, Request};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether pauses are made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Think {
    /// Requests follow as fast as the volume allows.
    #[default]
    Removed,
    /// The program's pauses are kept.
    Kept,
}

/// A trace made ready to be replayed on a volume, any number of times.
pub struct Replay {
    steps: Vec<Step>,
    think: Think,
    /// Requests in flight where the trace does not tell what depends on what.
    depth: Option<usize>,
    /// Buffers by their size, as many as can be in use at once: no run allocates.
    buffers: BTreeMap<usize, Vec<AlignedBuf>>,
}

/// One request of the trace.
struct Step {
    action: Action,
    offset: u64,
    len: usize,
    /// Its place among the requests in the order of their ends.
    rank: usize,
    /// It is made when so many in that order are done.
    after: usize,
    /// Think time since then, or since the trace's start, in ns.
    pause: u64,
}

/// What a replay brought.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Replayed {
    /// From the first request to the last completion, in seconds.
    pub seconds: f64,
    /// Time with at least one request in flight, in seconds.
    pub busy_seconds: f64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Reads and writes.
    pub operations: u64,
    /// Flushes.
    pub flushes: u64,
    /// Mean time of a read or write, in µs.
    pub access_us: f64,
}

impl Replayed {
    /// Bytes by busy time, in MB/s.
    pub fn mb_s(&self) -> f64 {
        (self.bytes_read + self.bytes_written) as f64 / 1e6 / self.busy_seconds
    }

    /// Geometric mean of bandwidth in MB/s and accesses a second.
    pub fn score(&self) -> f64 {
        (self.mb_s() * 1e6 / self.access_us).sqrt()
    }
}

/// The latest request that is taken, in µs: ten years.
const LONGEST_US: u64 = 10 * 366 * 86_400 * 1_000_000;

/// Requests in flight for a trace that does not tell.
const DEFAULT_DEPTH: usize = 1;

impl Replay {
    /// Makes a trace ready for a volume of that size, whose requests are whole units.
    ///
    /// # Errors
    /// The trace reaches past the volume's end, or is empty.
    pub fn new(trace: &Trace, volume_bytes: u64, unit_bytes: u32) -> Result<Self, TraceError> {
        let needed = trace.records.iter().map(|r| r.offset + u64::from(r.len)).max().unwrap_or(0);
        if needed > volume_bytes {
            return Err(TraceError::PastEnd { needed, present: volume_bytes });
        }
        Self::folded(trace, volume_bytes, unit_bytes)
    }

    /// The same, with a request that does not fit into the volume made at a place that does: a trace
    /// of a large drive on a small one keeps its sizes and its order, not its distances.
    ///
    /// # Errors
    /// The trace is empty, or a single request is larger than the volume.
    pub fn folded(trace: &Trace, volume_bytes: u64, unit_bytes: u32) -> Result<Self, TraceError> {
        if trace.records.is_empty() {
            return Err(TraceError::Empty);
        }
        if trace.records.iter().any(|r| r.start_us > LONGEST_US) {
            return Err(TraceError::TooLate);
        }
        let unit = u64::from(unit_bytes.max(1));
        let records = &trace.records;
        let timed = records.iter().any(|r| r.took_us.is_some());
        // At least 1 µs each: then what was done before a request began, began before it.
        let end = |r: &TraceRecord| r.end_us().max(r.start_us.saturating_add(1));
        let mut by_end: Vec<usize> = (0..records.len()).collect();
        by_end.sort_by_key(|i| records.get(*i).map(end));
        let mut ranks = vec![0; records.len()];
        for (rank, index) in by_end.iter().enumerate() {
            if let Some(place) = ranks.get_mut(*index) {
                *place = rank;
            }
        }
        let ends: Vec<u64> = by_end.iter().filter_map(|i| records.get(*i).map(end)).collect();
        let begin = records.first().map_or(0, |r| r.start_us);
        let mut steps = Vec::with_capacity(records.len());
        let mut after = 0;
        for (record, rank) in records.iter().zip(ranks) {
            while ends.get(after).is_some_and(|end| *end <= record.start_us) {
                after += 1;
            }
            let since = match after.checked_sub(1).and_then(|last| ends.get(last)) {
                Some(end) if timed => *end,
                _ => begin,
            };
            let (mut offset, mut len) = (0, 0);
            if record.action != Action::Flush {
                offset = record.offset / unit * unit;
                let end = (record.offset + u64::from(record.len)).next_multiple_of(unit);
                len = (end - offset).max(unit);
                if len > volume_bytes {
                    return Err(TraceError::PastEnd { needed: len, present: volume_bytes });
                }
                if offset + len > volume_bytes {
                    offset = offset % (volume_bytes - len + 1) / unit * unit;
                }
            }
            let pause = (record.start_us - since) * 1000;
            steps.push(Step { action: record.action, offset, len: len as usize, rank, after, pause });
        }
        let depth = (!timed).then_some(DEFAULT_DEPTH);
        let buffers = if timed { buffers(&steps, &by_end) } else { BTreeMap::new() };
        Ok(Self { steps, think: Think::default(), depth, buffers })
    }

    /// With the think time kept, or removed (the default).
    #[must_use]
    pub fn with_think(mut self, think: Think) -> Self {
        self.think = think;
        self
    }

    /// With so many requests in flight, where the trace does not tell what overlapped.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = self.depth.map(|_| depth.max(1));
        self
    }

    /// Most requests that can be in flight at once.
    pub fn most_in_flight(&self) -> usize {
        match self.depth {
            Some(depth) => depth,
            None => {
                let waiting =
                    self.steps.iter().enumerate().map(|(made, step)| made + 1 - step.after.min(made));
                waiting.max().unwrap_or(1)
            }
        }
    }

    /// Whether anything is written.
    pub fn writes(&self) -> bool {
        self.steps.iter().any(|step| step.action == Action::Write)
    }

    /// Replays on a volume's queue.
    ///
    /// # Errors
    /// A request failed, or it was stopped.
    pub fn run(&mut self, queue: &mut dyn Queue, stop: &AtomicBool) -> Result<Replayed, LabError> {
        let count = self.steps.len();
        let begun = queue.now();
        let mut progress = Progress::new(count, begun);
        let mut done: Vec<Completion> = Vec::new();
        let (mut next, mut flying) = (0, 0usize);
        let mut sums = Sums::default();
        let mut busy_since = begun;
        while next < count || flying > 0 {
            if stop.load(Ordering::Relaxed) {
                return Err(LabError::Stopped);
            }
            let mut until = None;
            while let Some(step) = self.steps.get(next) {
                let ready = match self.depth {
                    Some(depth) => flying < depth,
                    None => progress.prefix >= step.after,
                };
                if !ready {
                    break;
                }
                let now = queue.now();
                if self.think == Think::Kept {
                    let since = if self.depth.is_some() { begun } else { progress.reached(step.after) };
                    let at = since + step.pause;
                    if at > now {
                        until = Some(at);
                        break;
                    }
                }
                let buf = take_buffer(&mut self.buffers, step.len);
                if flying == 0 {
                    busy_since = now;
                }
                progress.submitted(next, now);
                let (tag, action, offset) = (next as u64, step.action, step.offset);
                queue.submit(Request { tag, action, offset, buf })?;
                flying += 1;
                next += 1;
            }
            match until {
                Some(until) => queue.complete_before(until, &mut done)?,
                None if flying > 0 => queue.complete(1, &mut done)?,
                None => {}
            }
            let now = queue.now();
            let busy = flying > 0;
            for completion in done.drain(..) {
                completion.result?;
                flying -= 1;
                let Some(step) = self.steps.get(completion.tag as usize) else { continue };
                sums.add(step, progress.done(completion.tag as usize, step.rank, now));
                self.buffers.entry(step.len).or_default().push(completion.buf);
            }
            if busy && flying == 0 {
                sums.busy += now - busy_since;
            }
        }
        Ok(sums.figures(queue.now() - begun))
    }
}

/// How far a replay has come.
struct Progress {
    /// Whether each request is done, in the recording's order of ends.
    done: Vec<bool>,
    /// How many of the first in that order are done without a gap.
    prefix: usize,
    /// When that many were: the index is the number.
    reached: Vec<u64>,
    submitted: Vec<u64>,
}

impl Progress {
    fn new(count: usize, begun: u64) -> Self {
        let mut reached = Vec::with_capacity(count + 1);
        reached.push(begun);
        Self { done: vec![false; count], prefix: 0, reached, submitted: vec![0; count] }
    }

    fn reached(&self, number: usize) -> u64 {
        self.reached.get(number).copied().unwrap_or(u64::MAX)
    }

    fn submitted(&mut self, step: usize, now: u64) {
        if let Some(at) = self.submitted.get_mut(step) {
            *at = now;
        }
    }

    /// Notes that a request is done; how long it took, in ns.
    fn done(&mut self, step: usize, rank: usize, now: u64) -> u64 {
        if let Some(done) = self.done.get_mut(rank) {
            *done = true;
        }
        while self.done.get(self.prefix).copied().unwrap_or(false) {
            self.prefix += 1;
            self.reached.push(now);
        }
        now - self.submitted.get(step).copied().unwrap_or(now)
    }
}

#[derive(Default)]
struct Sums {
    read: u64,
    written: u64,
    operations: u64,
    flushes: u64,
    access: u64,
    busy: u64,
}

impl Sums {
    fn add(&mut self, step: &Step, took: u64) {
        match step.action {
            Action::Flush => self.flushes += 1,
            Action::Read => self.read += step.len as u64,
            Action::Write => self.written += step.len as u64,
        }
        if step.action != Action::Flush {
            self.operations += 1;
            self.access += took;
        }
    }

    fn figures(&self, elapsed: u64) -> Replayed {
        Replayed {
            seconds: elapsed as f64 / 1e9,
            busy_seconds: self.busy as f64 / 1e9,
            bytes_read: self.read,
            bytes_written: self.written,
            operations: self.operations,
            flushes: self.flushes,
            access_us: self.access as f64 / 1e3 / self.operations.max(1) as f64,
        }
    }
}

/// Buffers for all requests that can be in flight together: those before a request that were not done
/// when it was made.
fn buffers(steps: &[Step], by_end: &[usize]) -> BTreeMap<usize, Vec<AlignedBuf>> {
    // For each size how many are in use, and how many were at most.
    let mut used: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut returned = 0;
    for step in steps {
        for done in by_end.get(returned..step.after).unwrap_or_default() {
            if let Some((now, _)) = steps.get(*done).and_then(|done| used.get_mut(&done.len)) {
                *now = now.saturating_sub(1);
            }
        }
        returned = returned.max(step.after);
        let (now, most) = used.entry(step.len).or_default();
        *now += 1;
        *most = (*most).max(*now);
    }
    used.into_iter().map(|(len, (_, most))| (len, (0..most).map(|_| buffer(len)).collect())).collect()
}

fn take_buffer(buffers: &mut BTreeMap<usize, Vec<AlignedBuf>>, len: usize) -> AlignedBuf {
    buffers.get_mut(&len).and_then(Vec::pop).unwrap_or_else(|| buffer(len))
}

/// A buffer with bytes in which no drive finds anything to compress.
fn buffer(len: usize) -> AlignedBuf {
    let mut buf = AlignedBuf::zeroed(len);
    fill(&mut buf, Data::Random, &mut Rng::new(len as u64));
    buf
}
