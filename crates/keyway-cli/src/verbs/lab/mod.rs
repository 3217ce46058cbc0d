//! `lab`: what encryption costs on a drive, measured so that it can be believed.

mod args;
mod compare;
mod models;
mod record;
mod replay;
mod report;
mod table;

use crate::failure::Failure;
use crate::output::Output;
use keyway::lab::bench::BenchError;
use keyway::lab::{Document, LabError, OutputFile};
use std::path::Path;
pub(crate) use table::words as table_of;

/// Measure what encryption costs on a drive, modelled or real
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway lab compare --with veracrypt:aes --with bitlocker:aes-xts-128 --drive model:samsung-990-pro --quick
  $ keyway lab compare --with veracrypt:aes-twofish-serpent --drive /mnt/disk --workload cdm --html report.html
  $ keyway lab models
  $ keyway lab replay work.trace --drive model:samsung-990-pro --with aes")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    Run(args::Run),
    Compare(args::Compare),
    Report(report::Args),
    /// List the modelled drives, each beside what was published of it
    #[command(after_help = "Examples:
  $ keyway lab models
  $ keyway lab models samsung-840-pro --json")]
    Models(models::Args),
    /// Take down the requests of an open volume into a trace: where and when, never the bytes
    #[command(after_help = "Examples:
  $ keyway lab record secret.hc --output work.trace
  $ keyway lab record /mnt/secret --output work.trace --seconds 60")]
    Record(record::Args),
    /// Make a trace's requests again, on a modelled drive or on a file or device
    #[command(after_help = "Examples:
  $ keyway lab replay pcmark-like --drive model:samsung-990-pro --with aes
  $ keyway lab replay work.trace --on /mnt/disk/scratch.img --yes")]
    Replay(replay::Args),
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.action {
        Action::Run(args) => compare::run(args, out),
        Action::Compare(args) => compare::compare(args, out),
        Action::Report(args) => report::run(args, out),
        Action::Models(args) => models::run(args, out),
        Action::Record(args) => record::run(args, out),
        Action::Replay(args) => replay::run(args, out),
    }
}

/// A file that is going to be written; what is no report of ours is never replaced unasked.
pub(crate) fn output_file(path: &Path, out: Output) -> Result<OutputFile, Failure> {
    if OutputFile::replaces_foreign(path) {
        out.confirm(&format!("Replace {}, which is no report of Keyway's?", path.display()))?;
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

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        Self::explained(&error)
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        Self::explained(&error)
    }
}
