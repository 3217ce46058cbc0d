//! The options that narrow what a volume is looked for as.

use crate::words::parsed;
use clap::ValueEnum;
use keyway::unlock::{UnlockArguments, VolumeFormat};
use keyway_volume::{HashName, HeaderChoice};
use std::path::PathBuf;

/// Options that narrow what a volume is looked for as. None is needed: everything is found out.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Narrowing the search")]
pub(crate) struct NarrowArgs {
    /// Only look for this format
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// Only try this key derivation's hash: sha512, sha256, blake2s, whirlpool, streebog, ripemd160, sha1, argon2id
    #[arg(long, value_name = "HASH", value_parser = parsed::<HashName>)]
    hash: Option<HashName>,
    /// Which copy of the header to use
    #[arg(long, value_enum, default_value = "auto")]
    header: HeaderArg,
    /// The volume is an encrypted system partition or drive
    #[arg(long)]
    system: bool,
    /// VOLUME is one partition of an encrypted system: its drive, the drive's image, or the 512 bytes of its header
    #[arg(long, value_name = "FILE_OR_DEVICE")]
    system_header: Option<PathBuf>,
}

impl NarrowArgs {
    /// The same for the library.
    pub(crate) fn arguments(&self) -> UnlockArguments {
        let mut arguments = UnlockArguments::new();
        arguments.format = self.format.map(|format| match format {
            FormatArg::Veracrypt => VolumeFormat::VeraCrypt,
            FormatArg::Truecrypt => VolumeFormat::TrueCrypt,
            FormatArg::Bitlocker => VolumeFormat::BitLocker,
        });
        arguments.hash = self.hash;
        arguments.header = match self.header {
            HeaderArg::Auto => HeaderChoice::Auto,
            HeaderArg::Primary => HeaderChoice::Primary,
            HeaderArg::Backup => HeaderChoice::Backup,
        };
        arguments.system = self.system || self.system_header.is_some();
        arguments.system_header.clone_from(&self.system_header);
        arguments
    }
}

/// A format as a word.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum FormatArg {
    /// VeraCrypt.
    Veracrypt,
    /// TrueCrypt.
    Truecrypt,
    /// BitLocker.
    Bitlocker,
}

/// A copy of the header as a word.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Default)]
enum HeaderArg {
    /// The primary one, and where that does not open, the backup.
    #[default]
    Auto,
    /// Only the one at the beginning.
    Primary,
    /// Only the one at the end.
    Backup,
}
