//! Files that a measurement leaves behind: their place is tried before anything is measured, what
//! lies there and is not ours is never replaced unasked, and a file appears whole or not at all.

use crate::error::LabError;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// How the laboratory's own pages and documents begin: these may be replaced by newer ones.
const OWN: [&str; 2] =
    ["<!DOCTYPE html><html lang=\"en\"><head><meta name=\"generator\" content=\"Keyway", "{\"cells\":["];

/// A file that is going to be written.
pub struct OutputFile {
    path: PathBuf,
    /// Written first and then renamed; `None` where the place is no file (a pipe, `/dev/stdout`).
    unfinished: Option<(PathBuf, File)>,
}

impl OutputFile {
    /// Whether something lies there that is not the laboratory's: whoever it belongs to is asked first.
    pub fn replaces_foreign(path: &Path) -> bool {
        path.is_file() && !is_own(path)
    }

    /// Tries the place. What lies there is replaced once the contents are written.
    ///
    /// # Errors
    /// It can't be written to.
    pub fn at(path: &Path) -> Result<Self, LabError> {
        if path.is_dir() {
            return Err(LabError::Folder(path.to_owned()));
        }
        if path.exists() && !path.is_file() {
            return Ok(Self { path: path.to_owned(), unfinished: None });
        }
        // A link stays a link: what it points to is replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let unfinished = path.with_file_name(name);
        let file = OpenOptions::new().write(true).create_new(true).open(&unfinished);
        let file = file.map_err(|e| LabError::system("write", &path, e))?;
        Ok(Self { path, unfinished: Some((unfinished, file)) })
    }

    /// Puts the contents in their place.
    ///
    /// # Errors
    /// The disk is full or fails; what was there before is there still.
    pub fn write(mut self, contents: &[u8]) -> Result<(), LabError> {
        let fail = |e| LabError::system("write", &self.path, e);
        match &mut self.unfinished {
            None => std::fs::write(&self.path, contents).map_err(fail),
            Some((unfinished, file)) => {
                file.write_all(contents).and_then(|()| file.sync_all()).map_err(fail)?;
                std::fs::rename(unfinished, &self.path).map_err(fail)
            }
        }
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some((unfinished, _)) = &self.unfinished {
            // Renamed when all went well; otherwise it is of no use to anybody.
            let _ = std::fs::remove_file(unfinished);
        }
    }
}

/// Whether the laboratory wrote what is there; an empty file is nobody's loss.
fn is_own(path: &Path) -> bool {
    let longest = OWN.iter().map(|own| own.len()).max().unwrap_or(0);
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(longest as u64).read_to_end(&mut start));
    read.is_ok() && (start.is_empty() || OWN.iter().any(|own| start.starts_with(own.as_bytes())))
}
