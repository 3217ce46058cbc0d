//! A task in the foreground: how much of it is done while something else runs, as a copy does in the background.

use crate::error::LabError;
use crate::result::{Metric, Sample};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Words of what a round works on: more than a core's first cache holds, less than its second.
const WORDS: usize = 32 << 10;
/// A turn may be shorter than some rounds: parts of one are counted.
const PARTS: usize = 64;

/// Makes a turn while a thread for each processor computes. Its score is how many rounds a second those got done.
pub(crate) fn beside(make: impl FnOnce() -> Result<Sample, LabError>) -> Result<Sample, LabError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (stop, parts) = (AtomicBool::new(false), AtomicU64::new(0));
    let (made, seconds) = std::thread::scope(|scope| {
        let spawned: Vec<_> = (0..cores)
            .map(|_| std::thread::Builder::new().spawn_scoped(scope, || compute(&stop, &parts)))
            .collect();
        let began = Instant::now();
        let made = make();
        let seconds = began.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        let missing = spawned.into_iter().find_map(Result::err);
        let fail = |e| LabError::system("start", "a task in the foreground".as_ref(), e);
        (missing.map_or(made, |e| Err(fail(e))), seconds)
    });
    let mut sample = made?;
    let rounds = parts.load(Ordering::Relaxed) as f64 / PARTS as f64;
    sample.values.insert(Metric::Score, rounds / seconds.max(1e-9));
    // Whose processor time it was can't be told any more.
    sample.cpu_seconds = 0.0;
    (sample.joules, sample.machine_cpu_seconds) = (None, None);
    Ok(sample)
}

/// One round after the other: each word is mixed with the one before.
fn compute(stop: &AtomicBool, parts: &AtomicU64) {
    let mut words = vec![1u64; WORDS];
    let (mut last, mut done) = (1u64, 0);
    'all: loop {
        for part in words.chunks_mut(WORDS / PARTS) {
            if stop.load(Ordering::Relaxed) {
                break 'all;
            }
            for word in part {
                last = (last ^ *word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
                *word = last;
            }
            done += 1;
        }
    }
    std::hint::black_box(last);
    parts.fetch_add(done, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A turn that takes a processor from the task costs it; how much depends on how many there are.
    #[test]
    fn what_a_turn_takes_the_task_loses() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let score = |busy: bool| {
            let until = Instant::now() + Duration::from_millis(300);
            let work = || {
                while Instant::now() < until {
                    std::hint::spin_loop()
                }
            };
            let made = || {
                if busy {
                    std::thread::scope(|scope| (0..3 * cores).for_each(|_| drop(scope.spawn(work))));
                } else {
                    std::thread::sleep(Duration::from_millis(300));
                }
                Ok(Sample { seconds: 0.3, ..Sample::default() })
            };
            beside(made).expect("it runs").value(Metric::Score).expect("a score")
        };
        // Four threads for each processor instead of one: a machine that others use as well shows it, too.
        let pairs: Vec<f64> = (0..5).map(|_| score(true) / score(false)).collect();
        assert!(crate::stats::median(&pairs) < 0.8, "{pairs:?}");
    }

    #[test]
    fn a_failure_is_passed_on() {
        assert!(matches!(beside(|| Err(LabError::Stopped)), Err(LabError::Stopped)));
    }
}
