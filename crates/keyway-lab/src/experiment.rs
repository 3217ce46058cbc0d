//! A workload on several entrants: each cell's turns, then the comparisons.

use crate::cell::{Cell, Mix};
use crate::entrant::Entrant;
use crate::error::LabError;
use crate::findings::Findings;
use crate::foreground;
use crate::interleave::{Outcome, Sides, Slot, Watch, interleave};
use crate::judge::{CellFacts, EntrantFacts, Judging};
use crate::load::{self, Turn, seed_of};
use crate::looks::{Looks, Placed};
use crate::pacing::Pacing;
use crate::program_guard::patience;
use crate::result::{Comparison, Flag, Metric, Sample, Series};
use crate::resumed::Earlier;
use crate::sectors::Subject;
use crate::workload::{Data, Requests, Workload};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

/// Before a slice counts, requests are made for this part of it, but no longer than the second value.
const RAMP: (f64, Duration) = (0.1, Duration::from_millis(100));

/// A new ring's first requests wait until the kernel has started its workers, on a busy machine for
/// some of the scheduler's turns.
const RING_RAMP: Duration = Duration::from_millis(20);

/// Measures a workload of requests on all entrants, the first of which is the baseline. `original` is
/// the workload before it was changed.
pub fn measure(
    original: &Workload,
    workload: &Workload,
    requests: &Requests,
    entrants: &[Entrant],
    judging: Judging,
    stop: &AtomicBool,
    watch: &dyn Watch,
) -> Findings {
    let earlier = Earlier::default();
    Experiment { original, workload, requests, entrants, judging, earlier }.measure(stop, watch)
}

/// A workload of requests, on whom it is measured, and what was before.
pub(crate) struct Experiment<'a> {
    pub(crate) original: &'a Workload,
    pub(crate) workload: &'a Workload,
    pub(crate) requests: &'a Requests,
    pub(crate) entrants: &'a [Entrant],
    pub(crate) judging: Judging,
    pub(crate) earlier: Earlier<'a>,
}

impl Experiment<'_> {
    /// Measures what was not, and on where something is undecided.
    pub(crate) fn measure(self, stop: &AtomicBool, watch: &dyn Watch) -> Findings {
        measured(self, stop, watch)
    }

    /// The turns of every cell: those that were made before, or new ones.
    fn first_look(
        &self,
        (cells, names): (&[String], &[String]),
        pacing: &Pacing,
        stop: &AtomicBool,
        watch: &dyn Watch,
        mut make: impl FnMut(Slot) -> Result<Sample, LabError>,
    ) -> Outcome {
        let turns = self.workload.turns;
        let mut kept: Vec<Option<Vec<Series>>> =
            cells.iter().map(|cell| self.earlier.of_cell(cell, names, turns)).collect();
        let is_open = |(cell, kept): (usize, &Option<Vec<Series>>)| kept.is_none().then_some(cell);
        let open: Vec<usize> = kept.iter().enumerate().filter_map(is_open).collect();
        (0..cells.len()).filter(|cell| !open.contains(cell)).for_each(|cell| pacing.keep(cell));
        let to_do: Vec<String> = open.iter().filter_map(|cell| cells.get(*cell).cloned()).collect();
        let place = |slot: Slot| Slot { cell: open.get(slot.cell).copied().unwrap_or(slot.cell), ..slot };
        let watch = &Placed(watch, &place);
        let sides = Sides { workload: &self.workload.name, cells: &to_do, entrants: names, seed: 0 };
        let made = interleave(sides, turns, stop, watch, |slot| make(place(slot)));
        let mut new = made.series.into_iter();
        for (_, place) in kept.iter_mut().enumerate().filter(|(cell, _)| open.contains(cell)) {
            *place = Some(new.by_ref().take(names.len()).collect());
        }
        Outcome { series: kept.into_iter().flatten().flatten().collect(), ..made }
    }
}

