//! A file system that can be put into a volume, with the system's own `mkfs`, without root and without attaching the
//! volume. The programs run on Linux.

#[cfg(target_os = "linux")]
mod run;

#[cfg(target_os = "linux")]
pub use run::{copy_into, format_into, image};

use keyway_error::{Advice, Explain, Fault, Kind, Meaning};
use keyway_store::StoreError;
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::str::FromStr;

/// Is told how many bytes of how many are done, at least twice a second; whoever answers `Break` wants it to stop.
pub type Progress<'a> = &'a dyn Fn(u64, u64) -> ControlFlow<()>;

/// The [`Progress`] that listens to nothing.
pub fn silent(_done: u64, _total: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A file system that can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystem {
    /// Linux's usual one.
    Ext4,
    /// For large files on Windows, macOS and Linux.
    ExFat,
    /// Windows'.
    Ntfs,
    /// FAT12, FAT16 or FAT32 as the size asks; everything reads it.
    Fat,
    /// Btrfs.
    Btrfs,
    /// XFS.
    Xfs,
}

impl FileSystem {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Ext4, Self::ExFat, Self::Ntfs, Self::Fat, Self::Btrfs, Self::Xfs];

    /// The name in commands and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::ExFat => "exfat",
            Self::Ntfs => "ntfs",
            Self::Fat => "fat",
            Self::Btrfs => "btrfs",
            Self::Xfs => "xfs",
        }
    }

    /// The program that makes it.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Ext4 => "mkfs.ext4",
            Self::ExFat => "mkfs.exfat",
            Self::Ntfs => "mkfs.ntfs",
            Self::Fat => "mkfs.fat",
            Self::Btrfs => "mkfs.btrfs",
            Self::Xfs => "mkfs.xfs",
        }
    }

    /// Debian's package that has the program.
    pub const fn package(self) -> &'static str {
        match self {
            Self::Ext4 => "e2fsprogs",
            Self::ExFat => "exfatprogs",
            Self::Ntfs => "ntfs-3g",
            Self::Fat => "dosfstools",
            Self::Btrfs => "btrfs-progs",
            Self::Xfs => "xfsprogs",
        }
    }

    /// Where the program is on this machine, if it is.
    pub fn find_program(self) -> Option<PathBuf> {
        search_path().map(|folder| folder.join(self.program())).find(|path| path.is_file())
    }
}

impl fmt::Display for FileSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FileSystem {
    type Err = MkfsError;

    fn from_str(text: &str) -> Result<Self, MkfsError> {
        let same = |fs: &Self| fs.name().eq_ignore_ascii_case(text);
        Self::ALL.into_iter().find(same).ok_or_else(|| MkfsError::Unknown(text.to_owned()))
    }
}

/// A file system that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MkfsError {
    /// No such file system.
    #[error("there is no file system called {0:?} here")]
    Unknown(String),
    /// This machine lacks the program.
    #[error("{} is not on this machine", .0.program())]
    Missing(FileSystem),
    /// The program can't be told the volume's sector size.
    #[error("{fs} can't be made with sectors of {sector_bytes} bytes here")]
    SectorSize {
        /// The file system asked for.
        fs: FileSystem,
        /// The volume's sector size in bytes.
        sector_bytes: u32,
    },
    /// The program refused, most often because the volume is too small for it.
    #[error("{} made no file system ({status}): {complaint}", .fs.program())]
    Refused {
        /// The file system asked for.
        fs: FileSystem,
        /// How the program ended.
        status: ExitStatus,
        /// What it wrote to its standard error.
        complaint: String,
    },
    /// The program could not be run, or its work not be read.
    #[error("could not run {}: {source}", .fs.program())]
    Run {
        /// The file system asked for.
        fs: FileSystem,
        /// The system's reason.
        source: io::Error,
    },
    /// The volume could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The caller wanted it to stop.
    #[error("stopped")]
    Stopped,
}

impl Explain for MkfsError {
    fn explain(&self) -> Meaning {
        use Advice as A;
        use Fault as F;
        use Kind as K;
        match self {
            Self::Unknown(_) => (K::Filesystem, F::Request, A::TakeFileSystem).into(),
            Self::Missing(fs) => {
                (K::Missing, F::Machine, A::InstallPackage { package: fs.package().to_owned() }).into()
            }
            Self::SectorSize { .. } => (K::Filesystem, F::Request, A::TakeFileSystemOfSectors).into(),
            Self::Refused { .. } => (K::Filesystem, F::State, A::OtherFileSystemOrLarger).into(),
            Self::Run { .. } => (K::Filesystem, F::State).into(),
            Self::Store(error) => error.explain(),
            Self::Stopped => (K::Filesystem, F::Stopped, A::NoFileSystemMade).into(),
        }
    }
}

/// `PATH`, and the folders where the programs are that many users do not have in theirs.
fn search_path() -> impl Iterator<Item = PathBuf> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&own).filter(|folder| folder.is_absolute()).collect();
    folders.into_iter().chain(["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(PathBuf::from))
}
