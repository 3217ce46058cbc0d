//! A model held against what was published of its drive, on the simulated clock.

use super::chance::Chance;
use super::clock::Clock;
use super::model_drive::ModelDrive;
use super::null::NullStore;
use super::parameters::{Direction, DriveModel, Figure, Load, Unit};
use keyway_store::{Action, AlignedBuf, Queue, Request, StoreError};

/// Simulated time before anything is counted, in ns: caches fill, queues settle.
const WARM_UP: u64 = 500_000_000;
/// Simulated time that is counted, in ns; a slow drive takes longer, for [`LEAST`] requests.
const COUNTED: u64 = 1_000_000_000;
/// Requests counted at least.
const LEAST: u64 = 2_000;
/// Requests counted at most.
const MOST: u64 = 400_000;

/// What a load brought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Requests a second.
    pub iops: f64,
    /// 10^6 bytes a second.
    pub mb_s: f64,
    /// Mean time from submission to completion, in µs.
    pub latency_us: f64,
}

impl Measured {
    /// The value in a figure's unit.
    pub fn in_unit(&self, unit: Unit) -> f64 {
        match unit {
            Unit::LatencyUs => self.latency_us,
            Unit::Iops => self.iops,
            Unit::MbS => self.mb_s,
        }
    }
}

/// A published figure beside the model's.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The model's name.
    pub model: String,
    /// The published figure.
    pub figure: Figure,
    /// What the model makes of the same load.
    pub modelled: f64,
}

impl Calibration {
    /// How far the model is off, as a share of what was published: 0.05 is 5 % more.
    pub fn deviation(&self) -> f64 {
        self.modelled / self.figure.published - 1.0
    }
}

/// Runs every load of a model's figures on a fresh drive and the simulated clock. Traces are left
/// out: the laboratory has those.
///
/// # Errors
/// None that a model which was parsed can cause.
pub fn calibrate(model: &DriveModel) -> Result<Vec<Calibration>, StoreError> {
    let mut table = Vec::new();
    for figure in &model.figures {
        // Nobody reads the bytes.
        let store = NullStore::new(model.capacity_bytes, model.sector_bytes);
        let drive = ModelDrive::over(model.clone(), Clock::simulated(), Box::new(store));
        if let Some(measured) = measure(&drive, &figure.load)? {
            let modelled = measured.in_unit(figure.unit);
            table.push(Calibration { model: model.name.clone(), figure: figure.clone(), modelled });
        }
    }
    Ok(table)
}

/// Keeps a load's requests in flight on a drive and counts; `None` for a trace.
///
/// # Errors
/// The store behind the drive failed.
pub fn measure(drive: &ModelDrive, load: &Load) -> Result<Option<Measured>, StoreError> {
    measure_through(&mut drive.queue(), drive.model().capacity_bytes, load)
}

/// The same through a queue that leads to a drive of so many bytes.
///
/// # Errors
/// The store behind the drive failed.
pub fn measure_through(
    queue: &mut dyn Queue,
    capacity: u64,
    load: &Load,
) -> Result<Option<Measured>, StoreError> {
    let (direction, block, depth, span) = match *load {
        Load::Random { action, block_bytes, depth, span_bytes } => {
            (action, block_bytes, depth, Some(span_bytes.unwrap_or(capacity).min(capacity)))
        }
        Load::Sequential { action, block_bytes, depth } => (action, block_bytes, depth, None),
        Load::Trace { .. } => return Ok(None),
    };
    let action = match direction {
        Direction::Read => Action::Read,
        Direction::Write => Action::Write,
    };
    let block = u64::from(block);
    let mut chance = Chance::new(42);
    let mut next = 0;
    let mut place = || match span {
        Some(span) => chance.next() % (span / block).max(1) * block,
        None => {
            let at = next;
            next = (next + block) % (capacity - block);
            at
        }
    };

    let mut submitted = vec![0; depth as usize];
    for tag in 0..u64::from(depth) {
        submitted[tag as usize] = queue.now();
        let buf = AlignedBuf::zeroed(block as usize);
        queue.submit(Request { tag, action, offset: place(), buf })?;
    }
    let (mut from, mut count, mut latencies, mut done) = (None, 0u64, 0u64, Vec::new());
    loop {
        queue.complete(1, &mut done)?;
        let now = queue.now();
        for completion in done.drain(..) {
            completion.result?;
            let started = submitted.get_mut(completion.tag as usize);
            if now >= WARM_UP && from.is_none() {
                from = Some(now);
            } else if from.is_some() {
                count += 1;
                latencies += now - started.as_deref().copied().unwrap_or(now);
            }
            if let Some(started) = started {
                *started = now;
            }
            queue.submit(Request { tag: completion.tag, action, offset: place(), buf: completion.buf })?;
        }
        let counted = now - from.unwrap_or(now);
        if (counted >= COUNTED && count >= LEAST) || count >= MOST {
            let seconds = counted as f64 / 1e9;
            let iops = count as f64 / seconds;
            return Ok(Some(Measured {
                iops,
                mb_s: iops * block as f64 / 1e6,
                latency_us: latencies as f64 / count as f64 / 1e3,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The judgement: every binding figure within 5 %.
    #[test]
    fn models_reproduce_what_was_published() {
        let mut off = Vec::new();
        for model in DriveModel::shipped().unwrap() {
            for row in calibrate(&model).unwrap() {
                let percent = row.deviation() * 100.0;
                if row.figure.binding && percent.abs() > 5.0 {
                    let (load, published) = (row.figure.load.to_string(), row.figure.published);
                    off.push(format!(
                        "{} {load}: {} for {published}, {percent:+.1} %",
                        row.model, row.modelled
                    ));
                }
            }
        }
        assert!(off.is_empty(), "off by more than 5 %:\n{}", off.join("\n"));
    }

    #[test]
    fn calibration_repeats_to_the_last_digit() {
        let model = DriveModel::named("samsung-840-pro").unwrap();
        assert_eq!(calibrate(&model).unwrap(), calibrate(&model).unwrap());
    }
}
