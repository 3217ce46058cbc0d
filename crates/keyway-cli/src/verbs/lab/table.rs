//! Results in words, tables and pages.

use super::{output_file, report_place, told_report};
use crate::output::tables;
use crate::verbs::*;
use keyway::lab::calibration::{self, Sheet};
use keyway::lab::{Found, report, workload};
use keyway::tour::{DATA_BYTES, TourFound, VOLUME_BYTES};
use sha2::{Digest, Sha256};

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

/// What a stop of the tour found, for its sentence.
pub(crate) fn facts_of(found: &TourFound) -> Value {
    let more = match found {
        TourFound::Header(info) => {
            let (cipher, mode, hash, data_bytes) =
                (info.cipher(), info.mode(), info.hash(), info.data_bytes());
            json!({"cipher": cipher, "mode": mode, "hash": hash, "data_bytes": data_bytes})
        }
        TourFound::File(file) => json!({"file": file.display().to_string()}),
        TourFound::Data(data) => {
            let short =
                Sha256::digest(data).iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
            json!({ "sha256": short })
        }
        TourFound::RefusedAt(at) => json!({ "refused_at": at }),
        _ => Value::Null,
    };
    facts(&json!({"volume_bytes": VOLUME_BYTES, "written_bytes": DATA_BYTES}), more)
}
