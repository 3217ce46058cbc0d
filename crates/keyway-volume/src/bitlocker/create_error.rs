//! Why a BitLocker volume could not be made.

use super::entry::EntryTooLong;
use super::error::BitLockerError;
use super::protect::ProtectError;
use crate::veracrypt::RandomError;
use keyway_cipher::CipherError;
use keyway_engine::LayoutError;
use keyway_error::{Fault, explain};
use keyway_fs::allocation::AllocationError;
use keyway_fs::mkfs::{FileSystem, MkfsError};
use keyway_store::StoreError;

/// A BitLocker volume that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// Less than Windows takes.
    #[error("{size} bytes are too few")]
    TooSmall {
        /// The size asked for, in bytes.
        size: u64,
        /// The smallest possible, in bytes.
        least: u64,
    },
    /// Not whole sectors.
    #[error("{size} bytes are not whole sectors of {sector_bytes} bytes")]
    NotWholeSectors {
        /// The size asked for, in bytes.
        size: u64,
        /// The sector size in bytes.
        sector_bytes: u32,
    },
    /// A method for opening old volumes only.
    #[error("{0} is for opening old volumes only")]
    MethodNotOffered(&'static str),
    /// A file system that Windows does not read.
    #[error("Windows reads no {0}")]
    FileSystemNotOffered(FileSystem),
    /// Nothing that would open it.
    #[error("nothing would open this volume")]
    NoProtector,
    /// A protector can't be made of what was given.
    #[error(transparent)]
    Protector(#[from] ProtectError),
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
    #[error("stopped")]
    Stopped,
}

impl From<getrandom::Error> for CreateError {
    fn from(e: getrandom::Error) -> Self {
        Self::Random(e.into())
    }
}

explain! { CreateError, through Protector | FileSystem | Volume | Layout | Cipher | Store {
    Self::TooSmall { least, .. } => [Usage Request, LeastBitLocker { bytes: *least }],
    Self::NotWholeSectors { size, sector_bytes } =>
        [Usage Request, TakeSize { bytes: size - size % u64::from(*sector_bytes).max(1) }],
    Self::MethodNotOffered(_) => [Usage Request, TakeOfferedMethod],
    Self::FileSystemNotOffered(_) => [Filesystem Request, TakeWindowsFileSystem],
    Self::NoProtector => [Usage Request, GiveProtector],
    Self::Random(_) | Self::TooLong(_) => [Ours, ReportWithDoctor],
    // Of a new volume nothing but its room is the user's.
    Self::Allocation(error @ (AllocationError::NoRoom | AllocationError::Store(_))) => {
        error.explain()
    },
    Self::Allocation(error) => {
        let mut meaning = error.explain();
        meaning.fault = Fault::State;
        meaning
    },
    Self::Stopped => [Interrupted Stopped, NoVolumeMade],
} }
