//! Files that a measurement leaves behind: their place is tried before anything is measured, what
//! lies there is never replaced unasked, and a file appears whole or not at all.

use crate::error::LabError;
use keyway_store::is_no_text;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// A file that is going to be written.
pub struct OutputFile {
    path: PathBuf,
    /// Written first and then renamed; `None` where the place is no file (a pipe, `/dev/stdout`).
    unfinished: Option<(PathBuf, File)>,
}

impl OutputFile {
    /// Whether something lies there: whoever it belongs to is asked first. What was measured yesterday is as dear as any
    /// other file; an empty one is nobody's loss.
    pub fn replaces(path: &Path) -> bool {
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0)
    }

    /// The path, or the next one at which nothing lies: `report-2.html` after `report.html`.
    pub fn free(path: &Path) -> PathBuf {
        let stem = path.file_stem().unwrap_or_default();
        let numbered = |n: u32| {
            let mut name = stem.to_owned();
            name.push(format!("-{n}"));
            if let Some(extension) = path.extension() {
                name.push(".");
                name.push(extension);
            }
            path.with_file_name(name)
        };
        let is_free = |path: &PathBuf| path.symlink_metadata().is_err();
        std::iter::once(path.to_owned()).chain((2..=u32::MAX).map(numbered)).find(is_free).unwrap_or_default()
    }

    /// Tries the place. What lies there is replaced once the contents are written.
    ///
    /// # Errors
    /// It can't be written to.
    pub fn at(path: &Path) -> Result<Self, LabError> {
        if path.is_dir() {
            return Err(LabError::Folder(path.to_owned()));
        }
        // Nobody who answers "yes" to replacing a file means a volume.
        if is_no_text(path) || path.metadata().is_ok_and(|meta| meta.file_type().is_block_device()) {
            let why =
                io::Error::new(io::ErrorKind::AlreadyExists, "what is there is no text: it may be a volume");
            return Err(LabError::system("write", path, why));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_is_no_place_for_a_report() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("volume");
        for bytes in [&[0xe9, 0x9d, 0xc3, 0x28, 0x91][..], &[0; 512]] {
            std::fs::write(&path, bytes).expect("written");
            let refused = OutputFile::at(&path).err().expect("refused");
            assert!(refused.to_string().contains("may be a volume"), "{refused}");
            assert_eq!(std::fs::read(&path).expect("there"), bytes);
        }
        std::fs::write(&path, "<html>").expect("written");
        assert!(OutputFile::at(&path).is_ok());
    }

    #[test]
    fn the_next_free_name_keeps_its_ending() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        assert_eq!(OutputFile::free(&path("report.html")), path("report.html"));
        for taken in ["report.html", "report-2.html", "bare"] {
            assert!(!OutputFile::replaces(&path(taken)));
            std::fs::write(path(taken), "a thesis").expect("written");
            assert!(OutputFile::replaces(&path(taken)));
        }
        assert_eq!(OutputFile::free(&path("report.html")), path("report-3.html"));
        assert_eq!(OutputFile::free(&path("bare")), path("bare-2"));
    }
}
