//! Latencies in buckets that grow with the value: small, mergeable, a hundredth of precision.

use keyway_store::LogBuckets;
use serde::{Deserialize, Serialize};

/// A bucket is at most 1/64 of its value wide.
type Buckets = LogBuckets<6>;
/// Up to 2^40 ns, which is 18 minutes; what is longer counts there.
const BUCKETS: usize = 41 * Buckets::STEPS as usize;

/// How many requests took how long.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Bucket number and count, ascending; only buckets that hold something.
    buckets: Vec<(u32, u64)>,
    /// Nanoseconds of all requests together.
    sum_ns: u64,
    /// The longest, in nanoseconds.
    max_ns: u64,
}

/// A histogram that is being filled.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    counts: Vec<u64>,
    sum_ns: u64,
    max_ns: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], sum_ns: 0, max_ns: 0 }
    }
}

/// The middle of a bucket in nanoseconds.
pub(crate) fn middle_of(bucket: u32) -> f64 {
    if u64::from(bucket) < Buckets::STEPS {
        return f64::from(bucket);
    }
    let (from, end) = Buckets::bounds(bucket);
    from as f64 + (end - from) as f64 / 2.0
}

impl Recorder {
    /// Counts one request.
    pub(crate) fn record(&mut self, ns: u64) {
        let last = self.counts.len().saturating_sub(1);
        if let Some(count) = self.counts.get_mut((Buckets::index(ns) as usize).min(last)) {
            *count += 1;
        }
        self.sum_ns = self.sum_ns.saturating_add(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// What was recorded.
    pub(crate) fn finish(&self) -> Histogram {
        let filled = self.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        Histogram {
            buckets: filled.map(|(bucket, n)| (bucket as u32, *n)).collect(),
            sum_ns: self.sum_ns,
            max_ns: self.max_ns,
        }
    }
}

impl Histogram {
    /// Requests counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, n)| n).sum()
    }

    /// Mean in microseconds; 0 of nothing.
    pub fn mean_us(&self) -> f64 {
        match self.count() {
            0 => 0.0,
            n => self.sum_ns as f64 / n as f64 / 1e3,
        }
    }

    /// The longest, in microseconds.
    pub fn max_us(&self) -> f64 {
        self.max_ns as f64 / 1e3
    }

    /// So many microseconds are not exceeded by the given part (0 to 1) of all requests.
    pub(crate) fn quantile_us(&self, part: f64) -> f64 {
        let wanted = (part.clamp(0.0, 1.0) * self.count() as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, n) in &self.buckets {
            seen += n;
            if seen >= wanted {
                return middle_of(*bucket) / 1e3;
            }
        }
        0.0
    }

    /// The slowest of the requests, this part of them at least: bucket and count, from the slowest on.
    pub(crate) fn slowest(&self, part: f64) -> Vec<(u32, u64)> {
        let wanted = (self.count() as f64 * part).ceil() as u64;
        let mut seen = 0;
        let is_wanted = |(_, n): &&(u32, u64)| {
            let before = seen;
            seen += n;
            before < wanted
        };
        self.buckets.iter().rev().take_while(is_wanted).copied().collect()
    }

    /// Adds what another has counted.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (bucket, n) in &other.buckets {
            match self.buckets.binary_search_by_key(bucket, |(b, _)| *b) {
                Ok(at) => {
                    if let Some((_, count)) = self.buckets.get_mut(at) {
                        *count += n;
                    }
                }
                Err(at) => self.buckets.insert(at, (*bucket, *n)),
            }
        }
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Microseconds and count of each bucket, ascending.
    pub fn points(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.buckets.iter().map(|(bucket, n)| (middle_of(*bucket) / 1e3, *n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_within_a_hundredth_of_its_values() {
        for ns in [0u64, 1, 63, 64, 65, 127, 128, 1000, 40_123, 9_999_999, 123_456_789_012] {
            let middle = middle_of(Buckets::index(ns));
            assert!((middle - ns as f64).abs() <= ns as f64 / 100.0 + 0.5, "{ns}: {middle}");
        }
    }

    #[test]
    fn buckets_ascend() {
        let all: Vec<u32> = (0..200_000u64).map(Buckets::index).collect();
        assert!(all.is_sorted());
        assert!(all.windows(2).all(|w| w[1] - w[0] <= 1));
    }

    #[test]
    fn quantiles_mean_and_merging() {
        let (mut a, mut b) = (Recorder::default(), Recorder::default());
        (1..=50u64).for_each(|n| a.record(n * 1000));
        (51..=100u64).for_each(|n| b.record(n * 1000));
        let mut both = a.finish();
        both.merge(&b.finish());
        assert_eq!(both.count(), 100);
        assert!((both.mean_us() - 50.5).abs() < 1e-9);
        assert!((both.quantile_us(0.5) - 50.0).abs() < 1.0, "{}", both.quantile_us(0.5));
        assert!((both.quantile_us(0.99) - 99.0).abs() < 1.0);
        assert!((both.max_us() - 100.0).abs() < 1e-9);
        let text = serde_json::to_string(&both).expect("plain data");
        assert_eq!(serde_json::from_str::<Histogram>(&text).expect("the same"), both);
    }
}
