//! Statistics on plain numbers: medians, bootstrap intervals of ratios, verdicts.
//!
//! The unit is a *block*, an A B B A with two turns of either side. Turns that lie close together
//! share heat, neighbours and the drive's mood; the ratio is therefore taken inside each block, where
//! all of that cancels, and the median of the blocks' ratios is told. Its interval comes from drawing
//! blocks again and again, never single turns, which would take what a block shares for precision.
//! With the few blocks of a run the plain percentile interval is too narrow; it is widened as
//! Hesterberg (*What Teachers Should Know About the Bootstrap*, 2015, §5.3) proposes, so that it covers
//! as often as Student's would.

use crate::result::Verdict;

/// How often the blocks are drawn again.
const DRAWS: usize = 4000;

/// Turns of one side in a block.
pub(crate) const TURNS_PER_BLOCK: usize = 2;

/// Fewer blocks than this give no interval: six that say the same still do so by chance in more
/// than one of forty experiments.
pub(crate) const FEWEST_BLOCKS: usize = 8;

/// What is left outside an interval. Intervals that shall cover in 95 % of all cases are made for
/// 97.5 %: with 8 to 20 blocks the simulations of this module's tests find them a point or two short.
const OUTSIDE: f64 = 0.025;

/// Two numbers between which the truth lies, as likely as was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// What two sides' turns say about each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// Median of the side in question.
    pub value: f64,
    /// Its interval.
    pub value_interval: Interval,
    /// Median of the baseline.
    pub baseline: f64,
    /// Median of the blocks' ratios; near `value / baseline`, and steadier.
    pub ratio: f64,
    /// Its interval.
    pub interval: Interval,
    /// Whether there were enough turns for intervals; where not, they span what was seen and 1.
    pub enough: bool,
}

impl Ratio {
    /// What the interval says; `more_is_better` for bandwidth, not for latency.
    pub fn verdict(&self, more_is_better: bool) -> Verdict {
        match (self.interval.low > 1.0, self.interval.high < 1.0) {
            (true, _) if more_is_better => Verdict::Faster,
            (true, _) => Verdict::Slower,
            (_, true) if more_is_better => Verdict::Slower,
            (_, true) => Verdict::Faster,
            _ => Verdict::NoDifference,
        }
    }
}

/// The middle value, the mean of two; 0 of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    median_of(&mut sorted)
}

