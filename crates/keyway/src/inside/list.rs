//! What is in a folder, and in the folders in it; or what matches a pattern.

use super::get::Wanted;
use super::{InsideVolume, NotDone, absolute, in_json};
use crate::error::Error;
use keyway_fs::files::{At, Contents, Entry, EntryKind, Files, FilesError, Matched, Pattern, Problem, utc};
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How deep folders are followed, and how many entries are listed.
const DEEPEST: usize = 128;
const MOST: usize = 10_000_000;

/// Problems that are told, before it is clear that no more will come of it.
const MOST_PROBLEMS: usize = 1000;

/// What is in a folder.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Listing {
    /// The file system's name.
    pub filesystem: &'static str,
    /// The folder, from the root.
    #[serde(serialize_with = "in_json")]
    pub path: PathBuf,
    /// What is in it.
    pub entries: Vec<ListedFile>,
    /// What could not be read.
    pub failed: Vec<NotDone>,
}

/// An entry of a listing.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ListedFile {
    /// Its name as it is stored: anything.
    #[serde(serialize_with = "in_json")]
    pub name: OsString,
    /// Its path below the folder that is listed.
    #[serde(serialize_with = "in_json")]
    pub path: PathBuf,
    /// "file", "folder", "link" or "other".
    pub kind: &'static str,
    /// A file's length in bytes.
    pub size_bytes: Option<u64>,
    /// When it was last written (UTC).
    pub modified: Option<String>,
}

impl ListedFile {
    fn new(path: PathBuf, entry: &Entry) -> Self {
        Self {
            name: entry.name.clone(),
            path,
            kind: entry.kind.word(),
            size_bytes: (entry.kind == EntryKind::File).then_some(entry.size),
            modified: entry.modified.and_then(utc),
        }
    }
}

impl InsideVolume {
    /// What is in a folder, or the one file at that path, or what matches it where it is a pattern and no name; with `recursive` also what is in the folders in it. What can't
    /// be read is told as it comes, and the rest is listed.
    ///
    /// # Errors
    /// It isn't there, or nothing of it can be read.
    pub fn list(
        &mut self,
        path: &[OsString],
        recursive: bool,
        tell: &mut dyn FnMut(&NotDone),
    ) -> Result<Listing, Error> {
        let about = self.about();
        let mut walk =
            Walk { files: &mut self.files, recursive, tell, entries: Vec::new(), failed: Vec::new() };
        let mut base = absolute(path);
        match Wanted::find(walk.files, path).map_err(&about)? {
            Wanted::One(found) if found.kind == EntryKind::Folder => {
                walk.all_of(|walk| walk.add(&found, Path::new("."), 0))
            }
            Wanted::One(found) => {
                walk.entries.push(ListedFile::new(PathBuf::from(&found.name), &found));
                Ok(())
            }
            Wanted::Matches(pattern) => {
                // What ends in it takes folders with all that is in them.
                walk.recursive |= path.last().is_some_and(|name| name == "**");
                base = absolute(pattern.folder());
                walk.all_that_match(&pattern)
            }
        }
        .map_err(&about)?;
        let Walk { entries, failed, .. } = walk;
        Ok(Listing { filesystem: self.files.kind(), path: base, entries, failed })
    }
}

/// A listing under way.
struct Walk<'a> {
    files: &'a mut Files,
    recursive: bool,
    tell: &'a mut dyn FnMut(&NotDone),
    entries: Vec<ListedFile>,
    failed: Vec<NotDone>,
}

impl Walk<'_> {
    /// Adds what `add` finds; an error is that nothing of it can be read.
    fn all_of(&mut self, add: impl FnOnce(&mut Self) -> Result<(), FilesError>) -> Result<(), FilesError> {
        match add(self) {
            Err(e) if self.entries.is_empty() && self.failed.is_empty() => Err(e),
            // What ended the listing is one more that is told.
            Err(e) => {
                self.note(Path::new("."), &e);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Adds what matches a pattern.
    fn all_that_match(&mut self, pattern: &Pattern) -> Result<(), FilesError> {
        let base = self.files.find(pattern.folder())?;
        self.all_of(|walk| walk.matching(&base, (pattern, &pattern.begin()), Path::new("."), 0))?;
        if self.entries.is_empty() && self.failed.is_empty() {
            return Err(FilesError::NoMatch(pattern.text()));
        }
        Ok(())
    }

    /// Adds what is in a folder. What in it can't be read is told, and the rest goes on.
    fn add(&mut self, folder: &Entry, path: &Path, depth: usize) -> Result<(), FilesError> {
        let Contents { entries, problems } = self.files.entries(folder)?;
        self.problems(problems, path)?;
        entries.iter().try_for_each(|entry| self.entry(entry, &below(path, &entry.name), depth))
    }

    /// Adds what of a folder, and of the folders in it, matches.
    fn matching(
        &mut self,
        folder: &Entry,
        (pattern, at): (&Pattern, &At),
        path: &Path,
        depth: usize,
    ) -> Result<(), FilesError> {
        let Matched { entries, further, problems } = self.files.matching(folder, pattern, at)?;
        self.problems(problems, path)?;
        entries.iter().try_for_each(|entry| self.entry(entry, &below(path, &entry.name), depth))?;
        for (inner, at) in &further {
            let path = below(path, &inner.name);
            self.deeper(&path, depth, |walk| walk.matching(inner, (pattern, at), &path, depth + 1))?;
        }
        Ok(())
    }

    /// Adds one entry, and what is in it where that is wanted.
    fn entry(&mut self, entry: &Entry, path: &Path, depth: usize) -> Result<(), FilesError> {
        self.entries.push(ListedFile::new(path.to_owned(), entry));
        if self.entries.len() > MOST {
            return Err(FilesError::Endless("more than ten million entries"));
        }
        if !self.recursive || entry.kind != EntryKind::Folder {
            return Ok(());
        }
        self.deeper(path, depth, |walk| walk.add(entry, path, depth + 1))
    }

    /// Goes into a folder in one of that depth.
    fn deeper(
        &mut self,
        path: &Path,
        depth: usize,
        add: impl FnOnce(&mut Self) -> Result<(), FilesError>,
    ) -> Result<(), FilesError> {
        let added = match depth {
            DEEPEST.. => Err(FilesError::Endless("folders lie in each other without end")),
            _ => add(self),
        };
        added.or_else(|e| self.failed(path, e))
    }

    fn problems(&mut self, problems: Vec<Problem>, path: &Path) -> Result<(), FilesError> {
        problems.into_iter().try_for_each(|Problem { name, error }| {
            let path = name.map_or_else(|| path.to_owned(), |name| below(path, &name));
            self.failed(&path, error)
        })
    }

    /// Tells what could not be read; one too many ends the listing.
    fn failed(&mut self, path: &Path, error: FilesError) -> Result<(), FilesError> {
        if self.failed.len() >= MOST_PROBLEMS {
            return Err(error);
        }
        self.note(path, &error);
        Ok(())
    }

    fn note(&mut self, path: &Path, error: &FilesError) {
        let not_read = NotDone { path: path.to_owned(), reason: error.to_string() };
        (self.tell)(&not_read);
        self.failed.push(not_read);
    }
}

/// The path of an entry, for people: no name makes it begin at another root.
fn below(folder: &Path, name: &OsStr) -> PathBuf {
    let folder = if folder == Path::new(".") { Path::new("") } else { folder };
    let name = name.as_bytes();
    let start = name.iter().take_while(|byte| **byte == b'/').count();
    folder.join(OsStr::from_bytes(name.get(start..).unwrap_or_default()))
}
