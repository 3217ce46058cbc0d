//! How far a search for the key is, and how long it takes: each derivation is measured here and now, in a small piece of it.

use keyway_kdf::{Argon2idCost, Block, Prf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How far a search for the key is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KeySearch {
    /// How many keys are tried: each hash on each header, for each format. Each is tried with every cipher.
    pub combinations: usize,
    /// The part of the work that is done, from 0 to 1.
    pub done: f64,
    /// How long it still takes, if none of them opens the volume.
    pub left: Duration,
    /// How long all of it takes then.
    pub whole: Duration,
    /// It is one hash alone that is tried.
    pub one_hash: bool,
}

/// Somebody who is told how far a search for the key is. `()` hears nothing.
pub trait KeyWatch: Sync {
    /// About once a second, from the first second on.
    fn trying(&self, search: &KeySearch);
}

impl KeyWatch for () {
    fn trying(&self, _: &KeySearch) {}
}

/// A derivation that costs the same in each of its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Steps {
    /// A step is an iteration of as many blocks as there are lanes.
    Pbkdf2(Prf),
    /// A step is a pass over a kibibyte.
    Argon2id,
}

/// A piece that is measured: its steps, and how often.
const PBKDF2_PIECE: u32 = 500;
const ARGON2ID_PIECE: Argon2idCost = Argon2idCost { memory_kib: 8 << 10, passes: 1, lanes: 1 };
/// What disturbs a measurement makes it longer.
const MEASURED: usize = 3;

impl Steps {
    /// How long one of them takes on one core.
    fn seconds(self) -> f64 {
        let never = AtomicBool::new(false);
        let once = || {
            let begun = Instant::now();
            let steps = match self {
                Self::Pbkdf2(prf) => {
                    let block = |index| Block { salt: &[0x5a; 64], index };
                    let blocks: Vec<_> = (1..).take(keyway_kdf::lanes(prf).max(1)).map(block).collect();
                    let _ = keyway_kdf::pbkdf2_blocks(prf, b"any", PBKDF2_PIECE, &blocks, &never);
                    PBKDF2_PIECE
                }
                Self::Argon2id => {
                    let _ = keyway_kdf::argon2id(ARGON2ID_PIECE, b"any", &[0x5a; 64], 64, &never);
                    ARGON2ID_PIECE.memory_kib * ARGON2ID_PIECE.passes
                }
            };
            begun.elapsed().as_secs_f64() / f64::from(steps)
        };
        (0..MEASURED).map(|_| once()).fold(f64::INFINITY, f64::min)
    }
}

/// The work of a search by kinds of steps: how many there are, how many are done.
#[derive(Default)]
pub(super) struct Pace(Vec<(Steps, u64, AtomicU64)>);

impl Pace {
    /// Of these pieces of work.
    pub(super) fn of(work: impl Iterator<Item = (Steps, u64)>) -> Self {
        let mut all: Vec<(Steps, u64, AtomicU64)> = Vec::new();
        for (kind, steps) in work {
            match all.iter_mut().find(|(known, ..)| *known == kind) {
                Some((_, sum, _)) => *sum = sum.saturating_add(steps),
                None => all.push((kind, steps, AtomicU64::new(0))),
            }
        }
        Self(all)
    }

    /// One of them is done.
    pub(super) fn done(&self, (kind, steps): (Steps, u64)) {
        let known = self.0.iter().find(|(known, ..)| *known == kind);
        known.map(|(_, _, done)| done.fetch_add(steps, Ordering::Relaxed));
    }

    /// How long each kind's step takes.
    pub(super) fn measured(&self) -> Vec<f64> {
        self.0.iter().map(|(kind, ..)| kind.seconds()).collect()
    }

    /// The work that is done, and all of it, in seconds of one core.
    pub(super) fn seconds(&self, measured: &[f64]) -> (f64, f64) {
        let both = self.0.iter().zip(measured).map(|((_, all, done), each)| {
            let done = done.load(Ordering::Relaxed).min(*all);
            (done as f64 * each, *all as f64 * each)
        });
        both.fold((0.0, 0.0), |sum, kind| (sum.0 + kind.0, sum.1 + kind.1))
    }
}

/// So much must be done before what it took says more than what was measured.
const TELLING: f64 = 0.2;

/// What is told after that time, with so many at work.
pub(super) fn state(done: f64, all: f64, workers: usize, elapsed: Duration) -> KeySearch {
    let done = if all > 0.0 { (done / all).clamp(0.0, 1.0) } else { 0.0 };
    let (measured, took) = (all / workers.max(1) as f64, elapsed.as_secs_f64());
    // On a busy machine it takes longer than was measured: then what little is done tells more as well.
    let left = match done >= TELLING || done > 0.0 && took > measured {
        true => took / done - took,
        false => measured * (1.0 - done),
    };
    let left = Duration::try_from_secs_f64(left.max(0.0)).unwrap_or(Duration::MAX);
    KeySearch { combinations: 0, done, left, whole: elapsed.saturating_add(left), one_hash: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_weighed_by_what_it_costs() {
        let (cheap, dear) = (Steps::Pbkdf2(Prf::Sha256), Steps::Argon2id);
        let pace = Pace::of([(cheap, 10), (dear, 10), (cheap, 10)].into_iter());
        assert_eq!(pace.seconds(&[1.0, 4.0]), (0.0, 60.0));
        pace.done((dear, 10));
        assert_eq!(pace.seconds(&[1.0, 4.0]), (40.0, 60.0));
        assert!(pace.measured().iter().all(|seconds| *seconds > 0.0 && *seconds < 1.0));
    }

    #[test]
    fn what_was_measured_counts_until_enough_is_done() {
        let seconds = Duration::from_secs;
        let early = state(2.0, 100.0, 2, seconds(1));
        assert_eq!((early.whole, early.left), (seconds(50), seconds(49)));
        // Where hardly anything is done when it should be over, it isn't over in a moment.
        let busy = state(10.0, 100.0, 2, seconds(60));
        assert_eq!((busy.whole, busy.left), (seconds(600), seconds(540)));
        assert_eq!(state(0.0, 100.0, 2, seconds(60)).left, seconds(50));
        assert!(state(5.0, 100.0, 2, seconds(49)).left > seconds(47));
        // Half of it took twice as long as was measured.
        let later = state(50.0, 100.0, 2, seconds(50));
        assert_eq!((later.done, later.whole, later.left), (0.5, seconds(100), seconds(50)));
        assert_eq!(state(0.0, 0.0, 0, seconds(1)).done, 0.0);
        assert_eq!(state(1.0, f64::INFINITY, 1, seconds(1)).whole, Duration::MAX);
    }
}
