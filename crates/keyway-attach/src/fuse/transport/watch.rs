//! Decides whether to poll for a transfer's end or to sleep until it.
//!
//! To fall asleep and be woken costs more than some microseconds, which is long beside what a fast drive
//! takes for a small request. So a thread that waits for one transfer and nothing else watches for it, as
//! long as that pays: not where the drive takes longer than it would watch, and not where many transfers
//! are under way, because then the CPU has better to do.

use crate::cpus::cpus;
use std::time::Duration;

/// The longest that a thread watches: a fast drive's time for a small request, and what the system adds.
pub(crate) const LONGEST: Duration = Duration::from_micros(30);
/// Watches that are judged together.
const WINDOW: u32 = 16;
/// Waits without watching after a window in which most watches were in vain. Then it is tried again: so
/// at most one watch in 17 is in vain for long.
const PAUSE: u32 = 16 * WINDOW;

/// So many requests in a row must have come alone. In a crowd one may be the only transfer for a moment; but the
/// answers just given, and who hands in the next requests, want this CPU then.
const ROW: u32 = 16;

/// What came of the last watches.
pub(crate) struct Watch {
    /// Another CPU is there for those who are waited for.
    possible: bool,
    watched: u32,
    in_vain: u32,
    /// Waits that are not watched.
    paused: u32,
    /// Requests that came alone, one after the other, up to now.
    row: u32,
}

impl Watch {
    pub(crate) fn new() -> Self {
        let possible = cpus() > 1;
        Self { possible, watched: 0, in_vain: 0, paused: 0, row: 0 }
    }

    /// Takes note of a request that came `alone` or not.
    pub(crate) fn came(&mut self, alone: bool) {
        self.row = if alone { self.row.saturating_add(1) } else { 0 };
    }

    /// Whether to watch for the end of so many transfers.
    pub(crate) fn pays(&mut self, transfers: usize) -> bool {
        if !self.possible || transfers != 1 || self.row < ROW {
            return false;
        }
        let paused = self.paused > 0;
        self.paused = self.paused.saturating_sub(1);
        !paused
    }

    /// Takes note of whether something came while it was watched for.
    pub(crate) fn note(&mut self, came: bool) {
        self.watched += 1;
        self.in_vain += u32::from(!came);
        if self.watched == WINDOW {
            self.paused = if self.in_vain > WINDOW / 2 { PAUSE } else { 0 };
            (self.watched, self.in_vain) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> Watch {
        Watch { possible: true, row: ROW, ..Watch::new() }
    }

    /// How many of so many waits are watched, where every so manieth ends in time.
    fn watched(watch: &mut Watch, waits: u32, in_time: u32) -> u32 {
        (0..waits)
            .filter(|number| {
                let pays = watch.pays(1);
                if pays {
                    watch.note(number % in_time == 0);
                }
                pays
            })
            .count() as u32
    }

    #[test]
    fn fast_drives_are_watched_and_slow_ones_hardly_ever() {
        assert_eq!(watched(&mut watch(), 10_000, 1), 10_000);
        let slow = watched(&mut watch(), 10_000, u32::MAX);
        assert!((10_000 / 20..10_000 / 15).contains(&slow), "{slow}");
    }

    #[test]
    fn a_drive_that_becomes_fast_is_watched_again() {
        let mut watch = watch();
        watched(&mut watch, 1000, u32::MAX);
        watched(&mut watch, PAUSE + WINDOW, 1);
        assert_eq!(watched(&mut watch, 100, 1), 100);
    }

    #[test]
    fn crowds_and_lone_cpus_are_not_watched() {
        assert!(!watch().pays(2) && !watch().pays(0));
        let mut crowd = watch();
        crowd.came(false);
        for _ in 1..ROW {
            crowd.came(true);
            assert!(!crowd.pays(1));
        }
        crowd.came(true);
        assert!(crowd.pays(1));
        assert!(!Watch { possible: false, ..watch() }.pays(1));
    }
}
