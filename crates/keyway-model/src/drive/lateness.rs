//! How well this machine kept a modelled drive's time: the lateness of every wait, and what it is of the time that passed.

use keyway_store::LogBuckets;
use std::sync::atomic::{AtomicU64, Ordering};

/// Four buckets to the octave, up to 2^42 ns (73 minutes).
type Buckets = LogBuckets<2>;
const BUCKETS: usize = 160;
/// The bucket of 4 ns, with which the count begins.
const FIRST: u32 = Buckets::index(Buckets::STEPS);

/// Nobody sees a moment more exactly than by looking at the clock, which takes up to so many ns. Waits are that short only
/// where many requests are in flight, and the next is on its way meanwhile.
const LOOK: u64 = 100;
/// Figures are believed to this part of the time.
const BELIEVED: f64 = 0.01;

/// Lateness of waits, as it adds up. Moments are in ns.
pub(super) struct Lateness {
    sum: AtomicU64,
    /// What is more than a look at the clock of each.
    beyond: AtomicU64,
    /// How long was waited, of all threads together.
    waited: AtomicU64,
    /// When the first wait began, and the last one ended.
    first: AtomicU64,
    last: AtomicU64,
    max: AtomicU64,
    buckets: [AtomicU64; BUCKETS],
}

/// How late the waits of a modelled drive ended. All of it is the machine's doing, not the drive's:
/// when other work keeps the processor, a request of 40 µs takes longer, and a measurement says
/// more about the neighbour than about the cipher.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LatenessSummary {
    /// Waits that were noted.
    pub waits: u64,
    /// Mean lateness in µs.
    pub mean_us: f64,
    /// Half of the waits were at most this late, in µs (to a fifth of the value).
    pub median_us: f64,
    /// 99 of 100 waits were at most this late, in µs (to a fifth of the value).
    pub p99_us: f64,
    /// The latest, in µs.
    pub max_us: f64,
    /// Share of waits that were more than 10 µs late, 0 to 1.
    pub over_10_us: f64,
    /// What lateness added at most, as a part of the time from the first wait to the last, or of all that was waited where
    /// that is more: several threads wait at once.
    pub added: f64,
}

impl LatenessSummary {
    /// Whether figures from this run may be believed to a percent. 20 µs are nothing to a hard disk, and half of a fast drive's
    /// request.
    pub fn is_kept(&self) -> bool {
        self.added <= BELIEVED
    }
}

impl Default for Lateness {
    fn default() -> Self {
        Self {
            sum: AtomicU64::new(0),
            beyond: AtomicU64::new(0),
            waited: AtomicU64::new(0),
            first: AtomicU64::new(u64::MAX),
            last: AtomicU64::new(0),
            max: AtomicU64::new(0),
            buckets: [const { AtomicU64::new(0) }; BUCKETS],
        }
    }
}

