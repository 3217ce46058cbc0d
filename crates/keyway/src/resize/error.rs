//! Why a volume does not get another size, as data. Nothing was changed, where nothing else is said.

use keyway_error::{Advice, Kind, explain};
use keyway_fs::FoundFileSystem;
use keyway_fs::resize::ResizeToolError;
use keyway_store::size::words;
use std::path::PathBuf;

/// Why a volume does not get another size.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResizeError {
    /// A file has no size of its own accord.
    #[error("which size shall it get?")]
    NoSize,
    /// The device is smaller.
    #[error("{} has {}", path.display(), words(*bytes))]
    SmallDevice {
        /// The device.
        path: PathBuf,
        /// Its bytes.
        bytes: u64,
    },
    /// No volume of this format can have that size here.
    #[error("{} can't have {wanted} bytes: the least is {}, the most {}", path.display(), words(*least), words(*most))]
    OutOfRange {
        /// The volume.
        path: PathBuf,
        /// What was wanted.
        wanted: u64,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A volume ends with a sector.
    #[error("{} can't have {wanted} bytes: a volume has whole sectors of 512 bytes", path.display())]
    NotWholeSectors {
        /// The volume.
        path: PathBuf,
        /// What was wanted.
        wanted: u64,
    },
    /// The file system inside is larger, and its tools can't make it smaller, or are not to.
    #[error(
        "the {} file system in {} has {}, and would not fit in less than {} MiB", filesystem.kind, path.display(),
        words(filesystem.bytes), least.div_ceil(1 << 20)
    )]
    WouldNotFit {
        /// The volume.
        path: PathBuf,
        /// What is in it.
        filesystem: FoundFileSystem,
        /// Bytes that it may have at most.
        most: u64,
        /// Bytes of the smallest volume that has room for it.
        least: u64,
    },
    /// The file system inside is larger than what is encrypted.
    #[error("the {0} file system in it reaches behind what is encrypted")]
    ReachesBehind(keyway_fs::FileSystemKind),
    /// Its own tool has not made it smaller, and says why.
    #[error(transparent)]
    TooFull(ResizeToolError),
    /// Its own tool has done nothing.
    #[error("the {kind} file system in {} did not get small enough", path.display())]
    StillTooLarge {
        /// The volume.
        path: PathBuf,
        /// Which file system.
        kind: keyway_fs::FileSystemKind,
    },
}

explain! { ResizeError {
    Self::NoSize => [Usage Request, NameNewSize],
    Self::OutOfRange { .. } => [Usage Request, NameSize],
    Self::NotWholeSectors { wanted, .. } => [Usage Request, TakeSize { bytes: wanted / 512 * 512 }],
    Self::SmallDevice { .. } => [Usage Request, GrowPartition],
    Self::WouldNotFit { filesystem, most, .. } => [NoRoom Request, ShrinkInside { bytes: filesystem.bytes, most: *most }],
    Self::ReachesBehind(_) => [Unsupported Request, EncryptAnew],
    Self::TooFull(error) => { (Kind::NoRoom, error.fault(), Advice::LargerSizeOrRoom).into() },
    Self::StillTooLarge { .. } => [Failed State, KeptItsSize],
} }