fn median_of(values: &mut [f64]) -> f64 {
    let n = values.len();
    if n == 0 {
        return 0.0;
    }
    let (low, middle, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    let middle = *middle;
    if n % 2 == 1 {
        return middle;
    }
    let below = low.iter().copied().max_by(f64::total_cmp).unwrap_or(middle);
    f64::midpoint(below, middle)
}

/// How far values lie from their median, relative to it: the median of the distances times 1.4826,
/// which is a normal distribution's deviation.
pub fn spread(values: &[f64]) -> f64 {
    let middle = median(values);
    let distances: Vec<f64> = values.iter().map(|v| (v - middle).abs()).collect();
    if middle == 0.0 { 0.0 } else { 1.4826 * median(&distances) / middle.abs() }
}

/// How far neighbouring values lie from each other, relative to their median, as the deviation of one:
/// what is left of the spread when a drift is taken out.
pub(crate) fn jitter(values: &[f64]) -> f64 {
    let steps: Vec<f64> = values
        .windows(2)
        .map(|w| w.iter().rev().copied().reduce(|a, b| a - b).unwrap_or(0.0).abs())
        .collect();
    let middle = median(values);
    // 1.4826 as in `spread`, and a difference of two has the square root of two times their deviation.
    if middle == 0.0 { 0.0 } else { 1.0484 * median(&steps) / middle.abs() }
}

/// How far the median of the last third of the turns lies from that of the first, relative to it.
pub(crate) fn drift(values: &[f64]) -> f64 {
    let third = values.len() / 3;
    let (Some(first), Some(last)) = (values.get(..third), values.get(values.len() - third..)) else {
        return 0.0;
    };
    let (first, last) = (median(first), median(last));
    if third == 0 || first == 0.0 { 0.0 } else { last / first - 1.0 }
}

/// Compares the turns of `side` with those of `baseline`, which were taken in blocks: turns `2n` and
/// `2n + 1` of both belong together. `comparisons` is how many verdicts are told together: the
/// intervals hold with 95 % for all of them at once (Bonferroni).
pub fn compare(baseline: &[f64], side: &[f64], comparisons: usize) -> Ratio {
    let (base, value) = (median(baseline), median(side));
    let mean_log = |turns: &[f64]| turns.iter().map(|v| v.ln()).sum::<f64>() / turns.len() as f64;
    let positive = baseline.iter().chain(side).all(|v| *v > 0.0);
    let blocks: Vec<(f64, f64)> = blocks(baseline)
        .zip(blocks(side))
        .map(|(base, side)| (mean_log(side) - mean_log(base), median(side)))
        .collect();
    if blocks.len() < FEWEST_BLOCKS || !positive {
        return too_few(baseline, side);
    }
    let mut ratios: Vec<f64> = blocks.iter().map(|(ratio, _)| *ratio).collect();
    let ratio = median_of(&mut ratios).exp();
    let mut rng = Draw(0x1ab0_7a70_2e5e_ed01);
    let (mut ratios, mut values) = (Vec::with_capacity(DRAWS), Vec::with_capacity(DRAWS));
    let (mut r, mut v) = (Vec::new(), Vec::new());
    for _ in 0..DRAWS {
        r.clear();
        v.clear();
        for _ in 0..blocks.len() {
            if let Some((ratio, value)) = blocks.get(rng.below(blocks.len())) {
                r.push(*ratio);
                v.push(*value);
            }
        }
        ratios.push(median_of(&mut r).exp());
        values.push(median_of(&mut v));
    }
    let alpha = OUTSIDE / comparisons.max(1) as f64;
    let interval = percentiles(&mut ratios, widened(alpha, blocks.len()));
    let value_interval = percentiles(&mut values, widened(OUTSIDE, blocks.len()));
    // A median that hardly ever moves has a bootstrap that does not either; the value is in its own
    // interval in any case.
    let around = |i: Interval, v: f64| Interval { low: i.low.min(v), high: i.high.max(v) };
    Ratio {
        value,
        value_interval: around(value_interval, value),
        baseline: base,
        ratio,
        interval: around(interval, ratio),
        enough: true,
    }
}

/// What can be said without an interval: bounds that span what was seen, and 1.
fn too_few(baseline: &[f64], side: &[f64]) -> Ratio {
    let bounds = |values: &[f64]| Interval {
        low: values.iter().copied().min_by(f64::total_cmp).unwrap_or(0.0),
        high: values.iter().copied().max_by(f64::total_cmp).unwrap_or(0.0),
    };
    let divide = |a: f64, b: f64| if b > 0.0 { a / b } else { 1.0 };
    let (base, value_interval) = (bounds(baseline), bounds(side));
    let interval = Interval {
        low: divide(value_interval.low, base.high).min(1.0),
        high: divide(value_interval.high, base.low).max(1.0),
    };
    let (value, baseline) = (median(side), median(baseline));
    Ratio { value, value_interval, baseline, ratio: divide(value, baseline), interval, enough: false }
}

fn blocks(turns: &[f64]) -> impl Iterator<Item = &[f64]> {
    turns.chunks_exact(TURNS_PER_BLOCK)
}

fn percentiles(values: &mut [f64], alpha: f64) -> Interval {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let at = |part: f64| values.get((part * last as f64).round() as usize).copied().unwrap_or(1.0);
    Interval { low: at(alpha / 2.0), high: at(1.0 - alpha / 2.0) }
}

/// The part outside a percentile interval of `n` blocks, such that it is as wide as Student's of
/// `alpha` (Hesterberg 2015, equation 12).
fn widened(alpha: f64, n: usize) -> f64 {
    let n = n as f64;
    let wide = (n / (n - 1.0)).sqrt() * student_quantile(1.0 - alpha / 2.0, n - 1.0);
    2.0 * (0.5 - integral(|x| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt(), wide)).max(0.0)
}

/// Student's quantile by halving: slow, and needs no table.
fn student_quantile(part: f64, freedom: f64) -> f64 {
    // The density without its constant, which is found by integrating far out.
    let density = |x: f64| (1.0 + x * x / freedom).powf(-(freedom + 1.0) / 2.0);
    // Substituting x = tan(u) makes the infinite finite.
    let area = |upto: f64| {
        let density = |u: f64| density(u.tan()) / u.cos().powi(2);
        integral(density, upto.atan())
    };
    let half = area(1e6);
    let (mut low, mut high) = (0.0, 1e4);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if 0.5 + 0.5 * area(middle) / half < part { low = middle } else { high = middle }
    }
    high
}

