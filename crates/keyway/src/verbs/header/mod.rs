//! `header`: the part of a volume whose loss loses everything.

mod bitlocker;
mod veracrypt;

use crate::failure::Failure;
use crate::given::{Family, VolumeArgs};
use crate::output::Output;
use crate::secrets_in::HiddenArgs;
use crate::volume;
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
    let family = |target: &VolumeArgs| {
        volume::must_exist(&target.volume)?;
        let family = volume::family(&target.which())?;
        if family == Family::VeraCrypt && target.keys.is_given() {
            return Err(Failure::usage(
                format!("{} does not begin as a BitLocker volume", target.volume.display()),
                "if it is one whose first sector is lost, add --format bitlocker",
            ));
        }
        Ok(family)
    };
    match &args.action {
        Action::Backup(args) => match family(&args.target)? {
            Family::BitLocker => bitlocker::backup(args, out),
            Family::VeraCrypt => veracrypt::backup(args, out),
        },
        Action::Restore(args) => match family(&args.target)? {
            Family::BitLocker => bitlocker::restore(args, out),
            Family::VeraCrypt => veracrypt::restore(args, out),
        },
        Action::Check(args) => match family(args)? {
            Family::BitLocker => bitlocker::check(args, out),
            Family::VeraCrypt => veracrypt::check(args, out),
        },
        Action::Repair(args) => match family(args)? {
            Family::BitLocker => bitlocker::repair(args, out),
            Family::VeraCrypt => Err(Failure::usage(
                format!("{} does not begin as a BitLocker volume", args.volume.display()),
                "if it is one whose first sector is lost, add --format bitlocker; a VeraCrypt or TrueCrypt \
                 volume's header is restored by `keyway header restore`",
            )),
        },
    }
}
