//! The words of `protector`.

use crate::unlock_args::{NewArgs, NewTpmArgs};
use crate::verbs::*;
use keyway::protectors::{Protection, ProtectorName};
use keyway_volume::veracrypt::HashName;

/// List or change what opens a volume: passwords, keyfiles, TPMs …
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(super) action: Action,
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum Action {
    /// Tell what opens the volume; of a VeraCrypt volume only with a secret
    List(VolumeArgs),
    /// Add a protector to a BitLocker volume
    Add(AddArgs),
    /// Remove a protector from a BitLocker volume
    Remove(RemoveArgs),
    /// Give the volume a new secret in the place of an old one; what is not named stays
    Change(ChangeArgs),
    /// Print or save a BitLocker volume's recovery passwords
    Recovery(RecoveryArgs),
    /// Suspend a BitLocker volume's protection: it opens without a secret until it is resumed
    Suspend(TargetArgs),
    /// Resume a BitLocker volume's protection
    Resume(TargetArgs),
}

/// The kinds of protectors that can be added, and what each is.
const KINDS: [(&str, Protection, &str); 7] = [
    ("password", Protection::Password, "A password"),
    ("recovery-password", Protection::RecoveryPassword, "A recovery password of 48 digits, made here"),
    ("startup-key", Protection::StartupKey, "A startup key: a .BEK file, made here"),
    ("tpm", Protection::Tpm, "This machine's TPM, as long as the machine starts up as it did"),
    ("tpm-pin", Protection::TpmPin, "The TPM and a PIN"),
    ("tpm-startup-key", Protection::TpmStartupKey, "The TPM and a startup key"),
    ("tpm-pin-startup-key", Protection::TpmPinStartupKey, "The TPM, a PIN and a startup key"),
];

#[derive(clap::Args, Debug)]
pub(super) struct AddArgs {
    /// Where it goes: a new file for a recovery password, a folder for a startup key
    #[arg(long, value_name = "PATH")]
    pub(super) to: Option<PathBuf>,
    #[command(flatten)]
    pub(super) on: TargetArgs,
    /// What shall open it, too
    #[arg(value_parser = choice(KINDS))]
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
    /// The protector's identifier, as `protector list` shows it, or its beginning: four characters or more; or its kind,
    /// where there is one of it: password, recovery-password, startup-key, tpm …
    #[arg(value_parser = parsed::<ProtectorName>)]
    pub(super) id: ProtectorName,
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
    /// Use no password any more: the new keyfiles alone open it
    #[arg(long, help_heading = "New secret", requires = "new-keyfile", conflicts_with_all = ["new-password-file", "new-password-fd", "new_no_keyfiles"])]
    pub(super) new_no_password: bool,
    /// Which protector of a BitLocker volume, by its identifier or kind; its password when left out
    #[arg(long, value_name = "GUID", value_parser = parsed::<ProtectorName>, help_heading = "New secret")]
    pub(super) id: Option<ProtectorName>,
    /// Where a new recovery password or startup key goes: a new file, or a folder
    #[arg(long, value_name = "PATH", help_heading = "New secret")]
    pub(super) to: Option<PathBuf>,
    #[command(flatten)]
    pub(super) new: NewArgs,
    #[command(flatten)]
    pub(super) new_tpm: NewTpmArgs,
}

#[derive(clap::Args, Debug)]
pub(super) struct RecoveryArgs {
    /// Only this protector's
    #[arg(long, value_name = "GUID", value_parser = parsed::<ProtectorName>)]
    pub(super) id: Option<ProtectorName>,
    /// Save it to a new file in the words of Windows, instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(super) to: Option<PathBuf>,
    #[command(flatten)]
    pub(super) target: VolumeArgs,
}
