//! Why a volume does not get another size, as data. Nothing was changed, where nothing else is said.

use keyway_error::{Advice, Explain, Fault, Kind, Meaning};
use keyway_fs::FileSystem;
use keyway_fs::resize::RoomError;
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
    /// The file system inside is larger, and its tools can't make it smaller, or are not to.
    #[error(
        "the {} file system in {} has {}, and would not fit", filesystem.kind, path.display(), words(filesystem.bytes)
    )]
    WouldNotFit {
        /// The volume.
        path: PathBuf,
        /// What is in it.
        filesystem: FileSystem,
        /// Bytes that it may have at most.
        most: u64,
    },
    /// The file system inside is larger than what is encrypted.
    #[error("the {0} file system in it reaches behind what is encrypted")]
    ReachesBehind(keyway_fs::FileSystemKind),
    /// Its own tool has not made it smaller, and says why.
    #[error(transparent)]
    TooFull(RoomError),
    /// Its own tool has done nothing.
    #[error("the {kind} file system in {} did not get small enough", path.display())]
    StillTooLarge {
        /// The volume.
        path: PathBuf,
        /// Which file system.
        kind: keyway_fs::FileSystemKind,
    },
    /// The tool of the file system inside needs the volume attached, and nobody can do that.
    #[error("the volume can't be attached here, which the tool of its file system needs")]
    NotAttachable,
}

impl Explain for ResizeError {
    fn explain(&self) -> Meaning {
        use Advice as A;
        match self {
            Self::NoSize => (Kind::Usage, Fault::Request, A::NameNewSize).into(),
            Self::SmallDevice { .. } => (Kind::Usage, Fault::Request, A::GrowPartition).into(),
            Self::WouldNotFit { filesystem, most, .. } => {
                (Kind::NoRoom, Fault::Request, A::ShrinkInside { bytes: filesystem.bytes, most: *most })
                    .into()
            }
            Self::ReachesBehind(_) => (Kind::Unsupported, Fault::Request, A::EncryptAnew).into(),
            Self::TooFull(error) => (Kind::NoRoom, error.fault(), A::LargerSizeOrRoom).into(),
            Self::StillTooLarge { .. } => (Kind::Failed, Fault::State, A::KeptItsSize).into(),
            Self::NotAttachable => (Kind::NotPermitted, Fault::Machine, A::AskDoctor).into(),
        }
    }
}
