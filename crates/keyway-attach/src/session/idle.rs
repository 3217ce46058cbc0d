//! When a volume closes by itself: nobody has asked anything of it for so long.

use keyway_engine::Counters;
use rustix::event::Timespec;
use std::time::{Duration, Instant};

/// Looks are as far apart as a tenth of the limit, but not nearer than this,
const OFTEN: Duration = Duration::from_millis(100);
/// nor further apart than this.
const SELDOM: Duration = Duration::from_secs(30);

/// Since when nothing was asked of a volume.
pub(super) struct Idle {
    limit: Duration,
    since: Instant,
    seen: Counters,
}

impl Idle {
    /// A volume that closes when nothing is asked of it for `limit`.
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, since: Instant::now(), seen: Counters::default() }
    }

    /// When to look again.
    pub(super) fn next_look(&self) -> Timespec {
        let wait = (self.limit / 10).clamp(OFTEN, SELDOM);
        Timespec::try_from(wait).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 })
    }

    /// Whether it is over, by what the volume has been asked until now.
    pub(super) fn is_over(&mut self, now: Counters) -> bool {
        if now != self.seen {
            self.seen = now;
            self.since = Instant::now();
        }
        self.since.elapsed() >= self.limit
    }

    /// Somebody uses it all the same: a folder in it is somebody's working folder, a file is open.
    pub(super) fn begin_again(&mut self) {
        self.since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nothing_was_asked_of_is_idle() {
        let limit = Duration::from_millis(60);
        let mut idle = Idle::new(limit);
        let mut asked = Counters::default();
        for reads in 1..=4 {
            std::thread::sleep(limit / 2);
            asked.reads = reads;
            assert!(!idle.is_over(asked), "{reads} reads");
        }
        std::thread::sleep(limit);
        assert!(idle.is_over(asked));
        idle.begin_again();
        assert!(!idle.is_over(asked));
        std::thread::sleep(limit);
        assert!(idle.is_over(asked));
    }
}
