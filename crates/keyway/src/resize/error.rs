//! Why a volume does not get another size, as data. Nothing was changed, where nothing else is said.

use keyway_error::{Advice, explain};
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
    /// What is in the file system inside takes more than that.
    #[error(
        "what is in the {} file system in {} takes {}, and would not fit in {}", filesystem.kind, path.display(),
        words(*used), words(*most)
    )]
    Fuller {
        /// The volume.
        path: PathBuf,
        /// What is in it.
        filesystem: FoundFileSystem,
        /// Bytes that it uses.
        used: u64,
        /// Bytes that it may have at most.
        most: u64,
    },
    /// Its own tool has not made it smaller, and says why.
    #[error("{error}")]
    TooFull {
        /// What the tool says.
        error: ResizeToolError,
        /// Bytes of the file system.
        bytes: u64,
        /// Bytes that it may have at most.
        most: u64,
    },
    /// What makes the file system inside larger is missing.
    #[error("the file system inside can't be made larger here: {0}")]
    CantGrow(#[source] Box<crate::error::Error>),
    /// Its own tool has done nothing.
    #[error("the {kind} file system in {} did not get small enough", path.display())]
    StillTooLarge {
        /// The volume.
        path: PathBuf,
        /// Which file system.
        kind: keyway_fs::FileSystemKind,
    },
}

/// What makes it smaller, if anything does.
fn shrink(filesystem: &FoundFileSystem, most: u64) -> Advice {
    let bytes = filesystem.bytes;
    match filesystem.kind.can_shrink() || filesystem.kind == keyway_fs::FileSystemKind::Btrfs {
        true => Advice::ShrinkInside { bytes, most },
        false => Advice::CopyToSmaller { bytes, most },
    }
}

explain! { ResizeError {
    Self::NoSize => [Usage Request, NameNewSize],
    Self::OutOfRange { .. } => [Usage Request, NameSize],
    Self::NotWholeSectors { wanted, .. } => [Usage Request, TakeSize { bytes: wanted / 512 * 512 }],
    Self::SmallDevice { .. } => [Usage Request, GrowPartition],
    Self::WouldNotFit { path, filesystem, most, .. } => [NoRoom Request, (shrink(filesystem, *most)); path],
    Self::Fuller { path, filesystem, most, .. } =>
        [NoRoom Request, LargerSizeOrRoom { bytes: filesystem.bytes, most: *most }; path],
    // As the two before: it is the size that is wrong.
    Self::TooFull { bytes, most, .. } => [NoRoom Request, LargerSizeOrRoom { bytes: *bytes, most: *most }],
    Self::ReachesBehind(_) => [Unsupported Request, EncryptAnew],
    Self::CantGrow(error) => { error.explain().advise(Advice::LeaveFileSystem) },
    Self::StillTooLarge { .. } => [Failed State, KeptItsSize],
} }
