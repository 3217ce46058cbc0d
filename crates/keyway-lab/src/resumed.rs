//! A comparison that goes on: what was measured before is taken over, and what is missing or undecided is measured.

use crate::error::LabError;
use crate::findings::Findings;
use crate::other_program::OtherProgram;
use crate::plan::ExperimentPlan;
use crate::result::{Comparison, Document, Series};
use crate::target::PathKind;
use crate::workload::{Procedure, Turns, Workload};
use keyway_store::size::words;

/// What was measured of a workload before; nothing, where it begins.
#[derive(Default)]
pub(crate) struct Earlier<'a> {
    series: Vec<&'a Series>,
    rows: Vec<&'a Comparison>,
}

impl<'a> Earlier<'a> {
    pub(crate) fn of(before: Option<&'a Document>, workload: &str) -> Self {
        let Some(before) = before else { return Self::default() };
        Self {
            series: before.series.iter().filter(|series| series.workload == workload).collect(),
            rows: before.cells.iter().filter(|row| row.workload == workload).collect(),
        }
    }

    /// A cell's series, one for each side, where each has all its planned turns; a part of them is measured anew.
    pub(crate) fn of_cell(&self, cell: &str, sides: &[String], turns: Turns) -> Option<Vec<Series>> {
        let full = (turns.runs * turns.slices) as usize;
        let side = |side: &String| {
            let own = self.series.iter().find(|series| series.cell == cell && series.target == *side)?;
            (own.samples.len() >= full).then(|| (*own).clone())
        };
        let all = sides.iter().map(side).collect::<Option<Vec<Series>>>()?;
        // Blocks are of turns of all sides.
        let first = all.first().map(|series| series.samples.len());
        all.iter().all(|series| Some(series.samples.len()) == first).then_some(all)
    }

    /// How often a cell was looked at.
    pub(crate) fn looks(&self, cell: &str) -> u32 {
        self.rows.iter().filter(|row| row.cell == cell).map(|row| row.looks).max().unwrap_or(1).max(1)
    }

    /// All of it, where nothing is missing of what is measured whole.
    pub(crate) fn whole(&self, workload: &Workload) -> Option<Findings> {
        let full = (workload.turns.runs * workload.turns.slices) as usize;
        let is_whole = !self.series.is_empty() && self.series.iter().all(|s| s.samples.len() >= full);
        is_whole.then(|| Findings {
            comparisons: self.rows.iter().map(|row| (*row).clone()).collect(),
            series: self.series.iter().map(|series| (*series).clone()).collect(),
            missing: Vec::new(),
            notes: Vec::new(),
            error: None,
        })
    }
}

/// Refuses to go on from what was measured with other options, before anything is prepared.
pub(crate) fn must_fit(plan: &ExperimentPlan, before: &Document) -> Result<(), LabError> {
    let then = &before.circumstances;
    let names = |all: &[Workload]| all.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ");
    must_be_same("--workload", names(&then.workloads), names(&plan.workloads))?;
    let path = |path: PathKind| path.name().to_owned();
    must_be_same("--path", path(before.path), path(plan.path))?;
    let others = |all: &[OtherProgram]| {
        all.iter().map(|one| format!("{}={}", one.name, one.attach)).collect::<Vec<_>>().join(", ")
    };
    must_be_same("--entrant", others(&then.others), others(&plan.others))?;
    must_be_same("--buffered", given(then.buffered), given(plan.buffered))?;
    must_be_same("--reads-only", given(then.reads_only), given(plan.reads_only))?;
    for (then, now) in then.workloads.iter().zip(&plan.workloads) {
        let (runs, seconds) = (|of: Turns| of.runs.to_string(), |of: Turns| of.seconds.to_string());
        // A first look has turns of its own.
        let quick = |of: Turns| {
            format!("{} runs of {} s, with a rest of {} s", of.runs, of.seconds, of.pause_seconds)
        };
        let turns = |of: Turns| (of.slices, of.discarded, of.pause_seconds.to_bits());
        if turns(then.turns) != turns(now.turns) {
            must_be_same("--quick", quick(then.turns), quick(now.turns))?;
        }
        must_be_same("--runs", runs(then.turns), runs(now.turns))?;
        must_be_same("--seconds", seconds(then.turns), seconds(now.turns))?;
        if let (Procedure::Requests(then), Procedure::Requests(now)) = (&then.kind, &now.kind) {
            must_be_same("--size", words(then.span_bytes), words(now.span_bytes))?;
            must_be_same("--verify", given(then.verify), given(now.verify))?;
        }
    }
    must_be_same("--size", words(then.span_bytes), words(plan.span_bytes))?;
    // What is left of it are the files and bytes, or another definition.
    if then.workloads != plan.workloads || then.span_bytes != plan.span_bytes || then.others != plan.others {
        return Err(LabError::MeasuredOtherwise { what: "--scale", then: String::new(), now: String::new() });
    }
    Ok(())
}

/// The same of the drive and of those that are compared, as they are called once they are there.
pub(crate) fn must_be_of(drive: &str, sides: &[String], before: &Document) -> Result<(), LabError> {
    must_be_same("--drive", before.drive.clone(), drive.to_owned())?;
    let of_first = before.series.iter().take_while(|series| {
        before
            .series
            .first()
            .is_some_and(|first| first.cell == series.cell && first.workload == series.workload)
    });
    let then: Vec<_> = of_first.map(|series| series.target.as_str()).collect();
    must_be_same("--with", then.join(", "), sides.join(", "))
}

fn given(is_given: bool) -> String {
    if is_given { "given" } else { "left out" }.to_owned()
}

