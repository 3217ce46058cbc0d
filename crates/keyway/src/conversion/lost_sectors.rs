//! The list of sectors that could not be read: a file that a person names, and by that allows that they become zeros.

use super::outcome::{ConversionOutcome, Lost};
use super::request::ConversionRequest;
use crate::error::Error;
use crate::progress::{Note, Progress};
use keyway_convert::LostSectors;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The open list. What is there already stays: a conversion may be gone on with more than once.
pub(super) struct LostList {
    path: PathBuf,
    file: File,
    /// Bytes that were lost in this run.
    bytes: Mutex<u64>,
}

impl LostList {
    /// Refuses a file that is there and is no such list.
    pub(super) fn check(path: &Path) -> Result<(), Error> {
        if !path.exists() {
            return Ok(());
        }
        let begins = || {
            let mut begins = Vec::new();
            if path.is_file() {
                File::open(path)?.take(TITLE.len() as u64).read_to_end(&mut begins)?;
            }
            match begins.is_empty() && path.is_file() || begins == TITLE.as_bytes() {
                true => Ok(()),
                false => Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is something else in it")),
            }
        };
        begins().map_err(|e| Error::system("write", path, e))
    }

    /// Opens the list that was asked for, or makes it. A line says where in the volume, how many bytes, and where on the medium.
    pub(super) fn of(request: &ConversionRequest) -> Result<Option<Self>, Error> {
        let Some(path) = &request.skip_unreadable else { return Ok(None) };
        let make = || {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
            if !file.metadata()?.is_file() {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
            }
            let mut begins = Vec::new();
            (&file).take(TITLE.len() as u64).read_to_end(&mut begins)?;
            if begins.is_empty() {
                file.write_all(heading(&request.path).as_bytes())?;
                file.sync_all()?;
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
            } else if begins != TITLE.as_bytes() {
                // The volume itself, by a slip of the hand.
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is something else in it"));
            }
            Ok(file)
        };
        let file = make().map_err(|e| Error::system("write", path, e))?;
        Ok(Some(Self { path: path.clone(), file, bytes: Mutex::new(0) }))
    }

    /// Tells what was lost, if anything was.
    pub(super) fn tell(&self, progress: &dyn Progress) {
        let bytes = self.bytes();
        if bytes > 0 {
            progress.note(&Note::Lost { bytes, list: &self.path });
        }
    }

    /// Adds what was lost to what came of the conversion.
    pub(super) fn add(&self, outcome: ConversionOutcome) -> ConversionOutcome {
        let lost = Lost { unreadable_bytes: self.bytes(), unreadable_list: self.path.clone() };
        ConversionOutcome { lost: Some(lost), ..outcome }
    }

    fn bytes(&self) -> u64 {
        *self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a list begins with.
const TITLE: &str = "# What could not be read of ";

fn heading(medium: &Path) -> String {
    let columns = "# where in the volume, how many, where on the medium";
    format!("{TITLE}{} and became zeros, in bytes:\n{columns}\n", medium.display())
}

impl LostSectors for LostList {
    fn lost(&self, content: Range<u64>, at: u64) -> io::Result<()> {
        let bytes = content.end.saturating_sub(content.start);
        let line = format!("{} {bytes} {at}\n", content.start);
        let mut lost = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        (&self.file).write_all(line.as_bytes())?;
        self.file.sync_data()?;
        *lost += bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::request::Goal;
    use super::*;

    #[test]
    fn lines_are_added_to_a_list_and_to_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut request = ConversionRequest::new(folder.path().join("volume"), Goal::Resume);
        let list = folder.path().join("list");
        request.skip_unreadable = Some(list.clone());
        for at in [512, 4096] {
            let list = LostList::of(&request).expect("it can be written").expect("one is wanted");
            list.lost(at..at + 512, at + 8192).expect("written");
        }
        let text = std::fs::read_to_string(list).expect("it is there");
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(lines, ["512 512 8704", "4096 512 12288"]);
        assert_eq!(text.lines().filter(|line| line.starts_with('#')).count(), 2);

        std::fs::write(&request.path, "a volume").expect("room");
        request.skip_unreadable = Some(request.path.clone());
        assert!(LostList::of(&request).is_err());
        assert_eq!(std::fs::read(&request.path).expect("it is there"), b"a volume");
    }
}
