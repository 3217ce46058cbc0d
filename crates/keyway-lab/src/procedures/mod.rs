//! Workloads that are no requests for a time: GNOME Disks' positions, conditioning, copies of files,
//! Keyway's own operations, recorded traces. A workload gives cells; one cell on one entrant is a turn.

mod files;
mod positions;
mod traces;

use crate::entrant::Entrant;
use crate::error::LabError;
use crate::findings::Findings;
use crate::interleave::{Outcome, Sides, Slot, Watch, interleave};
use crate::judge::{CellFacts, EntrantFacts, Judging, judge};
use crate::load::{Lane, Meter};
use crate::program_guard::{PATIENCE, patience};
use crate::result::{Metric, Sample};
use crate::workload::{Condition, Operation, Procedure, Timed, Workload};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A cell of a procedure: its name and the metric that its original tells.
type Named = (String, Metric);

/// Copies of files and recorded traces take as long as they take; another program's that takes longer than this hangs.
const LONGEST: Duration = Duration::from_secs(3600);

/// Runs a workload that is none of requests on all entrants, the first of which is the baseline.
pub fn measure_procedure(
    workload: &Workload,
    entrants: &[Entrant],
    judging: Judging,
    stop: &AtomicBool,
    watch: &dyn Watch,
) -> Findings {
    let mut procedure = match Prepared::new(workload, entrants, stop) {
        Ok(procedure) => procedure,
        Err(error) => {
            let missing = vec![format!("{}: all of it", workload.name)];
            return Findings {
                comparisons: vec![],
                series: vec![],
                missing,
                notes: vec![],
                error: Some(error),
            };
        }
    };
    let cells = procedure.cells();
    let names: Vec<String> = cells.iter().map(|(name, _)| name.clone()).collect();
    let targets: Vec<String> = entrants.iter().map(|e| e.name.clone()).collect();
    let sides = Sides { workload: &workload.name, cells: &names, entrants: &targets, seed: 0 };
    let limit = match &workload.kind {
        Procedure::Condition(c) => patience(Duration::from_secs_f64(c.at_most_seconds.clamp(0.0, 86_400.0))),
        _ => LONGEST,
    };
    let outcome = interleave(sides, workload.turns, stop, watch, |slot: Slot| {
        let Some(entrant) = entrants.get(slot.entrant) else { return Err(LabError::Stopped) };
        let mut sample = entrant.turn(limit, stop, || procedure.turn(slot, entrant, stop))?;
        sample.seed = slot.seed;
        Ok(sample)
    });
    let fact =
        |(_, metric): &Named| CellFacts { metric: *metric, cell: None, flags: vec![], best: true, look: 1 };
    let facts: Vec<CellFacts> = cells.iter().map(fact).collect();
    let known: Vec<EntrantFacts> = entrants.iter().map(|e| e.facts.clone()).collect();
    let Outcome { series, missing, error } = outcome;
    let comparisons = judge(&series, &facts, &known, judging);
    Findings { comparisons, series, missing, notes: procedure.notes, error }
}

struct Prepared<'a> {
    workload: &'a Workload,
    files: Vec<files::Area>,
    traces: Vec<traces::Ready>,
    notes: Vec<String>,
}

impl<'a> Prepared<'a> {
    fn new(workload: &'a Workload, entrants: &[Entrant], stop: &AtomicBool) -> Result<Self, LabError> {
        let (mut files, mut traces) = (Vec::new(), Vec::new());
        match &workload.kind {
            Procedure::Tree(_) | Procedure::Copy(_) => {
                for entrant in entrants {
                    files.push(entrant.within(PATIENCE, stop, || files::Area::new(entrant))?);
                }
            }
            Procedure::Traces(named) => traces = traces::ready(named)?,
            _ => {}
        }
        Ok(Self { workload, files, traces, notes: Vec::new() })
    }

    fn cells(&self) -> Vec<Named> {
        let named = |all: &[(&str, Metric)]| all.iter().map(|(n, m)| ((*n).to_owned(), *m)).collect();
        match &self.workload.kind {
            Procedure::Positions(p) if p.write => named(&[
                ("read rate", Metric::MbS),
                ("write rate", Metric::MbS),
                ("access time", Metric::LatencyUs),
            ]),
            Procedure::Positions(_) => {
                named(&[("read rate", Metric::MbS), ("access time", Metric::LatencyUs)])
            }
            Procedure::Condition(_) => named(&[("sequential write until settled", Metric::MbS)]),
            Procedure::Tree(t) if t.read_bytes > 0 => {
                named(&[("copy of the tree", Metric::MbS), ("read of one file", Metric::MbS)])
            }
            Procedure::Tree(_) => named(&[("copy of the tree", Metric::MbS)]),
            Procedure::Copy(_) => named(&[("copy in", Metric::Seconds), ("copy out", Metric::Seconds)]),
            Procedure::Timed(t) => named(&[match t.operation {
                Operation::Format => ("format", Metric::Seconds),
                Operation::Unlock => ("unlock", Metric::Seconds),
                Operation::InPlace => ("encryption in place", Metric::Seconds),
            }]),
            Procedure::Traces(_) => self.traces.iter().map(|t| (t.name.clone(), Metric::MbS)).collect(),
            Procedure::Requests(_) => Vec::new(),
        }
    }

