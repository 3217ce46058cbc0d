//! How long turns are where time is short: as long as planned, or so that each cell gets its part of what is left.

use std::cell::RefCell;
use std::time::{Duration, Instant};

/// A slice that is shorter than this measures how a turn begins.
pub(crate) const SHORTEST_SLICE: f64 = 0.025;

/// What a turn takes beside its slice, before one was made.
const BESIDE: Duration = Duration::from_millis(5);

/// The turns of a workload, and how long they took.
pub(crate) struct Pacing {
    planned: Duration,
    until: Option<Instant>,
    /// Turns of a cell in the first look, all sides together.
    turns: usize,
    cells: RefCell<Vec<Paced>>,
}

/// One cell's turns.
#[derive(Debug, Clone, Copy, Default)]
struct Paced {
    slice: Option<Duration>,
    took: Duration,
    made: u32,
}

impl Pacing {
    /// Slices of that length for so many cells, each of so many turns, by that moment at the latest.
    pub(crate) fn new(planned: Duration, until: Option<Instant>, cells: usize, turns: usize) -> Self {
        Self { planned, until, turns: turns.max(1), cells: RefCell::new(vec![Paced::default(); cells]) }
    }

    /// How long a slice of that cell is: the same for all its turns.
    pub(crate) fn slice(&self, cell: usize) -> Duration {
        if let Some(slice) = self.cells.borrow().get(cell).and_then(|paced| paced.slice) {
            return slice;
        }
        let slice = self.until.map_or(self.planned, |until| {
            let left = until.saturating_duration_since(Instant::now());
            let open = |paced: &&Paced| paced.slice.is_none();
            let to_come = self.cells.borrow().iter().skip(cell).filter(open).count().max(1) * self.turns;
            let each = (left / to_come as u32).saturating_sub(self.beside());
            each.max(Duration::from_secs_f64(SHORTEST_SLICE)).min(self.planned)
        });
        if let Some(paced) = self.cells.borrow_mut().get_mut(cell) {
            paced.slice = Some(slice);
        }
        slice
    }

    /// That cell's turns were made before: what comes beside them is as long as planned.
    pub(crate) fn keep(&self, cell: usize) {
        if let Some(paced) = self.cells.borrow_mut().get_mut(cell) {
            paced.slice = Some(self.planned);
        }
    }

    /// What a turn took beside its slice, until now.
    fn beside(&self) -> Duration {
        let cells = self.cells.borrow();
        let made: u32 = cells.iter().map(|paced| paced.made).sum();
        let took: Duration = cells.iter().map(|paced| paced.took).sum();
        let slices: Duration = cells.iter().map(|paced| paced.slice.unwrap_or_default() * paced.made).sum();
        if made == 0 { BESIDE } else { took.saturating_sub(slices) / made }
    }

    /// A turn of that cell took so long, everything included.
    pub(crate) fn took(&self, cell: usize, time: Duration) {
        if let Some(paced) = self.cells.borrow_mut().get_mut(cell) {
            paced.took += time;
            paced.made += 1;
        }
    }

    /// How long a turn of that cell takes, everything included.
    pub(crate) fn turn(&self, cell: usize) -> Duration {
        let paced = self.cells.borrow().get(cell).copied().unwrap_or_default();
        if paced.made == 0 { self.planned } else { paced.took / paced.made }
    }

    /// Whether slices were made shorter than planned.
    pub(crate) fn is_cut(&self) -> bool {
        self.cells.borrow().iter().any(|paced| paced.slice.is_some_and(|slice| slice < self.planned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn what_has_time_is_as_planned_and_what_has_none_is_the_shortest() {
        let long = Instant::now() + 1_000_000 * MS;
        for until in [None, Some(long)] {
            let pacing = Pacing::new(50 * MS, until, 3, 40);
            assert_eq!(pacing.slice(0), 50 * MS);
            assert!(!pacing.is_cut());
        }
        let late = Pacing::new(50 * MS, Some(Instant::now()), 3, 40);
        assert_eq!(late.slice(2), 25 * MS);
        assert!(late.is_cut());
    }

    /// Three cells of ten turns in 1.5 s: 50 ms for a turn and what is beside it. What the first cell took is known of
    /// the second, and a cell's turns are all of one length.
    #[test]
    fn each_cell_gets_its_part_of_what_is_left() {
        let pacing = Pacing::new(200 * MS, Some(Instant::now() + 1500 * MS), 3, 10);
        let first = pacing.slice(0);
        assert!(first > 40 * MS && first <= 45 * MS, "{first:?}");
        (0..10).for_each(|_| pacing.took(0, first + 2 * MS));
        assert_eq!(pacing.slice(0), first);
        let second = pacing.slice(1);
        // Nothing was waited for here: two cells have the whole time, less 2 ms for each turn.
        assert!(second > 60 * MS && second <= 73 * MS, "{second:?}");
        assert_eq!(pacing.turn(0), first + 2 * MS);
    }
}
