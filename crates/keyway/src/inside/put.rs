//! A file into a volume.

use super::{InsideVolume, absolute, lossy};
use crate::error::{Error, Misuse};
use crate::log_file;
use keyway_fs::files::{EntryKind, Files, FilesError};
use serde::Serialize;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// A file here that is to be put into a volume.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    file: File,
    about: Metadata,
}

impl NewFile {
    /// Opens it.
    ///
    /// # Errors
    /// It isn't there, can't be read, or is no file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|e| Error::system("open", path, e))?;
        let about = file.metadata().map_err(|e| Error::system("look at", path, e))?;
        if !about.is_file() {
            return Err(Misuse::PutNotAFile(path.to_owned()).into());
        }
        Ok(Self { path: path.to_owned(), file, about })
    }
}

/// A file that is to be put into a volume, or was. Nothing has been written before it is run.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct PutPlan {
    /// The volume.
    #[serde(serialize_with = "lossy")]
    pub volume: PathBuf,
    /// The file here.
    #[serde(serialize_with = "lossy")]
    pub file: PathBuf,
    /// Its path in the volume.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// It may take the place of another one.
    pub replaces: bool,
    #[serde(skip)]
    names: Vec<OsString>,
}

impl InsideVolume {
    /// Plans to put a file into the volume: into a folder that is there, or under a new name.
    ///
    /// # Errors
    /// The volume can't be read.
    pub fn plan_put(&mut self, file: &NewFile, to: &[OsString], replace: bool) -> Result<PutPlan, Error> {
        let is_folder = match self.files.find(to) {
            Ok(found) => found.kind == EntryKind::Folder,
            Err(FilesError::NotFound(_)) => false,
            Err(e) => return Err(self.about()(e)),
        };
        let own = file.path.file_name().filter(|_| is_folder).map(OsString::from);
        let names: Vec<OsString> = to.iter().cloned().chain(own).collect();
        Ok(PutPlan {
            volume: self.volume.clone(),
            file: file.path.clone(),
            path: absolute(&names),
            bytes: file.about.len(),
            replaces: replace,
            names,
        })
    }

    /// Puts it there.
    ///
    /// # Errors
    /// There is one of that name, no room, or a file system that is only read.
    pub fn put(&mut self, plan: &PutPlan, file: &NewFile) -> Result<(), Error> {
        let path = self.volume.clone();
        log_file::step("put", &path, || self.write(plan, file), |()| format!("{} bytes", plan.bytes))
    }

    fn write(&mut self, plan: &PutPlan, file: &NewFile) -> Result<(), Error> {
        let modified = file.about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.and_then(|since| i64::try_from(since.as_secs()).ok());
        // A guard that refuses the last byte would leave the first ones.
        if let Some(trial) = self.trial.take() {
            let mut files = Files::open(Arc::new(trial), Some(self.files.kind())).map_err(self.about())?;
            let tried = files.put(&plan.names, io::repeat(0), plan.bytes, modified, plan.replaces);
            tried.map_err(self.about())?;
        }
        let put = self.files.put(&plan.names, &file.file, plan.bytes, modified, plan.replaces);
        put.map_err(self.about())
    }
}
