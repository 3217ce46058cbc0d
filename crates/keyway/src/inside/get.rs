//! Files out of a volume: to new ones here, or to somebody who takes their bytes.

use super::{Asks, InsideVolume, NotDone, absolute, in_json, is_none};
use crate::error::{Error, Misuse};
use crate::key_file::must_have_folder;
use crate::log_file;
use keyway_fs::files::{EntryKind, Existing, FilesError, Pattern, Taken};
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A new name in a folder here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    folder: PathBuf,
    name: OsString,
    /// It is the name that the thing has in the volume.
    own: bool,
    /// What it must not become, by how it was written.
    asks: Asks,
}

impl Destination {
    /// What a person means by `to`: a folder that is there, in which it gets its `own` name, or a new name.
    ///
    /// # Errors
    /// It has no name of its own, or `to` ends in none; there is something of that name that is in the way, or no folder for it.
    pub fn find(to: &Path, own: Option<&OsStr>, existing: Existing) -> Result<Self, Error> {
        let found = Self::meant(to, own)?;
        let path = found.folder.join(&found.name);
        must_have_folder(&path)?;
        // Through a link as well: nothing is overwritten unasked.
        match path.symlink_metadata() {
            // Of what matches a pattern each has its own name.
            Ok(about) if (found.own || !about.is_dir()) && !existing.may_be_there() => {
                Err(FilesError::InTheWay(path).into())
            }
            _ => Ok(found),
        }
    }

    /// The same; none for `-`, which is standard output.
    ///
    /// # Errors
    /// As [`Destination::find`].
    pub fn named(to: &Path, own: Option<&OsStr>, existing: Existing) -> Result<Option<Self>, Error> {
        if to == Path::new("-") { Ok(None) } else { Self::find(to, own, existing).map(Some) }
    }

    fn meant(to: &Path, own: Option<&OsStr>) -> Result<Self, Error> {
        if to.is_dir() {
            let name = own.ok_or(Misuse::NeedsNewFolder)?.to_owned();
            return Ok(Self { folder: to.to_owned(), name, own: true, asks: Asks::Nothing });
        }
        let name = to.file_name().ok_or_else(|| Misuse::NoNewName(to.to_owned()))?.to_owned();
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self { folder: folder.to_owned(), name, own: false, asks: Asks::of(to.as_os_str()) })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// What was copied out of a volume.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Copied {
    /// The volume.
    #[serde(serialize_with = "in_json")]
    pub volume: PathBuf,
    /// The file or folder in it.
    #[serde(serialize_with = "in_json")]
    pub path: PathBuf,
    /// Where it is now.
    #[serde(serialize_with = "in_json")]
    pub to: PathBuf,
    /// Files.
    pub files: u64,
    /// Folders.
    pub folders: u64,
    /// Bytes in the files.
    pub bytes: u64,
    /// Files that were there already, and stayed.
    #[serde(skip_serializing_if = "is_none")]
    pub kept: u64,
    /// Links and the like.
    pub left_out: Vec<NotDone>,
    /// What could not be read.
    pub failed: Vec<NotDone>,
    /// Nothing failed.
    #[serde(skip)]
    pub is_complete: bool,
}

impl InsideVolume {
    /// [`InsideVolume::get`] ends as soon as that is set, with [`FilesError::Stopped`]: what is half copied is removed.
    pub fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.files.stop_when(stop);
    }

    /// What becomes of files that are where [`InsideVolume::get`] copies to. Without this they are in the way.
    pub fn meet(&mut self, existing: Existing) {
        self.files.meet(existing);
    }

    /// Copies a file, or a folder with everything in it; or, where there is none of that name and it has wildcards, all that
    /// matches it, into a folder that is made where it isn't there. What is left out or can't be read is told as it comes, and the
    /// rest goes on. Nothing is overwritten unless [`InsideVolume::meet`] said so, and no name in the volume leads out of the folder that is made.
    ///
    /// # Errors
    /// It isn't there, or can't be written here.
    pub fn get(
        &mut self,
        path: &[OsString],
        to: &Destination,
        tell: &mut dyn FnMut(&NotDone),
    ) -> Result<Copied, Error> {
        let volume = self.volume.clone();
        log_file::step(
            "get",
            &volume,
            || self.copy(path, to, tell),
            |copied| format!("{} files, {} bytes", copied.files, copied.bytes),
        )
    }

    fn copy(
        &mut self,
        path: &[OsString],
        to: &Destination,
        tell: &mut dyn FnMut(&NotDone),
    ) -> Result<Copied, Error> {
        let about = self.about();
        let found = match self.files.find(path) {
            Ok(found) => Ok(found),
            // A name that is there is meant as it is written, whatever it holds.
            Err(FilesError::NotFound(_)) if Pattern::is_one(path) => Err(Pattern::new(path).map_err(&about)?),
            Err(e) => return Err(about(e)),
        };
        let to = match (&found, to.own) {
            (Ok(found), _) if found.kind == EntryKind::File && to.asks == Asks::NoFile => {
                return Err(Misuse::NoSuchFolder(to.folder.join(&to.name).join("")).into());
            }
            (Err(_), true) => to.folder.clone(),
            _ => to.folder.join(&to.name),
        };
        let (mut left_out, mut failed) = (Vec::new(), Vec::new());
        let mut note = |list: &mut Vec<NotDone>, path: &Path, reason: String| {
            let one = NotDone { path: path.to_owned(), reason };
            tell(&one);
            list.push(one);
        };
        let mut tell = |taken: Taken<'_>| match taken {
            Taken::Made(_) => {}
            Taken::LeftOut(path, why) => note(&mut left_out, path, why.to_owned()),
            Taken::Failed(path, e) => note(&mut failed, path, e.to_string()),
        };
        let got = match &found {
            Ok(found) => {
                let folder = to.parent().unwrap_or(Path::new(""));
                self.files.get(found, folder, to.file_name().unwrap_or_default(), &mut tell)
            }
            Err(pattern) => self.files.get_matching(pattern, &to, &mut tell),
        };
        let (got, is_complete) = got.map_err(&about)?;
        Ok(Copied {
            volume: self.volume.clone(),
            path: absolute(path),
            to,
            files: got.files,
            folders: got.folders,
            bytes: got.bytes,
            kept: got.kept,
            left_out,
            failed,
            is_complete,
        })
    }

    /// Writes a file's bytes to something that is called `name`.
    ///
    /// # Errors
    /// It isn't there, can't be read, or can't be written.
    pub fn read(&mut self, path: &[OsString], mut to: impl Write, name: &Path) -> Result<(), Error> {
        let about = self.about();
        let found = self.files.find(path).map_err(|e| match e {
            FilesError::NotFound(_) if Pattern::is_one(path) => {
                about(FilesError::PatternForOne(absolute(path)))
            }
            e => about(e),
        })?;
        let mut broken = None;
        let read = self.files.read(&found, |piece| {
            to.write_all(piece).map_err(|e| {
                broken = Some(e);
                io::Error::other("not written")
            })
        });
        match broken {
            Some(e) => Err(Error::system("write to", name, e)),
            None => read.map_err(&about),
        }
    }
}
