//! `protector`: what opens a volume. VeraCrypt and TrueCrypt volumes have one, a password with
//! keyfiles and a PIM; BitLocker volumes have any number, of several kinds.

mod bitlocker;
mod veracrypt;

use crate::failure::Failure;
use crate::given::{Family, VolumeArgs};
use crate::output::Output;
use crate::secrets_in::NewArgs;
use crate::shown::shown;
use crate::tpm_in::NewTpmArgs;
use crate::volume;
use crate::words::parsed;
use clap::ValueEnum;
use keyway_volume::bitlocker::Guid;
use keyway_volume::veracrypt::HashName;
use std::path::PathBuf;

/// List or change what opens a volume: passwords, keyfiles, recovery passwords, startup keys, TPMs
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway protector list /dev/sdb1
  $ keyway protector add /dev/sdb1 recovery-password --to recovery.txt
  $ keyway protector change secret.hc --new-hash argon2id")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Tell what opens the volume; of a VeraCrypt volume only with a secret
    #[command(after_help = "Examples:
  $ keyway protector list /dev/sdb1
  $ keyway protector list secret.hc --password-file pw.txt --json")]
    List(VolumeArgs),
    /// Add a protector to a BitLocker volume
    #[command(after_help = "Examples:
  $ keyway protector add /dev/sdb1 recovery-password --to recovery.txt
  $ keyway protector add /dev/sdb1 startup-key --to /media/usb --recovery-password rec.txt
  $ sudo keyway protector add /dev/sdb1 tpm-pin --pcrs 7,11")]
    Add(AddArgs),
    /// Remove a protector from a BitLocker volume
    #[command(after_help = "Examples:
  $ keyway protector remove /dev/sdb1 b7adc334-fe6d-4ae4-b5c4-1c1d0dbc335b
  $ keyway protector remove /dev/sdb1 b7adc334-fe6d-4ae4-b5c4-1c1d0dbc335b --password-file pw.txt")]
    Remove(RemoveArgs),
    /// Give the volume a new secret in the place of an old one; what is not named stays
    #[command(after_help = "Examples:
  $ keyway protector change secret.hc --password-file old.txt --new-password-file new.txt --new-pim 700
  $ keyway protector change /dev/sdb1 --id e7e48bae-ff13-4f14-8222-971d469fae0d --to new-recovery.txt")]
    Change(ChangeArgs),
    /// Print or save a BitLocker volume's recovery passwords
    #[command(after_help = "Examples:
  $ keyway protector recovery /dev/sdb1
  $ keyway protector recovery /dev/sdb1 --password-file pw.txt --to recovery.txt")]
    Recovery(RecoveryArgs),
    /// Suspend a BitLocker volume's protection: it opens without a secret until it is resumed
    #[command(after_help = "Examples:
  $ keyway protector suspend /dev/sdb1
  $ keyway protector suspend /dev/sdb1 --password-file pw.txt --yes")]
    Suspend(VolumeArgs),
    /// Resume a BitLocker volume's protection
    #[command(after_help = "Examples:
  $ keyway protector resume /dev/sdb1
  $ keyway protector resume /dev/sdb1 --json")]
    Resume(VolumeArgs),
}

/// A kind of protector that can be added.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A password.
    Password,
    /// A recovery password of 48 digits, made here.
    RecoveryPassword,
    /// A startup key: a .BEK file, made here.
    StartupKey,
    /// This machine's TPM, as long as the machine starts up as it did.
    Tpm,
    /// The TPM and a PIN.
    TpmPin,
    /// The TPM and a startup key.
    TpmStartupKey,
    /// The TPM, a PIN and a startup key.
    TpmPinStartupKey,
}

#[derive(clap::Args, Debug)]
struct AddArgs {
    /// Where it goes: a new file for a recovery password, a folder for a startup key
    #[arg(long, value_name = "PATH")]
    to: Option<PathBuf>,
    #[command(flatten)]
    target: VolumeArgs,
    /// What shall open it, too
    #[arg(value_enum)]
    kind: Kind,
    #[command(flatten)]
    new: NewArgs,
    #[command(flatten)]
    new_tpm: NewTpmArgs,
}

#[derive(clap::Args, Debug)]
struct RemoveArgs {
    #[command(flatten)]
    target: VolumeArgs,
    /// The protector's identifier, as `protector list` shows it
    #[arg(value_parser = parsed::<Guid>)]
    id: Guid,
    /// Remove it even if nothing else opens the volume, which is lost for ever then
    #[arg(long)]
    last: bool,
}

#[derive(clap::Args, Debug)]
struct ChangeArgs {
    #[command(flatten)]
    target: VolumeArgs,
    /// The new key derivation: sha512, sha256, whirlpool, streebog, blake2s, argon2id
    #[arg(long, value_name = "HASH", value_parser = parsed::<HashName>, help_heading = "New secret")]
    new_hash: Option<HashName>,
    /// Use no keyfiles any more
    #[arg(long, help_heading = "New secret", conflicts_with = "new-keyfile")]
    new_no_keyfiles: bool,
    /// Which protector of a BitLocker volume; its password when left out
    #[arg(long, value_name = "GUID", value_parser = parsed::<Guid>, help_heading = "New secret")]
    id: Option<Guid>,
    /// Where a new recovery password or startup key goes: a new file, or a folder
    #[arg(long, value_name = "PATH", help_heading = "New secret")]
    to: Option<PathBuf>,
    #[command(flatten)]
    new: NewArgs,
}

#[derive(clap::Args, Debug)]
struct RecoveryArgs {
    /// Only this protector's
    #[arg(long, value_name = "GUID", value_parser = parsed::<Guid>)]
    id: Option<Guid>,
    /// Save it to a new file in the words of Windows, instead of printing it
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    #[command(flatten)]
    target: VolumeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let family = |target: &VolumeArgs| {
        volume::must_exist(&target.volume)?;
        volume::family(&target.which())
    };
    let only = |target: &VolumeArgs| match family(target)? {
        Family::BitLocker => Ok(()),
        Family::VeraCrypt => Err(Failure::usage(
            format!(
                "{} is not a BitLocker volume; others have one secret, which can be changed",
                shown(&target.volume)
            ),
            "use `keyway protector change` to give it another password, other keyfiles or another PIM",
        )),
    };
    match &args.action {
        Action::List(args) => match family(args)? {
            Family::BitLocker => bitlocker::list(args, out),
            Family::VeraCrypt => veracrypt::list(args, out),
        },
        Action::Change(args) => match family(&args.target)? {
            Family::BitLocker => bitlocker::change(args, out),
            Family::VeraCrypt => {
                if args.id.is_some() || args.to.is_some() || args.target.keys.is_given() {
                    return Err(Failure::usage(
                        format!("{} is not a BitLocker volume", args.target.volume.display()),
                        "--id, --to, --recovery-password and --startup-key are for these only",
                    ));
                }
                veracrypt::change(args, out)
            }
        },
        Action::Add(args) => {
            only(&args.target)?;
            bitlocker::add(args, out)
        }
        Action::Remove(args) => {
            only(&args.target)?;
            bitlocker::remove(args, out)
        }
        Action::Recovery(args) => {
            only(&args.target)?;
            bitlocker::recovery(args, out)
        }
        Action::Suspend(args) => {
            only(args)?;
            bitlocker::suspend(args, out)
        }
        Action::Resume(args) => {
            only(args)?;
            bitlocker::resume(args, out)
        }
    }
}
