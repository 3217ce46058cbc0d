//! What a session has that takes paths to take down, and what can be done about it.

use crate::loopdev::{GLANCE, LOOK};
use crate::retry::retry;
use crate::session::folder::SessionFolder;
use crate::session::later_mount::{self, is_mounted};
use crate::session::stale::clean_stale_in;
use crate::{AttachError, User, fuse, loopdev, mount, path_text};
use keyway_error::enum_table;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

enum_table! {
    /// All that a warden does.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::session) enum Action {
        /// Refuse while somebody uses what the kernel would not say later.
        Drain(1),
        /// Unmount the file system inside.
        Unmount(2),
        /// Detach the block device.
        DetachDevice(3),
        /// Detach the one below it, through whose cache it goes.
        DetachCache(4),
        /// Unmount our own file system.
        UnmountFuse(5),
        /// Open a new file for a recording.
        OpenTrace(6),
        /// Remove the session's folder and socket, and what else is left of sessions that are dead.
        Remove(7),
    }
    /// Its number, which is all that is said of it.
    pub(super) number: u8,
}

impl Action {
    /// The action of that number.
    pub(super) fn numbered(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.number() == number)
    }
}

/// What there is to take down. What is gone is forgotten: its name may be somebody else's by then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::session) struct Record {
    /// The session's folder.
    #[serde(with = "path_text")]
    pub(in crate::session) folder: PathBuf,
    /// Where the file system inside is mounted,
    #[serde(with = "path_text")]
    pub(in crate::session) mountpoint: Option<PathBuf>,
    /// the block device that it is on,
    #[serde(with = "path_text")]
    pub(in crate::session) device: Option<PathBuf>,
    /// the one below that,
    #[serde(with = "path_text")]
    pub(in crate::session) cache: Option<PathBuf>,
    /// and where our own file system is.
    #[serde(with = "path_text")]
    pub(in crate::session) fuse: Option<PathBuf>,
    /// which shows files, not the volume as one.
    #[serde(default)]
    pub(in crate::session) files: bool,
    /// Where clients connect.
    pub(in crate::session) socket: Option<OwnSocket>,
}

