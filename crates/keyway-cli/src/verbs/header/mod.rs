//! `header`: the part of a volume whose loss loses everything.

mod check;

use crate::failure::Failure;
use crate::given::{Family, VolumeArgs};
use crate::output::{Output, bytes};
use crate::searching::SearchBar;
use crate::secrets_in::HiddenArgs;
use crate::shown::shown;
use keyway::header::{self, Restored};
use serde_json::json;
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
    Repair(VolumeArgs),
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
    target: VolumeArgs,
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
    target: VolumeArgs,
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
    let volume = args.target.locked(&bar)?;
    let inner = args.inner.source();
    let hidden = (args.hidden || inner.is_given()).then(|| inner.named());
    let done = header::backup(&volume, &args.file, hidden.as_ref())?;
    done.warnings.iter().for_each(|warning| out.warn(warning));
    let document =
        json!({"volume": args.target.volume, "file": args.file, "bytes": done.bytes, "hidden": done.hidden});
    out.result(&document, || {
        let (file, size) = (shown(&args.file), bytes(done.bytes));
        if done.family == Family::BitLocker {
            return format!(
                "{file} holds the metadata and the first sector ({size}). With it the volume opens with the present \
                 protectors, whatever is changed later: keep it safe."
            );
        }
        let what = if done.hidden { "the headers of the outer and the hidden volume" } else { "the header" };
        format!(
            "{file} holds {what} ({size}). It opens with the present secret, whatever is changed later: keep it safe."
        )
    })
}

fn restore(args: &RestoreArgs, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.target.locked(&bar)?;
    let plan = header::restore(&volume, args.file.as_deref(), args.force)?;
    let what = if plan.family() == Family::BitLocker { "metadata" } else { "header" };
    out.confirm(&format!("The {what} of {} will be overwritten.", args.target.volume.display()))?;
    let (document, words) = match plan.run()? {
        Restored::VeraCrypt { hidden, places } => {
            let document = json!({"volume": args.target.volume, "hidden": hidden, "restored": places});
            let places: Vec<String> = places.iter().map(ToString::to_string).collect();
            (document, format!("the {} was restored", places.join(" and the ")))
        }
        _ => (
            json!({"volume": args.target.volume, "restored": ["first sector", 1, 2, 3]}),
            "the three copies of the metadata and the first sector were restored".to_owned(),
        ),
    };
    out.result(&document, || format!("{}: {words}.", shown(&args.target.volume)))
}

fn repair(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.locked(&bar)?;
    let plan = header::repair(&volume)?;
    if plan.overwrites_what_is_in_front() {
        out.confirm(&format!(
            "The first sector of {} will be overwritten. Do that only if it was a BitLocker volume, and nothing else since.",
            args.volume.display()
        ))?;
    }
    let written = plan.run()?;
    let document =
        json!({"volume": args.volume, "repaired": written.copies, "first_sector": written.first_sector});
    out.result(&document, || {
        let first = written.first_sector.then(|| "the first sector".to_owned());
        let copies = written.copies.iter().map(|number| format!("copy {number} of the metadata"));
        let told: Vec<String> = first.into_iter().chain(copies).collect();
        let name = shown(&args.volume);
        if told.is_empty() {
            return format!("{name}: the first sector and all copies of the metadata are in order.");
        }
        let mut text = format!("{name}: written anew: {}.", told.join(", "));
        if !written.all_good {
            text.push_str(
                " Not all copies of the metadata are in order: see whether what is in the volume is right, and then \
                 repair it once more.",
            );
        }
        text
    })
}
