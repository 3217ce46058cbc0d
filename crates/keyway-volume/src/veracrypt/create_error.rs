//! Why a volume could not be made.

use super::params::HashName;
use super::random::RandomError;
use crate::VolumeError;
use keyway_cipher::CipherError;
use keyway_engine::LayoutError;
use keyway_error::explain;
use keyway_fs::FileSystemKind;
use keyway_fs::allocation::AllocationError;
use keyway_fs::mkfs::MkfsError;
use keyway_store::StoreError;
use keyway_store::size::words;
#[cfg(target_os = "linux")]
use keyway_sys::Use;
use std::path::PathBuf;

pub use super::params::LARGEST_PIM;

/// A volume that could not be made. Nothing that existed before was changed, except where a
/// device was being overwritten.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// There is something at the path.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// The path is a link, wherever it leads.
    #[error("{} is a link, and a link is neither followed nor replaced", .0.display())]
    IsALink(PathBuf),
    /// The path is no block device.
    #[error("{} is not a block device", .0.display())]
    NotADevice(PathBuf),
    /// Somebody uses it.
    #[cfg(target_os = "linux")]
    #[error("{} is in use{}", .path.display(), list(.uses))]
    InUse {
        /// The file or device.
        path: PathBuf,
        /// How, as far as it can be found out.
        uses: Vec<Use>,
    },
    /// The file system has too little room.
    #[error("{} needs {}, but only {} are free there", .path.display(), words(*needed), words(*available))]
    NoSpace {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        needed: u64,
        /// What is free, in bytes.
        available: u64,
    },
    /// The file system takes no file that large.
    #[error("the file system that {} lies on takes no file of {size} bytes", .path.display())]
    TooLargeForFileSystem {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
    },
    /// Less than the format's headers and the smallest data area.
    #[error("{size} bytes are too few")]
    TooSmall {
        /// The size asked for, in bytes.
        size: u64,
        /// The smallest possible, in bytes.
        least: u64,
    },
    /// More than the format's security bound.
    #[error("{size} bytes are too many")]
    TooLarge {
        /// The size asked for, in bytes.
        size: u64,
        /// The largest possible, in bytes.
        most: u64,
    },
    /// A hidden volume that does not fit into the outer one.
    #[error("a hidden volume of {size} bytes does not fit")]
    HiddenTooLarge {
        /// The size asked for, in bytes.
        size: u64,
        /// The largest possible, in bytes.
        most: u64,
    },
    /// A hidden volume where the outer one has files.
    #[error("a hidden volume of {size} bytes would overwrite files of the outer volume")]
    OuterFiles {
        /// The size asked for, in bytes.
        size: u64,
        /// The largest that overwrites nothing, in bytes; 0 where none does.
        most: u64,
    },
    /// A hidden volume where the outer one may have files.
    #[error("where the files of the outer volume's {kind} file system lie is not known: {why}")]
    OuterUnknown {
        /// The outer volume's file system.
        kind: FileSystemKind,
        /// Why its map can't be read.
        why: AllocationError,
    },
    /// Not whole sectors.
    #[error("{size} bytes are not whole sectors of {sector_bytes} bytes")]
    NotWholeSectors {
        /// The size asked for, in bytes.
        size: u64,
        /// The sector size in bytes.
        sector_bytes: u32,
    },
    /// A key derivation that is for old volumes only.
    #[error("{0} is for opening old volumes only")]
    HashNotOffered(HashName),
    /// A PIM whose iterations VeraCrypt can't count.
    #[error("the PIM {0} is too large")]
    PimTooLarge(u32),
    /// A cipher that VeraCrypt does not have.
    #[error("VeraCrypt has no cipher called {0}")]
    CipherNotOffered(keyway_cipher::Chain),
    /// The outer volume can't hold a hidden one.
    #[error("this volume can't hold a hidden one: {0}")]
    NoOuter(NoOuter),
    /// A hidden volume with the outer one's secret.
    #[error(
        "the hidden volume has the same password, keyfiles and PIM as the outer one and would never open"
    )]
    SameSecret,
    /// The hidden volume's secret opens one that is there.
    #[error("there is a hidden volume already that opens with the secret for the new one")]
    HiddenThere,
    /// What was written reads back differently.
    #[error("the header that was written reads back differently")]
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
    #[error("stopped")]
    Stopped,
}

/// Why a volume can't hold a hidden one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoOuter {
    /// The secrets open a hidden volume.
    #[error("the password is that of a hidden volume")]
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

explain! { CreateError, through Volume | FileSystem | Store | Layout | Cipher | Kdf {
    Self::Exists(path) => [Exists State, ChooseAnotherName; path],
    Self::IsALink(path) => [NotSuitable State, NameTarget; path],
    Self::NotADevice(path) => [Usage Request, NewNameAndSize; path],
    #[cfg(target_os = "linux")]
    Self::InUse { path, .. } => [InUse InUse, DetachIt; path],
    Self::NoSpace { path, .. } => [NoSpace State, FreeSpace, SmallerOrOtherDisk; path],
    Self::TooLargeForFileSystem { path, .. } => [State, SmallerOrOtherDisk; path],
    Self::TooSmall { least, .. } => [Usage Request, LeastVolume { bytes: *least }],
    Self::TooLarge { most, .. } => [Usage Request, LargestVolume { bytes: *most }],
    Self::OuterFiles { most: 0, .. } => [Usage Request, MakeRoomInOuter],
    Self::OuterUnknown { why: AllocationError::Dirty(_), .. } => [Filesystem State, MountByItsSystem, Force],
    Self::OuterUnknown { .. } => [Filesystem State, MapOrForce],
    Self::HiddenTooLarge { most, .. } | Self::OuterFiles { most, .. } =>
        [Usage Request, RoomForHidden { bytes: *most }],
    Self::NotWholeSectors { size, sector_bytes } =>
        [Usage Request, TakeSize { bytes: size - size % u64::from(*sector_bytes).max(1) }],
    Self::HashNotOffered(_) => [Usage Request, TakeOfferedHash],
    Self::PimTooLarge(_) => [Usage Request, LargestPim { most: LARGEST_PIM }],
    Self::CipherNotOffered(_) => [Usage Request, ListCiphers],
    Self::NoOuter(NoOuter::IsHidden) => [Failed State, GiveOuterPassword],
    Self::NoOuter(NoOuter::Resized) => [State, BringBackSize],
    Self::NoOuter(_) => [State, MakeNewVolume],
    Self::SameSecret => [Usage Request, TakeAnotherPassword],
    Self::HiddenThere => [WouldDestroy State, OpenHiddenOrForce],
    Self::ReadBack => [Failed Medium, DistrustMedium],
    Self::Random(_) => [Ours, ReportWithDoctor],
    Self::Stopped => [Interrupted Stopped, NoVolumeMade],
} }

#[cfg(target_os = "linux")]
fn list(uses: &[Use]) -> String {
    use std::fmt::Write as _;
    uses.iter().enumerate().fold(String::new(), |mut text, (i, one)| {
        // Writing to a String can't fail.
        let _ = write!(text, "{} {one}", if i == 0 { ":" } else { "," });
        text
    })
}