impl Lateness {
    /// Notes one wait: when it began, when it should have ended, and when it did.
    pub(super) fn note(&self, began: u64, due: u64, ended: u64) {
        let late = ended.saturating_sub(due);
        self.sum.fetch_add(late, Ordering::Relaxed);
        self.beyond.fetch_add(late.saturating_sub(LOOK), Ordering::Relaxed);
        self.waited.fetch_add(due.saturating_sub(began), Ordering::Relaxed);
        self.first.fetch_min(began, Ordering::Relaxed);
        self.last.fetch_max(ended, Ordering::Relaxed);
        self.max.fetch_max(late, Ordering::Relaxed);
        if let Some(bucket) = self.buckets.get(bucket(late)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Forgets everything.
    pub(super) fn reset(&self) {
        let sums = [&self.sum, &self.beyond, &self.waited, &self.last, &self.max];
        for n in sums.into_iter().chain(&self.buckets) {
            n.store(0, Ordering::Relaxed);
        }
        self.first.store(u64::MAX, Ordering::Relaxed);
    }

    pub(super) fn summary(&self) -> LatenessSummary {
        let counts: Vec<u64> = self.buckets.iter().map(|b| b.load(Ordering::Relaxed)).collect();
        let waits: u64 = counts.iter().sum();
        if waits == 0 {
            return LatenessSummary::default();
        }
        let value = |n: &AtomicU64| n.load(Ordering::Relaxed);
        let max_us = value(&self.max) as f64 / 1e3;
        let time = value(&self.last).saturating_sub(value(&self.first)).max(value(&self.waited)).max(1);
        let quantile = |share: f64| {
            let wanted = (waits as f64 * share).ceil() as u64;
            let mut seen = 0;
            let found = counts.iter().position(|n| {
                seen += n;
                seen >= wanted
            });
            (upper_end(found.unwrap_or(BUCKETS)) / 1e3).min(max_us)
        };
        let late = counts.iter().skip(bucket(10_000) + 1).sum::<u64>();
        LatenessSummary {
            waits,
            mean_us: value(&self.sum) as f64 / waits as f64 / 1e3,
            median_us: quantile(0.5),
            p99_us: quantile(0.99),
            max_us,
            over_10_us: late as f64 / waits as f64,
            added: value(&self.beyond) as f64 / time as f64,
        }
    }
}

fn bucket(ns: u64) -> usize {
    ((Buckets::index(ns.max(Buckets::STEPS)) - FIRST) as usize).min(BUCKETS - 1)
}

/// The first value past a bucket, in ns.
fn upper_end(bucket: usize) -> f64 {
    Buckets::bounds(bucket as u32 + FIRST).1 as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_below_its_buckets_end() {
        for ns in (4..5000).chain([1 << 20, (1 << 33) + 17]) {
            let b = bucket(ns);
            assert!((ns as f64) < upper_end(b), "{ns}");
            assert!(b == 0 || ns as f64 >= upper_end(b - 1), "{ns}");
        }
    }

    /// Waits of this length, one right after the other, each so late as it says.
    fn after_each_other(wait: u64, late: impl IntoIterator<Item = u64>) -> Lateness {
        let (lateness, mut now) = (Lateness::default(), 1_000_000);
        for late in late {
            lateness.note(now, now + wait, now + wait + late);
            now += wait + late;
        }
        lateness
    }

    /// One in so many, of a thousand, is so late; the others are 300 ns late.
    fn one_in(n: u64, late: u64) -> impl Iterator<Item = u64> {
        (0..1000).map(move |at| if at % n == 0 { late } else { 300 })
    }

    #[test]
    fn a_summary_tells_of_late_waits() {
        assert!(Lateness::default().summary().is_kept());
        let lateness = after_each_other(40_000, one_in(50, 3_000_000));
        let summary = lateness.summary();
        assert_eq!(summary.waits, 1000);
        assert!((summary.median_us - 0.3).abs() < 0.1);
        assert!((summary.over_10_us - 0.02).abs() < 1e-9);
        assert!(summary.p99_us > 2_000.0 && summary.max_us == 3_000.0);
        assert!((summary.mean_us - 60.294).abs() < 1e-6, "{summary:?}");
        assert!(!summary.is_kept());
        lateness.reset();
        assert_eq!(lateness.summary(), LatenessSummary::default());
        // Nothing of what was before is part of the time.
        lateness.note(1 << 40, (1 << 40) + 40_000, (1 << 40) + 41_000);
        assert!((lateness.summary().added - 900.0 / 41_000.0).abs() < 1e-9, "{:?}", lateness.summary());
    }

    /// What is late is held against what was waited for.
    #[test]
    fn a_percent_of_the_time_is_what_counts() {
        let kept = |wait, late: &mut dyn Iterator<Item = u64>| {
            let summary = after_each_other(wait, late).summary();
            (summary.is_kept(), summary)
        };
        let each = |late: u64| std::iter::repeat_n(late, 1000);
        for (wait, late, is_kept) in [
            // A hard disk's, each 20 µs late; and 100.
            (4_000_000, 20_000, true),
            (4_000_000, 100_000, false),
            // A fast drive's: 20 µs are half of it.
            (40_000, 20_000, false),
            (40_000, 300, true),
            (40_000, 1_000, false),
            // No longer than some looks at the clock, and not seen more exactly.
            (1_000, 80, true),
            (1_000, 5_000, false),
        ] {
            assert_eq!(kept(wait, &mut each(late)).0, is_kept, "{wait} {late}");
        }
        // A median of 300 ns says nothing of five in a hundred that are 100 µs late; of as many at a hard disk, it is right.
        let (is_kept, summary) = kept(40_000, &mut one_in(20, 100_000));
        assert!(!is_kept && summary.median_us < 0.5, "{summary:?}");
        assert!(kept(4_000_000, &mut one_in(20, 100_000)).0);
        // Two in a hundred that are 11 µs late move no mean by a percent.
        let (is_kept, summary) = kept(60_000, &mut one_in(50, 11_000));
        assert!(is_kept && summary.over_10_us > 0.01, "{summary:?}");
    }

    /// A thread that computes waits seldom, and shortly: of its time, a late wait is little. Threads that wait at once have
    /// more time together than has passed.
    #[test]
    fn time_is_what_passed_or_all_that_was_waited() {
        let computing = Lateness::default();
        for at in 0..30 {
            let began = at * 2_000_000;
            computing.note(began, began + 3_000, began + 13_000);
        }
        let summary = computing.summary();
        assert!(summary.is_kept() && summary.mean_us > 9.9, "{summary:?}");
        let together = Lateness::default();
        for began in (0..100u64).map(|at| at * 40_300).flat_map(|at| std::iter::repeat_n(at, 8)) {
            together.note(began, began + 40_000, began + 40_300);
        }
        let summary = together.summary();
        assert!((summary.added - 0.005).abs() < 1e-4, "eight threads, not one: {summary:?}");
    }
}
