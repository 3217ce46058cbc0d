//! Why a file system's map can't be used.

use keyway_error::explain;
use keyway_store::StoreError;

/// Why a file system's map can't be used.
#[derive(Debug, thiserror::Error)]
pub enum AllocationError {
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// None of those that are known here.
    #[error("there is no file system whose map is known here (NTFS, exFAT, FAT16, FAT32, ext2 to ext4)")]
    Unknown,
    /// A field that can't be true.
    #[error("the file system's map can't be read ({0})")]
    Damaged(&'static str),
    /// It was not left in order.
    #[error("the file system was not left in order ({0})")]
    Dirty(&'static str),
    /// A kind of map that is not known.
    #[error("the file system keeps its map in a way that is not known here ({0})")]
    Unsupported(&'static str),
    /// Nowhere so many free bytes in a row.
    #[error("the file system leaves no room for BitLocker's metadata")]
    NoRoom,
}

explain! { AllocationError, through Store {
    Self::Unknown => [Filesystem Contents, ConvertAllSpace],
    Self::Damaged(_) => [Filesystem Contents, RunChecker],
    Self::Dirty(_) => [Filesystem State, MountByItsSystem],
    Self::Unsupported(_) => [Filesystem Machine, ConvertAllSpace],
    Self::NoRoom => [Filesystem Request, MakeRoomOrLarger],
} }

/// A field that can't be true.
pub(super) const fn damaged<T>(what: &'static str) -> Result<T, AllocationError> {
    Err(AllocationError::Damaged(what))
}
