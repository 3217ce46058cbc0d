//! A workload on several entrants: each cell's turns, then the comparisons.

use crate::cell::{Cell, Mix};
use crate::entrant::Entrant;
use crate::error::LabError;
use crate::interleave::{Outcome, Slot, Watch, interleave};
use crate::judge::{CellFacts, EntrantFacts, Judging};
use crate::load::{self, Turn, seed_of};
use crate::looks::Looks;
use crate::result::{Comparison, Flag, Metric, Sample, Series};
use crate::sectors::Subject;
use crate::workload::{Data, Requests, Workload};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

/// Before a slice counts, requests are made for this part of it, but no longer than the second value.
const RAMP: (f64, Duration) = (0.1, Duration::from_millis(100));

/// A new ring's first requests wait until the kernel has started its workers, on a busy machine for
/// some of the scheduler's turns.
const RING_RAMP: Duration = Duration::from_millis(20);

/// What came of a workload.
pub struct Findings {
    /// The rows.
    pub comparisons: Vec<Comparison>,
    /// The samples behind them.
    pub series: Vec<Series>,
    /// What was not done.
    pub missing: Vec<String>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
    /// Why it ended early.
    pub error: Option<LabError>,
}

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
    let names: Vec<String> = entrants.iter().map(|e| e.name.clone()).collect();
    let cells: Vec<String> = requests.cells.iter().map(|c| c.name.clone()).collect();
    let slice = workload.turns.seconds / f64::from(workload.turns.slices.max(1));
    let time = Duration::from_secs_f64(slice.clamp(0.001, 86_400.0));
    let ramp = time.mul_f64(RAMP.0).min(RAMP.1);
    let bytes = requests.run_bytes.map(|bytes| bytes / u64::from(workload.turns.slices.max(1)));
    // Where the sequence of each cell goes on.
    let places: Vec<AtomicU64> = requests.cells.iter().map(|_| AtomicU64::new(0)).collect();
    let make = |slot: Slot| {
        let cell = requests.cells.get(slot.cell).zip(places.get(slot.cell));
        let (Some((cell, place)), Some(entrant)) = (cell, entrants.get(slot.entrant)) else {
            return Err(LabError::Stopped);
        };
        let turn = Turn {
            time,
            bytes,
            ramp,
            data: requests.data,
            seed: slot.seed,
            place,
            verify: requests.verify,
            stop,
        };
        one_turn(entrant, cell, turn).map(|sample| Sample { seed: slot.seed, ..sample })
    };
    let began = Instant::now();
    let mut outcome = interleave(&workload.name, &cells, &names, workload.turns, stop, watch, make);
    // A busy machine, or a request that takes longer than a turn, makes turns longer than they were planned.
    let made = outcome.series.iter().map(|series| series.samples.len()).sum::<usize>().max(1);
    let turn = (began.elapsed() / made as u32).max(time + ramp);
    let compressed = outcome.error.is_none() && compresses(requests, entrants, stop);
    let small = original.span_bytes().is_some_and(|span| requests.span_bytes < span);
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
            CellFacts { metric: *metric, cell: Some(cell.clone()), flags, best: true, look: 1 }
        })
        .collect();
    let known: Vec<EntrantFacts> = entrants.iter().map(|e| e.facts.clone()).collect();
    let (facts, entrants, names) = (&mut *facts, &*known, &*names);
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
    Findings { comparisons, series, missing, notes: Vec::new(), error }
}

/// One turn, with a look at whether the modelled drive's times were kept.
fn one_turn(entrant: &Entrant, cell: &Cell, turn: Turn<'_>) -> Result<Sample, LabError> {
    if let Some(model) = &entrant.model {
        model.forget_lateness();
    }
    let least = if matches!(entrant.subject, Subject::File { .. }) { RING_RAMP } else { Duration::ZERO };
    let turn = Turn { ramp: turn.ramp.max(least), ..turn };
    let mut sample = load::run(&entrant.subject, cell, turn)?;
    if entrant.model.as_ref().is_some_and(|model| !model.lateness().is_kept()) {
        sample.flags.push(Flag::BusyMachine);
    }
    Ok(sample)
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
                let facts = EntrantFacts { ceiling_mb_s: volume.ceiling_mb_s, flags: vec![] };
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
