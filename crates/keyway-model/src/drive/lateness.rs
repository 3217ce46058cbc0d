//! How well this machine kept a modelled drive's time: the lateness of every wait.

use keyway_store::LogBuckets;
use std::sync::atomic::{AtomicU64, Ordering};

/// Four buckets to the octave, up to 2^42 ns (73 minutes).
type Buckets = LogBuckets<2>;
const BUCKETS: usize = 160;
/// The bucket of 4 ns, with which the count begins.
const FIRST: u32 = Buckets::index(Buckets::STEPS);

/// Lateness of waits, as it adds up.
pub(super) struct Lateness {
    count: AtomicU64,
    sum: AtomicU64,
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
}

impl LatenessSummary {
    /// Whether figures from this run may be believed to a percent: half of the waits to the
    /// microsecond or two, and few enough late ones not to move a mean.
    pub fn is_kept(&self) -> bool {
        self.waits == 0 || (self.median_us <= 2.0 && self.over_10_us <= 0.01)
    }
}

impl Default for Lateness {
    fn default() -> Self {
        Self {
            count: AtomicU64::new(0),
            sum: AtomicU64::new(0),
            max: AtomicU64::new(0),
            buckets: [const { AtomicU64::new(0) }; BUCKETS],
        }
    }
}

impl Lateness {
    /// Notes one wait, in ns.
    pub(super) fn note(&self, late: u64) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(late, Ordering::Relaxed);
        self.max.fetch_max(late, Ordering::Relaxed);
        if let Some(bucket) = self.buckets.get(bucket(late)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Forgets everything.
    pub(super) fn reset(&self) {
        for n in [&self.count, &self.sum, &self.max].into_iter().chain(&self.buckets) {
            n.store(0, Ordering::Relaxed);
        }
    }

    pub(super) fn summary(&self) -> LatenessSummary {
        let counts: Vec<u64> = self.buckets.iter().map(|b| b.load(Ordering::Relaxed)).collect();
        let waits: u64 = counts.iter().sum();
        if waits == 0 {
            return LatenessSummary::default();
        }
        let max_us = self.max.load(Ordering::Relaxed) as f64 / 1e3;
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
            mean_us: self.sum.load(Ordering::Relaxed) as f64 / waits as f64 / 1e3,
            median_us: quantile(0.5),
            p99_us: quantile(0.99),
            max_us,
            over_10_us: late as f64 / waits as f64,
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

    #[test]
    fn a_summary_tells_of_late_waits() {
        let lateness = Lateness::default();
        assert!(lateness.summary().is_kept());
        for _ in 0..980 {
            lateness.note(300);
        }
        for _ in 0..20 {
            lateness.note(3_000_000);
        }
        let summary = lateness.summary();
        assert_eq!(summary.waits, 1000);
        assert!((summary.median_us - 0.3).abs() < 0.1);
        assert!((summary.over_10_us - 0.02).abs() < 1e-9);
        assert!(summary.p99_us > 2_000.0 && summary.max_us == 3_000.0);
        assert!(!summary.is_kept());
        lateness.reset();
        assert_eq!(lateness.summary().waits, 0);
    }
}
