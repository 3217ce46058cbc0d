//! The files in a volume: opened, found, listed and read.

use super::entry::{Contents, Entry, EntryKind, Existing, Problem, Reader, Spared};
use super::error::{FilesError, whole};
use super::names::folded;
use super::window::{self, Window};
use super::{exfat, exfat_put, ext, fat, ntfs};
use keyway_store::Store;
use std::ffi::{OsStr, OsString};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The files in a volume.
pub struct Files {
    pub(super) fs: Box<dyn Reader>,
    pub(super) window: Window,
    pub(super) kind: &'static str,
    /// What an exFAT is written with, from the first time on.
    pub(super) writer: Option<exfat_put::Writer>,
    /// Set by whoever wants a copy to stop.
    pub(super) stop: Arc<AtomicBool>,
    /// What becomes of files that are where a copy goes.
    pub(super) existing: Existing,
    /// What is not replaced by it whatever that says.
    pub(super) spared: Vec<Spared>,
}

impl Files {
    /// Copies out of it end as soon as that is set, with [`FilesError::Stopped`].
    pub fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.stop = stop;
    }

    /// What becomes of files that are where a copy out of it goes. Without this they are in the way.
    pub fn meet(&mut self, existing: Existing) {
        self.existing = existing;
    }

    /// What becomes of files that are where a copy goes.
    pub const fn existing(&self) -> Existing {
        self.existing
    }

    /// Bytes of what the file system lies on.
    pub fn size(&self) -> u64 {
        self.window.size()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Looks at the file system in a volume. `kind` is what a probe calls it: `vfat`, `exfat`, `ntfs`,
    /// `ext2`, `ext3`, `ext4`; others are refused by name.
    pub fn open(store: Arc<dyn Store>, kind: Option<&'static str>) -> Result<Self, FilesError> {
        let Some(kind) = kind else { return Err(FilesError::NoFileSystem) };
        let window = Window::new(store);
        let inner = window.clone();
        let fs = guarded(|| -> Result<Box<dyn Reader>, FilesError> {
            window.allow(window::LOOK);
            Ok(match kind {
                "vfat" => Box::new(fat::Fat::open(inner)?),
                "exfat" => Box::new(exfat::ExFat::open(inner)?),
                "ntfs" => Box::new(ntfs::NtfsVolume::open(inner)?),
                "ext2" | "ext3" | "ext4" => Box::new(ext::Ext::open(inner)?),
                other => return Err(FilesError::Unreadable(other)),
            })
        })?;
        let (stop, existing, spared) = (Arc::default(), Existing::default(), Vec::new());
        Ok(Self { fs, window, kind, writer: None, stop, existing, spared })
    }

    /// The file system's name, as the probe gave it.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The root folder.
    pub fn root(&self) -> Entry {
        let place = self.fs.root();
        Entry { name: OsString::new(), kind: EntryKind::Folder, size: 0, modified: None, place }
    }

    /// Finds an entry by its path, as [`parse`](super::parse) cuts it. Links are not followed.
    pub fn find(&mut self, path: &[OsString]) -> Result<Entry, FilesError> {
        let mut at = self.root();
        for (depth, name) in path.iter().enumerate() {
            if at.kind != EntryKind::Folder {
                return Err(FilesError::NotAFolder(at.name));
            }
            let contents = self.entries(&at)?;
            let ignores_case = self.fs.ignores_case();
            let wanted = folded(name);
            let alike = |other: &OsStr| ignores_case && folded(other) == wanted;
            let entries = &contents.entries;
            let found = entries
                .iter()
                .find(|entry| entry.name == *name)
                .or_else(|| entries.iter().find(|entry| alike(&entry.name)));
            at = match found {
                Some(found) => found.clone(),
                None => {
                    let hidden = contents.hidden(|other| other == name || alike(other));
                    let way = path.get(..=depth).unwrap_or(path);
                    return Err(hidden.unwrap_or_else(|| FilesError::NotFound(whole(way))));
                }
            };
        }
        Ok(at)
    }

    /// What is in a folder, sorted by name. An error is one of the whole folder; what is wrong with an
    /// entry, or with what comes after those that were read, stands among the problems.
    pub fn entries(&mut self, folder: &Entry) -> Result<Contents, FilesError> {
        if folder.kind != EntryKind::Folder {
            return Err(FilesError::NotAFolder(folder.name.clone()));
        }
        self.window.allow(window::LOOK);
        let mut contents = guarded(|| self.fs.entries(&folder.place))?;
        // Of a folder that goes round in circles, what was read is the same again and again.
        let of_all = |problem: &Problem| {
            let nothing = contents.entries.is_empty() && problem.name.is_none();
            nothing || matches!(problem.error, FilesError::Endless(_))
        };
        if let Some(at) = contents.problems.iter().position(of_all) {
            return Err(contents.problems.swap_remove(at).error);
        }
        contents.entries.sort_by(|a, b| a.name.cmp(&b.name));
        contents.problems.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(contents)
    }

    /// Reads a file from its beginning to its end.
    pub fn read(
        &mut self,
        file: &Entry,
        mut sink: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), FilesError> {
        match file.kind {
            EntryKind::File => {}
            EntryKind::Folder => return Err(FilesError::IsAFolder(file.name.clone())),
            EntryKind::Link => return Err(FilesError::IsALink(file.name.clone())),
            EntryKind::Other => return Err(FilesError::NotAFile(file.name.clone())),
        }
        // Twice what it has, for small clusters and the tables that lead from one to the next.
        self.window.allow(file.size.saturating_mul(2).saturating_add(window::LOOK));
        guarded(|| self.fs.read(file, &mut sink))
    }
}

/// Runs what reads the medium; a library's panic becomes an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, FilesError>) -> Result<T, FilesError> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(_) => Err(FilesError::Damaged("its structures contradict each other".to_owned())),
    }
}