fn measured(experiment: Experiment<'_>, stop: &AtomicBool, watch: &dyn Watch) -> Findings {
    let Experiment { original, workload, requests, entrants, judging, ref earlier } = experiment;
    let names: Vec<String> = entrants.iter().map(|e| e.name.clone()).collect();
    let cells: Vec<String> = requests.cells.iter().map(|c| c.name.clone()).collect();
    let slice = workload.turns.seconds / f64::from(workload.turns.slices.max(1));
    let time = Duration::from_secs_f64(slice.clamp(0.001, 86_400.0));
    let bytes = requests.run_bytes.map(|bytes| bytes / u64::from(workload.turns.slices.max(1)));
    // Where the sequence of each cell goes on.
    let places: Vec<AtomicU64> = requests.cells.iter().map(|_| AtomicU64::new(0)).collect();
    let turns = &workload.turns;
    let made = (turns.runs * turns.slices + turns.discarded.min(1)) as usize * entrants.len();
    let pacing = Pacing::new(time, judging.until, cells.len(), made);
    let make = |slot: Slot| {
        let began = Instant::now();
        let time = pacing.slice(slot.cell);
        let cell = requests.cells.get(slot.cell).zip(places.get(slot.cell));
        let (Some((cell, place)), Some(entrant)) = (cell, entrants.get(slot.entrant)) else {
            return Err(LabError::Stopped);
        };
        let turn = Turn {
            time,
            bytes,
            ramp: time.mul_f64(RAMP.0).min(RAMP.1),
            data: requests.data,
            seed: slot.seed,
            place,
            verify: requests.verify,
            stop,
        };
        let sample = one_turn(entrant, cell, requests.task, turn)?;
        pacing.took(slot.cell, began.elapsed());
        Ok(Sample { seed: slot.seed, ..sample })
    };
    let mut outcome = experiment.first_look((&cells, &names), &pacing, stop, watch, make);
    let compressed = outcome.error.is_none() && compresses(requests, entrants, stop);
    let small = original.span_bytes().is_some_and(|span| requests.span_bytes < span);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut facts: Vec<CellFacts> = requests
        .cells
        .iter()
        .zip(&requests.metrics)
        .map(|(cell, metric)| {
            let mut flags = Vec::new();
            if small {
                flags.push(Flag::TooSmallFile);
            }
            if compressed && cell.mix.writes() {
                flags.push(Flag::Compressible);
            }
            // Each of its threads looks at a modelled drive's clock, so that some would take the time of others.
            if cell.threads as usize > cores && entrants.iter().any(|entrant| entrant.model.is_some()) {
                flags.push(Flag::TooFewCores);
            }
            let look = earlier.looks(&cell.name);
            CellFacts { metric: *metric, cell: Some(cell.clone()), flags, best: true, look }
        })
        .collect();
    let known: Vec<EntrantFacts> = entrants.iter().map(|e| e.facts.clone()).collect();
    let (facts, entrants, names) = (&mut *facts, &*known, &*names);
    let turn = &|cell| pacing.turn(cell);
    let mut looks = Looks { workload, facts, entrants, names, judging, turn };
    let mut comparisons = looks.decide(&mut outcome, stop, watch, make);
    let Outcome { series, missing, error } = outcome;
    if error.is_some() {
        let short = |row: &Comparison| missing.iter().any(|m| m.starts_with(&format!("{} on ", row.cell)));
        for row in &mut comparisons {
            if short(row) {
                row.flags.push(Flag::Incomplete);
            }
        }
    }
    let cut = "Turns were shortened to keep to the time that was given: what is told is less sure than it could be.";
    let notes = pacing.is_cut().then(|| cut.to_owned()).into_iter().collect();
    Findings { comparisons, series, missing, notes, error }
}

