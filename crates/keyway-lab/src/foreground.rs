//! A task in the foreground: how much of it is done while something else runs, as a copy does in the background.

use crate::error::LabError;
use crate::result::{Metric, Sample};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Words of what a round works on: more than a core's first cache holds, less than its second.
const WORDS: usize = 32 << 10;
/// A turn may be shorter than some rounds: parts of one are counted.
const PARTS: usize = 64;

/// The copy of which the score tells, in MB/s. Turns copy as fast as they can; a side that copies less in a second takes less
/// of the task in that second, and more of it in the end.
const COPY_MB_S: f64 = 100.0;
/// So long the task runs alone before each turn.
const ALONE: Duration = Duration::from_millis(50);
/// What is left of a task is never less: beyond it nothing could be told apart.
const LEAST_LEFT: f64 = 0.01;

/// Makes a turn while a thread for each processor computes. Its score is the part of that which is left while something is
/// copied at [`COPY_MB_S`].
pub(crate) fn beside(make: impl FnOnce() -> Result<Sample, LabError>) -> Result<Sample, LabError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (stop, parts) = (AtomicBool::new(false), AtomicU64::new(0));
    let done = || parts.load(Ordering::Relaxed) as f64;
    let (made, left) = std::thread::scope(|scope| {
        let spawned: Vec<_> = (0..cores)
            .map(|_| std::thread::Builder::new().spawn_scoped(scope, || compute(&stop, &parts)))
            .collect();
        let (began, before) = (Instant::now(), done());
        std::thread::sleep(ALONE);
        let (alone, turn) = (rate(done() - before, began), Instant::now());
        let before = done();
        let made = make();
        let beside = rate(done() - before, turn);
        stop.store(true, Ordering::Relaxed);
        let missing = spawned.into_iter().find_map(Result::err);
        let fail = |e| LabError::system("start", "a task in the foreground".as_ref(), e);
        (missing.map_or(made, |e| Err(fail(e))), beside / alone)
    });
    let mut sample = made?;
    let score = score(left, sample.value(Metric::MbS).unwrap_or_default());
    sample.values.insert(Metric::Score, score);
    // Whose processor time it was can't be told any more.
    sample.cpu_seconds = 0.0;
    (sample.joules, sample.machine_cpu_seconds) = (None, None);
    Ok(sample)
}

fn rate(done: f64, since: Instant) -> f64 {
    done.max(1.0) / since.elapsed().as_secs_f64().max(1e-9)
}

/// What is left of a task while [`COPY_MB_S`] are copied, of which this part is left beside a copy of so many MB/s.
fn score(left: f64, mb_s: f64) -> f64 {
    (1.0 - (1.0 - left) * COPY_MB_S / mb_s.max(1e-9)).max(LEAST_LEFT)
}

/// One round after the other: each word is mixed with the one before.
fn compute(stop: &AtomicBool, parts: &AtomicU64) {
    let mut words = vec![1u64; WORDS];
    let mut last = 1u64;
    'all: loop {
        for part in words.chunks_mut(WORDS / PARTS) {
            if stop.load(Ordering::Relaxed) {
                break 'all;
            }
            for word in part {
                last = (last ^ *word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
                *word = last;
            }
            parts.fetch_add(1, Ordering::Relaxed);
        }
    }
    std::hint::black_box(last);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn that takes a processor from the task costs it; how much depends on how many there are.
    #[test]
    fn what_a_turn_takes_the_task_loses() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let score = |busy: bool| {
            let made = || {
                let until = Instant::now() + Duration::from_millis(300);
                let work = || {
                    while Instant::now() < until {
                        std::hint::spin_loop();
                    }
                };
                if busy {
                    std::thread::scope(|scope| (0..3 * cores).for_each(|_| drop(scope.spawn(work))));
                } else {
                    std::thread::sleep(Duration::from_millis(300));
                }
                // As much as the score is about.
                let bytes_read = (COPY_MB_S * 1e6) as u64;
                Ok(Sample { seconds: 1.0, bytes_read, ..Sample::default() })
            };
            beside(made).expect("it runs").value(Metric::Score).expect("a score")
        };
        // Four threads for each processor instead of one: a machine that others use as well shows it, too.
        let pairs: Vec<f64> = (0..5).map(|_| score(true) / score(false)).collect();
        assert!(crate::stats::median(&pairs) < 0.8, "{pairs:?}");
    }

    /// Who copies half as fast and takes a quarter of the task for it, takes as much of it for each byte as who is twice as
    /// fast and takes half.
    #[test]
    fn a_slow_copy_is_no_gain() {
        assert_eq!(score(1.0, 50.0), 1.0);
        assert!((score(0.5, 1000.0) - score(0.75, 500.0)).abs() < 1e-12);
        assert!(score(0.5, 500.0) < score(0.5, 1000.0));
        assert_eq!(score(0.0, 10.0), LEAST_LEFT);
    }

    #[test]
    fn a_failure_is_passed_on() {
        assert!(matches!(beside(|| Err(LabError::Stopped)), Err(LabError::Stopped)));
    }
}