/// Simpson's rule from 0.
fn integral(f: impl Fn(f64) -> f64, upto: f64) -> f64 {
    const STEPS: usize = 600;
    let h = upto / STEPS as f64;
    let inner: f64 = (1..STEPS).map(|n| f(n as f64 * h) * if n % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (f(0.0) + inner + f(upto)) * h / 3.0
}

/// Draws with the same seed each time: the same samples give the same interval.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        // Xorshift64* (Vigna 2016).
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let word = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d);
        ((u128::from(word) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulated turns: a level, drift over the run, noise of each block, noise of each turn, and now and then
    /// a turn that a neighbour spoils.
    struct World {
        rng: Draw,
        blocks: usize,
        turn_noise: f64,
        block_noise: f64,
        drift: f64,
        spoilt: f64,
    }

    impl World {
        fn uniform(&mut self) -> f64 {
            (self.rng.below(1 << 30) as f64 + 0.5) / (1u64 << 30) as f64
        }

        fn normal(&mut self) -> f64 {
            (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
        }

        fn turns(&mut self, effect: f64) -> (Vec<f64>, Vec<f64>) {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for block in 0..self.blocks {
                let shared = 1.0 + self.block_noise * self.normal();
                for place in 0..4 {
                    let at = (block * 4 + place) as f64 / (self.blocks * 4) as f64;
                    let mut value =
                        1000.0 * shared * (1.0 + self.drift * at) * (1.0 + self.turn_noise * self.normal());
                    if self.uniform() < self.spoilt {
                        value *= 0.6;
                    }
                    if place == 0 || place == 3 { a.push(value) } else { b.push(value * effect) }
                }
            }
            (a, b)
        }

        /// In how many of 400 experiments a difference is seen.
        fn found(&mut self, effect: f64, comparisons: usize) -> usize {
            let count = |_| {
                let (a, b) = self.turns(effect);
                usize::from(compare(&a, &b, comparisons).verdict(true) != Verdict::NoDifference)
            };
            (0..400).map(count).sum()
        }
    }

    fn worlds(blocks: usize) -> Vec<World> {
        let world = |n: u64, turn_noise, block_noise, drift, spoilt| World {
            rng: Draw(0x9e37_79b9 + n),
            blocks,
            turn_noise,
            block_noise,
            drift,
            spoilt,
        };
        vec![
            world(1, 0.02, 0.0, 0.0, 0.0),
            world(2, 0.01, 0.05, 0.0, 0.0),
            world(3, 0.01, 0.0, 0.3, 0.0),
            world(4, 0.01, 0.01, 0.0, 0.03),
        ]
    }

    #[test]
    fn the_same_twice_is_no_difference_in_19_of_20() {
        for blocks in [8, 10, 20] {
            for mut world in worlds(blocks) {
                let found = world.found(1.0, 1);
                assert!(found <= 20, "{blocks} blocks: {found} of 400");
            }
        }
    }

    #[test]
    fn a_delay_of_5_percent_is_found_in_19_of_20() {
        for mut world in worlds(20) {
            let found = world.found(1.0 / 1.05, 12);
            assert!(found >= 380, "turn noise {}, drift {}: {found} of 400", world.turn_noise, world.drift);
        }
    }

    #[test]
    fn medians_spread_and_drift() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(spread(&[5.0, 5.0, 5.0]), 0.0);
        assert!((drift(&[1.0, 1.0, 1.0, 1.1, 1.2, 1.2]) - 0.2).abs() < 1e-9);
    }

    #[test]
    fn student_and_widening_agree_with_the_tables() {
        assert!((student_quantile(0.975, 4.0) - 2.776).abs() < 0.001);
        assert!((student_quantile(0.9995, 9.0) - 4.781).abs() < 0.002);
        // Hesterberg's table: n = 5, 95 %: each tail 0.0010; n = 10: 0.0086.
        assert!((widened(0.05, 5) / 2.0 - 0.0010).abs() < 0.0001, "{}", widened(0.05, 5) / 2.0);
        assert!((widened(0.05, 10) / 2.0 - 0.0086).abs() < 0.0002, "{}", widened(0.05, 10) / 2.0);
    }

    #[test]
    fn too_few_turns_say_nothing() {
        let told = compare(&[100.0, 101.0, 100.0, 99.0], &[50.0, 51.0, 50.0, 50.0], 1);
        assert!(!told.enough);
        assert_eq!(told.verdict(true), Verdict::NoDifference);
        assert!((told.ratio - 50.0 / 100.0).abs() < 1e-9);
        assert!(!compare(&[], &[], 1).enough);
    }

    #[test]
    fn which_way_is_better_decides_the_word() {
        let a: Vec<f64> = (0..20).map(|n| 100.0 + f64::from(n % 3)).collect();
        let b: Vec<f64> = a.iter().map(|v| v * 1.2).collect();
        assert_eq!(compare(&a, &b, 1).verdict(true), Verdict::Faster);
        assert_eq!(compare(&a, &b, 1).verdict(false), Verdict::Slower);
        assert_eq!(compare(&b, &a, 1).verdict(true), Verdict::Slower);
    }
}
