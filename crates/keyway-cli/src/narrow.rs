//! The options that narrow what a volume is looked for as.

use crate::words::parsed;
use clap::ValueEnum;
use keyway::unlock::VolumeFormat;
use keyway_volume::{HashName, HeaderChoice};
use std::path::{Path, PathBuf};

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
    /// The format, where one was named.
    pub(crate) fn format(&self) -> Option<FormatArg> {
        self.format
    }

    /// The hash, where one was named.
    pub(crate) fn hash(&self) -> Option<HashName> {
        self.hash
    }

    /// Which header.
    pub(crate) fn header(&self) -> HeaderChoice {
        match self.header {
            HeaderArg::Auto => HeaderChoice::Auto,
            HeaderArg::Primary => HeaderChoice::Primary,
            HeaderArg::Backup => HeaderChoice::Backup,
        }
    }

    /// Whether a system volume is meant.
    pub(crate) fn system(&self) -> bool {
        self.system || self.system_header.is_some()
    }

    /// Where a system partition's header lies.
    pub(crate) fn system_header(&self) -> Option<&Path> {
        self.system_header.as_deref()
    }
}

/// A format as a word.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormatArg {
    /// VeraCrypt.
    Veracrypt,
    /// TrueCrypt.
    Truecrypt,
    /// BitLocker.
    Bitlocker,
}

impl FormatArg {
    /// The library's.
    pub(crate) const fn format(self) -> VolumeFormat {
        match self {
            Self::Veracrypt => VolumeFormat::VeraCrypt,
            Self::Truecrypt => VolumeFormat::TrueCrypt,
            Self::Bitlocker => VolumeFormat::BitLocker,
        }
    }
}

/// A copy of the header as a word.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum HeaderArg {
    /// The primary one, and where that does not open, the backup.
    #[default]
    Auto,
    /// Only the one at the beginning.
    Primary,
    /// Only the one at the end.
    Backup,
}
