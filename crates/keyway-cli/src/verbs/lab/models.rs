//! `lab models`: the modelled drives, each beside what was published of it.

use crate::failure::{Exit, Failure};
use crate::output::{Output, table};
use crate::shown::shown;
use keyway_lab::calibration::{self, Row};
use keyway_model::{DriveModel, ModelError};
use serde::Serialize;
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Only this one, or a model of your own in a file
    #[arg(value_name = "MODEL|FILE")]
    model: Option<String>,
}

#[derive(Serialize)]
struct Document {
    models: Vec<Model>,
}

#[derive(Serialize)]
struct Model {
    name: String,
    title: String,
    capacity_bytes: u64,
    interface: String,
    note: String,
    figures: Vec<Row>,
}

/// A model by the name of a shipped one or the path of a file.
pub(super) fn model(name: &str) -> Result<DriveModel, Failure> {
    let name = name.strip_prefix("model:").unwrap_or(name);
    if let Some(model) = DriveModel::named(name) {
        return Ok(model);
    }
    let path = Path::new(name);
    if !path.exists() {
        let what = format!("there is no modelled drive {name:?}");
        return Err(Failure::usage(what, "`keyway lab models` names them; or give a model's file"));
    }
    let text = std::fs::read_to_string(path).map_err(|e| Failure::io("read", path, &e))?;
    DriveModel::parse(&text).map_err(|e| Failure::usage(e.to_string(), advice(&e)))
}

const fn advice(error: &ModelError) -> &'static str {
    match error {
        ModelError::Range { .. } => "compare a shipped model",
        ModelError::Syntax(_) => "",
    }
}

pub(super) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let models = match &args.model {
        Some(name) => vec![model(name)?],
        None => DriveModel::shipped().map_err(|e| Failure::new(Exit::Failed, e.to_string(), advice(&e)))?,
    };
    let mut document = Document { models: Vec::new() };
    for model in models {
        let figures = calibration::table(&model)?;
        let DriveModel { name, title, capacity_bytes, interface, note, .. } = model;
        document.models.push(Model { name, title, capacity_bytes, interface, note, figures });
    }
    out.result(&document, || words(&document))
}

fn words(document: &Document) -> String {
    let mut text = String::new();
    for model in &document.models {
        text.push_str(&format!(
            "{}  (model:{}, {})\n",
            shown(&model.title),
            shown(&model.name),
            model.interface
        ));
        let rows = model.figures.iter().map(|row| {
            let deviation = format!("{:+.1} %", row.deviation_percent);
            let binding = if row.binding { "" } else { "(not held to it) " };
            let read = row
                .read_in
                .as_ref()
                .map_or("; not compared, an estimate".to_owned(), |page| format!("; read in {page}"));
            vec![
                format!("  {}", row.load),
                number(row.published),
                number(row.modelled),
                row.unit.clone(),
                deviation,
                format!("{binding}{}{read}", row.source),
            ]
        });
        let mut lines = table(&["  load", "published", "modelled", "unit", "off by", "source"], 6, rows);
        lines.push('\n');
        text.push_str(&lines);
    }
    text.push_str("Modelled figures are of the simulated clock: exact, and the same on every machine.\n");
    text
}

fn number(value: f64) -> String {
    if value < 1000.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}
