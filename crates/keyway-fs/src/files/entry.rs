//! What a folder holds, and what each file system can do to tell it.

use super::error::FilesError;
use keyway_error::enum_table;
use std::ffi::{OsStr, OsString};
use std::io;

enum_table! {
    /// What an entry of a folder is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EntryKind {
        /// A file.
        File("file"),
        /// A folder.
        Folder("folder"),
        /// A symbolic link, a junction, or another of Windows' reparse points.
        Link("link"),
        /// A device, socket or pipe.
        Other("other"),
    }
    /// The word for it.
    pub word: &'static str,
}

/// Something that is to be made in a volume.
#[derive(Debug, Clone, Copy)]
pub struct NewEntry<'a> {
    /// Its path, as [`parse`](super::parse) cuts it.
    pub path: &'a [OsString],
    /// A file's length; a folder has none.
    pub len: Option<u64>,
}

/// A file that stays, by whatever name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spared {
    /// Its file system's number.
    pub device: u64,
    /// Its own.
    pub inode: u64,
    /// The volume that the copy comes from lies in it; else it is one that is open.
    pub own: bool,
}

/// What becomes of files that are there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Existing {
    /// They are replaced; else they are in the way.
    pub replace: bool,
    /// Those of the same length stay as they are, and are no trouble.
    pub keep_same: bool,
}

impl Existing {
    /// Whether one need not be in the way.
    pub const fn may_be_there(self) -> bool {
        self.replace || self.keep_same
    }
}

/// Where a file system finds an entry again.
#[derive(Debug, Clone)]
pub(crate) enum Location {
    /// Its path from the root.
    Path(Vec<u8>),
    /// The number of its record (NTFS).
    Record(u64),
    /// Its clusters (exFAT).
    Clusters(Run),
}

/// Clusters that belong together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(super) first: u32,
    pub(super) bytes: u64,
    /// Bytes that were ever written; the rest reads as zeros.
    pub(super) valid: u64,
    pub(super) contiguous: bool,
}

/// An entry of a folder.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name as it is stored. Not to be trusted: [`is_safe`](super::is_safe) says whether a file may be made of it.
    pub name: OsString,
    /// What it is.
    pub kind: EntryKind,
    /// Length in bytes; 0 for what is no file.
    pub size: u64,
    /// When it was last written, in seconds since 1970; FAT and exFAT keep no time zone, and UTC is
    /// assumed.
    pub modified: Option<i64>,
    pub(crate) place: Location,
}

/// What is in a folder, and what of it can't be told.
#[derive(Debug, Default)]
pub struct Contents {
    /// What could be read.
    pub entries: Vec<Entry>,
    /// What could not: none of it is among the entries.
    pub problems: Vec<Problem>,
}

/// An entry that can't be read.
#[derive(Debug)]
pub struct Problem {
    /// Its name; `None` where even that is lost, of one entry or of the rest of the folder.
    pub name: Option<OsString>,
    /// Why.
    pub error: FilesError,
}

impl Contents {
    pub(super) fn problem(&mut self, name: Option<OsString>, error: FilesError) {
        self.problems.push(Problem { name, error });
    }

    /// The problem that hides an entry of a name: its own, or one that hides who knows what.
    pub(super) fn hidden(self, same: impl Fn(&OsStr) -> bool) -> Option<FilesError> {
        let (own, others): (Vec<_>, Vec<_>) =
            self.problems.into_iter().partition(|problem| problem.name.as_deref().is_some_and(&same));
        let nameless = others.into_iter().filter(|problem| problem.name.is_none());
        own.into_iter().chain(nameless).map(|problem| problem.error).next()
    }
}

/// Takes a file's bytes piece by piece.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

/// What each file system can do.
pub(crate) trait Reader {
    /// The root folder.
    fn root(&self) -> Location;
    /// What is in a folder, without `.` and `..`, in the medium's order. What is wrong with one entry
    /// costs that entry.
    fn entries(&mut self, folder: &Location) -> Result<Contents, FilesError>;
    /// A file's bytes.
    fn read(&mut self, file: &Entry, sink: Sink<'_>) -> Result<(), FilesError>;
    /// Whether names that differ only in their case are the same.
    fn ignores_case(&self) -> bool;
}
