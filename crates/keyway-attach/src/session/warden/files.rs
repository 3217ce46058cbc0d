//! Files that a process has its warden remove: it has no paths itself by the time at which it needs them no more.

use super::client::Warden;
use super::record::{Action, Record};
use super::step::ToTake;
use crate::session::sandbox::Sandbox;
use crate::{AttachError, path_text};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file, by which it is known when it is to be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnFile {
    #[serde(with = "path_text")]
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl OwnFile {
    /// The one that is open there, at that path.
    ///
    /// # Errors
    /// It can't be looked at.
    pub fn of(path: &Path, open: BorrowedFd<'_>) -> io::Result<Self> {
        let about = File::from(open.try_clone_to_owned()?).metadata()?;
        Ok(Self { path: std::path::absolute(path)?, device: about.dev(), inode: about.ino() })
    }

    /// Removes it, and nothing that is in its place by now.
    fn remove(&self) -> Result<(), AttachError> {
        let there = std::fs::symlink_metadata(&self.path);
        let removed = there.and_then(|there| match (there.dev(), there.ino()) == (self.device, self.inode) {
            true => std::fs::remove_file(&self.path),
            false => Err(Errno::NOENT.into()),
        });
        removed.map_err(|e| AttachError::io("remove a file", e))
    }
}

/// What a warden is told once.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Told {
    /// What there is of a session, to be taken down.
    Session(Record),
    /// Files, to be removed one by one.
    Files(OwnFiles),
    /// A step to be taken now, and nothing after it.
    Step(ToTake),
}

impl Told {
    /// Does what the message's one byte says; `None` where it says nothing.
    pub(super) fn perform(&mut self, number: u8) -> Option<Result<Option<File>, AttachError>> {
        match self {
            Self::Session(record) => Action::numbered(number).map(|action| record.perform(action)),
            Self::Files(files) => files.remove(number).map(|removed| removed.map(|()| None)),
            Self::Step(_) => None,
        }
    }
}

/// Files that can be removed. What is gone is forgotten.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OwnFiles {
    to_remove: Vec<Option<OwnFile>>,
}

impl OwnFiles {
    /// Removes the one of that number, counted from 1; `None` where there is none.
    fn remove(&mut self, number: u8) -> Option<Result<(), AttachError>> {
        let file = self.to_remove.get_mut(usize::from(number).checked_sub(1)?)?;
        Some(file.take().map_or(Ok(()), |file| file.remove()))
    }
}

/// How a file is removed by a process that has no paths any more.
#[derive(Clone)]
pub struct Removal {
    warden: Arc<Warden>,
    number: u8,
}

impl Removal {
    /// Starts a warden that removes these files, in whatever order, and does nothing else; how it is asked for each.
    ///
    /// # Errors
    /// It does not start.
    pub fn by_warden(by: &Sandbox, files: Vec<OwnFile>) -> Result<Vec<Self>, AttachError> {
        let numbers = 1..=u8::try_from(files.len()).unwrap_or(u8::MAX);
        let record = OwnFiles { to_remove: files.into_iter().map(Some).collect() };
        let warden = Arc::new(Warden::start(by, &record)?);
        Ok(numbers.map(|number| Self { warden: warden.clone(), number }).collect())
    }

    /// Has it removed.
    ///
    /// # Errors
    /// It is gone, another file is in its place, or the system's reason; or the warden is gone.
    pub fn carry_out(&self) -> Result<(), AttachError> {
        self.warden.ask_for(self.number).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_file_in_the_place_of_ours_stays_and_no_other_number_is_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let own = |name: &str| {
            let file = File::create(path(name)).expect("room");
            OwnFile::of(&path(name), file.as_fd()).expect("it is there")
        };
        let files = OwnFiles { to_remove: [own("one"), own("two")].map(Some).into() };
        let text = serde_json::to_vec(&files).expect("JSON");
        let mut told: Told = serde_json::from_slice(&text).expect("what a warden is told");
        assert!(matches!(told, Told::Files(_)));
        std::fs::write(path("other"), "theirs").expect("room");
        std::fs::rename(path("other"), path("two")).expect("ours");
        for number in [0, 3, 4, 255] {
            assert!(told.perform(number).is_none(), "{number}");
        }
        assert!(path("one").exists());
        assert!(matches!(told.perform(1), Some(Ok(None))));
        assert!(!path("one").exists());
        assert!(matches!(told.perform(2), Some(Err(AttachError::Io { .. }))));
        assert_eq!(std::fs::read(path("two")).expect("it is there"), b"theirs");
        std::fs::write(path("one"), "theirs").expect("room");
        assert!(matches!(told.perform(1), Some(Ok(None))), "it is gone, and forgotten");
        assert!(path("one").exists());
    }

    #[test]
    fn a_session_is_told_of_as_it_was() {
        let record = serde_json::json!({
            "folder": "/it", "mountpoint": null, "device": null, "cache": null, "fuse": null, "socket": null,
        });
        let told = serde_json::from_value(record).expect("what a warden is told");
        assert!(matches!(told, Told::Session(_)));
    }
}
