//! `erase`: the end of a volume in an instant.

use crate::dry_run::TargetArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::searching::SearchBar;
use crate::shown::shown;
use keyway::{ErasePlan, Erased};

/// Destroy every key of a volume, so that nobody can open it again
///
/// A BitLocker volume needs no secret for that. A VeraCrypt or TrueCrypt volume does: without one it
/// can't be told from any other file.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway erase /dev/sdb1
  $ keyway erase secret.hc --password-file pw.txt --yes")]
pub(crate) struct Args {
    #[command(flatten)]
    on: TargetArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let TargetArgs { dry, target } = &args.on;
    let bar = SearchBar::new();
    let volume = target.locked(&bar)?;
    let question = format!(
        "Everything in {} will be lost for ever, whatever passwords anyone knows.",
        target.volume.display()
    );
    let words = |erased: &Erased| {
        format!(
            "{}: every key is destroyed. Backups of its headers would still open it: destroy them, too. On a \
             flash drive unused cells may keep an old header; only the drive's own secure erase reaches these.",
            shown(&erased.volume)
        )
    };
    dry.carry_out(keyway::erase(&volume)?, Some(&question), ErasePlan::run, words, out)
}
