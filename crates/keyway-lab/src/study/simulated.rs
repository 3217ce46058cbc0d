//! The software of the time, or the drive's state then, beside no encryption, on the simulated clock: exact, and the same on every machine.

use super::definition::{Claim, CostModel, StudyExperiment};
use super::slow_queue::SlowQueue;
use crate::calibration;
use crate::cell::{Cell, Mix, Pattern};
use crate::error::LabError;
use crate::result::Metric;
use crate::trace::{self, Replay};
use crate::workload::{self, Procedure};
use keyway_model::{Clock, Direction, DriveModel, Load, ModelDrive, NullStore, measure_through};
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;

/// A test's value without encryption and with the software of the time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Simulated {
    /// Without.
    pub none: f64,
    /// With it.
    pub software: f64,
}

/// A claim's test by a cost model. None for tests that are no requests: a model of those would be a guess.
pub(super) fn simulated(
    experiment: &StudyExperiment,
    claim: &Claim,
    model: &CostModel,
) -> Result<Option<Simulated>, LabError> {
    let drive = calibration::model(&experiment.drive)?;
    let none = CostModel { request_us: 0.0, full_drive: false, ..model.clone() };
    // No cost at all is the drive alone.
    Ok(match (value(&drive, experiment, claim, &none)?, value(&drive, experiment, claim, model)?) {
        (Some(none), Some(software)) => Some(Simulated { none, software }),
        _ => None,
    })
}

fn value(
    drive: &DriveModel,
    experiment: &StudyExperiment,
    claim: &Claim,
    model: &CostModel,
) -> Result<Option<f64>, LabError> {
    let store = NullStore::new(drive.capacity_bytes, drive.sector_bytes);
    let capacity = drive.capacity_bytes;
    let drive = ModelDrive::over(drive.clone(), Clock::simulated(), Box::new(store));
    if model.full_drive {
        drive.fill();
    }
    let mut queue = SlowQueue::new(drive.queue(), model.request_us, model.workers);
    match workload::find(&experiment.workload)?.kind {
        Procedure::Requests(requests) => {
            let cell = requests.cells.iter().find(|cell| cell.name == claim.cell);
            let Some(load) = cell.and_then(load) else { return Ok(None) };
            if let (true, Load::Random { action: Direction::Write, block_bytes, span_bytes, .. }) =
                (model.full_drive, &load)
            {
                drive.wear_in(span_bytes.unwrap_or(capacity), *block_bytes);
            }
            let found = measure_through(&mut queue, capacity, &load)?;
            Ok(found.and_then(|found| match claim.metric {
                Metric::Iops => Some(found.iops),
                Metric::MbS => Some(found.mb_s),
                Metric::LatencyUs => Some(found.latency_us),
                _ => None,
            }))
        }
        Procedure::Traces(_) => {
            let Some(trace) = trace::named(&claim.cell) else { return Ok(None) };
            let mut replay = Replay::folded(&trace, capacity, 4096)?;
            let found = replay.run(&mut queue, &AtomicBool::new(false))?;
            Ok(match claim.metric {
                Metric::MbS => Some(found.mb_s()),
                Metric::LatencyUs => Some(found.access_us),
                Metric::Score => Some(found.score()),
                _ => None,
            })
        }
        _ => Ok(None),
    }
}

/// A cell's requests for the simulated clock, which one thread keeps in flight.
fn load(cell: &Cell) -> Option<Load> {
    let action = match cell.mix {
        Mix::Read => Direction::Read,
        Mix::Write => Direction::Write,
        Mix::Mix70 => return None,
    };
    let (block_bytes, depth) = (u32::try_from(cell.block_bytes).ok()?, cell.in_flight());
    Some(match cell.pattern {
        Pattern::Sequential => Load::Sequential { action, block_bytes, depth },
        Pattern::Random => Load::Random { action, block_bytes, depth, span_bytes: Some(cell.span_bytes) },
    })
}

#[cfg(test)]
mod tests {
    use super::super::definition::shipped;
    use super::*;

    /// What is spare of the 840 Pro holds the test's 8 GB twice: by the law of how much is collected (Desnoyers 2012) of such
    /// blocks hardly anything is left in use.
    #[test]
    fn a_drive_that_looks_full_does_not_explain_what_was_published() {
        let study = shipped().unwrap().into_iter().find(|study| study.name == "edrive-2013").unwrap();
        let claim = study.claims.iter().find(|claim| claim.percent == Some(29.0)).unwrap();
        let (experiment, model) =
            (study.experiment(&claim.experiment).unwrap(), study.software_of(claim).unwrap());
        assert!(model.full_drive);
        let found = simulated(experiment, claim, model).unwrap().expect("requests can be simulated");
        assert!((found.none / 88_911.3 - 1.0).abs() < 0.05, "{found:?}");
        assert!((found.software / found.none - 1.0).abs() < 0.03, "{found:?}");
    }
}
