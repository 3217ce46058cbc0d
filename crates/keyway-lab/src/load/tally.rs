//! What the threads of the generator are told, and what each of them counts.

use super::turn::Turn;
use super::verify::Proof;
use crate::cell::{Cell, Direction};
use crate::histogram::Histogram;
use std::time::Instant;

/// A turn goes on until every thread of the generator has finished so many requests, however long
/// they take: a turn of no request has no speed.
const LEAST: u64 = 2;

/// A turn as the generators get it.
#[derive(Clone, Copy)]
pub(super) struct Load<'a> {
    pub(super) cell: &'a Cell,
    pub(super) turn: Turn<'a>,
    /// What is to be written so that it can be verified.
    pub(super) proof: Option<&'a Proof>,
}

/// What one thread of the generator counted.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) latency: Histogram,
}

impl Tally {
    pub(super) fn count(&mut self, direction: Direction) {
        match direction {
            Direction::Read => self.reads += 1,
            Direction::Write => self.writes += 1,
        }
    }

    pub(super) fn has_enough(&self) -> bool {
        self.reads + self.writes >= LEAST
    }
}

/// The moments of a turn, the same for all its threads.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) counted_from: Instant,
    pub(super) until: Instant,
}

impl Times {
    pub(super) fn of(turn: Turn<'_>, began: Instant) -> Self {
        let counted_from = began + turn.ramp;
        Self { counted_from, until: counted_from + turn.time }
    }

    /// Whether a request that was finished at `at` counts.
    pub(super) fn counts(&self, at: Instant, tally: &Tally) -> bool {
        at >= self.counted_from && (at <= self.until || !tally.has_enough())
    }

    /// How long requests were counted, in seconds, where the last that counts was finished at `last`:
    /// to the end, or longer where it had to wait for that one.
    pub(super) fn seconds(&self, last: Instant) -> f64 {
        self.until.max(last).saturating_duration_since(self.counted_from).as_secs_f64().max(1e-9)
    }
}
