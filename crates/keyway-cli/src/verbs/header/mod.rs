//! `header`: the part of a volume whose loss loses everything.

mod check;

use crate::dry_run::TargetArgs;
use crate::failure::Failure;
use crate::given::{Family, VolumeArgs};
use crate::output::{Output, bytes};
use crate::searching::SearchBar;
use crate::secrets_in::HiddenArgs;
use crate::shown::shown;
use keyway::header::{
    self, BackedUp, BackupPlan, RepairPlan, RepairedHeader, RestorePlan, Restored, RestoredPart,
};
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
    let words = |done: &BackedUp| {
        let (file, size) = (shown(&done.file), bytes(done.bytes));
        let (what, with) = match (done.format, done.hidden) {
            (Family::BitLocker, _) => {
                ("the metadata and the first sector", "With it the volume opens with the present protectors")
            }
            (_, true) => {
                ("the headers of the outer and the hidden volume", "It opens with the present secret")
            }
            (_, false) => ("the header", "It opens with the present secret"),
        };
        format!("{file} holds {what} ({size}). {with}, whatever is changed later: keep it safe.")
    };
    args.on.dry.carry_out(header::backup(&volume, &args.file, hidden)?, None, run, words, out)
}

fn restore(args: &RestoreArgs, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.on.target.locked(&bar)?;
    let plan = header::restore(&volume, args.file.as_deref(), args.force)?;
    let what = if plan.format == Family::BitLocker { "metadata" } else { "header" };
    let question = format!("The {what} of {} will be overwritten.", plan.volume.display());
    let words = |done: &Restored| {
        let headers = done.restored.iter().filter_map(|part| match part {
            RestoredPart::Header(place) => Some(place.to_string()),
            _ => None,
        });
        let headers: Vec<String> = headers.collect();
        let words = match headers.is_empty() {
            true => "three copies of the metadata and the first sector were restored".to_owned(),
            false => format!("{} was restored", headers.join(" and the ")),
        };
        format!("{}: the {words}.", shown(&done.volume))
    };
    args.on.dry.carry_out(plan, Some(&question), RestorePlan::run, words, out)
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
    args.dry.carry_out(plan, question.as_deref(), RepairPlan::run, repaired, out)
}

fn repaired(done: &RepairedHeader) -> String {
    let first = done.first_sector.then(|| "the first sector".to_owned());
    let copies = done.repaired.iter().map(|number| format!("copy {number} of the metadata"));
    let told: Vec<String> = first.into_iter().chain(copies).collect();
    let name = shown(&done.volume);
    if told.is_empty() {
        return format!("{name}: the first sector and all copies of the metadata are in order.");
    }
    let more = match done.all_good {
        true => "",
        false => {
            " Not all copies of the metadata are in order: see whether what is in the volume is right, and then \
             repair it once more."
        }
    };
    format!("{name}: written anew: {}.{more}", told.join(", "))
}