fn must_be_same(what: &'static str, then: String, now: String) -> Result<(), LabError> {
    if then == now { Ok(()) } else { Err(LabError::MeasuredOtherwise { what, then, now }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interleave::{Slot, Watch};
    use crate::plan::ExperimentRequest;
    use crate::target::Target;
    use crate::{Changes, Drive, EncryptInPlace};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Duration;

    const NEVER: EncryptInPlace = |_, _, _, _| Err(LabError::Stopped);

    fn plan(seconds: f64) -> ExperimentPlan {
        let targets = ["plain", "veracrypt:aes"].map(|words| words.parse::<Target>().expect("a target"));
        let mut request = ExperimentRequest::new(targets.to_vec(), Drive::from("model:samsung-990-pro"));
        request.workloads.push("quick".to_owned());
        let (seconds, span_bytes) = (Some(seconds), Some(16 << 20));
        request.changes = Changes { seconds, span_bytes, quick: true, ..Changes::default() };
        request.time = Some(Duration::ZERO);
        request.plan().expect("a plan")
    }

    /// Stops it before the turn of that number.
    struct StopAt<'a>(usize, AtomicUsize, &'a AtomicBool);

    impl Watch for StopAt<'_> {
        fn turn(&self, _: Slot, _: usize, _: usize) {
            if self.1.fetch_add(1, Ordering::Relaxed) + 1 == self.0 {
                self.2.store(true, Ordering::Relaxed);
            }
        }
    }

    fn counts(document: &Document) -> Vec<usize> {
        document.series.iter().map(|series| series.samples.len()).collect()
    }

    /// Stopped in its third test, and gone on with: the two that were whole are as they were, the rest is measured. Gone on
    /// with once more, with time, what is undecided gets more turns, and nothing begins anew.
    #[test]
    fn what_was_measured_is_kept_and_the_rest_is_measured() {
        let (stop, plan) = (AtomicBool::new(false), plan(0.02));
        let sides = 2;
        let turns = plan.workloads[0].turns;
        let (full, of_cell) =
            ((turns.runs * turns.slices) as usize, (turns.runs * turns.slices + 1) as usize * sides);
        let watch = StopAt(of_cell * 2 + of_cell / 2, AtomicUsize::new(0), &stop);
        let (stopped, error) = plan.run(NEVER, &stop, &watch).expect("it ran");
        assert!(matches!(error, Some(LabError::Stopped)), "{error:?}");
        assert_eq!(counts(&stopped)[..4], [full; 4]);
        assert!(counts(&stopped)[4] < full && counts(&stopped)[6..].iter().all(|n| *n == 0));
        stop.store(false, Ordering::Relaxed);
        let made = StopAt(0, AtomicUsize::new(0), &stop);
        let (whole, error) = plan.resume(&stopped, NEVER, &stop, &made).expect("it ran");
        assert!(error.is_none() && whole.missing.is_empty(), "{error:?} {:?}", whole.missing);
        assert_eq!(counts(&whole), [full; 12]);
        assert_eq!(made.1.load(Ordering::Relaxed), of_cell * 4, "what was whole is not measured again");
        assert_eq!(whole.series[..4], stopped.series[..4]);
        assert!(whole.seconds > stopped.seconds);
        // A figure as if there was much noise: it is undecided, and is measured on.
        let mut open = whole.clone();
        for (turn, sample) in open.series[1].samples.iter_mut().enumerate() {
            sample.seconds *= if turn % 4 < 2 { 0.5 } else { 2.0 };
        }
        // A machine with other work takes longer before there is a turn.
        let within = |seconds| {
            let later = ExperimentPlan { time: Some(Duration::from_secs(seconds)), ..plan.clone() };
            later.resume(&open, NEVER, &stop, &()).expect("it ran").0
        };
        let goes_on = |more: &Document| counts(more).iter().any(|n| *n > full);
        let more =
            [5, 20, 80].into_iter().map(within).find(goes_on).expect("80 seconds are enough for a turn");
        for (before, now) in open.series.iter().zip(&more.series) {
            assert_eq!(before.samples[..], now.samples[..full], "{} on {}", now.cell, now.target);
            let row = more.cells.iter().find(|row| row.primary && row.cell == now.cell).expect("a row");
            assert_eq!(row.looks > 1, now.samples.len() > full, "{row:?}");
        }
    }

    #[test]
    fn what_was_measured_otherwise_is_refused() {
        let (stop, plan) = (AtomicBool::new(false), plan(0.02));
        let (whole, _) = plan.run(NEVER, &stop, &()).expect("it ran");
        let refused = |plan: &ExperimentPlan, document: &Document| {
            plan.resume(document, NEVER, &stop, &()).err().map(|e| e.to_string()).unwrap_or_default()
        };
        let named = |change: &dyn Fn(&mut Document)| {
            let mut document = whole.clone();
            change(&mut document);
            refused(&plan, &document)
        };
        let drive = named(&|document| document.drive.push('x'));
        assert!(drive.contains("--drive was model of Samsung 990 Pro 4 TBx, and is model of"), "{drive}");
        let size = named(&|document| document.circumstances.span_bytes *= 2);
        assert!(size.contains("--size was 32 MiB, and is 16 MiB"), "{size}");
        let none = named(&|document| document.series.clear());
        assert!(none.contains("--with was left out, and is plain,"), "{none}");
        let runs = named(&|document| document.circumstances.workloads[0].turns.runs = 9);
        assert!(runs.contains("--runs was 9, and is 5"), "{runs}");
        let one = ExperimentPlan { targets: plan.targets[..1].to_vec(), ..plan.clone() };
        assert!(refused(&one, &whole).contains("--with was plain, "));
        assert_eq!(refused(&plan, &whole), "");
    }
}
