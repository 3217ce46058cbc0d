//! Room here for what is copied out of a volume: looked for before the first file is written.

use super::get::{Place, Wanted};
use super::{InsideVolume, NotDone};
use crate::error::Error;
use keyway_fs::files::{EntryKind, Existing, FilesError};
use keyway_store::size::words;
use rustix::fs::{CWD, Mode, OFlags, fstatfs, fstatvfs, openat};
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// File systems that write less than files are long: `BTRFS_SUPER_MAGIC`, `BCACHEFS_STATFS_MAGIC`, `F2FS_SUPER_MAGIC`, and
/// that of OpenZFS.
const COMPRESSING: [u32; 4] = [0x9123_683E, 0xCA45_1A4E, 0xF2F5_2010, 0x2FC1_2FC1];
/// Where so many times the volume's bytes are free, its files fit: none of its clusters is smaller than 512 bytes.
const PLENTY: u64 = 16;

/// What is free on a file system here.
struct Room {
    /// Bytes.
    free: u64,
    /// More files that it can have, where it counts them.
    files: Option<u64>,
    /// Bytes that it gives out at a time.
    unit: u64,
    compresses: bool,
}

impl Room {
    fn of(folder: &Path) -> Option<Self> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let folder = openat(CWD, folder, flags, Mode::empty()).ok()?;
        let about = fstatvfs(&folder).ok()?;
        // What is kept for root is root's.
        let root = rustix::process::geteuid().is_root();
        let free = if root { about.f_bfree } else { about.f_bavail };
        Some(Self {
            free: free.saturating_mul(about.f_frsize),
            files: (about.f_files > 0).then_some(if root { about.f_ffree } else { about.f_favail }),
            unit: about.f_frsize.max(1),
            compresses: COMPRESSING.contains(&(fstatfs(&folder).ok()?.f_type as u32)),
        })
    }
}

/// What a copy takes.
#[derive(Default)]
struct Need {
    /// Bytes, less those of what was there.
    bytes: i64,
    /// The most at once: what is there stays until what takes its place is whole.
    most: i64,
    files: u64,
}

impl Need {
    /// Adds what goes to a path, if it isn't there already.
    fn add(&mut self, room: &Room, to: &Path, len: Option<u64>, existing: Existing) {
        let there = to.symlink_metadata().ok();
        if let (Some(there), Some(len)) = (&there, len)
            && existing.keep_same
            && there.is_file()
            && there.len() == len
        {
            return;
        }
        let freed = |there: &Metadata| if there.is_file() { there.blocks().saturating_mul(512) } else { 0 };
        let old = there.as_ref().map_or(0, freed);
        self.files += u64::from(there.is_none());
        // A folder that is made has a block.
        let blocks = len.map_or(u64::from(there.is_none()), |len| len.div_ceil(room.unit));
        let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        let with_it = self.bytes.saturating_add(signed(blocks.saturating_mul(room.unit)));
        self.most = self.most.max(with_it);
        self.bytes = with_it.saturating_sub(signed(old));
    }
}

impl InsideVolume {
    /// Refuses a copy that there is no room for; where nobody can tell, because files may be mostly holes, or are compressed here,
    /// it is told.
    pub(super) fn must_have_room(
        &mut self,
        each: &[(Wanted, Place)],
        paths: &[Vec<OsString>],
        tell: &mut dyn FnMut(&NotDone),
    ) -> Result<(), Error> {
        let folder = match each.first() {
            Some((_, Place::Within(folder))) => folder.clone(),
            Some((_, Place::New(path))) => path.parent().unwrap_or(Path::new(".")).to_owned(),
            None => return Ok(()),
        };
        let Some(room) = Room::of(&folder) else { return Ok(()) };
        let mut need = Need::default();
        let size = self.files.size();
        if room.free / PLENTY < size || room.files.is_some_and(|files| files < size / 512) {
            self.count(&mut need, &room, each, paths);
        }
        let (free, wanted) = (room.free, u64::try_from(need.most).unwrap_or(0));
        if let Some(free) = room.files.filter(|free| *free < need.files) {
            return Err(FilesError::NoRoomHereForFiles { folder, free, wanted: need.files }.into());
        }
        match wanted > free {
            false => Ok(()),
            true if !room.compresses && matches!(self.files.kind(), "vfat" | "exfat") => {
                Err(FilesError::NoRoomHere { folder, free, wanted }.into())
            }
            // As long as it is not known, whoever waits for it should know.
            true => {
                let (free, wanted) = (words(free), words(wanted));
                let reason = format!(
                    "{wanted} are to be copied, and {free} are free here: they fit only if enough of them are holes"
                );
                tell(&NotDone { path: folder, reason });
                Ok(())
            }
        }
    }

    /// What can't be listed is told when it is copied.
    fn count(&mut self, need: &mut Need, room: &Room, each: &[(Wanted, Place)], paths: &[Vec<OsString>]) {
        let existing = self.files.existing();
        for ((wanted, to), path) in each.iter().zip(paths) {
            let Ok(listed) = self.list(path, true, &mut |_| {}) else { continue };
            let is_one = matches!(wanted, Wanted::One(found) if found.kind != EntryKind::Folder);
            if let (Wanted::One(found), Place::New(to)) = (wanted, to)
                && found.kind == EntryKind::Folder
            {
                need.add(room, to, None, existing);
            }
            for entry in listed.entries {
                let place: PathBuf = if is_one { to.path().to_owned() } else { to.path().join(&entry.path) };
                match entry.kind {
                    kind if kind == EntryKind::File.word() => {
                        need.add(room, &place, entry.size_bytes, existing)
                    }
                    kind if kind == EntryKind::Folder.word() => need.add(room, &place, None, existing),
                    _ => {}
                }
            }
        }
    }
}
