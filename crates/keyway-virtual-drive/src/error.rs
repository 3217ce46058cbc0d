//! Why a virtual drive can't be had.

use keyway_error::explain;
use keyway_store::StoreError;

/// Why a drive can't be made, opened or used any more.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No state is on the medium.
    #[error("this is not a virtual drive")]
    NotADrive,
    /// The state was written by a newer program.
    #[error("the drive's state has version {0}, which this program does not know")]
    Version(u32),
    /// The state is whole, but not one that this program writes.
    #[error("the drive's state makes no sense")]
    Damaged,
    /// The state does not fit into its slot.
    #[error("the drive's state has {0} bytes, more than there is room for")]
    StateTooLarge(usize),
    /// A drive that can't be.
    #[error("no such drive can be made: {0}")]
    Config(&'static str),
    /// The medium is too small.
    #[error("the drive needs a medium of {needed} bytes, this one has {present}")]
    TooSmall {
        /// What the drive needs.
        needed: u64,
        /// What there is.
        present: u64,
    },
    /// The file ends before the drive does: it was cut off, or not copied completely.
    #[error("the virtual drive's file was cut off: it has {present} of {needed} bytes")]
    CutOff {
        /// What the drive has.
        needed: u64,
        /// What there is.
        present: u64,
    },
    /// The machine gives no random numbers.
    #[error("this machine gives no random numbers")]
    NoRandom,
}

explain! { DriveError, through Store {
    Self::NotADrive => [NotAVolume Contents, MakeVirtualDrive],
    Self::Version(_) => [Damaged Contents, NewerRelease],
    Self::Damaged => [Damaged Contents, NotWrittenHere],
    Self::TooSmall { .. } => [Contents, CheckCopy],
    Self::CutOff { .. } => [TooShort Contents, CheckCopy],
    Self::StateTooLarge(_) | Self::NoRandom => [Ours, ReportWithDoctor],
    Self::Config(_) => [Request, SeeDriveOptions],
} }
