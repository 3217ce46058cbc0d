//! The volume's own file or device, whatever becomes of its name.

use rustix::fs::{AtFlags, FileType, OFlags, Statx, StatxFlags, statx};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Which file or device a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inode {
    /// The file system's device number, or that of the device itself.
    pub device: (u32, u32),
    /// The file's number there; 0 for a device.
    pub number: u64,
    /// When it was made, in nanoseconds since 1970, where the file system says so.
    pub born_ns: Option<i64>,
}

impl Inode {
    /// What is at the end of that path. What is known of it already is good enough: a file system that hangs is
    /// not asked.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        statx(rustix::fs::CWD, path, AtFlags::STATX_DONT_SYNC, wanted).ok().map(|found| Self::of(&found))
    }

    fn of(found: &Statx) -> Self {
        let born = (found.stx_mask & StatxFlags::BTIME.bits() != 0)
            .then(|| found.stx_btime.tv_sec.checked_mul(1_000_000_000))
            .flatten()
            .and_then(|seconds| seconds.checked_add(found.stx_btime.tv_nsec.into()));
        if FileType::from_raw_mode(found.stx_mode.into()) == FileType::BlockDevice {
            return Self { device: (found.stx_rdev_major, found.stx_rdev_minor), number: 0, born_ns: None };
        }
        Self { device: (found.stx_dev_major, found.stx_dev_minor), number: found.stx_ino, born_ns: born }
    }

    /// Whether both paths lead to one file or device.
    pub fn is_one(one: &Path, other: &Path) -> bool {
        Self::at(one).zip(Self::at(other)).is_some_and(|(one, other)| one.is(&other))
    }

    /// Whether it is the same file as this one, which somebody has open: its number is nobody else's then.
    pub(super) fn is(&self, open: &Self) -> bool {
        (self.device, self.number) == (open.device, open.number)
    }

    /// Whether it is the same file as one that somebody had open. Numbers are used again, and FAT gives new ones at
    /// any time.
    pub(super) fn was(&self, open: &Self) -> bool {
        match (self.born_ns, open.born_ns) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.is(open),
        }
    }
}

/// What has become of a volume's file since it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is where it was.
    Kept,
    /// It has another name.
    Moved(PathBuf),
    /// It has no name any more, and goes when it is closed.
    Deleted,
}

/// A volume's file or device, watched.
pub struct Medium {
    /// Nothing but a name for it (`O_PATH`).
    file: File,
}

impl Medium {
    /// Watches what is at the end of that path now; `None` where it can't be told.
    pub fn watch(volume: &Path) -> Option<Self> {
        let file =
            OpenOptions::new().read(true).custom_flags(OFlags::PATH.bits() as i32).open(volume).ok()?;
        let watched = Self { file };
        // Some file systems count no names; there, having none says nothing.
        watched.look().filter(|found| found.stx_nlink > 0).map(|_| watched)
    }

    fn look(&self) -> Option<Statx> {
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
        statx(self.file.as_fd(), "", flags, StatxFlags::BASIC_STATS | StatxFlags::BTIME).ok()
    }

    pub(super) fn inode(&self) -> Option<Inode> {
        self.look().map(|found| Inode::of(&found))
    }

    /// What has become of it; `volume` was its whole path, without links.
    pub fn fate(&self, volume: &Path) -> Fate {
        let Some(found) = self.look() else { return Fate::Kept };
        if FileType::from_raw_mode(found.stx_mode.into()) != FileType::RegularFile {
            return Fate::Kept;
        }
        let name = std::fs::read_link(format!("/proc/self/fd/{}", self.file.as_raw_fd())).ok();
        // What network file systems call a file that was deleted while it was open, until it is closed.
        let kept_for_us = |name: &Path| {
            let name = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.starts_with(".nfs") || name.starts_with(".fuse_hidden")
        };
        match name {
            _ if found.stx_nlink == 0 => Fate::Deleted,
            Some(name) if name == volume => Fate::Kept,
            Some(name) if kept_for_us(&name) => Fate::Deleted,
            // It has a name yet, but this one was taken away.
            Some(name) if name.to_string_lossy().ends_with(" (deleted)") => Fate::Kept,
            Some(name) => Fate::Moved(name),
            None => Fate::Kept,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_file_is_known_by_its_number_whatever_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("it is there");
        let [path, other, link] = ["a", "b", "link"].map(|name| folder.join(name));
        std::fs::write(&path, "a").expect("room");
        let medium = Medium::watch(&path).expect("it is there");
        let inode = medium.inode().expect("it is there");
        let meta = path.metadata().expect("it is there");
        let device = (rustix::fs::major(meta.dev()), rustix::fs::minor(meta.dev()));
        assert_eq!((inode.device, inode.number), (device, meta.ino()));
        assert_eq!(medium.fate(&path), Fate::Kept);

        std::fs::hard_link(&path, &link).expect("a second name");
        assert!(Inode::at(&link).is_some_and(|found| found.is(&inode) && found.was(&inode)));
        std::fs::rename(&path, &other).expect("it moves");
        std::fs::write(&path, "another").expect("room");
        assert!(Inode::at(&path).is_some_and(|found| !found.is(&inode)));
        assert!(Inode::at(&other).is_some_and(|found| found.is(&inode)));
        assert_eq!(medium.fate(&path), Fate::Moved(other.clone()));

        std::fs::remove_file(&other).expect("ours");
        assert_ne!(medium.fate(&path), Fate::Deleted, "it has a second name");
        std::fs::remove_file(&link).expect("ours");
        assert_eq!(medium.fate(&path), Fate::Deleted);
        assert_eq!(Inode::at(&other), None);
    }
}
