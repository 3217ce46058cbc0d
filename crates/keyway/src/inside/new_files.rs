//! Files and folders here that are to be put into a volume, and what a person means by where they go.

use super::{Asks, NotDone};
use crate::error::{Error, Misuse};
use keyway_fs::files::parse;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// How deep folders are followed, and how many files and folders are taken at once.
const DEEPEST: usize = 128;
const MOST: usize = 1_000_000;

/// Files here that are to be put into a volume, and folders with everything in them.
#[derive(Debug)]
pub struct NewFiles {
    pub(super) named: Vec<PathBuf>,
    /// What each of those is called, where it has a name.
    pub(super) own: Vec<Option<OsString>>,
    pub(super) found: Vec<Found>,
    /// Links and the like.
    pub left_out: Vec<NotDone>,
}

/// A file or folder here.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// Which of those that were named it is, or is in.
    pub(super) of: usize,
    /// Its path below that.
    pub(super) below: Vec<OsString>,
    /// Its permissions.
    pub(super) mode: u32,
    /// A file's length and time.
    pub(super) file: Option<(u64, Option<i64>)>,
}

impl NewFiles {
    /// Looks at these, and at what is in them. Links are left out, but for one that is named itself.
    ///
    /// # Errors
    /// One isn't there, can't be read, is neither a file nor a folder, or has no name.
    pub fn find(named: &[PathBuf]) -> Result<Self, Error> {
        let mut files = Self {
            named: named.to_vec(),
            // As long as there are paths.
            own: named.iter().map(|path| own_name(path)).collect(),
            found: Vec::new(),
            left_out: Vec::new(),
        };
        for (of, path) in named.iter().enumerate() {
            let about = path.metadata().map_err(|e| Error::system("open", path, e))?;
            if !about.is_file() && !about.is_dir() {
                return Err(Misuse::PutNotAFile(path.clone()).into());
            }
            if about.is_file() {
                // Whether it may be read is known before anybody is asked for a password.
                File::open(path).map_err(|e| Error::system("open", path, e))?;
            }
            if tells_no_length(path, &about) {
                return Err(Misuse::PutNoLength(path.clone()).into());
            }
            files.add(of, path, &about, &[])?;
        }
        Ok(files)
    }

    fn add(&mut self, of: usize, path: &Path, about: &Metadata, below: &[OsString]) -> Result<(), Error> {
        if below.len() > DEEPEST || self.found.len() >= MOST {
            return Err(Misuse::TooMuchToPut(path.to_owned()).into());
        }
        let modified = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.and_then(|since| i64::try_from(since.as_secs()).ok());
        let file = about.is_file().then_some((about.len(), modified));
        let mode = about.mode();
        self.found.push(Found { path: path.to_owned(), of, below: below.to_vec(), mode, file });
        if about.is_file() {
            return Ok(());
        }
        let failed = |e| Error::system("read", path, e);
        let mut inside: Vec<_> = std::fs::read_dir(path).and_then(Iterator::collect).map_err(failed)?;
        inside.sort_by_key(std::fs::DirEntry::file_name);
        for entry in inside {
            let path = entry.path();
            let about = entry.metadata().map_err(|e| Error::system("look at", &path, e))?;
            if tells_no_length(&path, &about) {
                let reason = "it tells the length 0 and has something in it".to_owned();
                self.left_out.push(NotDone { path, reason });
            } else if about.is_file() || about.is_dir() {
                let below: Vec<OsString> = below.iter().cloned().chain([entry.file_name()]).collect();
                self.add(of, &path, &about, &below)?;
            } else {
                let link = about.is_symlink();
                let reason = if link { "links are not copied" } else { "it is neither a file nor a folder" };
                self.left_out.push(NotDone { path, reason: reason.to_owned() });
            }
        }
        Ok(())
    }

    /// What a person means who names files and where they go to: the folder `to`; or the last of several words; or the root.
    ///
    /// # Errors
    /// As [`NewFiles::find`]; or it is no path.
    pub fn named(words: &[PathBuf], to: Option<&OsStr>) -> Result<(Self, PutTo), Error> {
        let (files, place) = match (to, words) {
            (None, [files @ .., place]) if !files.is_empty() => (files, place.as_os_str()),
            (to, files) => (files, to.unwrap_or(OsStr::new("/"))),
        };
        let asks = if to.is_some() { Asks::Folder } else { Asks::of(place) };
        let also_here = (to.is_none() && words.len() == 2).then(|| also_here(files, place)).flatten();
        Ok((Self::find(files)?, PutTo { path: parse(place)?, asks, also_here }))
    }

    /// What was named, which a sandbox must leave to be read.
    pub fn sources(&self) -> &[PathBuf] {
        &self.named
    }
}

/// Where files go in a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutTo {
    pub(super) path: Vec<OsString>,
    pub(super) asks: Asks,
    /// A file here of that name, or a folder (`true`), which may be one of those that were meant.
    pub(super) also_here: Option<(PathBuf, bool)>,
}

/// The last of several words as a file or folder here: a shell's pattern that matches two would put one in the other's name.
/// What is written as a path in the volume is one, but where it lies beside a file that is put.
fn also_here(files: &[PathBuf], last: &OsStr) -> Option<(PathBuf, bool)> {
    let last = Path::new(last);
    let same = |file: &PathBuf| file.canonicalize().ok() == last.canonicalize().ok();
    let beside = |file: &PathBuf| file.parent() == last.parent();
    let is_here = last.is_file() || last.is_dir();
    let may_be_meant = is_here && (last.is_relative() || files.iter().any(beside));
    (may_be_meant && !files.iter().any(same)).then(|| (last.to_owned(), last.is_dir()))
}

/// Whether a file has something in it though it tells the length 0, as those of `/proc` do: how much that is nobody knows
/// before its end. What can't be read says so when it is put.
fn tells_no_length(path: &Path, about: &Metadata) -> bool {
    let flags = (rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW).bits().cast_signed();
    let has_some = |path: &Path| {
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path.canonicalize()?);
        file.and_then(|mut file| file.read(&mut [0]))
    };
    about.is_file() && about.len() == 0 && has_some(path).is_ok_and(|read| read > 0)
}

/// The name that something keeps in a folder.
fn own_name(path: &Path) -> Option<OsString> {
    match path.file_name() {
        Some(name) => Some(name.to_owned()),
        // `.` and `..` have one where they are.
        None => Some(path.canonicalize().ok()?.file_name()?.to_owned()),
    }
}

/// Opens a file that was found; by now it may be a link, or something that would have one wait.
pub(super) fn open(found: &Found) -> io::Result<File> {
    let follow =
        if found.below.is_empty() { rustix::fs::OFlags::empty() } else { rustix::fs::OFlags::NOFOLLOW };
    let flags = (follow | rustix::fs::OFlags::NONBLOCK).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(&found.path)
}
