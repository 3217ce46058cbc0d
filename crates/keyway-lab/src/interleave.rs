//! Turns: every entrant runs every cell, in one order and then in the other (A B B A), and nobody has worse company.

use crate::error::LabError;
use crate::load::seed_of;
use crate::order;
use crate::result::{Sample, Series};
use crate::tail;
use crate::workload::{Turns, Workload};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Which turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Number of the cell.
    pub cell: usize,
    /// Number of the entrant; 0 is the baseline.
    pub entrant: usize,
    /// Number of the run; `None` while the runs are made that are thrown away.
    pub run: Option<u32>,
    /// One of its own: no turn touches the blocks of another, neither its own side's nor a neighbour's.
    pub seed: u64,
}

/// Told of each workload and of each turn before it begins.
pub trait Watch {
    /// This workload begins.
    fn workload(&self, _workload: &Workload) {}
    /// This turn begins; so many of so many are done.
    fn turn(&self, slot: Slot, done: usize, all: usize);
}

/// Nobody watches.
impl Watch for () {
    fn turn(&self, _: Slot, _: usize, _: usize) {}
}

/// What came of it.
pub struct Outcome {
    /// A series per cell and entrant, cells first.
    pub series: Vec<Series>,
    /// What was not done, in words; empty when all was.
    pub missing: Vec<String>,
    /// Why it ended early.
    pub error: Option<LabError>,
}

/// Who takes turns at what.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'a> {
    /// Its name.
    pub workload: &'a str,
    /// The names of its cells.
    pub cells: &'a [String],
    /// Those who take turns; the first is the baseline.
    pub entrants: &'a [String],
    /// Draws the orders: another one where a cell is measured on.
    pub seed: u64,
}

/// Runs everything. `turn` makes one turn of a slice's length.
///
/// A turn that fails or is stopped ends it; what was measured until then is in the outcome.
pub fn interleave(
    sides: Sides<'_>,
    turns: Turns,
    stop: &AtomicBool,
    watch: &dyn Watch,
    mut turn: impl FnMut(Slot) -> Result<Sample, LabError>,
) -> Outcome {
    let Sides { workload, cells, entrants, seed } = sides;
    let mut series: Vec<Series> = cells
        .iter()
        .flat_map(|cell| {
            entrants.iter().map(|target| Series {
                workload: workload.to_owned(),
                cell: cell.clone(),
                target: target.clone(),
                samples: Vec::new(),
                latency: Default::default(),
            })
        })
        .collect();
    let order: Vec<Slot> = schedule(cells.len(), entrants.len(), turns, seed);
    let (mut missing, mut error) = (Vec::new(), None);
    for (done, slot) in order.iter().enumerate() {
        watch.turn(*slot, done, order.len());
        let pause = turns.pause_seconds > 0.0 && done > 0 && starts_cell(&order, done);
        let rested = !pause || rest(Duration::from_secs_f64(turns.pause_seconds), stop);
        let sample = if rested { turn(*slot) } else { Err(LabError::Stopped) };
        match sample {
            Ok(mut sample) => {
                let Some(run) = slot.run else { continue };
                sample.run = run;
                if let Some(series) = series.get_mut(slot.cell * entrants.len() + slot.entrant) {
                    series.latency.merge(&sample.latency);
                    sample.slowest = sample.latency.slowest(tail::KEPT);
                    sample.latency = Default::default();
                    series.samples.push(sample);
                }
            }
            Err(e) => {
                error = Some(e);
                break;
            }
        }
    }
    if error.is_some() {
        let full = (turns.runs * turns.slices) as usize;
        for series in &series {
            if series.samples.len() < full {
                let (cell, target) = (&series.cell, &series.target);
                missing.push(format!("{cell} on {target}: {} of {full} turns done", series.samples.len()));
            }
        }
    }
    Outcome { series, missing, error }
}

