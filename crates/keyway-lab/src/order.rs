//! In which order sides take turns, so that none has worse company than another.
//!
//! A side leaves something behind for whoever comes next: a processor that fell asleep meanwhile, a clock that wide
//! instructions slowed down, a drive with a queue of its own. In a Williams square every side has every other one
//! right before it equally often (Williams, *Experimental Designs Balanced for the Estimation of Residual Effects of
//! Treatments*, 1949).

use crate::load::Rng;

/// A row of the square of so many sides, and so on from the first one again: read forwards and backwards, `sides` rows
/// have every two of them beside each other equally often, in either order.
pub(crate) fn row(sides: usize, number: usize) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
    // 0, 1, -1, 2, -2 and so on: no two neighbours are as far apart as two others.
    let zigzag = move |place: usize| if place % 2 == 1 { place.div_ceil(2) } else { sides - place / 2 };
    (0..sides).map(move |place| (zigzag(place) + number) % sides)
}

/// The sides in an order that chance draws: what no square takes out hits either of two sides alike.
pub(crate) fn shuffled(sides: usize, seed: u64) -> Vec<usize> {
    let (mut all, mut rng) = ((0..sides).collect::<Vec<_>>(), Rng::new(seed));
    for place in (1..sides).rev() {
        all.swap(place, rng.below(place as u64 + 1) as usize);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_side_has_every_other_before_it_equally_often() {
        for sides in 1..=9 {
            let mut before = vec![vec![0; sides]; sides];
            let mut at_place = vec![vec![0; sides]; sides];
            for number in 0..sides {
                let one: Vec<usize> = row(sides, number).collect();
                let back: Vec<usize> = row(sides, number).rev().collect();
                one.iter().enumerate().for_each(|(place, side)| at_place[*side][place] += 1);
                for way in [one, back] {
                    way.windows(2).for_each(|pair| before[pair[1]][pair[0]] += 1);
                }
            }
            for (side, (before, places)) in before.iter().zip(&at_place).enumerate() {
                let others = before.iter().enumerate().filter(|(other, _)| *other != side);
                assert!(others.map(|(_, times)| *times).all(|times| times == 2), "{sides}: {before:?}");
                assert!(places.iter().all(|times| *times == 1), "{sides}: {places:?}");
            }
        }
    }

    #[test]
    fn chance_draws_every_order_equally_often() {
        let mut times = std::collections::HashMap::new();
        (0..6000).for_each(|seed| *times.entry(shuffled(3, crate::load::seed_of(&[seed]))).or_insert(0) += 1);
        assert_eq!(times.len(), 6);
        assert!(times.values().all(|times| (850..1150).contains(times)), "{times:?}");
        assert_eq!((shuffled(0, 1), shuffled(1, 1)), (vec![], vec![0]));
    }
}
