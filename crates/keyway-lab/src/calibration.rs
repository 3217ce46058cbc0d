//! Modelled drives beside what was published of them, traces included.

use crate::error::LabError;
pub use crate::result::CalibrationRow as Row;
use crate::table::Table;
use crate::trace::{self, Replay};
use keyway_model::{Clock, DriveModel, Load, Measured, ModelDrive, NullStore, calibrate};
use keyway_store::Store;
use serde::Serialize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

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

/// A modelled drive and how it stands beside what was published of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sheet {
    /// Its word.
    pub name: String,
    /// What the drive is called.
    pub title: String,
    /// Its size in bytes.
    pub capacity_bytes: u64,
    /// How it is connected.
    pub interface: String,
    /// What the reader should know.
    pub note: String,
    /// Published figures, each beside the model's.
    pub figures: Vec<Row>,
}

impl Sheet {
    /// The figures, for people.
    pub fn table(&self) -> Table {
        let rows = self.figures.iter().map(|row| {
            let binding = if row.binding { "" } else { "(not held to it) " };
            let read = match &row.read_in {
                Some(page) => format!("; read in {page}"),
                None => "; not compared, an estimate".to_owned(),
            };
            vec![
                format!("  {}", row.load),
                number(row.published),
                number(row.modelled),
                row.unit.clone(),
                format!("{:+.1} %", row.deviation_percent),
                format!("{binding}{}{read}", row.source),
            ]
        });
        let title = format!("{}  (model:{}, {})", self.title, self.name, self.interface);
        Table::new(title, &["  load", "published", "modelled", "unit", "off by", "source"], 6, rows)
    }
}

fn number(value: f64) -> String {
    if value < 1000.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// The sheet of the model that is named, or of every shipped one.
///
/// # Errors
/// As [`model`] and [`table`].
pub fn sheets(name: Option<&str>) -> Result<Vec<Sheet>, LabError> {
    let models = match name {
        Some(name) => vec![model(name)?],
        None => DriveModel::shipped()?,
    };
    let sheet = |model: DriveModel| {
        let figures = table(&model)?;
        let DriveModel { name, title, capacity_bytes, interface, note, .. } = model;
        Ok(Sheet { name, title, capacity_bytes, interface, note, figures })
    };
    models.into_iter().map(sheet).collect()
}

/// A model by the name of a shipped one, `model:` before it or not, or by the path of a file.
///
/// # Errors
/// There is neither; or the file makes no sense.
pub fn model(name: &str) -> Result<DriveModel, LabError> {
    let name = name.strip_prefix("model:").unwrap_or(name);
    if let Some(model) = DriveModel::named(name) {
        return Ok(model);
    }
    let path = Path::new(name);
    if !path.exists() {
        return Err(LabError::NoSuchModel(name.to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(|e| LabError::system("read", path, e))?;
    Ok(DriveModel::parse(&text)?)
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
