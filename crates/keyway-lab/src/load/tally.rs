//! What the threads of the generator are told, and what each of them counts.
//!
//! A turn's speed is what was finished by the time that this took: from the last request that was finished before
//! counting began (from the first submission, where none was) to the last one that counts. Both ends are the ends of
//! requests, so that large ones are no longer or shorter than they are, however few fit into the turn. It holds for any
//! number in flight: what the drive had done of unfinished requests at one end, it has done at the other.

use super::turn::Turn;
use super::verify::Proof;
use crate::cell::{Cell, Direction};
use crate::histogram::{Histogram, Recorder};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A turn goes on until so many requests are finished, or as many as are in flight if that is more, however long they
/// take: the first to be finished alone says nothing about those beside it.
const LEAST: u64 = 2;
/// Those in flight are no reason to wait for more than these: a hard disk's queue takes seconds.
const MOST_WAITED_FOR: u64 = 32;

/// How many requests the threads of a turn have finished together, and how many it takes.
pub(super) struct Progress {
    finished: AtomicU64,
    least: u64,
    /// A turn of so many bytes ends here.
    most: Option<u64>,
}

impl Progress {
    pub(super) fn of(cell: &Cell, turn: Turn<'_>) -> Self {
        let blocks = cell.span_bytes / cell.block_bytes;
        let in_flight = u64::from(cell.queue_depth).min(blocks).max(1) * u64::from(cell.threads.max(1));
        let least = in_flight.clamp(LEAST, MOST_WAITED_FOR);
        // What is in flight at once may be finished at once: whole batches of it have a speed, parts have none.
        let whole = |bytes: u64| bytes.div_ceil(cell.block_bytes).next_multiple_of(in_flight).max(least);
        Self { finished: AtomicU64::new(0), least, most: turn.bytes.map(whole) }
    }

    fn is_enough(&self, finished: u64, time_is_over: bool) -> bool {
        finished >= self.least && (time_is_over || self.most.is_some_and(|most| finished >= most))
    }
}

/// A turn as the generators get it.
#[derive(Clone, Copy)]
pub(super) struct Load<'a> {
    pub(super) cell: &'a Cell,
    pub(super) turn: Turn<'a>,
    /// What is to be written so that it can be verified.
    pub(super) proof: Option<&'a Proof>,
    pub(super) progress: &'a Progress,
    /// The block at which a sequence goes on.
    pub(super) from: u64,
    /// Moments are nanoseconds since this one.
    pub(super) origin: Instant,
}

impl Load<'_> {
    /// Now, in nanoseconds.
    pub(super) fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}

/// What one thread of the generator counted.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) latency: Histogram,
    /// When it submitted its first request.
    began: u64,
    /// When it finished the last one that does not count yet.
    before: Option<u64>,
    /// When it finished the last one that counts.
    last: u64,
}

/// Counts one thread's requests while they are finished.
pub(super) struct Counter<'a> {
    progress: &'a Progress,
    counted_from: u64,
    until: u64,
    tally: Tally,
    recorder: Recorder,
    /// Finished, but not told to the others yet: they need not know while there is time.
    untold: u64,
}

impl<'a> Counter<'a> {
    /// For a thread whose first request is submitted at `began`, in nanoseconds.
    pub(super) fn new(load: Load<'a>, began: u64) -> Self {
        let counted_from = began + load.turn.ramp.as_nanos() as u64;
        let until = counted_from + load.turn.time.as_nanos() as u64;
        let tally = Tally { began, ..Tally::default() };
        Self { progress: load.progress, counted_from, until, tally, recorder: Recorder::default(), untold: 0 }
    }

    /// Whether the turn is over at `now`: nothing that is finished later counts.
    pub(super) fn is_over(&mut self, now: u64) -> bool {
        if now < self.until && self.progress.most.is_none() {
            return false;
        }
        let untold = std::mem::take(&mut self.untold);
        let finished = self.progress.finished.fetch_add(untold, Ordering::Relaxed) + untold;
        self.progress.is_enough(finished, now >= self.until)
    }

    /// A request that began at `since` is finished at `now`.
    pub(super) fn finish(&mut self, direction: Direction, since: u64, now: u64) {
        if now < self.counted_from {
            self.tally.before = Some(now);
        } else if !self.is_over(now) {
            match direction {
                Direction::Read => self.tally.reads += 1,
                Direction::Write => self.tally.writes += 1,
            }
            self.recorder.record(now.saturating_sub(since));
            self.tally.last = now;
            self.untold += 1;
        }
    }

    pub(super) fn done(self) -> Tally {
        Tally { latency: self.recorder.finish(), ..self.tally }
    }
}

/// How long requests were counted, in seconds, and which part that is of the whole turn.
pub(super) fn counted_time(tallies: &[Tally]) -> (f64, f64) {
    let began = tallies.iter().map(|t| t.began).min().unwrap_or_default();
    let from = tallies.iter().filter_map(|t| t.before).max().unwrap_or(began);
    let last = tallies.iter().map(|t| t.last).max().unwrap_or_default();
    let seconds = |from: u64| (last.saturating_sub(from) as f64 / 1e9).max(1e-9);
    (seconds(from), seconds(from) / seconds(began))
}
