//! `header`: the part of a volume whose loss loses everything.

mod check;
mod words;

use crate::dry_run::TargetArgs;
use crate::failure::Failure;
use crate::given::{Family, VolumeArgs};
use crate::output::Output;
use crate::searching::SearchBar;
use crate::secrets_in::HiddenArgs;
use keyway::header::{self, BackupPlan, RepairPlan, RestorePlan};
use std::path::PathBuf;

/// Back up, restore, check or repair a volume's header
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway header backup secret.hc secret.header
  $ keyway header restore secret.hc secret.header
  $ keyway header check secret.hc --password-file pw.txt --json")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Write the header to a new file: a VeraCrypt volume's as VeraCrypt does
    #[command(after_help = "Examples:
  $ keyway header backup secret.hc secret.header
  $ keyway header backup outer.hc outer.header --hidden")]
    Backup(BackupArgs),
    /// Put the header back, from a backup file or from the copy at the end of the volume
    #[command(after_help = "Examples:
  $ keyway header restore secret.hc
  $ keyway header restore secret.hc secret.header --password-file pw.txt --yes")]
    Restore(RestoreArgs),
    /// Write a BitLocker volume's damaged first sector and copies of its metadata anew from a good one
    #[command(after_help = "Examples:
  $ keyway header repair /dev/sdb1
  $ keyway header repair /dev/sdb1 --format bitlocker
  $ keyway header repair /dev/sdb1 --recovery-password recovery.txt")]
    Repair(TargetArgs),
    /// Tell which copies of the header are in order
    #[command(after_help = "Examples:
  $ keyway header check secret.hc
  $ keyway header check secret.hc --password-file pw.txt --json")]
    Check(VolumeArgs),
}

#[derive(clap::Args, Debug)]
struct BackupArgs {
    /// Back up the hidden volume's header too; asks for its secret
    #[arg(long)]
    hidden: bool,
    #[command(flatten)]
    on: TargetArgs,
    /// The backup file; must not exist yet
    file: PathBuf,
    #[command(flatten)]
    inner: HiddenArgs,
}

#[derive(clap::Args, Debug)]
struct RestoreArgs {
    /// Restore it even if the volume has other master keys now and would become unreadable
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    on: TargetArgs,
    /// The backup file; the copy at the end of the volume when left out
    file: Option<PathBuf>,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.action {
        Action::Backup(args) => backup(args, out),
        Action::Restore(args) => restore(args, out),
        Action::Check(args) => check::run(args, out),
        Action::Repair(args) => repair(args, out),
    }
}

fn backup(args: &BackupArgs, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.on.target.locked(&bar)?;
    let inner = args.inner.source();
    let hidden = (args.hidden || inner.is_given()).then(|| inner.named());
    let run = |plan: BackupPlan<'_>| {
        let done = plan.run()?;
        done.warnings.iter().for_each(|warning| out.warn(warning));
        Ok(done)
    };
    args.on.dry.carry_out(header::backup(&volume, &args.file, hidden)?, None, run, words::backed_up, out)
}

fn restore(args: &RestoreArgs, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.on.target.locked(&bar)?;
    let plan = header::restore(&volume, args.file.as_deref(), args.force)?;
    let what = if plan.format == Family::BitLocker { "metadata" } else { "header" };
    let question = format!("The {what} of {} will be overwritten.", plan.volume.display());
    args.on.dry.carry_out(plan, Some(&question), RestorePlan::run, words::restored, out)
}

fn repair(args: &TargetArgs, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.target.locked(&bar)?;
    let plan = header::repair(&volume)?;
    let question = plan.overwrites_what_is_in_front.then(|| {
        format!(
            "The first sector of {} will be overwritten. Do that only if it was a BitLocker volume, and nothing else since.",
            plan.volume.display()
        )
    });
    args.dry.carry_out(plan, question.as_deref(), RepairPlan::run, words::repaired, out)
}
