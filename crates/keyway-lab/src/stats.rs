//! Statistics on plain numbers: medians, and what two sides' turns say about each other.
//!
//! The unit is a *block*: two turns of either side that stand beside each other. Turns that lie close together
//! share heat, neighbours and the drive's mood; the ratio is therefore taken inside each block, where
//! all of that cancels, and the centre of the blocks' ratios is told, with an interval
//! ([`crate::signed_rank`]).
//!
//! The intervals of a whole table hold together, with 95 %, however many cells it has (Bonferroni), and however
//! often it was looked at before more was measured: each look has its part of what may be wrong, 1/2, 1/6, 1/12 and
//! so on, which is 1 for all looks that can ever come.

use crate::result::Verdict;
use crate::signed_rank;
pub use crate::signed_rank::Interval;

/// Turns of one side in a block.
pub(crate) const TURNS_PER_BLOCK: usize = 2;

/// How often something in a whole table may be wrong.
const OUTSIDE: f64 = 0.05;

/// The part of that which one of so many comparisons has, when it is looked at for the `look`th time, from 1.
pub(crate) fn outside(comparisons: usize, look: u32) -> f64 {
    let look = f64::from(look.max(1));
    OUTSIDE / comparisons.max(1) as f64 / (look * (look + 1.0))
}

