//! Results in words, tables and pages.

use super::{output_file, report_place, told_report};
use crate::output::tables;
use crate::verbs::*;
use keyway::lab::calibration::{self, Sheet};
use keyway::lab::{Found, report, workload};

/// Tells the shipped workloads.
pub(super) fn workloads(out: Output) -> Result<(), Failure> {
    let all = workload::shipped()?;
    let rows = || all.iter().map(|w| vec![w.name.clone(), w.title.clone()]);
    out.result(&json!({"workloads": all}), || table(&["workload", "what it is"], 9, rows()))
}

#[derive(Serialize)]
struct Models {
    models: Vec<Sheet>,
}

/// Tells the modelled drives, each beside what was published of it.
pub(super) fn models(only: Option<&str>, out: Output) -> Result<(), Failure> {
    let all = Models { models: calibration::sheets(only)? };
    out.result(&all, || {
        let text = tables(all.models.iter().map(Sheet::table));
        text + "\nModelled figures are of the simulated clock: exact, and the same on every machine.\n"
    })
}

/// Draws documents of one or several machines as one page.
pub(super) fn page(documents: &[PathBuf], html: Option<&Path>, out: Output) -> Result<(), Failure> {
    let documents = documents.iter().map(|path| Found::load(path)).collect::<Result<Vec<_>, _>>()?;
    let documents: Vec<_> = documents.into_iter().flat_map(|found| found.0).collect();
    let html = report_place(html);
    output_file(&html, out)?.write(report::html(&documents).as_bytes())?;
    let told = json!({"html": html, "documents": documents.len()});
    out.result(&told, || told_report(&html))
}
