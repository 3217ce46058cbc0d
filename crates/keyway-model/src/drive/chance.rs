//! Random service times, the same ones in every run.

use keyway_store::SplitMix64;

/// A model needs scatter, not secrecy.
pub(super) struct Chance(SplitMix64);

impl Chance {
    /// Starts a sequence.
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// In 0..1.
    pub(super) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Around 1, with this standard deviation; a bell of four dice, so never further off than
    /// 3.5 deviations.
    pub(super) fn around_one(&mut self, deviation: f64) -> f64 {
        let dice: f64 = (0..4).map(|_| self.share() - 0.5).sum();
        // The sum of four has a variance of 4/12.
        1.0 + deviation * dice * 3f64.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scatter_has_the_mean_and_deviation_it_says() {
        let mut chance = Chance::new(1);
        let values: Vec<f64> = (0..100_000).map(|_| chance.around_one(0.1)).collect();
        let mean = values.iter().sum::<f64>() / 1e5;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.002, "{mean}");
        assert!((variance.sqrt() - 0.1).abs() < 0.002, "{}", variance.sqrt());
    }
}
