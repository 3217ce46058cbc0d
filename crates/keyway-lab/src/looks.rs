//! Measures on where a first look left something undecided, until it is decided or the time is up.

use crate::error::LabError;
use crate::interleave::{Outcome, Sides, Slot, Watch, interleave};
use crate::judge::{CellFacts, EntrantFacts, Judging, judge};
use crate::load::seed_of;
use crate::result::{Comparison, Flag, Sample, Series, Verdict};
use crate::stats::{Interval, TURNS_PER_BLOCK, blocks_to_decide};
use crate::workload::{Turns, Workload};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A further look is worth it from so many blocks on: each has less of what may be wrong than the one before.
const FEWEST_MORE: usize = 4;

/// What comes takes a little longer than what was, at times.
const TAKES: f64 = 1.05;

/// What is measured, and for how long at most.
pub(crate) struct Looks<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) facts: &'a mut [CellFacts],
    pub(crate) entrants: &'a [EntrantFacts],
    pub(crate) names: &'a [String],
    pub(crate) judging: Judging,
    /// How long a turn of that cell takes, its ramp included: a busy machine, or a request that takes longer than a turn,
    /// makes it longer than it was planned.
    pub(crate) turn: &'a dyn Fn(usize) -> Duration,
}

impl Looks<'_> {
    /// Judges what was measured, and has `turn` make more turns for what isn't decided.
    pub(crate) fn decide(
        &mut self,
        outcome: &mut Outcome,
        stop: &AtomicBool,
        watch: &dyn Watch,
        mut turn: impl FnMut(Slot) -> Result<Sample, LabError>,
    ) -> Vec<Comparison> {
        let until = self.judging.until.unwrap_or_else(|| Instant::now() + self.judging.extra);
        let of_cell = |series: &Series| series.cell.clone();
        let cells: Vec<String> =
            outcome.series.iter().step_by(self.names.len().max(1)).map(of_cell).collect();
        let cell_of = |row: &Comparison| cells.iter().position(|name| *name == row.cell);
        loop {
            let mut rows = judge(&outcome.series, self.facts, self.entrants, self.judging);
            for row in &mut rows {
                row.seconds_to_decide = cell_of(row).and_then(|cell| self.seconds_to_decide(row, cell));
            }
            let left = until.saturating_duration_since(Instant::now());
            let Some((cell, runs)) = self.next(&rows, &cell_of, left).filter(|_| outcome.error.is_none())
            else {
                return rows;
            };
            self.measure_on(cell, runs, outcome, stop, watch, &mut turn);
            if let Some(facts) = self.facts.get_mut(cell) {
                facts.look += 1;
            }
        }
    }

    /// Blocks in a run.
    fn blocks_per_run(&self) -> usize {
        (self.workload.turns.slices as usize / TURNS_PER_BLOCK).max(1)
    }

    /// How long a block of that cell takes, all sides together.
    fn block(&self, cell: usize) -> Duration {
        (self.turn)(cell) * (TURNS_PER_BLOCK * self.names.len()) as u32
    }

    fn blocks_needed(row: &Comparison) -> Option<usize> {
        let interval = Interval { low: row.ratio_low, high: row.ratio_high };
        blocks_to_decide(row.ratio, interval, row.turns / TURNS_PER_BLOCK, row.delta)
    }

    fn seconds_to_decide(&self, row: &Comparison, cell: usize) -> Option<f64> {
        let open = row.primary && row.verdict == Verdict::Undecided && row.target != row.baseline;
        let open = open && !row.flags.contains(&Flag::TooFewCores);
        let needed = open.then(|| Self::blocks_needed(row)).flatten()?;
        let more = needed.saturating_sub(row.turns / TURNS_PER_BLOCK).max(FEWEST_MORE);
        Some(self.block(cell).as_secs_f64() * more as f64)
    }

    /// The cell that is decided soonest, and how many runs more it gets; none where no time is left for one.
    fn next(
        &self,
        rows: &[Comparison],
        cell_of: &dyn Fn(&Comparison) -> Option<usize>,
        left: Duration,
    ) -> Option<(usize, u32)> {
        let open = rows
            .iter()
            .filter(|row| row.primary && row.verdict == Verdict::Undecided && row.target != row.baseline)
            .filter(|row| !row.flags.contains(&Flag::TooFewCores));
        let soonest = open.min_by(|a, b| {
            let order = |row: &Comparison| row.seconds_to_decide.unwrap_or(f64::INFINITY);
            order(a).total_cmp(&order(b))
        })?;
        let cell = cell_of(soonest)?;
        let have = soonest.turns / TURNS_PER_BLOCK;
        // Half as many again, or what is needed, where that is more: but never more than there were, since what
        // is needed is a guess.
        let needed = Self::blocks_needed(soonest).unwrap_or(0).saturating_sub(have);
        let more = needed.clamp((have / 2).max(FEWEST_MORE), have.max(FEWEST_MORE));
        let of_run = self.blocks_per_run();
        // As many as there is time for, if that is worth a look.
        let run = self.block(cell).mul_f64(TAKES * of_run as f64).max(Duration::from_nanos(1));
        let fits = (left.as_nanos() / run.as_nanos()).min(1 << 20) as usize;
        let runs = more.div_ceil(of_run).min(fits);
        (runs * of_run >= FEWEST_MORE.min(more)).then_some((cell, runs as u32)).filter(|(_, runs)| *runs > 0)
    }

    fn measure_on(
        &self,
        cell: usize,
        runs: u32,
        outcome: &mut Outcome,
        stop: &AtomicBool,
        watch: &dyn Watch,
        turn: &mut impl FnMut(Slot) -> Result<Sample, LabError>,
    ) {
        let first = cell * self.names.len();
        let own =
            outcome.series.get(first).map(|s| (s.cell.clone(), s.samples.iter().map(|s| s.run + 1).max()));
        let Some((name, done)) = own else { return };
        let done = done.unwrap_or(0);
        let turns = Turns { runs, discarded: 0, ..self.workload.turns };
        // The same cell, and runs that come after those that were.
        let place = |slot: Slot| Slot {
            cell,
            run: slot.run.map(|run| run + done),
            seed: seed_of(&[slot.seed, cell as u64, u64::from(done)]),
            ..slot
        };
        let (cells, seed) = ([name], seed_of(&[cell as u64, u64::from(done)]));
        let sides = Sides { workload: &self.workload.name, cells: &cells, entrants: self.names, seed };
        let more = interleave(sides, turns, stop, &Placed(watch, &place), |slot| turn(place(slot)));
        for (series, new) in outcome.series.iter_mut().skip(first).zip(more.series) {
            append(series, new, done);
        }
        outcome.error = more.error;
    }
}

