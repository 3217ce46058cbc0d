//! Chooses the CPU that a queue's thread runs on.
//!
//! A queue has the requests of one CPU. When they come one at a time, the thread is best on that CPU:
//! to wake a sleeping CPU takes longer than the whole request, there and back again. When several
//! are there at once they are to keep all CPUs busy, and the system spreads the threads. Where a drive has
//! to be waited for, no CPU is busy: the thread stays, and what comes while who asks has the CPU is handed to
//! the drive in one go.

use keyway_sys::thread_sleeps;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Requests that are judged together.
const WINDOW: u32 = 32;
/// With so many lone ones in a window the thread stays with its queue, and with
const MANY: u32 = WINDOW - WINDOW / 8;
/// fewer than these it goes; in between all stays as it is. Half would be too few: with 32 requests in flight,
/// a thread that shares its CPU with who asks gets them by twos and threes, and the first of each is alone.
const FEW: u32 = WINDOW - WINDOW / 4;
/// It goes home only after so many such windows, one after the other: a thread that keeps pace with who hands
/// in a crowd's requests, on another CPU, finds each alone as well, for a while.
const ROW: u32 = 16;

/// The requests being served.
#[derive(Default)]
pub(crate) struct Crowd(AtomicUsize);

impl Crowd {
    /// Counts one in; says whether it is alone.
    pub(crate) fn join(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// Counts it out.
    pub(crate) fn leave(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Where the calling thread runs. Made and used by it alone.
pub(crate) struct CpuPlacement {
    /// The queue's CPU, and all that we may use; `None` where the thread had better not choose.
    choice: Option<(CpuSet, CpuSet)>,
    window: Window,
    sleeps: u64,
    /// Windows that spoke for its queue's CPU, up to now.
    row: u32,
    at_home: bool,
}

impl CpuPlacement {
    /// For the queue of `cpu`.
    pub(crate) fn new(cpu: u16) -> Self {
        let cpu = usize::from(cpu);
        let choice = sched_getaffinity(None)
            .ok()
            .filter(|anywhere| cpu < CpuSet::MAX_CPU && anywhere.is_set(cpu))
            .map(|anywhere| {
                let mut home = CpuSet::new();
                home.set(cpu);
                (home, anywhere)
            });
        Self { choice, window: Window::default(), sleeps: thread_sleeps(), row: 0, at_home: false }
    }

    /// For the queue of `cpu`, where the thread goes now and for good.
    pub(crate) fn for_good(cpu: u16) -> Self {
        let place = Self::new(cpu);
        if let Some((home, _)) = &place.choice {
            // As below.
            let _ = sched_setaffinity(None, home);
        }
        Self { choice: None, ..place }
    }

    /// Takes note of a request that was `alone` or not, and moves when it is time.
    pub(crate) fn note(&mut self, alone: bool) {
        if self.window.note(alone) {
            self.choose(thread_sleeps());
        }
    }

    /// Moves or stays at the end of a window; the thread has slept so often in its life.
    fn choose(&mut self, sleeps: u64) {
        let slept = sleeps.saturating_sub(self.sleeps);
        self.sleeps = sleeps;
        let lone = self.window.judge(slept, self.at_home);
        self.row = if lone { self.row.saturating_add(1) } else { 0 };
        let at_home = lone && (self.at_home || self.row >= ROW);
        if at_home != self.at_home
            && let Some((home, anywhere)) = &self.choice
        {
            // A CPU that has been switched off in the meantime: the thread stays where it is.
            let _ = sched_setaffinity(None, if at_home { home } else { anywhere });
            self.at_home = at_home;
        }
    }
}

/// What the last requests were like.
#[derive(Default)]
struct Window {
    requests: u32,
    alone: u32,
}

impl Window {
    /// Says whether the window is full.
    fn note(&mut self, alone: bool) -> bool {
        self.requests += 1;
        self.alone += u32::from(alone);
        self.requests >= WINDOW
    }

    /// Where to serve the next ones, and starts anew. A thread that has `slept` less than once per
    /// request has found some waiting, so they were not alone however few are served at once.
    fn judge(&mut self, slept: u64, at_home: bool) -> bool {
        let lone = slept.min(u64::from(self.alone));
        *self = Self::default();
        lone >= u64::from(if at_home { FEW } else { MANY })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(alone: u32, slept: u64, at_home: bool) -> bool {
        let mut window = Window::default();
        for number in 1..WINDOW {
            assert!(!window.note(number <= alone));
        }
        assert!(window.note(alone >= WINDOW), "it is full");
        window.judge(slept, at_home)
    }

    #[test]
    fn lone_requests_stay_and_crowds_spread() {
        assert!(judged(32, 32, false), "one after the other");
        assert!(judged(32, 64, false), "the medium is waited for as well");
        assert!(!judged(4, 64, true), "a drive with many at once");
        assert!(!judged(32, 2, true), "memory with many at once");
        assert!(!judged(16, 16, true), "a crowd that comes by twos");
        assert!(!judged(26, 26, false) && judged(26, 26, true), "in between all stays as it is");
    }

    #[test]
    fn a_thread_moves_to_its_queue_and_back() {
        let all = sched_getaffinity(None).expect("the system tells");
        let cpu = (0..CpuSet::MAX_CPU).find(|cpu| all.is_set(*cpu)).expect("some CPU");
        let mut place = CpuPlacement::new(cpu as u16);
        // A busy machine may wake a thread before it sleeps, so the sleeps are counted here: one a request.
        let mut sleeps = place.sleeps;
        let mut lone = |windows| {
            for _ in 0..windows * WINDOW {
                sleeps += 1;
                if place.window.note(true) {
                    place.choose(sleeps);
                }
            }
            sched_getaffinity(None).expect("the system tells")
        };
        assert_eq!(lone(ROW - 1), all, "not at once");
        let now = lone(1);
        assert!(now.count() == 1 && now.is_set(cpu));
        for _ in 0..WINDOW {
            place.note(false);
        }
        assert_eq!(sched_getaffinity(None).expect("the system tells"), all);
    }

    #[test]
    fn a_thread_that_stays_stays() {
        let all = sched_getaffinity(None).expect("the system tells");
        let cpu = (0..CpuSet::MAX_CPU).find(|cpu| all.is_set(*cpu)).expect("some CPU");
        let mut place = CpuPlacement::for_good(cpu as u16);
        for _ in 0..4 * WINDOW {
            place.note(false);
        }
        let now = sched_getaffinity(None).expect("the system tells");
        assert!(now.count() == 1 && now.is_set(cpu));
    }

    #[test]
    fn a_crowd_is_counted() {
        let crowd = Crowd::default();
        assert!(crowd.join());
        assert!(!crowd.join());
        crowd.leave();
        crowd.leave();
        assert!(crowd.join());
    }
}
