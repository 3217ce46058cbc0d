//! The clock a modelled drive keeps: real time, waited for to the microsecond, or simulated time
//! that jumps.

use super::lateness::Lateness;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// The last stretch of a wait is spent looking at the clock. The kernel wakes a sleeper some 5 to
/// 60 µs late (timer slack, C-states, the scheduler), and this is what hides it.
const SPIN: u64 = 80_000;

/// Nanoseconds since the drive was made, and how to wait for a moment.
pub struct Clock {
    kind: TimeSource,
    /// Nanoseconds that threads have looked at the clock for, all together.
    spun: AtomicU64,
    /// Threads that look at the clock right now.
    spinning: AtomicUsize,
    cores: usize,
}

enum TimeSource {
    Real(Instant),
    Virtual(AtomicU64),
}

impl Clock {
    /// The machine's clock: waits take as long as they say.
    pub fn real() -> Self {
        Self::new(TimeSource::Real(Instant::now()))
    }

    /// Simulated time: a wait sets the clock forward and returns at once. For one thread; a
    /// simulation of seconds takes milliseconds, and comes out the same every time.
    pub fn simulated() -> Self {
        Self::new(TimeSource::Virtual(AtomicU64::new(0)))
    }

    fn new(kind: TimeSource) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self { kind, spun: AtomicU64::new(0), spinning: AtomicUsize::new(0), cores }
    }

    /// Nanoseconds of processor time that went into looking at the clock: a real drive is waited for asleep.
    pub fn spun_ns(&self) -> u64 {
        self.spun.load(Ordering::Relaxed)
    }

    /// Whether waits are real.
    pub(crate) fn is_real(&self) -> bool {
        matches!(self.kind, TimeSource::Real(_))
    }

    /// Nanoseconds since the drive was made.
    pub fn now(&self) -> u64 {
        match &self.kind {
            TimeSource::Real(start) => start.elapsed().as_nanos() as u64,
            TimeSource::Virtual(now) => now.load(Ordering::Relaxed),
        }
    }

    /// Returns at `due`, and notes how late that was. Sleeps while there is time to, then looks at
    /// the clock; where more threads do so than there are cores, they give way to each other.
    pub(super) fn wait(&self, due: u64, lateness: &Lateness) {
        match &self.kind {
            TimeSource::Virtual(now) => {
                now.fetch_max(due, Ordering::Relaxed);
            }
            TimeSource::Real(_) => {
                let asked = self.now();
                let mut now = asked;
                if now >= due {
                    return;
                }
                while let Some(time) = due.saturating_sub(now).checked_sub(SPIN).filter(|time| *time > 0) {
                    precise_timers();
                    std::thread::sleep(Duration::from_nanos(time));
                    now = self.now();
                }
                let began = now;
                let crowded = self.spinning.fetch_add(1, Ordering::Relaxed) >= self.cores;
                while now < due {
                    if crowded {
                        std::thread::yield_now();
                    } else {
                        std::hint::spin_loop();
                    }
                    now = self.now();
                }
                self.spinning.fetch_sub(1, Ordering::Relaxed);
                if !crowded {
                    self.spun.fetch_add(now - began, Ordering::Relaxed);
                }
                lateness.note(asked, due, now);
            }
        }
    }
}

/// Asks the kernel not to batch this thread's timers; by default it may add 50 µs to each.
fn precise_timers() {
    thread_local!(static ASKED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    if !ASKED.replace(true) {
        // A kernel that refuses leaves the waits as late as they were; the lateness tells.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_time_jumps() {
        let clock = Clock::simulated();
        clock.wait(3_600_000_000_000, &Lateness::default());
        assert_eq!(clock.now(), 3_600_000_000_000);
        clock.wait(1, &Lateness::default());
        assert_eq!(clock.now(), 3_600_000_000_000, "time does not run backwards");
    }

    #[test]
    fn real_waits_are_never_short_and_are_noted() {
        let (clock, lateness) = (Clock::real(), Lateness::default());
        for wait in [1_000, 40_000, 400_000, 2_000_000] {
            let due = clock.now() + wait;
            clock.wait(due, &lateness);
            assert!(clock.now() >= due);
        }
        // A wait that is over when it begins is not one.
        clock.wait(0, &lateness);
        assert!((1..=4).contains(&lateness.summary().waits), "the shortest may have been over");
    }
}
