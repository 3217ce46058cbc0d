//! Studies are carried out.

use super::definition::{Study, StudyExperiment, shipped};
use super::document::{Measured, StudyDocument};
use super::simulated::simulated;
use super::verdict::{judged, unmeasured};
use crate::changes::Changes;
use crate::error::LabError;
use crate::interleave::Watch;
use crate::plan::{ExperimentPlan, ExperimentRequest};
use crate::rig::Drive;
use crate::target::Target;
use crate::timed::EncryptInPlace;
use crate::workload::Procedure;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Studies, looked at before anything is measured.
pub struct StudyPlan {
    studies: Vec<(Study, Vec<(String, ExperimentPlan)>)>,
}

impl StudyPlan {
    /// The study of that name, or all of them.
    ///
    /// # Errors
    /// There is no such study.
    pub fn of(name: Option<&str>, command: &str) -> Result<Self, LabError> {
        let wanted = |study: &Study| name.is_none_or(|name| study.name == name);
        let all: Vec<Study> = shipped()?.into_iter().filter(wanted).collect();
        if all.is_empty() {
            let name = name.unwrap_or_default();
            return Err(LabError::Unsuited(format!("there is no study {name:?}")));
        }
        let studies = all.into_iter().map(|study| {
            let plans = study.experiments.iter().map(|e| Ok((e.name.clone(), planned(e, command)?)));
            let plans = plans.collect::<Result<Vec<_>, LabError>>()?;
            Ok((study, plans))
        });
        Ok(Self { studies: studies.collect::<Result<_, LabError>>()? })
    }

    /// How long it takes, where that is known: what each experiment plans.
    pub fn planned(&self) -> Option<Duration> {
        self.studies.iter().flat_map(|(_, plans)| plans).map(|(_, plan)| plan.planned()).sum()
    }

    /// Measures everything. What was found until an error, or until it was stopped, is in the document all the same.
    pub fn run(
        &self,
        encrypt: EncryptInPlace,
        stop: &AtomicBool,
        watch: &dyn Watch,
    ) -> (StudyDocument, Option<LabError>) {
        let began = Instant::now();
        let studies = self.studies.iter().map(|(study, _)| study.clone()).collect();
        let (answer, verdicts, measured, missing) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut found = StudyDocument { answer, verdicts, studies, measured, seconds: 0.0, missing };
        let mut failed = None;
        for (study, plans) in &self.studies {
            for (name, plan) in plans {
                let before = found.verdicts.len();
                if failed.is_some() {
                    found.missing.push(format!("{}: {name}", study.name));
                } else {
                    failed = found.measure(study, name, plan, encrypt, stop, watch).err();
                }
                if found.verdicts.len() == before {
                    let drive = study.experiment(name).map(|experiment| title(&experiment.drive));
                    let own = study.claims.iter().filter(|claim| claim.experiment == *name);
                    let told = own.map(|claim| unmeasured(study, claim, drive.clone().unwrap_or_default()));
                    found.verdicts.extend(told);
                }
            }
        }
        found.seconds = began.elapsed().as_secs_f64();
        found.answer = super::answer(&found);
        (found, failed)
    }
}

impl StudyDocument {
    fn measure(
        &mut self,
        study: &Study,
        name: &str,
        plan: &ExperimentPlan,
        encrypt: EncryptInPlace,
        stop: &AtomicBool,
        watch: &dyn Watch,
    ) -> Result<(), LabError> {
        let (document, error) = plan.run(encrypt, stop, watch)?;
        let claims: Vec<_> = study.claims.iter().filter(|claim| claim.experiment == name).collect();
        let experiment = study.experiment(name);
        for claim in &claims {
            let then = match (experiment, study.software_of(claim)) {
                (Some(experiment), Some(model)) => simulated(experiment, claim, model)?,
                _ => None,
            };
            self.verdicts.push(judged(study, claim, &document, then, claims.len()));
        }
        let short = document.missing.iter().map(|what| format!("{}: {name}: {what}", study.name));
        self.missing.extend(short);
        let (study, experiment) = (study.name.clone(), name.to_owned());
        self.measured.push(Measured { study, experiment, document });
        error.map_or(Ok(()), Err)
    }
}

/// What a modelled drive is called in what was measured on it.
fn title(drive: &str) -> String {
    let model = crate::calibration::model(drive);
    format!("model of {}", model.map_or_else(|_| drive.to_owned(), |model| model.title))
}

/// An experiment for the laboratory: no encryption first, then the others.
fn planned(experiment: &StudyExperiment, command: &str) -> Result<ExperimentPlan, LabError> {
    let drive = Drive::Model(experiment.drive.clone());
    // Without a bare drive to do it on, what is held against is the same way without a cipher.
    let timed = experiment.workload.ends_with("-time");
    let none = if timed { Target::Plain } else { Target::Bare };
    let targets = std::iter::once(none).chain(experiment.with.iter().cloned()).collect();
    let mut request = ExperimentRequest::new(targets, drive);
    request.workloads = vec![experiment.workload.clone()];
    request.changes = Changes {
        span_bytes: experiment.size_mib.map(|mib| mib << 20),
        seconds: experiment.seconds,
        runs: experiment.runs,
        quick: experiment.seconds.is_some(),
        scale: experiment.scale,
        ..Changes::default()
    };
    request.delta = Some(DELTA);
    request.time = Some(Duration::from_secs_f64(experiment.minutes.clamp(0.0, 600.0) * 60.0));
    command.clone_into(&mut request.command);
    let mut plan = request.plan()?;
    for workload in plan.workloads.iter_mut().chain(&mut plan.originals) {
        let Procedure::Requests(requests) = &mut workload.kind else { continue };
        let wanted = |name: &String| experiment.cells.is_empty() || experiment.cells.contains(name);
        let cells = std::mem::take(&mut requests.cells).into_iter();
        let both = cells.zip(std::mem::take(&mut requests.metrics)).filter(|(cell, _)| wanted(&cell.name));
        (requests.cells, requests.metrics) = both.unzip();
    }
    Ok(plan)
}

/// A change by less than this is none.
const DELTA: f64 = 0.03;
