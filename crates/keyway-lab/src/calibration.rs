//! Modelled drives beside what was published of them, traces included.

use crate::LabError;
use crate::trace::{self, Replay};
use keyway_model::{Clock, DriveModel, Load, Measured, ModelDrive, NullStore, calibrate};
use keyway_store::Store;
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;

/// A published figure and what the model makes of the same load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The model's name.
    pub model: String,
    /// The load, for people.
    pub load: String,
    /// The figure's unit.
    pub unit: String,
    /// What was published.
    pub published: f64,
    /// Where.
    pub source: String,
    /// The public page on which it was read; none: an estimate that nobody has compared.
    pub read_in: Option<String>,
    /// What the model gives.
    pub modelled: f64,
    /// How far that is off, in percent of what was published.
    pub deviation_percent: f64,
    /// Whether the model is held to it (to 5 %).
    pub binding: bool,
}

/// All figures of a model, in its file's order.
///
/// # Errors
/// A trace that the model names is not shipped, or reaches past its end.
pub fn table(model: &DriveModel) -> Result<Vec<Row>, LabError> {
    let mut loads = calibrate(model)?.into_iter();
    let mut rows = Vec::new();
    for figure in &model.figures {
        let modelled = match &figure.load {
            Load::Trace { name } => on_trace(model, name)?.in_unit(figure.unit),
            _ => loads.next().map_or(f64::NAN, |row| row.modelled),
        };
        rows.push(Row {
            model: model.name.clone(),
            load: figure.load.to_string(),
            unit: figure.unit.name().to_owned(),
            published: figure.published,
            source: figure.source.clone(),
            read_in: figure.read_in.clone(),
            modelled,
            deviation_percent: (modelled / figure.published - 1.0) * 100.0,
            binding: figure.binding,
        });
    }
    Ok(rows)
}

/// A shipped trace on a fresh drive and the simulated clock, think time removed.
fn on_trace(model: &DriveModel, name: &str) -> Result<Measured, LabError> {
    let trace = trace::named(name).ok_or_else(|| LabError::NoSuchTrace(name.to_owned()))?;
    // On the simulated clock nobody waits for bytes, and nobody looks at them.
    let store = NullStore::new(model.capacity_bytes, model.sector_bytes);
    let drive = ModelDrive::over(model.clone(), Clock::simulated(), Box::new(store));
    let mut replay = Replay::new(&trace, drive.size(), drive.sector_bytes())?;
    let replayed = replay.run(&mut drive.queue(), &AtomicBool::new(false))?;
    let iops = replayed.operations as f64 / replayed.busy_seconds;
    Ok(Measured { iops, mb_s: replayed.mb_s(), latency_us: replayed.access_us })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The judgement: 607 MB/s on the PCMark-like trace. The other figures are tested beside the
    /// models themselves.
    #[test]
    fn traces_run_at_the_published_bandwidth() {
        let mut seen = 0;
        for model in DriveModel::shipped().unwrap() {
            for figure in &model.figures {
                let Load::Trace { name } = &figure.load else { continue };
                let modelled = on_trace(&model, name).unwrap().in_unit(figure.unit);
                let off = modelled / figure.published - 1.0;
                println!(
                    "{} {name}: {modelled:.1} for {:.1}, {:+.1} %",
                    model.name,
                    figure.published,
                    off * 100.0
                );
                assert!(off.abs() <= 0.05, "{} {name}: {modelled}", model.name);
                seen += 1;
            }
        }
        assert!(seen > 0);
    }

    #[test]
    fn the_table_has_every_figure_in_its_place() {
        let model = DriveModel::named("samsung-990-pro").unwrap();
        let table = table(&model).unwrap();
        assert_eq!(table.len(), model.figures.len());
        for (row, figure) in table.iter().zip(&model.figures) {
            assert_eq!((row.published, &row.source), (figure.published, &figure.source));
            assert!(row.modelled.is_finite() && row.modelled > 0.0, "{row:?}");
        }
    }
}
