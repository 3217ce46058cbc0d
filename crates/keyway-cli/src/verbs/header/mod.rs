//! `header`: the part of a volume whose loss loses everything.

mod check;

use crate::unlock_args::HiddenArgs;
use crate::verbs::*;
use keyway::header::{
    self, BackedUp, BackupPlan, RepairPlan, RepairedHeader, RestorePlan, Restored, RestoredPart,
};

/// Back up, restore, check or repair a volume's header
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Write the header to a new file: a VeraCrypt volume's as VeraCrypt does
    Backup(BackupArgs),
    /// Put the header back, from a backup file or from the copy at the end of the volume
    Restore(RestoreArgs),
    /// Write a BitLocker volume's damaged first sector and copies of its metadata anew from a good one
    Repair(TargetArgs),
    /// Tell which copies of the header are in order
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

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.action {
        Action::Backup(args) => backup(args, out),
        Action::Restore(args) => restore(args, out),
        Action::Check(args) => check::run(args, out),
        Action::Repair(args) => repair(args, out),
    }
}

fn backup(args: &BackupArgs, out: Output) -> Result<(), Failure> {
    let volume = args.on.target.locked()?;
    let inner = args.inner.source();
    let hidden = (args.hidden || inner.is_given()).then_some(inner);
    let run = |plan: BackupPlan<'_>| {
        let done = plan.run()?;
        done.warnings.iter().for_each(|warning| out.warn(warning));
        Ok(done)
    };
    let words = |done: &BackedUp| said("header backup", &facts(done, json!({"format": done.format})));
    args.on.dry.carry_out(header::backup(&volume, &args.file, hidden)?, None, run, words, out)
}

fn restore(args: &RestoreArgs, out: Output) -> Result<(), Failure> {
    let volume = args.on.target.locked()?;
    let plan = header::restore(&volume, args.file.as_deref(), args.force)?.tried(args.on.dry.dry_run)?;
    let question = said("header overwrites", &json!(plan));
    let words = |done: &Restored| {
        let headers = done.restored.iter().filter_map(|part| match part {
            RestoredPart::Header(place) => Some(place.to_string()),
            _ => None,
        });
        let headers = headers.collect::<Vec<_>>().join(" and the ");
        let more =
            json!({"both": headers.contains(" and "), "headers": headers, "file": args.file.is_some()});
        said("header restore", &facts(done, more))
    };
    args.on.dry.carry_out(plan, Some(&question), RestorePlan::run, words, out)
}

fn repair(args: &TargetArgs, out: Output) -> Result<(), Failure> {
    let volume = args.target.locked()?;
    let plan = header::repair(&volume)?;
    let path = shown(&plan.volume);
    let question = format!(
        "The first sector of {path} will be overwritten. Do that only if it was a BitLocker volume, and nothing else since."
    );
    let question = plan.overwrites_what_is_in_front.then_some(&*question);
    let words = |done: &RepairedHeader| {
        let first = done.first_sector.then(|| "the first sector".to_owned());
        let copies = done.repaired.iter().map(|number| format!("copy {number} of the metadata"));
        let parts = first.into_iter().chain(copies).collect::<Vec<_>>().join(", ");
        said("header repair", &facts(done, json!({"parts": parts, "all_good": done.all_good})))
    };
    args.dry.carry_out(plan, question, RepairPlan::run, words, out)
}