    fn turn(&mut self, slot: Slot, entrant: &Entrant, stop: &AtomicBool) -> Result<Sample, LabError> {
        match &self.workload.kind {
            Procedure::Positions(p) => {
                let cell = if p.write || slot.cell == 0 { slot.cell } else { 2 };
                positions::turn(p, cell, &mut Lane::of(&entrant.subject, slot.seed)?, stop)
            }
            Procedure::Condition(c) => {
                let (sample, note) = condition(c, &mut Lane::of(&entrant.subject, slot.seed)?, stop)?;
                self.notes.push(format!("{}: {note}", entrant.name));
                Ok(sample)
            }
            Procedure::Tree(tree) => self.area(slot)?.tree(tree, slot.cell, stop),
            Procedure::Copy(copy) => self.area(slot)?.copy(copy, slot.cell, stop),
            Procedure::Timed(timed) => run_timed(timed, entrant, stop),
            Procedure::Traces(named) => {
                let none = || LabError::Unsuited("there is no such trace".to_owned());
                let trace = self.traces.get(slot.cell).ok_or_else(none)?;
                traces::turn(trace, named.think_time, &entrant.subject, stop)
            }
            Procedure::Requests(_) => Err(LabError::Unsuited("requests are measured otherwise".to_owned())),
        }
    }

    fn area(&mut self, slot: Slot) -> Result<&mut files::Area, LabError> {
        self.files.get_mut(slot.entrant).ok_or_else(|| LabError::Unsuited("there is no folder".to_owned()))
    }
}

fn run_timed(timed: &Timed, entrant: &Entrant, stop: &AtomicBool) -> Result<Sample, LabError> {
    let Some(work) = &entrant.timed else {
        return Err(LabError::Unsuited(format!(
            "{} can't be made here, so that nothing of it is timed",
            entrant.name
        )));
    };
    let meter = Meter::start();
    let (seconds, bytes) = work(timed, stop)?;
    let (cpu_seconds, joules) = meter.spent();
    let mut sample = Sample { seconds, bytes_written: bytes, cpu_seconds, joules, ..Sample::default() };
    sample.values.insert(Metric::Seconds, seconds);
    Ok(sample)
}

/// Rounds whose speeds decide whether it has settled, and how far they may lie apart: the range
/// within 20 % of their mean, the trend over the window within 10 % (SNIA Solid State Storage
/// Performance Test Specification, steady state).
const WINDOW: usize = 5;
const RANGE: f64 = 0.20;
const TREND: f64 = 0.10;

/// Whether the last rounds' speeds are steady.
fn is_steady(speeds: &[f64]) -> bool {
    let Some(last) = speeds.len().checked_sub(WINDOW).and_then(|from| speeds.get(from..)) else {
        return false;
    };
    let n = WINDOW as f64;
    let mean = last.iter().sum::<f64>() / n;
    let (low, high) = last.iter().fold((f64::MAX, 0f64), |(l, h), v| (l.min(*v), h.max(*v)));
    let middle = (n - 1.0) / 2.0;
    let slope = last.iter().enumerate().map(|(i, v)| (i as f64 - middle) * (v - mean)).sum::<f64>()
        / (0..WINDOW).map(|i| (i as f64 - middle).powi(2)).sum::<f64>();
    mean > 0.0 && (high - low) <= RANGE * mean && (slope * (n - 1.0)).abs() <= TREND * mean
}

fn condition(c: &Condition, lane: &mut Lane, stop: &AtomicBool) -> Result<(Sample, String), LabError> {
    let block = c.block_bytes as usize;
    let blocks = (lane.size() / c.block_bytes).max(1);
    let least = blocks.saturating_mul(u64::from(c.passes)) * c.block_bytes;
    let (began, mut speeds, mut written) = (Instant::now(), Vec::new(), 0u64);
    let meter = Meter::start();
    let mut at = 0u64;
    // A drive that is half new is fast and steady, too.
    let settled = |speeds: &[f64], written: u64| written >= least && is_steady(speeds);
    while began.elapsed().as_secs_f64() < c.at_most_seconds && !settled(&speeds, written) {
        let (round, before) = (Instant::now(), written);
        while round.elapsed().as_secs_f64() < c.round_seconds {
            if stop.load(Ordering::Relaxed) {
                return Err(LabError::Stopped);
            }
            lane.write_random(block, at % blocks * c.block_bytes)?;
            at += 1;
            written += c.block_bytes;
        }
        speeds.push((written - before) as f64 / 1e6 / round.elapsed().as_secs_f64());
    }
    let seconds = began.elapsed().as_secs_f64();
    let (cpu_seconds, joules) = meter.spent();
    let mut sample = Sample { seconds, bytes_written: written, cpu_seconds, joules, ..Sample::default() };
    sample.values.insert(Metric::Seconds, seconds);
    // What it settled at is the drive's speed; the way there is not.
    let tail: Vec<f64> = speeds.iter().rev().take(WINDOW).copied().collect();
    sample.values.insert(Metric::MbS, crate::stats::median(&tail));
    let how = if settled(&speeds, written) { "settled" } else { "ended by its time, not settled," };
    let (rounds, gb) = (speeds.len(), written as f64 / 1e9);
    let times = written as f64 / (blocks * c.block_bytes) as f64;
    Ok((
        sample,
        format!("{how} after {rounds} rounds, {seconds:.0} s and {gb:.1} GB, {times:.1} times its size"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_is_what_snia_says() {
        assert!(!is_steady(&[100.0; 4]));
        assert!(is_steady(&[900.0, 100.0, 101.0, 99.0, 100.0, 100.0]));
        assert!(!is_steady(&[100.0, 100.0, 130.0, 100.0, 100.0]), "the range");
        assert!(!is_steady(&[100.0, 104.0, 108.0, 112.0, 116.0]), "the trend");
    }
}
