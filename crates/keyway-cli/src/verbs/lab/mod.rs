//! `lab`: what encryption costs on a drive, measured so that it can be believed.

mod args;
mod compare;
mod entrants;
mod models;
mod nbd_sectors;
mod outputs;
mod record;
mod replay;
mod report;
mod stop;
mod table;

use crate::failure::Failure;
use crate::output::Output;
use keyway_lab::{Document, Target};
pub(crate) use outputs::OutputFile;
use std::path::Path;
use std::sync::atomic::AtomicBool;

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

/// A first look at a drive for the tour: the file is made in `folder`. Gives the table as well.
pub(crate) fn quick(folder: &Path, with: &[&str], out: Output) -> Result<(Document, String), Failure> {
    let mut targets = vec![Target::Plain];
    for words in with {
        targets.push(words.parse()?);
    }
    let common = args::Common::for_the_tour(folder);
    let stop = AtomicBool::new(false);
    let (mut document, error) = compare::find_out(&targets, &common, out, &stop)?;
    if let Some(error) = error {
        return Err(error.into());
    }
    document.command = "keyway demo".to_owned();
    let table = table::words(&document);
    Ok((document, table))
}

/// How many tests a document tells.
pub(crate) fn tests_of(document: &Document) -> usize {
    document.cells.iter().filter(|c| c.primary).count()
}

/// Writes the page for one document.
pub(crate) fn write_report(place: OutputFile, document: &Document) -> Result<(), Failure> {
    place.write(keyway_lab::report::html(std::slice::from_ref(document)).as_bytes())
}