/// One turn; where the workload says so, with a task in the foreground.
fn one_turn(entrant: &Entrant, cell: &Cell, task: bool, turn: Turn<'_>) -> Result<Sample, LabError> {
    let least = if matches!(entrant.subject, Subject::File { .. }) { RING_RAMP } else { Duration::ZERO };
    let turn = Turn { ramp: turn.ramp.max(least), ..turn };
    let made = || load::run(&entrant.subject, cell, turn);
    let limit = patience(turn.ramp + turn.time);
    entrant.turn(limit, turn.stop, || if task { foreground::beside(made) } else { made() })
}

/// Writes of zeros or a pattern that are faster than random ones by more than this factor are
/// compressed by the drive.
const COMPRESSED: f64 = 1.15;

/// Whether the baseline's drive compresses what a workload with compressible data writes.
fn compresses(requests: &Requests, entrants: &[Entrant], stop: &AtomicBool) -> bool {
    let writes = requests.cells.iter().filter(|c| c.mix == Mix::Write);
    let Some(cell) = writes.max_by_key(|c| c.block_bytes.min(1 << 20)) else { return false };
    let Some(baseline) = entrants.first().filter(|e| e.model.is_none()) else { return false };
    if requests.data == Data::Random {
        return false;
    }
    let (mut plain, mut random, place) = (Vec::new(), Vec::new(), AtomicU64::new(0));
    for round in 0..16u32 {
        let first = round % 4 == 0 || round % 4 == 3;
        let data = if first { requests.data } else { Data::Random };
        let (time, ramp) = (Duration::from_millis(60), Duration::from_millis(10));
        let seed = seed_of(&[u64::from(round)]);
        let turn = Turn { time, bytes: None, ramp, data, seed, place: &place, verify: false, stop };
        let Ok(sample) = load::run(&baseline.subject, cell, turn) else { return false };
        let Some(speed) = sample.value(Metric::MbS) else { return false };
        if first { plain.push(speed) } else { random.push(speed) }
    }
    crate::stats::median(&plain) > COMPRESSED * crate::stats::median(&random)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Drive;
    use crate::Rig;
    use crate::changes::Changes;
    use crate::target::Target;
    use crate::workload;
    use crate::workload::Procedure;

    /// Every target that is made here, on a modelled drive: all cells come out, and what is written
    /// through one layout is not seen through another.
    #[test]
    fn volumes_of_every_format_run_on_a_modelled_drive() {
        let stop = AtomicBool::new(false);
        let span = 64 << 20;
        let rig = Rig::open(&Drive::from("model:samsung-990-pro"), span, false, &stop).expect("a rig");
        let targets = ["plain", "veracrypt:serpent", "bitlocker:aes-xts-128"];
        let entrants: Vec<Entrant> = targets
            .iter()
            .map(|words| {
                let target: Target = words.parse().expect("a target");
                let volume = rig.volume(&target).expect("a volume");
                assert!(volume.len >= span, "{words}: {}", volume.len);
                assert_eq!(volume.ceiling_mb_s.is_none(), target == Target::Plain);
                let facts = EntrantFacts { ceiling_mb_s: volume.ceiling_mb_s, ..EntrantFacts::default() };
                let subject = rig.in_process(&volume).expect("a subject");
                Entrant { facts, model: rig.modelled().cloned(), ..Entrant::new(*words, subject) }
            })
            .collect();
        let cdm = workload::find("cdm").expect("shipped");
        let changes =
            Changes { span_bytes: Some(span), seconds: Some(0.04), quick: true, ..Changes::default() };
        let changed = changes.apply(&cdm).expect("it fits");
        let Procedure::Requests(requests) = &changed.kind else { panic!("requests") };
        let found = measure(&cdm, &changed, requests, &entrants, Judging::default(), &stop, &());
        assert!(found.error.is_none() && found.missing.is_empty(), "{:?}", found.error);
        assert_eq!(found.comparisons.iter().filter(|c| c.primary).count(), 12 * 2);
        assert!(found.comparisons.iter().all(|c| c.value > 0.0 && c.flags.contains(&Flag::TooSmallFile)));
        assert!(found.series.iter().all(|s| s.samples.len() == 20 && s.latency.count() > 0));
    }
}
