//! Why a file system's map can't be used.

use keyway_error::{Advice, Explain, Fault, Kind, Meaning};
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
    #[error(
        "the file system was not left in order ({0}): let the system it belongs to mount and unmount it once"
    )]
    Dirty(&'static str),
    /// A kind of map that is not known.
    #[error("the file system keeps its map in a way that is not known here ({0})")]
    Unsupported(&'static str),
    /// Nowhere so many free bytes in a row.
    #[error("the file system leaves no room for BitLocker's metadata")]
    NoRoom,
}

impl Explain for AllocationError {
    fn explain(&self) -> Meaning {
        use Advice as A;
        use Fault as F;
        use Kind as K;
        match self {
            Self::Store(error) => error.explain(),
            Self::Unknown => (K::Filesystem, F::Contents).into(),
            Self::Damaged(_) => (K::Filesystem, F::Contents, A::RunChecker).into(),
            Self::Dirty(_) => (K::Filesystem, F::State).into(),
            Self::Unsupported(_) => (K::Filesystem, F::Machine).into(),
            Self::NoRoom => (K::Filesystem, F::Request, A::MakeRoomOrLarger).into(),
        }
    }
}

/// A field that can't be true.
pub(super) const fn damaged<T>(what: &'static str) -> Result<T, AllocationError> {
    Err(AllocationError::Damaged(what))
}
