//! Why a conversion could not begin or go on, sorted by whose fault it is.

use keyway_engine::{DeviceError, LayoutError};
use keyway_fs::allocation::AllocationError;
use keyway_store::StoreError;
use keyway_volume::VolumeError;
use keyway_volume::bitlocker::{self, BitLockerError, ConvertingError, EntryTooLong, NotConvertible};
use keyway_volume::veracrypt::{CreateError, RandomError};

/// A conversion that could not begin or go on. What was converted stays converted: after each of
/// these `resume` goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The medium failed. Nothing more was written after that.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Neither slot of the journal holds a record of this conversion.
    #[error(
        "the journal of this conversion is damaged or is not the right one; \
         bring back the file that the conversion was begun with"
    )]
    NoJournal,
    /// The journal's record can't be true of this conversion.
    #[error(
        "the journal's newest record can't be true; the medium can't be trusted: copy it whole before anything else"
    )]
    ImpossibleRecord,
    /// A record is lost that is needed.
    #[error(
        "the journal's record of what is being moved to byte {at} can't be read any more; nothing was changed: bring the journal \
         back as the conversion left it, or copy the medium and the journal whole before anything else"
    )]
    RecordLost {
        /// Where its segment was to lie.
        at: u64,
    },
    /// The journal is an older one.
    #[error(
        "the journal is older than the medium, which has come further; nothing was changed: \
         bring back the journal as the conversion left it"
    )]
    JournalOlder,
    /// The medium is an older one.
    #[error(
        "the medium is older than its journal, or was written over; nothing was changed: \
         bring back the medium as the conversion left it"
    )]
    MediumOlder,
    /// More is damaged than the journal can mend.
    #[error(
        "what was being written when the power failed is damaged from byte {at} on, and the journal does not hold enough to \
         mend it; nothing was changed: copy the medium whole before anything else"
    )]
    Torn {
        /// Where the damage begins.
        at: u64,
    },
    /// The marker in front is gone in the middle of a conversion.
    #[error(
        "the beginning of the medium was overwritten while it was half converted, by a mkfs perhaps; \
         copy it whole before anything else"
    )]
    Overwritten,
    /// The medium has another size than when the conversion began.
    #[error(
        "the file or device has {present} bytes, and had {expected} when the conversion began; bring back its size"
    )]
    Size {
        /// Bytes it had.
        expected: u64,
        /// Bytes it has.
        present: u64,
    },
    /// There is no room for headers and journal.
    #[error(
        "{missing} bytes are missing for headers and journal; make the file system smaller by that much, or the device larger"
    )]
    NoRoom {
        /// How many.
        missing: u64,
    },
    /// A volume of a kind whose conversion is not offered.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The volume does not open.
    #[error(transparent)]
    Volume(#[from] VolumeError),
    /// The new volume's headers could not be made.
    #[error(transparent)]
    Headers(#[from] CreateError),
    /// The BitLocker volume does not open.
    #[error(transparent)]
    BitLocker(#[from] BitLockerError),
    /// The new BitLocker volume's metadata could not be made.
    #[error(transparent)]
    Metadata(#[from] bitlocker::CreateError),
    /// The metadata has grown too long.
    #[error(transparent)]
    TooLong(#[from] EntryTooLong),
    /// The BitLocker volume can't be converted here.
    #[error(transparent)]
    NotConvertible(#[from] NotConvertible),
    /// The BitLocker volume's metadata can't be moved.
    #[error(transparent)]
    Resize(#[from] bitlocker::ResizeError),
    /// The file system's map can't be read, or it has no room.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    /// What is in the volume can't be read.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The volume's layout does not fit the medium.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Random bytes can't be had.
    #[error(transparent)]
    Random(#[from] RandomError),
}

impl From<getrandom::Error> for ConvertError {
    fn from(e: getrandom::Error) -> Self {
        Self::Random(e.into())
    }
}

impl From<ConvertingError> for ConvertError {
    fn from(e: ConvertingError) -> Self {
        match e {
            ConvertingError::Not(why) => why.into(),
            ConvertingError::Volume(e) => e.into(),
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Everything is converted, and nothing of the conversion is left on the medium.
    Done,
    /// Somebody wanted it to stop. Everything so far is on the medium.
    Paused,
}

impl ConvertError {
    /// The exit code of the command line's contract: 1 it failed, 2 wrong usage, 3 wrong secret,
    /// 4 not a volume or a damaged one, 5 not permitted or this machine lacks what it needs.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NoRoom { .. } => 2,
            Self::NoJournal
            | Self::RecordLost { .. }
            | Self::JournalOlder
            | Self::MediumOlder
            | Self::Overwritten
            | Self::ImpossibleRecord
            | Self::Torn { .. }
            | Self::Size { .. } => 4,
            Self::Unsupported(_) | Self::NotConvertible(_) => 5,
            Self::BitLocker(e) => e.exit_code(),
            Self::Metadata(e) => e.exit_code(),
            Self::Resize(e) => e.exit_code(),
            Self::Allocation(AllocationError::NoRoom) => 2,
            Self::Allocation(AllocationError::Unknown | AllocationError::Damaged(_)) => 4,
            Self::Allocation(AllocationError::Unsupported(_)) => 5,
            Self::Allocation(AllocationError::Dirty(_) | AllocationError::Store(_)) => 1,
            Self::TooLong(_) | Self::Device(_) | Self::Layout(_) => 1,
            Self::Volume(e) => e.exit_code(),
            Self::Headers(e) => e.exit_code(),
            Self::Store(e) if e.source.kind() == std::io::ErrorKind::PermissionDenied => 5,
            Self::Store(_) | Self::Random(_) => 1,
        }
    }
}
