//! Why a volume could not be made.

use super::params::HashName;
use super::random::RandomError;
use crate::VolumeError;
use keyway_cipher::CipherError;
use keyway_engine::LayoutError;
use keyway_fs::mkfs::MkfsError;
use keyway_store::StoreError;
use keyway_sys::Use;
use std::fmt::Write as _;
use std::path::PathBuf;

pub use super::params::LARGEST_PIM;

/// A volume that could not be made. Nothing that existed before was changed, except where a
/// device was being overwritten.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// There is something at the path.
    #[error("{} already exists; choose another name, or move it away", .0.display())]
    Exists(PathBuf),
    /// The path is no block device.
    #[error("{} is not a block device; for a file, give a name that does not exist yet and a size", .0.display())]
    NotADevice(PathBuf),
    /// Somebody uses it.
    #[error("{} is in use{}; unmount or detach it first", .path.display(), list(.uses))]
    InUse {
        /// The file or device.
        path: PathBuf,
        /// How, as far as it can be found out.
        uses: Vec<Use>,
    },
    /// The file system has too little room.
    #[error("{} needs {needed} bytes, but only {available} are free there; free some, or choose a smaller size", .path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        needed: u64,
        /// What is free, in bytes.
        available: u64,
    },
    /// The file system takes no file that large.
    #[error("the file system that {} lies on takes no file of {size} bytes; choose a smaller size or another disk", .path.display())]
    TooLargeForFileSystem {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
    },
    /// Less than the format's headers and the smallest data area.
    #[error("{size} bytes are too few; a volume needs at least {least}")]
    TooSmall {
        /// The size asked for, in bytes.
        size: u64,
        /// The smallest possible, in bytes.
        least: u64,
    },
    /// More than the format's security bound.
    #[error("{size} bytes are too many; a volume may have {most} at most")]
    TooLarge {
        /// The size asked for, in bytes.
        size: u64,
        /// The largest possible, in bytes.
        most: u64,
    },
    /// A hidden volume that does not fit into the outer one.
    #[error("a hidden volume of {size} bytes does not fit; this volume has room for {most} at most")]
    HiddenTooLarge {
        /// The size asked for, in bytes.
        size: u64,
        /// The largest possible, in bytes.
        most: u64,
    },
    /// A hidden volume where the outer one has files.
    #[error(
        "a hidden volume of {size} bytes would overwrite files of the outer volume; there is room for {most} at most"
    )]
    OuterFiles {
        /// The size asked for, in bytes.
        size: u64,
        /// The largest that overwrites nothing, in bytes.
        most: u64,
    },
    /// Not whole sectors.
    #[error("{size} bytes are not whole sectors of {sector_bytes} bytes; take {} instead", .size / u64::from(*.sector_bytes) * u64::from(*.sector_bytes))]
    NotWholeSectors {
        /// The size asked for, in bytes.
        size: u64,
        /// The sector size in bytes.
        sector_bytes: u32,
    },
    /// A key derivation that is for old volumes only.
    #[error(
        "{0} is for opening old volumes only; take sha512, sha256, whirlpool, streebog, blake2s or argon2id"
    )]
    HashNotOffered(HashName),
    /// A PIM whose iterations VeraCrypt can't count.
    #[error("the PIM {0} is too large; VeraCrypt takes {LARGEST_PIM} at most")]
    PimTooLarge(u32),
    /// A cipher that VeraCrypt does not have.
    #[error("VeraCrypt has no cipher called {0}; `keyway bench` lists the ones it has")]
    CipherNotOffered(keyway_cipher::Chain),
    /// The outer volume can't hold a hidden one.
    #[error("this volume can't hold a hidden one: {0}")]
    NoOuter(NoOuter),
    /// A hidden volume with the outer one's secret.
    #[error(
        "the hidden volume has the same password, keyfiles and PIM as the outer one and would never open; take another password"
    )]
    SameSecret,
    /// What was written reads back differently.
    #[error("the header that was written reads back differently; the medium can't be trusted")]
    ReadBack,
    /// Random bytes can't be had.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The secrets, a keyfile, or the finished volume.
    #[error(transparent)]
    Volume(#[from] VolumeError),
    /// The file system inside.
    #[error(transparent)]
    FileSystem(#[from] MkfsError),
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The finished volume makes no device.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The cipher can't be set up.
    #[error(transparent)]
    Cipher(#[from] CipherError),
    /// The key derivation failed.
    #[error(transparent)]
    Kdf(#[from] keyway_kdf::KdfError),
    /// The caller wanted it to stop.
    #[error("stopped; no volume was made")]
    Stopped,
}

/// Why a volume can't hold a hidden one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoOuter {
    /// The secrets open a hidden volume.
    #[error("the password is that of a hidden volume; give the outer one's")]
    IsHidden,
    /// An encrypted system.
    #[error("it is an encrypted system")]
    IsSystem,
    /// A volume from before TrueCrypt 6, with another arrangement of headers.
    #[error("it was made by TrueCrypt 5 or older, which keeps its headers elsewhere")]
    OldLayout,
    /// The data area does not end where the backup headers begin.
    #[error(
        "its data area does not end where its backup headers begin: the file or device has another size now"
    )]
    Resized,
}

impl CreateError {
    /// The exit code of the command line's contract: 1 it failed, 2 wrong usage, 5 not permitted
    /// or this machine lacks what it needs, 6 busy, and those of [`VolumeError::exit_code`].
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::InUse { .. } => 6,
            Self::NotADevice(_)
            | Self::TooSmall { .. }
            | Self::TooLarge { .. }
            | Self::HiddenTooLarge { .. }
            | Self::OuterFiles { .. }
            | Self::NotWholeSectors { .. }
            | Self::HashNotOffered(_)
            | Self::PimTooLarge(_)
            | Self::SameSecret
            | Self::CipherNotOffered(_) => 2,
            Self::Volume(e) => e.exit_code(),
            Self::FileSystem(MkfsError::Unknown(_) | MkfsError::SectorSize { .. }) => 2,
            Self::FileSystem(MkfsError::Missing(_)) => 5,
            Self::Store(e) if e.source.kind() == std::io::ErrorKind::PermissionDenied => 5,
            Self::Store(e) if e.source.kind() == std::io::ErrorKind::ResourceBusy => 6,
            _ => 1,
        }
    }
}

fn list(uses: &[Use]) -> String {
    uses.iter().enumerate().fold(String::new(), |mut text, (i, one)| {
        // Writing to a String can't fail.
        let _ = write!(text, "{} {one}", if i == 0 { ":" } else { "," });
        text
    })
}
