//! Files that a measurement leaves behind: their place is tried before anything is measured, what
//! lies there and is not ours is never replaced unasked, and a file appears whole or not at all.

use crate::failure::Failure;
use crate::output::Output;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// How the laboratory's own pages and documents begin: these may be replaced by newer ones.
const OWN: [&str; 2] =
    ["<!DOCTYPE html><html lang=\"en\"><head><meta name=\"generator\" content=\"Keyway", "{\"cells\":["];

/// A file that is going to be written.
pub(crate) struct OutputFile {
    path: PathBuf,
    /// Written first and then renamed; `None` where the place is no file (a pipe, `/dev/stdout`).
    unfinished: Option<(PathBuf, File)>,
}

impl OutputFile {
    /// Tries the place.
    ///
    /// # Errors
    /// It can't be written to, or holds something that is not the laboratory's and nobody agreed to lose.
    pub(crate) fn at(path: &Path, out: Output) -> Result<Self, Failure> {
        let there = path.metadata().ok();
        if there.as_ref().is_some_and(|meta| !meta.is_file()) {
            if path.is_dir() {
                return Err(Failure::usage(format!("{} is a folder", path.display()), "name a file in it"));
            }
            return Ok(Self { path: path.to_owned(), unfinished: None });
        }
        if there.is_some() && !is_own(path) {
            out.confirm(&format!("Replace {}, which is no report of Keyway's?", path.display()))?;
        }
        // A link stays a link: what it points to is replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let unfinished = path.with_file_name(name);
        let file = OpenOptions::new().write(true).create_new(true).open(&unfinished);
        let file = file.map_err(|e| Failure::io("write", &path, &e))?;
        Ok(Self { path, unfinished: Some((unfinished, file)) })
    }

    /// Puts the contents in their place.
    ///
    /// # Errors
    /// The disk is full or fails; what was there before is there still.
    pub(crate) fn write(mut self, contents: &[u8]) -> Result<(), Failure> {
        let fail = |e| Failure::io("write", &self.path, &e);
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
