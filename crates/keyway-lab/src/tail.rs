//! How long the slowest requests take: what all but one of 10,000 stay below, with an interval.
//!
//! Slow requests come together: a drive that collects garbage, a machine whose neighbour is busy. So what is counted as
//! independent is not a request but a turn (Woodruff's method for quantiles of clusters, 1952): how much the number of slow
//! requests differs from turn to turn says between which two ranks the quantile lies.

use crate::histogram::middle_of;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One of 10,000.
const BEYOND: f64 = 1e-4;
/// Of each turn's requests this part is kept for it.
pub(crate) const KEPT: f64 = 2e-3;
/// With fewer requests beyond it the quantile is chance.
const FEWEST_BEYOND: f64 = 10.0;
/// With fewer turns their differences are.
const FEWEST_TURNS: usize = 16;
/// Student's t for 95 % and fifteen degrees of freedom; more turns need a little less.
const T: f64 = 2.131;

/// What all but one of 10,000 requests stay below.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// In microseconds.
    pub us: f64,
    /// The lower end of its interval, 95 %.
    pub low_us: f64,
    /// The upper end; none where the slowest of all do not tell.
    pub high_us: Option<f64>,
}

/// Of turns' numbers of requests, and their slowest; none where there are too few requests or turns.
pub(crate) fn quantile(turns: &[(u64, &[(u32, u64)])]) -> Option<Tail> {
    let all: u64 = turns.iter().map(|(requests, _)| requests).sum();
    let beyond = all as f64 * BEYOND;
    if beyond < FEWEST_BEYOND || turns.len() < FEWEST_TURNS || turns.iter().any(|(_, slow)| slow.is_empty()) {
        return None;
    }
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for (bucket, n) in turns.iter().flat_map(|(_, slow)| *slow) {
        *counts.entry(*bucket).or_default() += n;
    }
    // The slowest bucket of which so many requests are, or slower ones.
    let at = |rank: f64| {
        let mut seen = 0;
        let reaches = |(_, n): &(&u32, &u64)| {
            seen += **n;
            seen as f64 >= rank
        };
        counts.iter().rev().find(reaches).map(|(bucket, _)| *bucket)
    };
    let bucket = at(beyond)?;
    let slower =
        |slow: &[(u32, u64)]| -> u64 { slow.iter().filter(|(b, _)| *b >= bucket).map(|(_, n)| n).sum() };
    let part = turns.iter().map(|(_, slow)| slower(slow)).sum::<u64>() as f64 / all as f64;
    let squares = turns.iter().map(|(n, slow)| (slower(slow) as f64 - part * *n as f64).powi(2)).sum::<f64>();
    let off = T * (squares * turns.len() as f64 / (turns.len() - 1) as f64).sqrt();
    let us = |bucket: u32| middle_of(bucket) / 1e3;
    Some(Tail {
        us: us(bucket),
        low_us: us(at(beyond + off).or_else(|| counts.keys().next().copied())?),
        high_us: Some(beyond - off).filter(|rank| *rank >= 1.0).and_then(at).map(us),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Recorder;
    use crate::load::Rng;

    fn uniform(rng: &mut Rng) -> f64 {
        (rng.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Turns of requests whose true quantile is known: exponential times, and where they are bunched, turns that are as much
    /// slower as others are faster.
    fn turns(rng: &mut Rng, bunched: bool) -> Vec<(u64, Vec<(u32, u64)>)> {
        let turn = |rng: &mut Rng| {
            let slow = if bunched && uniform(rng) < 0.5 { 2.0 } else { 1.0 };
            let mut recorder = Recorder::default();
            (0..12_000).for_each(|_| recorder.record((-(1.0 - uniform(rng)).ln() * slow * 100_000.0) as u64));
            (12_000, recorder.finish().slowest(KEPT))
        };
        (0..24).map(|_| turn(rng)).collect()
    }

    #[test]
    fn the_interval_holds_the_true_value_however_the_slow_ones_come() {
        let mut rng = Rng::new(7);
        // Of exponential times of mean 100 us; and of halves of means 100 and 200: exp(-x) + exp(-x/2) = 2e-4.
        for (bunched, truth) in [(false, 921.0), (true, 1703.4)] {
            let mut holds = 0;
            for _ in 0..40 {
                let turns = turns(&mut rng, bunched);
                let turns: Vec<(u64, &[(u32, u64)])> = turns.iter().map(|(n, slow)| (*n, &**slow)).collect();
                let found = quantile(&turns).expect("enough");
                assert!(found.low_us <= found.us && found.high_us.is_none_or(|high| found.us <= high));
                // A bucket is a hundredth wide.
                let above = found.high_us.is_none_or(|high| truth <= high * 1.01);
                holds += usize::from(found.low_us <= truth * 1.01 && above);
            }
            assert!(holds >= 35, "{holds} of 40, bunched: {bunched}");
        }
    }

    #[test]
    fn too_few_say_nothing() {
        let slow: &[(u32, u64)] = &[(700, 10)];
        let many: &[(u32, u64)] = &[(700, 1000)];
        assert_eq!(quantile(&[(100, slow); 24]), None, "requests");
        assert_eq!(quantile(&[(1_000_000, slow); 3]), None, "turns");
        assert!(quantile(&[(1_000_000, many); 24]).is_some());
    }
}
