//! Which block comes next.

use crate::cell::{Cell, Direction, Mix, Pattern};
pub(crate) use keyway_store::SplitMix64 as Rng;
use std::sync::atomic::{AtomicU64, Ordering};

/// A seed for what the words name. Each word is mixed before the next one comes: the generator walks in equal steps, and
/// seeds that lie steps apart would give one sequence, shifted.
pub(crate) fn seed_of(words: &[u64]) -> u64 {
    words.iter().fold(0, |seed, word| Rng::new(seed ^ word).next())
}

/// The next block of a queue in order, shared by whoever keeps that queue up.
pub(super) struct Cursor {
    start: u64,
    from: u64,
    touched: AtomicU64,
}

impl Cursor {
    /// Where queue number `thread` of a cell starts: the queues are spread over the span, so that
    /// two of them never read the same blocks one after the other. All go on at block `from`, where
    /// the turn before ended, whosever it was: then a block comes again only after all others.
    pub(super) fn new(cell: &Cell, thread: u32, from: u64) -> Self {
        let share = u128::from(blocks(cell)) * u128::from(thread) / u128::from(cell.threads.max(1));
        Self { start: share as u64, from, touched: AtomicU64::new(0) }
    }

    fn next(&self, blocks: u64) -> u64 {
        let before = self.touched.fetch_add(1, Ordering::Relaxed);
        self.start.wrapping_add(self.from).wrapping_add(before) % blocks
    }

    /// Tells where the next turn goes on.
    pub(super) fn leave(&self, place: &AtomicU64) {
        place.fetch_max(self.from + self.touched.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

fn blocks(cell: &Cell) -> u64 {
    (cell.span_bytes / cell.block_bytes.max(1)).max(1)
}

/// The byte at which the next request starts, and its direction.
pub(super) fn next(cell: &Cell, cursor: &Cursor, rng: &mut Rng) -> (u64, Direction) {
    let blocks = blocks(cell);
    let block = match cell.pattern {
        Pattern::Sequential => cursor.next(blocks),
        Pattern::Random => rng.below(blocks),
    };
    let direction = match cell.mix {
        Mix::Read => Direction::Read,
        Mix::Write => Direction::Write,
        mix if rng.below(100) < u64::from(mix.reads_percent()) => Direction::Read,
        _ => Direction::Write,
    };
    (block * cell.block_bytes, direction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(pattern: Pattern, mix: Mix, threads: u32) -> Cell {
        let name = String::new();
        Cell { name, pattern, mix, block_bytes: 512, queue_depth: 1, threads, span_bytes: 512 * 10 }
    }

    #[test]
    fn a_sequence_starts_again_at_the_end_and_queues_are_spread() {
        let cell = cell(Pattern::Sequential, Mix::Read, 2);
        let (cursor, mut rng) = (Cursor::new(&cell, 1, 20), Rng::new(1));
        let all: Vec<u64> = (0..7).map(|_| next(&cell, &cursor, &mut rng).0 / 512).collect();
        assert_eq!(all, [5, 6, 7, 8, 9, 0, 1]);
        let place = AtomicU64::new(3);
        cursor.leave(&place);
        assert_eq!(place.into_inner(), 27);
    }

    /// As many seeds as there are turns, and as many draws as a turn makes.
    #[test]
    fn seeds_of_neighbours_are_no_steps_apart() {
        let seeds = (0..8u64).flat_map(|a| (0..8).map(move |b| seed_of(&[a, b])));
        let draws = seeds.flat_map(|seed| {
            let mut rng = Rng::new(seed);
            (0..2000).map(move |_| rng.next())
        });
        assert_eq!(draws.collect::<std::collections::HashSet<_>>().len(), 64 * 2000);
    }

    #[test]
    fn random_blocks_reach_every_block_alike() {
        let cell = cell(Pattern::Random, Mix::Mix70, 1);
        let (cursor, mut rng) = (Cursor::new(&cell, 0, 0), Rng::new(7));
        let (mut seen, mut reads) = ([0u32; 10], 0);
        for _ in 0..20_000 {
            let (at, direction) = next(&cell, &cursor, &mut rng);
            seen[(at / 512) as usize] += 1;
            reads += u32::from(direction == Direction::Read);
        }
        assert!(seen.iter().all(|n| (1800..2200).contains(n)), "{seen:?}");
        assert!((13_700..14_300).contains(&reads), "{reads}");
    }
}
