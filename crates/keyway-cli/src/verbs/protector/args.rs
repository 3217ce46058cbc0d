//! The words of `protector`.

use crate::dry_run::TargetArgs;
use crate::given::VolumeArgs;
use crate::secrets_in::NewArgs;
use crate::tpm_in::NewTpmArgs;
use crate::words::parsed;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use keyway::protectors::{Guid, Protection};
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
    pub(super) action: Action,
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum Action {
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
    Suspend(TargetArgs),
    /// Resume a BitLocker volume's protection
    #[command(after_help = "Examples:
  $ keyway protector resume /dev/sdb1
  $ keyway protector resume /dev/sdb1 --json")]
    Resume(TargetArgs),
}

/// The kinds of protectors that can be added, and what each is.
const KINDS: [(Protection, &str); 7] = [
    (Protection::Password, "A password"),
    (Protection::RecoveryPassword, "A recovery password of 48 digits, made here"),
    (Protection::StartupKey, "A startup key: a .BEK file, made here"),
    (Protection::Tpm, "This machine's TPM, as long as the machine starts up as it did"),
    (Protection::TpmPin, "The TPM and a PIN"),
    (Protection::TpmStartupKey, "The TPM and a startup key"),
    (Protection::TpmPinStartupKey, "The TPM, a PIN and a startup key"),
];

fn kinds() -> impl TypedValueParser<Value = Protection> {
    let values = KINDS.map(|(kind, what)| PossibleValue::new(kind.name()).help(what));
    PossibleValuesParser::new(values).map(|name| {
        let known = KINDS.iter().find(|(kind, _)| kind.name() == name);
        known.map_or(Protection::Password, |(kind, _)| *kind)
    })
}

#[derive(clap::Args, Debug)]
pub(super) struct AddArgs {
    /// Where it goes: a new file for a recovery password, a folder for a startup key
    #[arg(long, value_name = "PATH")]
    pub(super) to: Option<PathBuf>,
    #[command(flatten)]
    pub(super) on: TargetArgs,
    /// What shall open it, too
    #[arg(value_parser = kinds())]
    pub(super) kind: Protection,
    #[command(flatten)]
    pub(super) new: NewArgs,
    #[command(flatten)]
    pub(super) new_tpm: NewTpmArgs,
}

#[derive(clap::Args, Debug)]
pub(super) struct RemoveArgs {
    #[command(flatten)]
    pub(super) on: TargetArgs,
    /// The protector's identifier, as `protector list` shows it
    #[arg(value_parser = parsed::<Guid>)]
    pub(super) id: Guid,
    /// Remove it even if nothing else opens the volume, which is lost for ever then
    #[arg(long)]
    pub(super) last: bool,
}

#[derive(clap::Args, Debug)]
pub(super) struct ChangeArgs {
    #[command(flatten)]
    pub(super) on: TargetArgs,
    /// The new key derivation: sha512, sha256, whirlpool, streebog, blake2s, argon2id
    #[arg(long, value_name = "HASH", value_parser = parsed::<HashName>, help_heading = "New secret")]
    pub(super) new_hash: Option<HashName>,
    /// Use no keyfiles any more
    #[arg(long, help_heading = "New secret", conflicts_with = "new-keyfile")]
    pub(super) new_no_keyfiles: bool,
    /// Which protector of a BitLocker volume; its password when left out
    #[arg(long, value_name = "GUID", value_parser = parsed::<Guid>, help_heading = "New secret")]
    pub(super) id: Option<Guid>,
    /// Where a new recovery password or startup key goes: a new file, or a folder
    #[arg(long, value_name = "PATH", help_heading = "New secret")]
    pub(super) to: Option<PathBuf>,
    #[command(flatten)]
    pub(super) new: NewArgs,
}

#[derive(clap::Args, Debug)]
pub(super) struct RecoveryArgs {
    /// Only this protector's
    #[arg(long, value_name = "GUID", value_parser = parsed::<Guid>)]
    pub(super) id: Option<Guid>,
    /// Save it to a new file in the words of Windows, instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(super) to: Option<PathBuf>,
    #[command(flatten)]
    pub(super) target: VolumeArgs,
}
