//! `lab`: the laboratory, what encryption costs on a drive.

mod models;
mod record;
mod replay;

use crate::failure::Failure;
use crate::output::Output;

/// Measure what encryption costs on a drive, modelled or real
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway lab models
  $ keyway lab record secret.hc --output work.trace
  $ keyway lab replay work.trace --drive model:samsung-990-pro --with aes")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
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
        Action::Models(args) => models::run(args, out),
        Action::Record(args) => record::run(args, out),
        Action::Replay(args) => replay::run(args, out),
    }
}
