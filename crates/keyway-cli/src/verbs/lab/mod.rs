//! `lab`: what encryption costs on a drive, measured so that it can be believed.

mod args;
mod compare;
mod record;
mod replay;
mod study;
mod table;

use crate::verbs::*;
pub(crate) use compare::bar;
pub(crate) use keyway::lab::told::document as words;
use keyway::lab::{Document, OutputFile};
use keyway::tour::TourError;

/// Measure what encryption costs on a drive, modelled or real
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    Run(compare::Run),
    Compare(compare::Compare),
    Study(study::Args),
    /// Draw what was measured, on one machine or several, as one HTML page
    Report {
        /// Files that `lab run` or `lab compare` wrote with --save
        #[arg(required = true, value_name = "FILE.json")]
        documents: Vec<PathBuf>,
        /// Where the page goes [default: report.html, or the next free name]
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
    },
    /// List the modelled drives, each beside what was published of it
    Models {
        /// Only this one, or a model of your own in a file
        #[arg(value_name = "MODEL|FILE")]
        model: Option<String>,
    },
    /// Take down the requests of an open volume into a trace: where and when, never the bytes
    Record(record::Args),
    /// Make a trace's requests again, on a modelled drive or on a file or device
    Replay(replay::Args),
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.action {
        Action::Run(args) => compare::run(args, out),
        Action::Compare(args) => compare::compare(args, out),
        Action::Study(args) => study::run(args, out),
        Action::Report { documents, html } => table::page(documents, html.as_deref(), out),
        Action::Models { model } => table::models(model.as_deref(), out),
        Action::Record(args) => record::run(args, out),
        Action::Replay(args) => replay::run(args, out),
    }
}

/// Where a report goes: the named place, or one at which nothing lies.
pub(crate) fn report_place(named: Option<&Path>) -> PathBuf {
    named.map_or_else(|| OutputFile::free(Path::new("report.html")), Path::to_owned)
}

/// Says where a report is.
pub(crate) fn told_report(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    format!("The same as charts: {}\n", shown(&whole))
}

/// A file that is going to be written; what lies there is never replaced unasked.
pub(crate) fn output_file(path: &Path, out: Output) -> Result<OutputFile, Failure> {
    if OutputFile::replaces(path) {
        out.confirm(&format!("Replace {}?", path.display()))?;
    }
    Ok(OutputFile::at(path)?)
}

/// Writes the page for one document.
pub(crate) fn write_report(place: OutputFile, document: &Document) -> Result<(), Failure> {
    Ok(place.write(keyway::lab::report::html(std::slice::from_ref(document)).as_bytes())?)
}

/// The command as it was given; no secret is ever an argument.
pub(crate) fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("keyway".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

impl From<TourError> for Failure {
    fn from(error: TourError) -> Self {
        match error {
            TourError::Keyway(error) => error.into(),
            error => Self::explained(&error),
        }
    }
}