fn append(series: &mut Series, new: Series, runs_before: u32) {
    series.latency.merge(&new.latency);
    series
        .samples
        .extend(new.samples.into_iter().map(|sample| Sample { run: sample.run + runs_before, ..sample }));
}

/// Told of turns where they belong in the whole.
pub(crate) struct Placed<'a>(pub(crate) &'a dyn Watch, pub(crate) &'a dyn Fn(Slot) -> Slot);

impl Watch for Placed<'_> {
    fn turn(&self, slot: Slot, done: usize, all: usize) {
        self.0.turn((self.1)(slot), done, all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Metric;
    use crate::workload;
    use std::cell::Cell;

    /// Two cells of two sides, of which the second is so many times as fast, with so much noise: the rows, and how many
    /// turns were made.
    fn measured(effect: f64, noise: f64, time: Duration) -> (Vec<Comparison>, usize) {
        let workload = workload::find("quick").expect("shipped");
        let names = ["bare".to_owned(), "veracrypt:aes".to_owned()];
        let fact = || CellFacts { metric: Metric::Iops, cell: None, flags: vec![], best: false, look: 1 };
        let (made, entrants) = (Cell::new(0), [EntrantFacts::default(), EntrantFacts::default()]);
        let mut rng = keyway_store::SplitMix64::new(3);
        let mut turn = |slot: Slot| {
            made.set(made.get() + 1);
            let chance = rng.below(1000) as f64 / 500.0 - 1.0;
            let own = if slot.entrant == 1 { effect } else { 1.0 };
            let operations = (100_000.0 * own * (1.0 + noise * chance)) as u64;
            Ok(Sample { seconds: 1.0, operations, bytes_read: operations * 4096, ..Sample::default() })
        };
        let stop = AtomicBool::new(false);
        let cells = ["one".to_owned(), "two".to_owned()];
        let sides = Sides { workload: "quick", cells: &cells, entrants: &names, seed: 0 };
        let mut outcome = interleave(sides, workload.turns, &stop, &(), &mut turn);
        let mut facts = [fact(), fact()];
        let mut looks = Looks {
            workload: &workload,
            facts: &mut facts,
            entrants: &entrants,
            names: &names,
            judging: Judging { extra: time, ..Judging::default() },
            turn: &|_| Duration::from_micros(1),
        };
        let rows = looks.decide(&mut outcome, &stop, &(), &mut turn);
        (rows.into_iter().filter(|r| r.primary).collect(), made.get())
    }

    #[test]
    fn what_is_decided_is_not_measured_on() {
        // Five runs of four slices, and one that is thrown away.
        let planned = 2 * 2 * (5 * 4 + 1);
        let (rows, made) = measured(0.9, 0.01, Duration::from_secs(60));
        assert!(rows.iter().all(|r| r.verdict == Verdict::Costs && r.looks == 1), "{rows:?}");
        assert_eq!(made, planned);
    }

    #[test]
    fn what_is_not_is_until_it_is_or_the_time_is_up() {
        let (rows, _) = measured(1.0, 0.2, Duration::from_secs(60));
        assert!(rows.iter().all(|r| r.verdict == Verdict::Equal && r.looks > 1 && r.turns > 20), "{rows:?}");
        let (rows, _) = measured(1.0, 0.2, Duration::ZERO);
        assert!(rows.iter().all(|r| r.verdict == Verdict::Undecided && r.looks == 1), "{rows:?}");
        assert!(rows.iter().any(|r| r.seconds_to_decide.is_some_and(|s| s > 0.0)), "{rows:?}");
    }

    /// One of four leaves a processor behind that sleeps: whoever comes next is a seventh slower for it. That is no
    /// difference between the drive and the drive itself, however long it is looked at.
    #[test]
    fn what_one_leaves_behind_is_not_told_of_whoever_comes_next() {
        let workload = workload::find("quick").expect("shipped");
        let names = ["bare", "plain", "sleeper", "same"].map(str::to_owned);
        let cells = ["one".to_owned()];
        let entrants = [(); 4].map(|()| EntrantFacts::default());
        let stop = AtomicBool::new(false);
        let mut rng = keyway_store::SplitMix64::new(11);
        let mut before = None;
        let mut turn = |slot: Slot| {
            let chance = 1.0 + 0.04 * (rng.below(1000) as f64 / 500.0 - 1.0);
            let own = [1.0, 0.9, 0.1, 1.0].get(slot.entrant).copied().unwrap_or(1.0);
            let left_behind = if before.replace(slot.entrant) == Some(2) { 0.86 } else { 1.0 };
            let operations = (100_000.0 * own * chance * left_behind) as u64;
            Ok(Sample { seconds: 1.0, operations, bytes_read: operations * 4096, ..Sample::default() })
        };
        let mut words = Vec::new();
        for seed in 0..60 {
            let sides = Sides { workload: "quick", cells: &cells, entrants: &names, seed };
            let mut outcome = interleave(sides, workload.turns, &stop, &(), &mut turn);
            let fact = CellFacts { metric: Metric::Iops, cell: None, flags: vec![], best: false, look: 1 };
            let mut looks = Looks {
                workload: &workload,
                facts: &mut [fact],
                entrants: &entrants,
                names: &names,
                judging: Judging { extra: Duration::from_secs(20), ..Judging::default() },
                turn: &|_| Duration::from_micros(1),
            };
            let rows = looks.decide(&mut outcome, &stop, &(), &mut turn);
            let same = rows.iter().find(|row| row.primary && row.target == "same").expect("a row");
            words.push(same.verdict);
        }
        let equal = words.iter().filter(|word| **word == Verdict::Equal).count();
        // One table of twenty may be wrong.
        assert!(equal >= 57, "{words:?}");
    }
}
