//! A file system that can be put into a volume, with the system's own `mkfs`, without root and without attaching the
//! volume. The programs run on Linux.

#[cfg(target_os = "linux")]
mod run;

#[cfg(target_os = "linux")]
pub use run::{copy_into, format_into, image};

use keyway_error::{enum_table, explain, explain_io};
use keyway_store::StoreError;
use keyway_store::size::words;
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

enum_table! {
    /// A file system that can be made.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FileSystem {
        /// Linux's usual one.
        Ext4("ext4", "mkfs.ext4", "e2fsprogs", 16, 104 << 10),
        /// For large files on Windows, macOS and Linux.
        ExFat("exfat", "mkfs.exfat", "exfatprogs", 11, (2 << 20) + 512),
        /// Windows'.
        Ntfs("ntfs", "mkfs.ntfs", "ntfs-3g", 128, (1 << 20) + 512),
        /// FAT12, FAT16 or FAT32 as the size asks; everything reads it.
        Fat("fat", "mkfs.fat", "dosfstools", 11, 50 << 10),
        /// Btrfs.
        Btrfs("btrfs", "mkfs.btrfs", "btrfs-progs", 255, 109 << 20),
        /// XFS.
        Xfs("xfs", "mkfs.xfs", "xfsprogs", 12, 300 << 20),
    }
    /// The name in commands and JSON.
    pub name: &'static str,
    /// The program that makes it.
    pub program: &'static str,
    /// Debian's package that has the program.
    pub package: &'static str,
    /// The most that a label may have, as the program counts it.
    pub longest_label: usize,
    /// The fewest bytes that its program makes one of, with the options that it gets here.
    pub least_bytes: u64,
}

impl FileSystem {
    /// Where the program is on this machine, if it is.
    pub fn find_program(self) -> Option<PathBuf> {
        search_path().map(|folder| folder.join(self.program())).find(|path| path.is_file())
    }

    /// Whether it can have that label. `mkfs.ext4` would cut off the rest without a word.
    ///
    /// # Errors
    /// [`MkfsError::LabelTooLong`].
    pub fn check_label(self, label: &str) -> Result<(), MkfsError> {
        let (has, unit) = match self {
            Self::ExFat | Self::Ntfs => (label.encode_utf16().count(), "characters"),
            Self::Fat => (label.chars().count(), "characters"),
            _ if label.is_ascii() => (label.len(), "characters"),
            _ => (label.len(), "bytes"),
        };
        if has <= self.longest_label() {
            Ok(())
        } else {
            Err(MkfsError::LabelTooLong { fs: self, has, unit })
        }
    }
}

impl FileSystem {
    /// Whether one can be made in so many bytes, as far as that is known without running its program. The volume around it
    /// has `around` bytes more.
    ///
    /// # Errors
    /// [`MkfsError::TooSmall`].
    pub fn check_size(self, bytes: u64, around: u64) -> Result<(), MkfsError> {
        match bytes < self.least_bytes() {
            true => Err(MkfsError::TooSmall { fs: self, bytes, around }),
            false => Ok(()),
        }
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
        // As the kernel, and people, call it.
        if ["vfat", "fat32", "msdos"].iter().any(|name| name.eq_ignore_ascii_case(text)) {
            return Ok(Self::Fat);
        }
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
    /// A label that the file system has no room for.
    #[error("{fs} takes a label of at most {} {unit}, and this one has {has}", .fs.longest_label())]
    LabelTooLong {
        /// The file system asked for.
        fs: FileSystem,
        /// What the label has.
        has: usize,
        /// Of what.
        unit: &'static str,
    },
    /// There is less room than its program needs.
    #[error("{fs} needs at least {}, and there would be {} for it", round(fs.least_bytes()), words(*bytes))]
    TooSmall {
        /// The file system asked for.
        fs: FileSystem,
        /// Bytes that it would have.
        bytes: u64,
        /// Bytes that the volume around it has more.
        around: u64,
    },
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

explain! { MkfsError, through Store {
    Self::Unknown(_) => [Filesystem Request, TakeFileSystem],
    Self::Missing(fs) => [Missing Machine, InstallPackage { package: fs.package().to_owned() }],
    Self::LabelTooLong { .. } => [Usage Request, Shorten],
    Self::TooSmall { fs, around, .. } =>
        [Usage Request, RoomForFileSystem { bytes: rounded(fs.least_bytes().saturating_add(*around)) }],
    Self::SectorSize { .. } => [Filesystem Request, TakeFileSystemOfSectors],
    // It was ended from outside, and has refused nothing.
    Self::Refused { status, .. } if status.code().is_none() => [Filesystem State, Retry],
    Self::Refused { .. } => [Filesystem State, OtherFileSystemOrLarger],
    Self::Run { source, .. } => [Filesystem State, ..explain_io(source).advice],
    Self::Stopped => [Interrupted Stopped, NoFileSystemMade],
} }

/// A size as one would ask for it.
fn rounded(bytes: u64) -> u64 {
    bytes.next_multiple_of(if bytes < 1 << 20 { 1 << 10 } else { 1 << 20 })
}

fn round(bytes: u64) -> String {
    words(rounded(bytes))
}

/// `PATH`, and the folders where the programs are that many users do not have in theirs.
fn search_path() -> impl Iterator<Item = PathBuf> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&own).filter(|folder| folder.is_absolute()).collect();
    folders.into_iter().chain(["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(PathBuf::from))
}
