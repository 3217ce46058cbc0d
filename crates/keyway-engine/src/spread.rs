//! A histogram of times, in steps of an eighth to a quarter of their size.

use keyway_store::LogBuckets;

/// Four steps to the power of two.
type Buckets = LogBuckets<2>;
/// Times below so many nanoseconds count as one.
const FIRST: u64 = 1 << 6;
/// Powers of two that are told apart: up to half a minute.
const POWERS: usize = 29;
/// Buckets below the first that is counted in.
const BELOW: u32 = Buckets::index(FIRST);

/// How long many requests took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spread {
    counts: [u64; Self::BUCKETS],
    total: u64,
}

impl Default for Spread {
    fn default() -> Self {
        Self { counts: [0; Self::BUCKETS], total: 0 }
    }
}

impl Spread {
    pub(crate) const BUCKETS: usize = POWERS * Buckets::STEPS as usize;

    /// Where a time of so many nanoseconds is counted.
    #[inline]
    pub(crate) fn bucket(nanoseconds: u64) -> usize {
        ((Buckets::index(nanoseconds.max(FIRST)) - BELOW) as usize).min(Self::BUCKETS - 1)
    }

    /// The times that a bucket counts, in nanoseconds: from the first, up to the second.
    fn bounds(bucket: usize) -> (u64, u64) {
        Buckets::bounds(bucket as u32 + BELOW)
    }

    pub(crate) fn add(&mut self, counts: impl Iterator<Item = u64>, total: u64) {
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            *sum = sum.wrapping_add(count);
        }
        self.total = self.total.wrapping_add(total);
    }

    /// How many requests were timed.
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Their mean, in nanoseconds; `None` where there are none.
    pub fn mean(&self) -> Option<u64> {
        self.total.checked_div(self.count())
    }

    /// The time in nanoseconds that so many hundredths of them did not exceed, to an eighth of it.
    pub fn percentile(&self, hundredths: u64) -> Option<u64> {
        let wanted = self.count().saturating_mul(hundredths).div_ceil(100).max(1);
        let mut seen = 0u64;
        let bucket = self.counts.iter().position(|count| {
            seen = seen.saturating_add(*count);
            seen >= wanted
        })?;
        let (from, to) = Self::bounds(bucket);
        Some(from.midpoint(to))
    }

    /// The histogram: nanoseconds below which, and not below the step before, so many requests were. Steps with
    /// none are left out.
    pub fn steps(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counts.map(|(bucket, count)| (Self::bounds(bucket).1, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: impl IntoIterator<Item = u64>) -> Spread {
        let mut spread = Spread::default();
        for time in times {
            let mut counts = [0; Spread::BUCKETS];
            counts[Spread::bucket(time)] = 1;
            spread.add(counts.into_iter(), time);
        }
        spread
    }

    #[test]
    fn every_time_lies_in_its_bucket() {
        for time in (64..5000).chain([1 << 20, (1 << 33) + 12345, (1 << 35) - 1]) {
            let (from, to) = Spread::bounds(Spread::bucket(time));
            assert!((from..to).contains(&time), "{time} in {from}..{to}");
            assert!(to - from <= time / 4, "{time}: steps of at most a quarter");
        }
        assert_eq!(Spread::bucket(0), 0);
        assert_eq!(Spread::bucket(u64::MAX), Spread::BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_near_the_truth() {
        let spread = of((1..=1000).map(|n| n * 1000));
        assert_eq!(spread.count(), 1000);
        assert_eq!(spread.mean(), Some(500_500));
        for (hundredths, truth) in [(50, 500_000u64), (99, 990_000), (100, 1_000_000)] {
            let found = spread.percentile(hundredths).expect("there are some");
            assert!(found.abs_diff(truth) <= truth / 7, "{hundredths}: {found}, not {truth}");
        }
        assert_eq!(spread.steps().map(|(_, count)| count).sum::<u64>(), 1000);
        let one = of([3000]);
        assert_eq!(one.percentile(1), one.percentile(99));
    }

    #[test]
    fn nothing_has_no_percentile() {
        let none = Spread::default();
        assert_eq!((none.count(), none.mean(), none.percentile(50)), (0, None, None));
        assert_eq!(none.steps().count(), 0);
    }
}
