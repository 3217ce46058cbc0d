//! Buckets for values of which only the size matters: each power of two in as many steps.

/// Buckets of a histogram, `1 << STEP_BITS` for each power of two: none is wider than that part of its values.
#[derive(Debug, Clone, Copy)]
pub struct LogBuckets<const STEP_BITS: u32>;

impl<const STEP_BITS: u32> LogBuckets<STEP_BITS> {
    /// Buckets for each power of two.
    pub const STEPS: u64 = 1 << STEP_BITS;

    /// The bucket of a value.
    #[inline]
    pub const fn index(value: u64) -> u32 {
        if value < Self::STEPS {
            return value as u32;
        }
        let shift = value.ilog2() - STEP_BITS;
        ((shift + 1) << STEP_BITS) + ((value >> shift) - Self::STEPS) as u32
    }

    /// The values of a bucket: from the first, up to the second.
    pub const fn bounds(index: u32) -> (u64, u64) {
        let (row, step) = (index >> STEP_BITS, index as u64 & (Self::STEPS - 1));
        if row == 0 {
            return (step, step + 1);
        }
        let from = (Self::STEPS + step) << (row - 1);
        (from, from.saturating_add(1 << (row - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket_and_buckets_ascend() {
        let mut last = 0;
        for value in (0..5000).chain([1 << 20, (1 << 33) + 12_345, (1 << 63) + 1]) {
            let index = LogBuckets::<3>::index(value);
            let (from, to) = LogBuckets::<3>::bounds(index);
            assert!((from..to).contains(&value), "{value} in {from}..{to}");
            assert!(to - from <= (value / 8).max(1) && index >= last);
            last = index;
        }
    }
}