/// How many blocks it takes at least until a table of so many comparisons says anything.
pub fn fewest_blocks(comparisons: usize) -> usize {
    signed_rank::fewest(outside(comparisons, 1))
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
    /// What the interval says, where a change by less than `delta` is none; `more_is_better` for
    /// bandwidth, not for latency.
    pub fn verdict(&self, more_is_better: bool, delta: f64) -> Verdict {
        let Interval { low, high } = self.interval;
        match (low > 1.0 + delta, high < 1.0 - delta) {
            _ if !self.enough => Verdict::Undecided,
            (true, _) if more_is_better => Verdict::Gains,
            (true, _) => Verdict::Costs,
            (_, true) if more_is_better => Verdict::Costs,
            (_, true) => Verdict::Gains,
            _ if low >= 1.0 - delta && high <= 1.0 + delta => Verdict::Equal,
            _ => Verdict::Undecided,
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
/// `2n + 1` of both belong together. `comparisons` is how many verdicts are told together, `look` how often this one
/// was looked at, this time included.
pub fn compare(baseline: &[f64], side: &[f64], comparisons: usize, look: u32) -> Ratio {
    let logs = |turns: &[f64]| -> Vec<f64> {
        blocks(turns).map(|turns| turns.iter().map(|v| v.ln()).sum::<f64>() / turns.len() as f64).collect()
    };
    let positive = baseline.iter().chain(side).all(|v| *v > 0.0);
    let (base, own) = (logs(baseline), logs(side));
    let differences: Vec<f64> = own.iter().zip(&base).map(|(own, base)| own - base).collect();
    if !positive || differences.is_empty() {
        return too_few(baseline, side);
    }
    let (centre, bounds) = signed_rank::centre(&differences, outside(comparisons, look));
    let exp = |i: Interval| Interval { low: i.low.exp(), high: i.high.exp() };
    // Without an interval: what was seen, and 1.
    let seen = || Interval { low: ends(&differences).low.min(0.0), high: ends(&differences).high.max(0.0) };
    // Shown is what the ratio is made of: figures and cost can't disagree.
    let baseline = median(&base).exp();
    Ratio {
        value: baseline * centre.exp(),
        value_interval: exp(signed_rank::centre(&own, OUTSIDE).1.unwrap_or_else(|| ends(&own))),
        baseline,
        ratio: centre.exp(),
        interval: exp(bounds.unwrap_or_else(seen)),
        enough: bounds.is_some(),
    }
}

/// How many blocks it would take to decide, going by the interval that this many gave; none where no number would: the
/// truth seems to lie where the words part.
pub(crate) fn blocks_to_decide(ratio: f64, interval: Interval, blocks: usize, delta: f64) -> Option<usize> {
    let half = (interval.high.ln() - interval.low.ln()) / 2.0;
    let gap =
        [1.0 - delta, 1.0 + delta].iter().map(|edge| (ratio / edge).ln().abs()).fold(f64::INFINITY, f64::min);
    // A tenth more than half the interval's length, since its next centre is not this one.
    let times = (1.1 * half / gap).powi(2);
    (times.is_finite() && times < 400.0).then(|| (times * blocks as f64).ceil() as usize)
}

/// What can be said of turns that make no block, or are of no time: no interval.
fn too_few(baseline: &[f64], side: &[f64]) -> Ratio {
    let divide = |a: f64, b: f64| if b > 0.0 { a / b } else { 1.0 };
    let (base, value_interval) = (ends(baseline), ends(side));
    let interval = Interval {
        low: divide(value_interval.low, base.high).min(1.0),
        high: divide(value_interval.high, base.low).max(1.0),
    };
    let (value, baseline) = (median(side), median(baseline));
    Ratio { value, value_interval, baseline, ratio: divide(value, baseline), interval, enough: false }
}

/// The least and the largest of some values; 0 of none.
fn ends(values: &[f64]) -> Interval {
    Interval {
        low: values.iter().copied().min_by(f64::total_cmp).unwrap_or(0.0),
        high: values.iter().copied().max_by(f64::total_cmp).unwrap_or(0.0),
    }
}

fn blocks(turns: &[f64]) -> impl Iterator<Item = &[f64]> {
    turns.chunks_exact(TURNS_PER_BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::SplitMix64;

    /// Simulated turns: a level, drift over the run, noise that lasts for some turns, noise of each turn, and now and
    /// then a turn that a neighbour spoils.
    struct World {
        rng: SplitMix64,
        /// Of each turn.
        noise: f64,
        /// Of the machine, which each turn hands on to the next by half.
        lasting: f64,
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

        /// More turns of both sides, of which the second is so many times as fast.
        fn turns(&mut self, effect: f64, blocks: usize, a: &mut Vec<f64>, b: &mut Vec<f64>) {
            let mut machine = 0.0;
            for block in 0..blocks {
                for place in 0..4 {
                    machine = 0.5 * machine + self.lasting * self.normal();
                    let at = (block * 4 + place) as f64 / (blocks * 4) as f64;
                    let mut value = 1000.0
                        * (1.0 + machine)
                        * (1.0 + self.drift * at)
                        * (1.0 + self.noise * self.normal());
                    if self.uniform() < self.spoilt {
                        value *= 0.6;
                    }
                    // A B B A, B A A B.
                    if (place == 0 || place == 3) == (block % 2 == 0) {
                        a.push(value)
                    } else {
                        b.push(value * effect)
                    }
                }
            }
        }

        /// What is said in the end of one cell among so many, that is looked at up to `looks` times until it is decided.
        fn said(&mut self, effect: f64, delta: f64, cells: usize, looks: u32) -> Verdict {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            let mut said = Verdict::Undecided;
            for look in 1..=looks {
                let more = if look == 1 { 20 } else { a.len() / TURNS_PER_BLOCK / 2 };
                self.turns(effect, more, &mut a, &mut b);
                said = compare(&a, &b, cells, look).verdict(true, delta);
                if said != Verdict::Undecided {
                    break;
                }
            }
            said
        }
    }

    fn worlds() -> [World; 4] {
        let world = |n: u64, noise, lasting, drift, spoilt| World {
            rng: SplitMix64::new(n),
            noise,
            lasting,
            drift,
            spoilt,
        };
        [
            world(1, 0.02, 0.0, 0.0, 0.0),
            world(2, 0.01, 0.05, 0.0, 0.0),
            world(3, 0.01, 0.0, 0.3, 0.0),
            world(4, 0.10, 0.02, 0.1, 0.03),
        ]
    }

    /// In how many of so many tables a word is false, where all that may be said is `right`, or that it is undecided.
    fn false_words(
        world: &mut World,
        (effect, delta): (f64, f64),
        right: Verdict,
        cells: usize,
        looks: u32,
        tables: usize,
    ) -> usize {
        let is_false = |said| said != right && said != Verdict::Undecided;
        let table = |world: &mut World| (0..cells).any(|_| is_false(world.said(effect, delta, cells, looks)));
        (0..tables).filter(|_| table(world)).count()
    }

    /// One of twenty may be, and of so many tables that is this many at most, but for one time in a thousand.
    fn at_most(tables: usize) -> usize {
        let tables = tables as f64;
        (tables / 20.0 + 3.1 * (tables * 0.05 * 0.95).sqrt()).ceil() as usize
    }

    /// With one cell, with twelve, and with more than any workload has; looked at once, and until something is said.
    /// However small a change would count, none is told where there is none.
    #[test]
    fn of_the_same_twice_one_table_of_twenty_tells_a_change_at_most() {
        for mut world in worlds() {
            for (cells, looks, tables) in [(1, 1, 400), (12, 1, 200), (216, 1, 40), (3, 5, 100)] {
                let found = false_words(&mut world, (1.0, 0.0), Verdict::Equal, cells, looks, tables);
                let most = at_most(tables);
                assert!(
                    found <= most,
                    "noise {}, {cells} cells, {looks} looks: {found} of {tables}",
                    world.noise
                );
            }
        }
    }

    /// Half the change that counts is not told as a cost, twice of it not as equal, and at the edge neither is told, though
    /// it is looked at again and again until something is.
    #[test]
    fn planted_costs_are_told_as_what_they_are_with_stopping_too() {
        for mut world in worlds() {
            for (effect, right) in
                [(0.985, Verdict::Equal), (0.97, Verdict::Undecided), (0.94, Verdict::Costs)]
            {
                let found = false_words(&mut world, (effect, 0.03), right, 3, 5, 100);
                assert!(found <= at_most(100), "noise {}, {effect}: {found} of 100", world.noise);
            }
        }
    }

    /// What there is to find is found: the quieter the machine, the sooner.
    #[test]
    fn twice_the_change_that_counts_is_found() {
        for mut world in worlds() {
            let looks = if world.noise < 0.05 { 5 } else { 10 };
            for (effect, right) in [(0.94, Verdict::Costs), (1.0, Verdict::Equal)] {
                let found = (0..40).filter(|_| world.said(effect, 0.03, 3, looks) == right).count();
                assert!(found >= 38, "noise {}, {effect}: {found} of 40", world.noise);
            }
        }
    }

    #[test]
    fn how_much_more_it_takes() {
        let interval = |low, high| Interval { low, high };
        // 1 ± 4 % by 20 blocks: to be within 3 % it takes (4/3)² times as many, and a fifth more.
        let more = blocks_to_decide(1.0, interval(1.0 / 1.04, 1.04), 20, 0.03).expect("a number");
        assert!((38..=48).contains(&more), "{more}");
        assert_eq!(blocks_to_decide(0.97, interval(0.9, 1.05), 20, 0.03), None);
    }

    #[test]
    fn figures_and_cost_are_of_one_piece() {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        worlds()[3].turns(0.9, 30, &mut a, &mut b);
        let told = compare(&a, &b, 12, 1);
        assert!((told.value / told.baseline - told.ratio).abs() < 1e-9);
        assert!(told.interval.low < told.ratio && told.ratio < told.interval.high);
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
    fn too_few_turns_say_nothing() {
        let told = compare(&[100.0, 101.0, 100.0, 99.0], &[50.0, 51.0, 50.0, 50.0], 1, 1);
        assert!(!told.enough);
        assert_eq!(told.verdict(true, 0.03), Verdict::Undecided);
        assert!((told.ratio - 0.5).abs() < 0.01);
        assert!(!compare(&[], &[], 1, 1).enough);
        assert_eq!((fewest_blocks(1), fewest_blocks(24), fewest_blocks(216)), (7, 11, 15));
    }

    #[test]
    fn which_way_is_better_decides_the_word() {
        let a: Vec<f64> = (0..20).map(|n| 100.0 + f64::from(n % 3)).collect();
        let b: Vec<f64> = a.iter().map(|v| v * 1.2).collect();
        assert_eq!(compare(&a, &b, 1, 1).verdict(true, 0.03), Verdict::Gains);
        assert_eq!(compare(&a, &b, 1, 1).verdict(false, 0.03), Verdict::Costs);
        assert_eq!(compare(&b, &a, 1, 1).verdict(true, 0.03), Verdict::Costs);
        assert_eq!(compare(&a, &a, 1, 1).verdict(true, 0.03), Verdict::Equal);
    }
}