/// All turns in their order: cell by cell, run by run. Every two slices have an order and its reverse, which are one row
/// of a square ([`order::row`]). Once through the square, each entrant was the first equally often, whatever the drive
/// is like at first, cold or hot, and came after each other one equally often, whatever that leaves behind. Which
/// entrant is which in the square, chance draws each time: nobody stays between the same two.
fn schedule(cells: usize, entrants: usize, turns: Turns, seed: u64) -> Vec<Slot> {
    let mut slots = Vec::new();
    for cell in 0..cells {
        let discarded = (0..turns.discarded.min(1)).map(|_| (None, 1));
        let counted = (0..turns.runs).map(|run| (Some(run), turns.slices));
        let mut number = 0;
        for (run, slices) in discarded.chain(counted) {
            for slice in 0..slices {
                let (row, square) = (number / 2, number / 2 / entrants.max(1));
                let drawn = order::shuffled(entrants, seed_of(&[seed, cell as u64, square as u64]));
                let slot = |place: usize| {
                    let entrant = drawn.get(place).copied().unwrap_or(place);
                    let of_run = run.map_or(0, |r| u64::from(r) + 1);
                    let seed = seed_of(&[cell as u64, of_run, u64::from(slice), entrant as u64]);
                    Slot { cell, entrant, run, seed }
                };
                if number % 2 == 0 {
                    slots.extend(order::row(entrants, row).map(slot));
                } else {
                    slots.extend(order::row(entrants, row).rev().map(slot));
                }
                number += usize::from(run.is_some());
            }
        }
    }
    slots
}

/// Whether a new cell starts here.
fn starts_cell(order: &[Slot], at: usize) -> bool {
    let cell = |n: usize| order.get(n).map(|p| p.cell);
    cell(at) != cell(at.wrapping_sub(1))
}

