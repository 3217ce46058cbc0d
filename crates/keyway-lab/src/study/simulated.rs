//! The software of the time beside no encryption, on the simulated clock: exact, and the same on every machine.

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
    let value = |cost_us: f64| value(&drive, experiment, claim, cost_us, model.workers);
    // No cost at all is the drive alone.
    Ok(match (value(0.0)?, value(model.request_us)?) {
        (Some(none), Some(software)) => Some(Simulated { none, software }),
        _ => None,
    })
}

fn value(
    drive: &DriveModel,
    experiment: &StudyExperiment,
    claim: &Claim,
    cost_us: f64,
    workers: usize,
) -> Result<Option<f64>, LabError> {
    let store = NullStore::new(drive.capacity_bytes, drive.sector_bytes);
    let capacity = drive.capacity_bytes;
    let drive = ModelDrive::over(drive.clone(), Clock::simulated(), Box::new(store));
    let mut queue = SlowQueue::new(drive.queue(), cost_us, workers);
    match workload::find(&experiment.workload)?.kind {
        Procedure::Requests(requests) => {
            let cell = requests.cells.iter().find(|cell| cell.name == claim.cell);
            let Some(load) = cell.and_then(load) else { return Ok(None) };
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
