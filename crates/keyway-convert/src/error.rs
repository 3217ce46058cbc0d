//! Why a conversion could not begin or go on, sorted by whose fault it is.

use keyway_engine::{DeviceError, LayoutError};
use keyway_error::{Advice, explain, explain_io};
use keyway_fs::allocation::AllocationError;
use keyway_store::StoreError;
use keyway_store::size::words;
use keyway_volume::bitlocker::{self, BitLockerError, ConvertingError, EntryTooLong, NotConvertible};
use keyway_volume::veracrypt::{CreateError, RandomError};
use keyway_volume::{ReadsBackDifferently, VolumeError};
use std::io;
use std::ops::Range;

/// A conversion that could not begin or go on. What was converted stays converted: after each of
/// these `resume` goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The medium failed. Nothing more was written after that.
    #[error(transparent)]
    Store(StoreError),
    /// The medium has said that it wrote what the conversion depends on, and has something else there.
    #[error("{0}; a conversion needs it to go on, and did not give up what it replaces")]
    NotKept(#[source] StoreError),
    /// Neither slot of the journal holds a record of this conversion.
    #[error("the journal of this conversion is damaged or is not the right one")]
    NoJournal,
    /// The journal's record can't be true of this conversion.
    #[error("the journal's newest record can't be true")]
    ImpossibleRecord,
    /// A record is lost that is needed.
    #[error("the journal's record of what is being moved to byte {at} can't be read any more")]
    RecordLost {
        /// Where its segment was to lie.
        at: u64,
    },
    /// The journal is an older one.
    #[error("the journal is older than the medium, which has come further")]
    JournalOlder,
    /// The medium is an older one.
    #[error("the medium is older than its journal, or was written over")]
    MediumOlder,
    /// More is damaged than the journal can mend.
    #[error(
        "what was being written when the power failed is damaged from byte {at} on, and the journal does not hold enough to \
         mend it"
    )]
    Torn {
        /// Where the damage begins.
        at: u64,
    },
    /// A sector of what is moved can't be read.
    #[error("{source}; in the volume they are at byte {}", .content.start)]
    Unreadable {
        /// Where it is on the medium.
        at: u64,
        /// Which bytes of the content it holds.
        content: Range<u64>,
        /// What the medium said.
        source: StoreError,
    },
    /// The same, and it does not take what it is overwritten with.
    #[error("bytes that can't be read could not be given up either: {source}")]
    Unwritable {
        /// Where it is on the medium.
        at: u64,
        /// Which bytes of the content it holds.
        content: Range<u64>,
        /// What the medium said.
        source: StoreError,
    },
    /// The list of sectors that can't be read could not be written.
    #[error("the list of what can't be read could not be written: {0}")]
    List(#[source] io::Error),
    /// The marker in front is gone in the middle of a conversion.
    #[error("the beginning of the medium was overwritten while it was half converted, by a mkfs perhaps")]
    Overwritten,
    /// The medium has another size than when the conversion began.
    #[error("the file or device has {present} bytes, and had {expected} when the conversion began")]
    Size {
        /// Bytes it had.
        expected: u64,
        /// Bytes it has.
        present: u64,
    },
    /// There is no room for headers and journal.
    #[error("{} are missing for headers and journal", words(*missing))]
    NoRoom {
        /// How many.
        missing: u64,
    },
    /// A volume of a kind whose conversion is not offered, and what helps.
    #[error("{0}")]
    Unsupported(&'static str, Advice),
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

impl From<StoreError> for ConvertError {
    fn from(e: StoreError) -> Self {
        if ReadsBackDifferently::is_in(&e) { Self::NotKept(e) } else { Self::Store(e) }
    }
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

explain! { ConvertError, through Store | Volume | Headers | BitLocker | Metadata | Resize | NotConvertible | Allocation {
    Self::Unreadable { .. } => [Io Medium, GiveUpUnreadable],
    Self::Unwritable { .. } | Self::NotKept(_) => [Io Medium, CopyDriveFirst],
    Self::List(error) => { explain_io(error) },
    Self::NoJournal => [NoJournal Contents, BringBackJournal],
    Self::ImpossibleRecord => [Damaged Contents, DistrustAndCopy],
    Self::RecordLost { .. } => [Damaged Contents, BringJournalOrCopy],
    Self::JournalOlder => [Damaged Contents, BringBackNewerJournal],
    Self::MediumOlder => [Damaged Contents, BringBackMedium],
    Self::Torn { .. } => [Damaged Contents, CopyMediumFirst],
    Self::Overwritten => [Damaged Contents, CopyWhole],
    Self::Size { .. } => [Damaged Contents, BringBackSize],
    Self::NoRoom { missing } => [NoRoom Request, ShrinkFileSystem { bytes: *missing }],
    Self::Unsupported(_, step) => [Unsupported Machine, (step.clone())],
    Self::Device(error) => [Medium, ..error.advice()],
    Self::Layout(error) => [Medium, ..error.advice()],
    Self::TooLong(_) | Self::Random(_) => [Ours, ReportWithDoctor],
} }