/// A socket's file, by which it is known when it is to be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::session) struct OwnSocket {
    #[serde(with = "path_text")]
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl OwnSocket {
    /// The socket at that path, if there is one.
    pub(in crate::session) fn at(path: &Path) -> Option<Self> {
        let found = std::fs::symlink_metadata(path).ok()?;
        Some(Self { path: path.to_owned(), device: found.dev(), inode: found.ino() })
    }

    fn remove(&self) {
        if Self::at(&self.path).as_ref() == Some(self) {
            // Nobody is left to tell when this fails; the next server clears it away.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Record {
    /// The file that our own file system shows the volume as.
    fn shown_file(&self) -> Option<PathBuf> {
        self.fuse.as_deref().map(|at| at.join(fuse::FILE_NAME))
    }

    /// [`AttachError::Busy`] while a process has the file open that a loop device of ours lies on: found out when that
    /// is unmounted, it would come when the device is gone already.
    fn refuse_while_file_is_open(&self) -> Result<(), AttachError> {
        let (Some(at), Some(file), Some(device)) = (&self.fuse, self.shown_file(), &self.device) else {
            return Ok(());
        };
        // Nobody's process has it open: the kernel does.
        let ours = [Some(device), self.cache.as_ref()];
        if let Some(other) = loopdev::devices_on(&file).iter().find(|other| !ours.contains(&Some(other))) {
            return Err(AttachError::busy_so(
                &file,
                format_args!("{} is on it", other.display()),
                Vec::new(),
            ));
        }
        // Who only looks at it has it no longer.
        retry(GLANCE, LOOK, |_| true, || refuse_while_used(at, &file))
    }

    /// Does it; a recording's file comes of it, or nothing.
    ///
    /// # Errors
    /// [`AttachError::Busy`], with nothing changed, or the system's reason.
    pub(in crate::session) fn perform(&mut self, action: Action) -> Result<Option<File>, AttachError> {
        let folder = || SessionFolder::new(self.folder.clone());
        let done = match action {
            Action::Drain => {
                self.refuse_while_file_is_open().and_then(|()| match (&self.cache, &self.mountpoint) {
                    (Some(cache), _) => loopdev::refuse_while_open(cache),
                    // Somebody else has mounted it for us, and knows whether it is in use, but not by whom.
                    (None, Some(at)) if self.device.is_none() => refuse_while_used(at, at),
                    _ => Ok(()),
                })
            }
            Action::Unmount => {
                let gone = |device| !self.mountpoint.as_ref().is_some_and(|at| is_mounted(device, at));
                if let Some(device) = self.device.as_deref().filter(|device| gone(device))
                    && let Some(later) = later_mount::place(&folder(), device)
                {
                    self.mountpoint = Some(later);
                }
                let device = self.device.clone();
                away(&mut self.mountpoint, |at| match &device {
                    Some(device) => mount::unmount_device(at, device),
                    None => mount::unmount(at),
                })
            }
            Action::DetachDevice => {
                let below = self.cache.clone().or_else(|| self.shown_file()).unwrap_or_default();
                away(&mut self.device, |device| loopdev::detach(device, &below))
            }
            Action::DetachCache => {
                let below = self.shown_file().unwrap_or_default();
                away(&mut self.cache, |device| loopdev::detach(device, &below))
            }
            Action::UnmountFuse => {
                let shown = |at: &Path| if self.files { at.to_owned() } else { at.join(fuse::FILE_NAME) };
                away(&mut self.fuse, |at| fuse::release(at, &shown(at)))
            }
            Action::OpenTrace => {
                let path = folder().trace();
                let options =
                    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
                return options.map(Some).map_err(|e| AttachError::io(format!("make {}", path.display()), e));
            }
            Action::Remove => {
                if let Some(socket) = self.socket.take() {
                    socket.remove();
                }
                let removed = folder().remove();
                let runtime = self.folder.parent().unwrap_or(&self.folder);
                // What somebody used while its file system went away.
                removed.and_then(|()| clean_stale_in(runtime, None).map(drop))
            }
        };
        done.map(|()| None)
    }
}

/// [`AttachError::Busy`], by the name of `what`, while a process is at work in what is mounted at `at`.
fn refuse_while_used(at: &Path, what: &Path) -> Result<(), AttachError> {
    match User::of_mount(at) {
        users if users.is_empty() => Ok(()),
        users => Err(AttachError::busy(what, users)),
    }
}

/// Takes away what is there; what is in use stays.
fn away(
    place: &mut Option<PathBuf>,
    take: impl FnOnce(&Path) -> Result<(), AttachError>,
) -> Result<(), AttachError> {
    let Some(path) = place.as_deref() else { return Ok(()) };
    let done = take(path);
    if !matches!(done, Err(AttachError::Busy { .. })) {
        *place = None;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_a_number_and_no_other_number_is_one() {
        let known =
            (0..=u8::MAX).filter_map(|number| Action::numbered(number).map(|action| (number, action)));
        let known: Vec<_> = known.collect();
        assert_eq!(known.len(), 7);
        assert!(known.iter().all(|(number, action)| *number == action.number()));
    }

    #[test]
    fn a_socket_in_the_place_of_ours_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        std::fs::write(&path, "ours").expect("room");
        let ours = OwnSocket::at(&path).expect("it is there");
        std::fs::write(folder.path().join("other"), "theirs").expect("room");
        std::fs::rename(folder.path().join("other"), &path).expect("ours");
        ours.remove();
        assert!(path.exists());
        OwnSocket::at(&path).expect("it is there").remove();
        assert!(!path.exists());
    }
}
