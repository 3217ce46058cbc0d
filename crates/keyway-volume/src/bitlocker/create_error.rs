//! Why a BitLocker volume could not be made.

use super::entry::EntryTooLong;
use super::error::BitLockerError;
use super::protect::ProtectError;
use crate::veracrypt::RandomError;
use keyway_cipher::CipherError;
use keyway_engine::LayoutError;
use keyway_fs::allocation::AllocationError;
use keyway_fs::mkfs::{FileSystem, MkfsError};
use keyway_store::StoreError;

/// A BitLocker volume that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// Less than Windows takes.
    #[error("{size} bytes are too few; a BitLocker volume needs at least {least}")]
    TooSmall {
        /// The size asked for, in bytes.
        size: u64,
        /// The smallest possible, in bytes.
        least: u64,
    },
    /// Not whole sectors.
    #[error("{size} bytes are not whole sectors of {sector_bytes} bytes; take {} instead", .size / u64::from(*.sector_bytes) * u64::from(*.sector_bytes))]
    NotWholeSectors {
        /// The size asked for, in bytes.
        size: u64,
        /// The sector size in bytes.
        sector_bytes: u32,
    },
    /// A method for opening old volumes only.
    #[error("{0} is for opening old volumes only; take aes-xts-128, aes-xts-256, aes-cbc-128 or aes-cbc-256")]
    MethodNotOffered(&'static str),
    /// A file system that Windows does not read.
    #[error("Windows reads no {0}; take ntfs, exfat, fat or none")]
    FileSystemNotOffered(FileSystem),
    /// Nothing that would open it.
    #[error("nothing would open this volume; give it a password, a recovery password or a startup key")]
    NoProtector,
    /// A protector can't be made of what was given.
    #[error(transparent)]
    Protector(#[from] ProtectError),
    /// What was written reads back differently.
    #[error("what was written reads back differently; the medium can't be trusted")]
    ReadBack,
    /// Random bytes can't be had.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The metadata does not fit into its room.
    #[error(transparent)]
    TooLong(#[from] EntryTooLong),
    /// The file system leaves no room.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    /// The file system inside could not be made.
    #[error(transparent)]
    FileSystem(#[from] MkfsError),
    /// The metadata makes no volume.
    #[error(transparent)]
    Volume(#[from] BitLockerError),
    /// The layout can't be put over the medium.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The cipher can't be set up.
    #[error(transparent)]
    Cipher(#[from] CipherError),
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The caller wanted it to stop.
    #[error("stopped; no volume was made")]
    Stopped,
}

impl From<getrandom::Error> for CreateError {
    fn from(e: getrandom::Error) -> Self {
        Self::Random(e.into())
    }
}

impl CreateError {
    /// The exit code of the command line's contract: 1 it failed, 2 wrong usage, 5 not permitted
    /// or this machine lacks what it needs, and those of [`BitLockerError::exit_code`].
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::TooSmall { .. }
            | Self::NotWholeSectors { .. }
            | Self::MethodNotOffered(_)
            | Self::FileSystemNotOffered(_)
            | Self::NoProtector
            | Self::Protector(ProtectError::PasswordLength(_) | ProtectError::PasswordText)
            | Self::Allocation(AllocationError::NoRoom)
            | Self::FileSystem(MkfsError::Unknown(_) | MkfsError::SectorSize { .. }) => 2,
            Self::FileSystem(MkfsError::Missing(_)) => 5,
            Self::Volume(e) => e.exit_code(),
            Self::Store(e) if e.source.kind() == std::io::ErrorKind::PermissionDenied => 5,
            _ => 1,
        }
    }
}
