//! Why a request for sectors failed.

use keyway_error::explain;
use keyway_store::StoreError;

/// A request that failed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The request reaches past the end of the volume.
    #[error("{len} bytes at {offset} are past the end of the volume ({size} bytes)")]
    PastEnd {
        /// First byte.
        offset: u64,
        /// Length.
        len: u64,
        /// The volume's size.
        size: u64,
    },
    /// The volume was opened read-only.
    #[error("the volume is open read-only")]
    ReadOnly,
    /// A write would have damaged the hidden volume. The device takes no more writes.
    #[error("a write to the outer volume would have damaged the hidden one; the volume is now read-only")]
    HiddenVolume,
    /// The bytes from here on belong to the volume's own metadata, and were to become others than are read there. The
    /// rest of the request has been written.
    #[error("the bytes at {0} belong to the volume's metadata and can't be written")]
    Metadata(u64),
    /// Bytes whose writer was told long ago that they were taken could not be written since.
    #[error("writes that were held back could not be put on the medium, and are lost")]
    LostWrites,
    /// Writes have failed, and those bytes were not written since.
    #[error("{0} bytes could not be written to the medium, and are lost")]
    Unwritten(u64),
}

explain! { DeviceError, through Store {
    Self::PastEnd { .. } => [Usage Request, AskForLess],
    Self::ReadOnly => [ReadOnly Machine, OpenWritable],
    Self::HiddenVolume => [HiddenVolume State, CloseIt],
    Self::LostWrites | Self::Unwritten(_) => [LostWrites Medium, OpenAgainAndCheck],
    Self::Metadata(_) => [Metadata State, LeaveMetadataAlone],
} }

impl DeviceError {
    /// The errno to hand to an application.
    pub fn errno(&self) -> i32 {
        // Linux's generic numbers: EIO, EINVAL, EROFS, EPERM.
        match self {
            Self::LostWrites | Self::Unwritten(_) => 5,
            Self::Store(e) => e.errno(),
            Self::PastEnd { .. } => 22,
            Self::ReadOnly => 30,
            Self::HiddenVolume | Self::Metadata(_) => 1,
        }
    }
}
