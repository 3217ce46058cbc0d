//! Files and folders into a volume.

use super::{InsideVolume, NotDone, absolute, in_json};
use crate::error::{Error, Misuse};
use crate::log_file;
use keyway_fs::files::{EntryKind, Files, FilesError, NewEntry, check_name, parse};
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// How deep folders are followed, and how many files and folders are taken at once.
const DEEPEST: usize = 128;
const MOST: usize = 1_000_000;

/// Files here that are to be put into a volume, and folders with everything in them.
#[derive(Debug)]
pub struct NewFiles {
    named: Vec<PathBuf>,
    found: Vec<Found>,
    /// Links and the like.
    pub left_out: Vec<NotDone>,
}

/// A file or folder here.
#[derive(Debug)]
struct Found {
    path: PathBuf,
    /// Which of those that were named it is, or is in.
    of: usize,
    /// Its path below that.
    below: Vec<OsString>,
    /// A file's length and time.
    file: Option<(u64, Option<i64>)>,
}

impl NewFiles {
    /// Looks at these, and at what is in them. Links are left out, but for one that is named itself.
    ///
    /// # Errors
    /// One isn't there, can't be read, is neither a file nor a folder, or has no name.
    pub fn find(named: &[PathBuf]) -> Result<Self, Error> {
        let mut files = Self { named: named.to_vec(), found: Vec::new(), left_out: Vec::new() };
        for (of, path) in named.iter().enumerate() {
            let about = path.metadata().map_err(|e| Error::system("open", path, e))?;
            if !about.is_file() && !about.is_dir() {
                return Err(Misuse::PutNotAFile(path.clone()).into());
            }
            if about.is_file() {
                // Whether it may be read is known before anybody is asked for a password.
                File::open(path).map_err(|e| Error::system("open", path, e))?;
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
        self.found.push(Found { path: path.to_owned(), of, below: below.to_vec(), file });
        if about.is_file() {
            return Ok(());
        }
        let failed = |e| Error::system("read", path, e);
        let mut inside: Vec<_> = std::fs::read_dir(path).and_then(Iterator::collect).map_err(failed)?;
        inside.sort_by_key(std::fs::DirEntry::file_name);
        for entry in inside {
            let path = entry.path();
            let about = entry.metadata().map_err(|e| Error::system("look at", &path, e))?;
            if about.is_file() || about.is_dir() {
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

    /// What a person means who names files and where they go to: `to`; or the last of several words; or the root. That is a path
    /// as [`parse`] cuts it.
    ///
    /// # Errors
    /// As [`NewFiles::find`]; or it is no path, or a name in it, or one in a folder, is none that the file systems which are
    /// written to can have.
    pub fn named(words: &[PathBuf], to: Option<&OsStr>) -> Result<(Self, Vec<OsString>), Error> {
        let (files, to) = match (to, words) {
            (None, [files @ .., to]) if !files.is_empty() => (files, to.as_os_str()),
            (to, files) => (files, to.unwrap_or(OsStr::new("/"))),
        };
        let (files, to) = (Self::find(files)?, parse(to)?);
        to.iter()
            .chain(files.found.iter().flat_map(|found| &found.below))
            .try_for_each(|name| check_name(name))?;
        Ok((files, to))
    }

    /// What was named, which a sandbox must leave to be read.
    pub fn sources(&self) -> &[PathBuf] {
        &self.named
    }
}

/// Files that are to be put into a volume, or were. Nothing has been written before it is run.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct PutPlan {
    /// The volume.
    #[serde(serialize_with = "in_json")]
    pub volume: PathBuf,
    /// The file or folder here, where it is one.
    #[serde(serialize_with = "in_json", skip_serializing_if = "no_path")]
    pub file: PathBuf,
    /// Its path in the volume; of several the folder they go to.
    #[serde(serialize_with = "in_json")]
    pub path: PathBuf,
    /// Files.
    pub files: u64,
    /// Folders.
    pub folders: u64,
    /// Bytes in the files.
    pub bytes: u64,
    /// They may take the place of others.
    pub replaces: bool,
    /// Links and the like.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<NotDone>,
    /// Where each goes, in the order of what was found.
    #[serde(skip)]
    places: Vec<Vec<OsString>>,
}

fn no_path(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

impl InsideVolume {
    /// Plans to put files into the volume: into a folder that is there, or, of one, under a new name. What stands against
    /// any of them is found out here.
    ///
    /// # Errors
    /// The volume can't be read; there is no such folder; there is one of that name, no room, or a file system that is only
    /// read.
    pub fn plan_put(&mut self, new: &NewFiles, to: &[OsString], replace: bool) -> Result<PutPlan, Error> {
        let about = self.about();
        let is_folder = match self.files.find(to) {
            Ok(found) => found.kind == EntryKind::Folder,
            Err(FilesError::NotFound(_) | FilesError::NotAFolder(_)) => false,
            Err(e) => return Err(about(e)),
        };
        if !is_folder && new.named.len() > 1 {
            return Err(Misuse::PutIntoFolder(absolute(to)).into());
        }
        let mut places = Vec::new();
        for found in &new.found {
            let named = new.named.get(found.of).map(PathBuf::as_path).unwrap_or(Path::new(""));
            let own = match is_folder {
                true => Some(own_name(named)?),
                false => None,
            };
            places.push(to.iter().cloned().chain(own).chain(found.below.iter().cloned()).collect());
        }
        let lens = new.found.iter().map(|found| found.file.map(|(len, _)| len));
        let entries: Vec<NewEntry<'_>> =
            places.iter().zip(lens.clone()).map(|(path, len): (&Vec<_>, _)| NewEntry { path, len }).collect();
        self.files.check_new(&entries, replace).map_err(&about)?;
        let [file, path] = match (new.named.as_slice(), places.first()) {
            ([one], Some(place)) => [one.clone(), absolute(place)],
            _ => [PathBuf::new(), absolute(to)],
        };
        Ok(PutPlan {
            volume: self.volume.clone(),
            file,
            path,
            files: lens.clone().flatten().count() as u64,
            folders: lens.clone().filter(Option::is_none).count() as u64,
            bytes: lens.flatten().sum(),
            replaces: replace,
            left_out: new.left_out.clone(),
            places,
        })
    }

    /// Puts them there, one after the other. What was begun and failed is removed; what was put before stays.
    ///
    /// # Errors
    /// A file can't be read, or the volume can't be written.
    pub fn put(&mut self, plan: &PutPlan, new: &NewFiles) -> Result<(), Error> {
        let path = self.volume.clone();
        log_file::step(
            "put",
            &path,
            || self.write(plan, new),
            |()| format!("{} files, {} bytes", plan.files, plan.bytes),
        )
    }

    fn write(&mut self, plan: &PutPlan, new: &NewFiles) -> Result<(), Error> {
        let about = self.about();
        // A guard that refuses the last byte would leave the first ones.
        if let Some(trial) = self.trial.take() {
            let mut files = Files::open(Arc::new(trial), Some(self.files.kind())).map_err(&about)?;
            for (place, found) in plan.places.iter().zip(&new.found) {
                let tried = match found.file {
                    Some((len, modified)) => files.put_checked(place, io::repeat(0), len, modified),
                    None => files.put_folder(place),
                };
                tried.map_err(&about)?;
            }
            files.flush().map_err(&about)?;
        }
        let mut put = |(place, found): (&Vec<OsString>, &Found)| match found.file {
            Some((len, modified)) => {
                let opened = open(found).map_err(|e| Error::system("open", &found.path, e))?;
                self.files.put_checked(place, opened, len, modified).map_err(&about)
            }
            None => self.files.put_folder(place).map_err(&about),
        };
        let done = plan.places.iter().zip(&new.found).try_for_each(&mut put);
        // Also after an error: what was put before stays.
        let kept = self.files.flush().map_err(&about);
        done.and(kept)
    }
}

/// The name that something keeps in a folder.
fn own_name(path: &Path) -> Result<OsString, Error> {
    match path.file_name() {
        Some(name) => Ok(name.to_owned()),
        // `.` and `..` have one where they are.
        None => {
            let whole = path.canonicalize().map_err(|e| Error::system("look at", path, e))?;
            Ok(whole.file_name().ok_or_else(|| Misuse::NoNewName(path.to_owned()))?.to_owned())
        }
    }
}

/// Opens a file that was found; by now it may be a link, or something that would have one wait.
fn open(found: &Found) -> io::Result<File> {
    let follow =
        if found.below.is_empty() { rustix::fs::OFlags::empty() } else { rustix::fs::OFlags::NOFOLLOW };
    let flags = (follow | rustix::fs::OFlags::NONBLOCK).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(&found.path)
}
