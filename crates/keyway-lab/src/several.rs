//! One comparison on several drives, one after the other: all are planned before the first is touched.

use crate::error::LabError;
use crate::interleave::Watch;
use crate::output_file::OutputFile;
use crate::plan::{ExperimentPlan, ExperimentRequest};
use crate::report;
use crate::result::Document;
use crate::rig::Drive;
use crate::timed::EncryptInPlace;
use serde::{Deserialize, Serialize, Serializer};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The same comparison on each of some drives.
pub struct Experiments {
    plans: Vec<ExperimentPlan>,
    before: Vec<Document>,
    time: Option<Duration>,
}

/// What was found on each drive. Of one drive it is that document.
#[derive(Debug, Clone, PartialEq)]
pub struct Found(pub Vec<Document>);

#[derive(Serialize, Deserialize)]
struct Several<D> {
    drives: D,
}

impl Serialize for Found {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &*self.0 {
            [only] => only.serialize(serializer),
            drives => Several { drives }.serialize(serializer),
        }
    }
}

impl Found {
    /// Reads what was saved.
    ///
    /// # Errors
    /// The file can't be read, or holds something else.
    pub fn load(path: &Path) -> Result<Self, LabError> {
        let text = std::fs::read(path).map_err(|e| LabError::system("read", path, e))?;
        let several = serde_json::from_slice(&text).map(|Several { drives }| drives);
        several
            .or_else(|_| serde_json::from_slice(&text).map(|only| vec![only]))
            .map(Self)
            .map_err(|source| LabError::NotADocument { path: path.to_owned(), source })
    }

    /// Writes it, and its page, where they were asked for.
    ///
    /// # Errors
    /// The system's reason.
    pub fn keep(&self, save: Option<OutputFile>, html: Option<OutputFile>) -> Result<(), LabError> {
        if let Some(place) = save {
            let text = serde_json::to_vec(self);
            place.write(&text.map_err(|e| LabError::system("write", Path::new("the results"), e.into()))?)?;
        }
        html.map_or(Ok(()), |place| place.write(report::html(&self.0).as_bytes()))
    }
}

impl Experiments {
    /// The request on each of the drives; it goes on with what was found `before`, where that is given.
    ///
    /// # Errors
    /// One of them can't be done, or what was found before is of other drives.
    pub fn of(
        request: &ExperimentRequest,
        drives: &[Drive],
        before: Option<&Path>,
    ) -> Result<Self, LabError> {
        let on = |drive: &Drive| ExperimentRequest { drive: drive.clone(), ..request.clone() }.plan();
        let plans = drives.iter().map(on).collect::<Result<Vec<_>, _>>()?;
        let before = before.map(Found::load).transpose()?.map_or_else(Vec::new, |found| found.0);
        // What an interrupted run did not come to, is not there.
        if before.len() > plans.len() {
            let then = before.iter().map(|one| one.drive.as_str()).collect::<Vec<_>>().join(", ");
            let now = plans.iter().map(|plan| plan.drive.to_string()).collect::<Vec<_>>().join(", ");
            return Err(LabError::MeasuredOtherwise { what: "--drive", then, now });
        }
        Ok(Self { plans, before, time: request.time })
    }

    /// How long it takes, where that is known: what each drive's experiment plans, of which nothing was measured before.
    pub fn planned(&self) -> Option<Duration> {
        let all: Duration = self.plans.iter().map(ExperimentPlan::planned).sum::<Option<_>>()?;
        let all = self.time.map_or(all, |time| all.min(time));
        self.before.is_empty().then_some(all)
    }

    /// What will be lost, in words: its owner is asked first.
    pub fn losses(&self) -> Vec<String> {
        let files =
            self.plans.iter().flat_map(|plan| &plan.overwrites).map(|path| path.display().to_string());
        let written = self.plans.first().filter(|plan| !plan.reads_only);
        let others = written.iter().flat_map(|plan| &plan.others);
        let others = others.map(|program| format!("what `{}` attaches", program.attach));
        files.chain(others).collect()
    }

    /// Measures on one drive after the other. What was found until an error, or until it was stopped, is told all the same.
    ///
    /// # Errors
    /// The first drive could not be set up.
    pub fn run(
        &self,
        encrypt: EncryptInPlace,
        stop: &AtomicBool,
        watch: &dyn Watch,
    ) -> Result<(Found, Option<LabError>), LabError> {
        let until = self.time.map(|time| Instant::now() + time);
        let mut found = Vec::new();
        for (n, plan) in self.plans.iter().enumerate() {
            // Each has its part of what is left.
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let time = left.map(|left| left / (self.plans.len() - n).max(1) as u32);
            let plan = ExperimentPlan { time, ..plan.clone() };
            let done = match self.before.get(n) {
                Some(before) => plan.resume(before, encrypt, stop, watch),
                None => plan.run(encrypt, stop, watch),
            };
            match done {
                Ok((document, None)) => found.push(document),
                Ok((document, Some(error))) => {
                    found.push(document);
                    return Ok((Found(found), Some(error)));
                }
                Err(error) if found.is_empty() => return Err(error),
                Err(error) => return Ok((Found(found), Some(error))),
            }
        }
        Ok((Found(found), None))
    }
}
