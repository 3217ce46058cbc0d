//! A planned experiment is carried out.

use crate::calibration;
use crate::circumstances::Circumstances;
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::interleave::Watch;
use crate::judge::Judging;
use crate::plan::ExperimentPlan;
use crate::procedures::measure_procedure;
use crate::result::{Document, Machine};
use crate::resumed::{Earlier, must_be_of, must_fit};
use crate::rig::Rig;
use crate::setup::Setup;
use crate::timed::EncryptInPlace;
use crate::workload::{Procedure, Turns, Workload};
use keyway_volume::bitlocker::FileTime;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

impl ExperimentPlan {
    /// Measures; where a workload times encryption in place, `encrypt` does that. What was found until an error, or until
    /// it was stopped, is in the document all the same.
    ///
    /// # Errors
    /// Nothing could be set up.
    pub fn run(
        &self,
        encrypt: EncryptInPlace,
        stop: &AtomicBool,
        watch: &dyn Watch,
    ) -> Result<(Document, Option<LabError>), LabError> {
        self.go(None, encrypt, stop, watch)
    }

    /// Goes on with what was measured before, by the same plan: what is missing is measured, and what is undecided
    /// measured on.
    ///
    /// # Errors
    /// That was measured otherwise; or nothing could be set up.
    pub fn resume(
        &self,
        before: &Document,
        encrypt: EncryptInPlace,
        stop: &AtomicBool,
        watch: &dyn Watch,
    ) -> Result<(Document, Option<LabError>), LabError> {
        self.go(Some(before), encrypt, stop, watch)
    }

    fn go(
        &self,
        before: Option<&Document>,
        encrypt: EncryptInPlace,
        stop: &AtomicBool,
        watch: &dyn Watch,
    ) -> Result<(Document, Option<LabError>), LabError> {
        before.map_or(Ok(()), |before| must_fit(self, before))?;
        // Before the drive is prepared, which is work of our own.
        let circumstances = Circumstances::of(self);
        // What was given is the whole time: preparing the drive is a part of it.
        let until = self.time.map(|time| Instant::now() + time);
        let mut setup = Setup::of(self, encrypt, stop)?;
        let sides: Vec<String> = setup.entrants.iter().map(|entrant| entrant.name.clone()).collect();
        before.map_or(Ok(()), |before| must_be_of(&setup.title, &sides, before))?;
        let model = setup.rig().and_then(Rig::modelled).map(|drive| drive.model());
        let mut document = Document {
            cells: Vec::new(),
            series: Vec::new(),
            machine: Machine::here(),
            drive: setup.title.clone(),
            path: self.path,
            circumstances,
            date: FileTime::now().to_string(),
            command: self.command.clone(),
            missing: Vec::new(),
            notes: Vec::new(),
            seconds: before.map_or(0.0, |before| before.seconds),
            calibration: model.map_or(Ok(Vec::new()), calibration::table)?,
        };
        if let Some(model) = model {
            let what = format!("{} is a model: a store that takes as long as the drive would.", model.title);
            document.notes.push(format!("{what} {}", model.note).trim().to_owned());
        }
        let (began, earlier_seconds) = (Instant::now(), document.seconds);
        let planned = |workload: &Workload| workload.planned(setup.entrants.len());
        let whole: Duration = self.workloads.iter().map(planned).sum();
        let hurried = self.time.is_some_and(|time| whole > time);
        for (n, (original, changed)) in self.originals.iter().zip(&self.workloads).enumerate() {
            watch.workload(changed);
            let earlier = Earlier::of(before, &changed.name);
            let found = match &changed.kind {
                Procedure::Requests(requests) => {
                    let rest: Duration = self.workloads.iter().skip(n + 1).map(planned).sum();
                    let until = until.map(|until| own_part(until, planned(changed), rest));
                    let judging = Judging { extra: planned(changed), until, ..setup.judging };
                    // Who is in a hurry does not rest.
                    let pause_seconds = if hurried { 0.0 } else { changed.turns.pause_seconds };
                    let turns = Turns { pause_seconds, ..changed.turns };
                    let workload = Workload { turns, ..changed.clone() };
                    let (workload, entrants) = (&workload, &*setup.entrants);
                    Experiment { original, workload, requests, entrants, judging, earlier }
                        .measure(stop, watch)
                }
                _ => earlier.whole(changed).unwrap_or_else(|| {
                    measure_procedure(changed, &setup.entrants, setup.judging, stop, watch)
                }),
            };
            document.cells.extend(found.comparisons);
            document.series.extend(found.series);
            document.missing.extend(found.missing);
            document.notes.extend(found.notes);
            document.seconds = earlier_seconds + began.elapsed().as_secs_f64();
            if found.error.is_some() {
                document.notes.extend(setup.take_others_down());
                return Ok((document, found.error));
            }
        }
        document.notes.extend(setup.take_others_down());
        document.notes.dedup();
        document.notes.extend(self.time.and_then(|time| too_little(time, until?)));
        Ok((document, None))
    }
}

/// Until when a workload may measure: every one that is still to come gets what it plans, or its part where time is short.
fn own_part(until: Instant, own: Duration, rest: Duration) -> Instant {
    let now = Instant::now();
    let left = until.saturating_duration_since(now);
    if left >= own + rest {
        return until.checked_sub(rest).unwrap_or(until);
    }
    let part = own.as_secs_f64() / (own + rest).as_secs_f64().max(1e-9);
    now + left.mul_f64(part.min(1.0))
}

/// That the time was too little for the least that these tests take.
fn too_little(time: Duration, until: Instant) -> Option<String> {
    let took = time + Instant::now().saturating_duration_since(until);
    (took > time.mul_f64(1.05)).then(|| {
        let minutes = |time: Duration| format!("{:.1}", time.as_secs_f64() / 60.0);
        format!(
            "The least that these tests take here is {} minutes, more than the {} that were given.",
            minutes(took),
            minutes(time)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_workload_has_its_part_of_the_time() {
        let minute = Duration::from_secs(60);
        let until = Instant::now() + 10 * minute;
        // There is enough: the next one's is left.
        assert_eq!(own_part(until, 2 * minute, 3 * minute), until.checked_sub(3 * minute).expect("a moment"));
        // There is not: a third for the one that plans half as much as what comes.
        let own = own_part(until, 10 * minute, 20 * minute).saturating_duration_since(Instant::now());
        assert!(own > 3 * minute && own < 4 * minute, "{own:?}");
    }

    #[test]
    fn what_takes_longer_than_it_may_says_so() {
        let now = Instant::now();
        assert_eq!(too_little(Duration::from_secs(60), now + Duration::from_secs(1)), None);
        let late = now.checked_sub(Duration::from_secs(60)).expect("a moment");
        let told = too_little(Duration::from_secs(60), late).expect("a sentence");
        assert!(told.contains("2.0 minutes, more than the 1.0"), "{told}");
    }
}
