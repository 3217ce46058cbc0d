//! A planned experiment is carried out.

use crate::calibration;
use crate::circumstances::Circumstances;
use crate::error::LabError;
use crate::experiment::measure;
use crate::interleave::Watch;
use crate::judge::Judging;
use crate::plan::ExperimentPlan;
use crate::procedures::measure_procedure;
use crate::result::{Document, Machine};
use crate::rig::Rig;
use crate::setup::Setup;
use crate::timed::EncryptInPlace;
use crate::workload::{Procedure, Workload};
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
        // Before the drive is prepared, which is work of our own.
        let circumstances = Circumstances::of(self);
        let setup = Setup::of(self, encrypt, stop)?;
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
            seconds: 0.0,
            calibration: model.map_or(Ok(Vec::new()), calibration::table)?,
        };
        if let Some(model) = model {
            let what = format!("{} is a model: a store that takes as long as the drive would.", model.title);
            document.notes.push(format!("{what} {}", model.note).trim().to_owned());
        }
        let began = Instant::now();
        let planned = |workload: &Workload| workload.planned(setup.entrants.len());
        for (n, (original, changed)) in self.originals.iter().zip(&self.workloads).enumerate() {
            watch.workload(changed);
            let found = match &changed.kind {
                Procedure::Requests(requests) => {
                    // Of the time, every workload that is still to come gets what it plans.
                    let rest: Duration = self.workloads.iter().skip(n).map(planned).sum();
                    let beyond = |time: Duration| time.saturating_sub(began.elapsed() + rest);
                    let extra = self.time.map_or_else(|| planned(changed), beyond);
                    let judging = Judging { extra, ..setup.judging };
                    measure(original, changed, requests, &setup.entrants, judging, stop, watch)
                }
                _ => measure_procedure(changed, &setup.entrants, setup.judging, stop, watch),
            };
            document.cells.extend(found.comparisons);
            document.series.extend(found.series);
            document.missing.extend(found.missing);
            document.notes.extend(found.notes);
            document.seconds = began.elapsed().as_secs_f64();
            if found.error.is_some() {
                return Ok((document, found.error));
            }
        }
        Ok((document, None))
    }
}
