//! Wilcoxon's signed ranks: where the centre of some differences lies, without assuming how they are distributed.
//!
//! All that is assumed is that a difference is as likely to miss the centre by some amount upwards as
//! downwards. That holds for the blocks of two sides that are the same, whatever a neighbour, heat or a cache
//! does to single turns, since it does so to either side alike. The interval then covers exactly as often as it
//! says, for any number of blocks and any level (Hodges and Lehmann, *Estimates of Location Based on Rank
//! Tests*, 1963; Hollander, Wolfe and Chicken, *Nonparametric Statistical Methods*, 2014, §3.2 and 3.3).

/// Two numbers between which the truth lies, as likely as was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Up to so many differences the distribution of the ranks is computed; beyond, it is as good as normal.
const EXACT: usize = 80;

/// The centre of the differences, and an interval that leaves it outside with this probability; no
/// interval where there are too few of them to say so.
pub(crate) fn centre(differences: &[f64], outside: f64) -> (f64, Option<Interval>) {
    let mut averages = Vec::with_capacity(differences.len() * (differences.len() + 1) / 2);
    for (n, one) in differences.iter().enumerate() {
        averages.extend(differences.iter().take(n + 1).map(|other| f64::midpoint(*one, *other)));
    }
    averages.sort_by(f64::total_cmp);
    let cut = cut(differences.len(), outside);
    let bound = |from_below: bool| {
        let place = cut.checked_sub(1)?;
        if from_below { averages.get(place) } else { averages.iter().rev().nth(place) }.copied()
    };
    let interval = bound(true).zip(bound(false)).map(|(low, high)| Interval { low, high });
    (middle(&averages), interval)
}

/// The middle of values in their order, the mean of two; 0 of none.
fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    let at = |n: usize| sorted.get(n).copied().unwrap_or(0.0);
    if sorted.len() % 2 == 1 { at(half) } else { f64::midpoint(at(half.wrapping_sub(1)), at(half)) }
}

/// How many differences it takes at least until there is an interval.
pub(crate) fn fewest(outside: f64) -> usize {
    (1..EXACT).find(|n| cut(*n, outside) > 0).unwrap_or(EXACT)
}

/// The average from either end that bounds the interval, counted from 1; 0 where none is far enough out.
fn cut(n: usize, outside: f64) -> usize {
    let tail = outside / 2.0;
    if n > EXACT {
        let n = n as f64;
        let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        let middle = n * (n + 1.0) / 4.0;
        // One place further out for what the normal distribution leaves over.
        return (middle - normal_quantile(1.0 - tail) * deviation - 1.0).max(0.0) as usize;
    }
    let mut sum = 0.0;
    let below = ranks(n).into_iter().take_while(|chance| {
        sum += chance;
        sum <= tail
    });
    below.count()
}

/// The chance of each sum of the ranks 1 to `n` that are above the centre, where each is so for one time of two.
fn ranks(n: usize) -> Vec<f64> {
    let mut chances = vec![1.0];
    for rank in 1..=n {
        let mut next = vec![0.0; chances.len() + rank];
        for (sum, chance) in chances.iter().enumerate() {
            for to in [sum, sum + rank] {
                if let Some(at) = next.get_mut(to) {
                    *at += chance / 2.0;
                }
            }
        }
        chances = next;
    }
    chances
}

/// The normal distribution's quantile, by halving the integral of its density.
fn normal_quantile(part: f64) -> f64 {
    const STEPS: usize = 400;
    // Simpson's rule from 0.
    let area = |upto: f64| {
        let h = upto / STEPS as f64;
        let density = |n: usize| (-(n as f64 * h).powi(2) / 2.0).exp();
        let inner: f64 = (1..STEPS).map(|n| density(n) * if n % 2 == 1 { 4.0 } else { 2.0 }).sum();
        (1.0 + inner + density(STEPS)) * h / 3.0 / std::f64::consts::TAU.sqrt()
    };
    let (mut low, mut high) = (0.0, 12.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if 0.5 + area(middle) < part { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hollander, Wolfe and Chicken, table A.4: the upper tail of the sum of ranks.
    #[test]
    fn ranks_are_as_in_the_books() {
        let tail = |n: usize, from: usize| ranks(n).iter().skip(from).sum::<f64>();
        assert!((tail(5, 15) - 0.031).abs() < 5e-4);
        assert!((tail(10, 47) - 0.024).abs() < 5e-4, "{}", tail(10, 47));
        assert!((tail(10, 50) - 0.010).abs() < 5e-4, "{}", tail(10, 50));
        assert!((normal_quantile(0.975) - 1.959_964).abs() < 1e-5);
        assert!((normal_quantile(0.999_9) - 3.719_016).abs() < 1e-5);
    }

    /// With ten differences the 95 % interval leaves out eight averages at either end (table A.4: 0.024 beyond 47,
    /// which is the ninth from the end).
    #[test]
    fn the_interval_of_ten() {
        let differences: Vec<f64> = (1..=10).map(f64::from).collect();
        let (centre, interval) = centre(&differences, 0.05);
        let interval = interval.expect("ten are enough");
        let mut averages: Vec<f64> =
            (1..=10).flat_map(|a| (1..=a).map(move |b| f64::from(a + b) / 2.0)).collect();
        averages.sort_by(f64::total_cmp);
        assert_eq!(centre, 5.5);
        assert_eq!((interval.low, interval.high), (averages[8], averages[55 - 9]));
    }

    #[test]
    fn few_differences_say_nothing_and_many_say_what_the_normal_says() {
        assert_eq!(fewest(0.05), 6);
        assert_eq!(fewest(0.05 / 216.0), 14);
        assert!(centre(&[1.0; 5], 0.05).1.is_none());
        assert_eq!(centre(&[1.0; 6], 0.05).1, Some(Interval { low: 1.0, high: 1.0 }));
        assert_eq!(centre(&[], 0.05), (0.0, None));
        let exact = cut(EXACT, 1e-4) as f64 / (EXACT * (EXACT + 1) / 2) as f64;
        let normal = cut(EXACT + 1, 1e-4) as f64 / ((EXACT + 1) * (EXACT + 2) / 2) as f64;
        assert!((exact - normal).abs() < 0.01, "{exact} and {normal}");
    }
}
