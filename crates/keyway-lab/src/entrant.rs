//! One side of a comparison, ready to be measured.

use crate::error::LabError;
use crate::judge::EntrantFacts;
use crate::load::Meter;
use crate::program_guard::ProgramGuard;
use crate::result::{Flag, Sample};
use crate::sectors::Subject;
use crate::timed::TimedWork;
use keyway_model::ModelDrive;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// One side of a comparison, ready to be measured.
pub struct Entrant {
    /// The target's words.
    pub name: String,
    /// What is measured.
    pub subject: Subject,
    /// What is known of it.
    pub facts: EntrantFacts,
    /// The modelled drive under it, whose lateness is watched.
    pub model: Option<ModelDrive>,
    /// A folder on it, for workloads that copy files.
    pub folder: Option<PathBuf>,
    /// Makes or unlocks it, for workloads that time that.
    pub timed: Option<Arc<TimedWork>>,
    /// Gives another program up that does not answer.
    pub guard: Option<Arc<ProgramGuard>>,
}

impl Entrant {
    /// One with neither a folder nor operations of its own.
    pub fn new(name: impl Into<String>, subject: Subject) -> Self {
        let (name, facts) = (name.into(), EntrantFacts::default());
        Self { name, subject, facts, model: None, folder: None, timed: None, guard: None }
    }

    /// Does something with it that ends within `limit`, or another program is given up.
    pub(crate) fn within<T>(
        &self,
        limit: Duration,
        stop: &AtomicBool,
        work: impl FnOnce() -> Result<T, LabError>,
    ) -> Result<T, LabError> {
        let work = || work().map_err(|e| self.failed(e));
        match &self.guard {
            Some(guard) => guard.within(limit, stop, work),
            None => work(),
        }
    }

    /// A turn, with a look at whether a modelled drive's times were kept, and without the processor time that went into
    /// waiting for it. Another program is given up where it takes longer than `limit`.
    pub(crate) fn turn(
        &self,
        limit: Duration,
        stop: &AtomicBool,
        make: impl FnOnce() -> Result<Sample, LabError>,
    ) -> Result<Sample, LabError> {
        let Some(model) = &self.model else { return self.within(limit, stop, make) };
        model.forget_lateness();
        let (meter, spun) = (Meter::start(), model.clock().spun_ns());
        let mut sample = make()?;
        let spun = (model.clock().spun_ns() - spun) as f64 / 1e9;
        let own = 1.0 - spun / meter.spent().0.max(1e-9);
        sample.cpu_seconds *= own.clamp(0.0, 1.0);
        // What the waiting took of the processors' energy, or of the whole machine's time, nobody knows.
        (sample.joules, sample.machine_cpu_seconds) = (None, None);
        if !model.lateness().is_kept() {
            sample.flags.push(Flag::BusyMachine);
        }
        Ok(sample)
    }

    /// Whose failure it is: where another program is measured, that one's.
    fn failed(&self, error: LabError) -> LabError {
        match error {
            LabError::Stopped => error,
            error if self.facts.other_program => {
                let what = format!("can't be used: {error}");
                LabError::OtherProgram { name: self.name.clone(), what }
            }
            error => error,
        }
    }
}
