//! What something is that is no drive which encrypts by itself: whoever named it meant something else.

use keyway_engine::Access;
use keyway_fs::{Container, FoundFileSystem};
use keyway_store::{Caching, Store};
use keyway_volume::bitlocker;
use rustix::fs::major;
use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The number of loop devices' driver (`Documentation/admin-guide/devices.txt` in the kernel).
const LOOP: u32 = 7;

/// What something is that is no drive.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoDrive {
    /// A part of this disk.
    PartOf(PathBuf),
    /// A file that the kernel shows as a disk: nothing there takes commands.
    Loop,
    /// A device that is no disk.
    Device,
    /// A BitLocker volume.
    BitLocker,
    /// A container of another kind.
    Container(Container),
    /// A file system of this type.
    FileSystem(String),
    /// Nothing at all.
    Empty,
    /// Bytes that tell nothing: an encrypted volume looks like that, and so does much else.
    Bytes,
}

impl fmt::Display for NoDrive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PartOf(disk) => write!(f, "a part of {}", disk.display()),
            Self::Loop => f.write_str("a loop device, which shows a file"),
            Self::Device => f.write_str("a device that takes no security commands"),
            Self::BitLocker => f.write_str("a BitLocker volume"),
            Self::Container(container) => f.write_str(container.name()),
            Self::FileSystem(kind) => write!(f, "a file system ({kind})"),
            Self::Empty => f.write_str("empty"),
            Self::Bytes => f.write_str("no virtual drive's file: a volume, or something else"),
        }
    }
}

impl NoDrive {
    /// What is at that path, as far as that shows.
    pub(super) fn at(path: &Path) -> Self {
        let about = path.metadata();
        let kind = about.as_ref().map(Metadata::file_type);
        if kind.as_ref().is_ok_and(FileTypeExt::is_char_device) {
            return Self::Device;
        }
        let is_device = kind.is_ok_and(|kind| kind.is_block_device());
        // The disk on which its file lies has nothing to do with it.
        if is_device && about.is_ok_and(|about| major(about.rdev()) == LOOP) {
            return Self::Loop;
        }
        let own = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let disks = if is_device { keyway_sys::disks_under(path).unwrap_or_default() } else { Vec::new() };
        if let Some(disk) = disks.into_iter().find(|disk| *disk != own) {
            return Self::PartOf(disk);
        }
        let otherwise = if is_device { Self::Device } else { Self::Bytes };
        let Ok(store) = crate::medium::open(path, Access::ReadOnly, Caching::Buffered) else {
            return otherwise;
        };
        match () {
            () if store.size() == 0 => Self::Empty,
            () if bitlocker::is_volume(&store).unwrap_or_default() => Self::BitLocker,
            () => match (Container::on(&store), FoundFileSystem::find(&store)) {
                (Ok(Some(container)), _) => Self::Container(container),
                (_, Ok(Some(found))) => Self::FileSystem(found.kind.to_string()),
                _ => otherwise,
            },
        }
    }
}
