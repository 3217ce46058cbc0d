//! Files inside an open volume, with no mount and no rights of an administrator.
//!
//! [`Files::open`] looks at a [`Device`] and reads FAT, exFAT, NTFS and ext2/3/4. FAT is also written
//! to, one new file at a time ([`Files::put`]); the others are only read, because no library writes
//! them with the care that somebody's data needs.
//!
//! What lies on the medium is not trusted: a file system may be damaged, or made by somebody who wants
//! to write outside the folder that files are copied to. Names are checked before anything is made
//! from them (`names`), files are made relative to open folders and never through links
//! ([`Files::get`]), every operation may read only so much (`window`), and a library that panics on
//! damaged data ends as an error.
#![forbid(unsafe_code)]

mod calendar;
mod error;
mod exfat;
mod ext;
mod fat;
mod get;
mod names;
mod ntfs;
mod window;

pub use calendar::utc;
pub use error::FilesError;
pub use get::{Got, Taken};
pub use names::{is_safe, parse};

use keyway_engine::Device;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use window::Window;

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, a junction, or another of Windows' reparse points.
    Link,
    /// A device, socket or pipe.
    Other,
}

impl Kind {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Link => "link",
            Self::Other => "other",
        }
    }
}

/// Where a file system finds an entry again.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// Its path from the root.
    Path(Vec<u8>),
    /// The number of its record (NTFS).
    Record(u64),
    /// Its clusters (exFAT).
    Clusters(exfat::Run),
}

/// An entry of a folder.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name as it is stored. Not to be trusted: [`is_safe`] says whether a file may be made of it.
    pub name: OsString,
    /// What it is.
    pub kind: Kind,
    /// Length in bytes; 0 for what is no file.
    pub size: u64,
    /// When it was last written, in seconds since 1970; FAT and exFAT keep no time zone, and UTC is
    /// assumed.
    pub modified: Option<i64>,
    pub(crate) place: Place,
}

/// Takes a file's bytes piece by piece.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

/// What each file system can do.
pub(crate) trait FileSystem {
    /// The root folder.
    fn root(&self) -> Place;
    /// What is in a folder, without `.` and `..`, in the medium's order.
    fn entries(&mut self, folder: &Place) -> Result<Vec<Entry>, FilesError>;
    /// A file's bytes.
    fn read(&mut self, file: &Entry, sink: Sink<'_>) -> Result<(), FilesError>;
    /// Whether names that differ only in their case are the same.
    fn ignores_case(&self) -> bool;
}

/// The files in a volume.
pub struct Files {
    fs: Box<dyn FileSystem>,
    window: Window,
    kind: &'static str,
}

impl Files {
    /// Looks at the file system in a volume. `kind` is what a probe calls it: `vfat`, `exfat`, `ntfs`,
    /// `ext2`, `ext3`, `ext4`; others are refused by name.
    pub fn open(device: Arc<Device>, kind: Option<&'static str>) -> Result<Self, FilesError> {
        let Some(kind) = kind else { return Err(FilesError::NoFileSystem) };
        let window = Window::new(device);
        let inner = window.clone();
        let fs = guarded(|| -> Result<Box<dyn FileSystem>, FilesError> {
            window.allow(window::LOOK);
            Ok(match kind {
                "vfat" => Box::new(fat::Fat::open(inner)?),
                "exfat" => Box::new(exfat::ExFat::open(inner)?),
                "ntfs" => Box::new(ntfs::NtfsVolume::open(inner)?),
                "ext2" | "ext3" | "ext4" => Box::new(ext::Ext::open(inner)?),
                other => return Err(FilesError::Unreadable(other)),
            })
        })?;
        Ok(Self { fs, window, kind })
    }

    /// The file system's name, as the probe gave it.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The root folder.
    pub fn root(&self) -> Entry {
        let place = self.fs.root();
        Entry { name: OsString::new(), kind: Kind::Folder, size: 0, modified: None, place }
    }

    /// Finds an entry by its path, as [`parse`] cuts it. Links are not followed.
    pub fn find(&mut self, path: &[OsString]) -> Result<Entry, FilesError> {
        let mut at = self.root();
        for name in path {
            if at.kind != Kind::Folder {
                return Err(FilesError::NotAFolder(at.name));
            }
            let entries = self.entries(&at)?;
            let mut found = entries.iter().find(|entry| entry.name == *name);
            if found.is_none() && self.fs.ignores_case() {
                let wanted = folded(name);
                found = entries.iter().find(|entry| folded(&entry.name) == wanted);
            }
            at = found.ok_or_else(|| FilesError::NotFound(name.clone()))?.clone();
        }
        Ok(at)
    }

    /// What is in a folder, sorted by name.
    pub fn entries(&mut self, folder: &Entry) -> Result<Vec<Entry>, FilesError> {
        if folder.kind != Kind::Folder {
            return Err(FilesError::NotAFolder(folder.name.clone()));
        }
        self.window.allow(window::LOOK);
        let mut entries = guarded(|| self.fs.entries(&folder.place))?;
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Reads a file from its beginning to its end.
    pub fn read(
        &mut self,
        file: &Entry,
        mut sink: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), FilesError> {
        match file.kind {
            Kind::File => {}
            Kind::Folder => return Err(FilesError::IsAFolder(file.name.clone())),
            Kind::Link => return Err(FilesError::IsALink(file.name.clone())),
            Kind::Other => return Err(FilesError::NotAFile(file.name.clone())),
        }
        // Twice what it has, for small clusters and the tables that lead from one to the next.
        self.window.allow(file.size.saturating_mul(2).saturating_add(window::LOOK));
        guarded(|| self.fs.read(file, &mut sink))
    }

    /// Writes a new file, of exactly `len` bytes, and flushes the volume. Only FAT takes it. With
    /// `replace` a file of that name makes room for it first. What was begun and failed is removed.
    pub fn put(
        &mut self,
        path: &[OsString],
        from: impl Read,
        len: u64,
        modified: Option<i64>,
        replace: bool,
    ) -> Result<(), FilesError> {
        if self.kind != "vfat" {
            return Err(FilesError::CanNotWrite(self.kind));
        }
        // Looked up by our own rules first: the library's know no difference between a name and a path.
        let (folder, name) = match path.split_last() {
            Some((name, folder)) => (folder, name),
            None => return Err(FilesError::IsAFolder(OsString::from("/"))),
        };
        let parent = self.find(folder)?;
        if parent.kind != Kind::Folder {
            return Err(FilesError::NotAFolder(parent.name));
        }
        let wanted = folded(name);
        if let Some(there) = self.entries(&parent)?.into_iter().find(|e| folded(&e.name) == wanted) {
            if there.kind != Kind::File {
                return Err(FilesError::IsAFolder(there.name));
            }
            if !replace {
                return Err(FilesError::Exists(there.name));
            }
        }
        let Place::Path(folder) = parent.place else { return Err(FilesError::CanNotWrite(self.kind)) };
        self.window.allow(u64::MAX);
        let window = self.window.clone();
        guarded(|| fat::put(window, &folder, name, from, len, modified))?;
        self.window.device().flush()?;
        Ok(())
    }
}

/// A name as file systems of Windows compare it.
fn folded(name: &OsStr) -> String {
    name.to_string_lossy().to_uppercase()
}

/// Runs what reads the medium; a library's panic becomes an error.
fn guarded<T>(work: impl FnOnce() -> Result<T, FilesError>) -> Result<T, FilesError> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(_) => Err(FilesError::Damaged("its structures contradict each other".to_owned())),
    }
}