/// Sleeps; says whether nobody stopped it.
fn rest(time: Duration, stop: &AtomicBool) -> bool {
    let until = Instant::now() + time;
    while Instant::now() < until {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50).min(until.saturating_duration_since(Instant::now())));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(runs: u32, slices: u32, discarded: u32) -> Turns {
        Turns { runs, seconds: 0.0, pause_seconds: 0.0, discarded, slices }
    }

    fn names(words: &[&str]) -> Vec<String> {
        words.iter().map(|w| (*w).to_owned()).collect()
    }

    #[test]
    fn an_order_and_its_reverse() {
        let order: Vec<_> = schedule(1, 3, turns(2, 2, 1), 7).iter().map(|p| (p.entrant, p.run)).collect();
        let (thrown, counted) = order.split_at(3);
        assert!(thrown.iter().all(|p| p.1.is_none()));
        for two in counted.chunks(6) {
            let (one, back) = two.split_at(3);
            assert!(one.iter().eq(back.iter().rev()), "{two:?}");
        }
    }

    /// In the long run each of two has a third one, and the other, right before it equally often; and neither which two
    /// begin nor what comes after what is the same each time.
    #[test]
    fn nobody_has_worse_company() {
        for entrants in 2..=5 {
            for seed in 0..20 {
                let order = schedule(1, entrants, turns(50, 4, 0), seed);
                let mut after = vec![vec![0i32; entrants]; entrants];
                order.windows(2).for_each(|two| after[two[1].entrant][two[0].entrant] += 1);
                let others = || {
                    let pairs = after.iter().enumerate();
                    pairs.flat_map(|(side, after)| {
                        after
                            .iter()
                            .enumerate()
                            .filter(move |(other, _)| *other != side)
                            .map(|(_, times)| *times)
                    })
                };
                let each = others().sum::<i32>() / others().count() as i32;
                assert!(others().all(|times| (times - each).abs() <= each / 8 + 4), "{entrants}: {after:?}");
            }
        }
        let firsts =
            |seed| schedule(1, 4, turns(5, 4, 0), seed).iter().map(|p| p.entrant).collect::<Vec<_>>();
        assert_ne!(firsts(1), firsts(2));
    }

    #[test]
    fn rests_lie_between_cells() {
        let order = schedule(3, 2, turns(2, 2, 1), 0);
        let starts: Vec<usize> = (1..order.len()).filter(|at| starts_cell(&order, *at)).collect();
        // Two turns that are thrown away and eight that count.
        assert_eq!(starts, [10, 20]);
    }

    #[test]
    fn as_long_is_planned_as_it_takes() {
        let mut workload = crate::workload::find("quick").expect("shipped");
        workload.turns.pause_seconds = 0.0;
        let crate::workload::Procedure::Requests(requests) = &workload.kind else { panic!("requests") };
        let cells: Vec<String> = requests.cells.iter().map(|cell| cell.name.clone()).collect();
        let stop = AtomicBool::new(false);
        let mut made = 0;
        let sides = names(&["one", "two", "three"]);
        let of = Sides { workload: "w", cells: &cells, entrants: &sides, seed: 0 };
        interleave(of, workload.turns, &stop, &(), |_| {
            made += 1;
            Ok(Sample { seconds: 1.0, ..Sample::default() })
        });
        let slice = workload.turns.seconds / f64::from(workload.turns.slices);
        let planned = workload.planned(sides.len()).as_secs_f64();
        assert!((planned - f64::from(made) * slice).abs() < 1e-6, "{planned} for {made} turns of {slice}");
        // A rest goes with each cell, however many sides it has.
        workload.turns.pause_seconds = 5.0;
        let rests = workload.planned(sides.len()).as_secs_f64() - planned;
        assert!((rests - 5.0 * cells.len() as f64).abs() < 1e-6, "{rests}");
    }

    #[test]
    fn each_entrant_is_first_equally_often_and_no_seed_comes_twice() {
        for entrants in 2..=4 {
            let order = schedule(2, entrants, turns(3, 2 * entrants as u32, 1), 5);
            let mut first = vec![0; entrants];
            let counted: Vec<_> = order.iter().filter(|p| p.run.is_some()).collect();
            counted.chunks(entrants).for_each(|slice| first[slice[0].entrant] += 1);
            assert_eq!(first, vec![12; entrants]);
            for slice in counted.chunks(entrants) {
                let mut all: Vec<_> = slice.iter().map(|p| p.entrant).collect();
                all.sort_unstable();
                assert_eq!(all, (0..entrants).collect::<Vec<_>>());
            }
            let seeds: std::collections::HashSet<_> = order.iter().map(|p| p.seed).collect();
            assert_eq!(seeds.len(), order.len());
        }
    }

    #[test]
    fn what_was_measured_before_an_error_is_kept_and_the_rest_named() {
        let stop = AtomicBool::new(false);
        let mut made = 0;
        let (cells, entrants) = (names(&["one", "two"]), names(&["plain", "other"]));
        // The second cell begins with its baseline.
        let begins =
            |seed: &u64| schedule(2, 2, turns(2, 2, 1), *seed).get(12).is_some_and(|p| p.entrant == 0);
        let seed = (0..).find(begins).expect("one of two");
        let sides = Sides { workload: "w", cells: &cells, entrants: &entrants, seed };
        let outcome = interleave(sides, turns(2, 2, 1), &stop, &(), |_| {
            made += 1;
            if made > 13 { Err(LabError::Stopped) } else { Ok(Sample { seconds: 1.0, ..Sample::default() }) }
        });
        let counts: Vec<_> = outcome.series.iter().map(|s| s.samples.len()).collect();
        // 2 thrown away, 8 counted, then 2 thrown away and 1 counted.
        assert_eq!(counts, [4, 4, 1, 0]);
        assert_eq!(outcome.missing, ["two on plain: 1 of 4 turns done", "two on other: 0 of 4 turns done"]);
        assert!(matches!(outcome.error, Some(LabError::Stopped)));
        assert_eq!(outcome.series[0].samples.iter().map(|s| s.run).collect::<Vec<_>>(), [0, 0, 1, 1]);
    }
}
