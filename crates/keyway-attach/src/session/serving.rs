//! What every attachment works on: the volume, what the session says of itself, its folder.

use super::folder::SessionFolder;
use super::latency::KernelStat;
use super::sandbox::Sandbox;
use super::served::Served;
use super::state::SessionState;
use super::warden::{Action, OwnSocket, Record, Step, Warden};
use crate::mount::MountPlan;
use crate::{AttachError, Refusals, Stop, files};
use keyway_fs::Superblock;
use keyway_store::ReadOnlyStore;
use keyway_sys::MountTable;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// A volume on its way to the user.
pub(super) struct Serving {
    pub(super) served: Served,
    pub(super) folder: SessionFolder,
    pub(super) state: SessionState,
    /// What the kernel counts of the block device.
    pub(super) counts: Option<File>,
    /// What the block device had counted when it became ours.
    pub(super) counted_before: KernelStat,
    pub(super) gone: Arc<Stop>,
    /// Who tried to connect and was refused.
    pub(super) refusals: Arc<Refusals>,
    /// The program that takes steps for this one.
    pub(super) by: Option<Sandbox>,
    /// Who takes everything down, where this process gave that up.
    pub(super) warden: Option<Warden>,
}

impl Serving {
    /// Has a step taken in which the kernel may come back to this process.
    pub(super) fn take(&self, step: Step) -> Result<Option<String>, AttachError> {
        step.take(self.by.as_ref())
    }

    /// The same, where a device comes of it.
    pub(super) fn make(&self, step: Step) -> Result<PathBuf, AttachError> {
        let none = || AttachError::io("find the device made", io::Error::from(io::ErrorKind::InvalidData));
        self.take(step)?.map(PathBuf::from).ok_or_else(none)
    }

    /// The volume is this block device; its file system is mounted where one wants it.
    pub(super) fn mount(&mut self, device: PathBuf, wanted: Option<&MountPlan>) -> Result<(), AttachError> {
        self.counts = KernelStat::open(&device);
        self.counted_before = self.counts.as_ref().and_then(KernelStat::read).unwrap_or_default();
        self.state.device = Some(device.clone());
        let Some(wanted) = wanted else { return Ok(()) };
        let find = |e| AttachError::io(format!("find {}", wanted.at.display()), e);
        let at = wanted.at.canonicalize().map_err(find)?;
        let wanted = MountPlan { at: at.clone(), ..wanted.clone() };
        let name = self.take(Step::mount(&device, &wanted, self.served.is_read_only()));
        self.state.filesystem = name.map_err(|error| unwritten(error, self.served.first_failed_write()))?;
        self.state.mountpoint = Some(at);
        Ok(())
    }

    /// Looks what is inside where nothing is mounted, as nobody's request. Not before everything that this process does not
    /// need is given up: whoever wrote it may be anybody.
    pub(super) fn look_inside(&mut self) {
        if self.state.filesystem.is_some() {
            return;
        }
        let found = match (self.served.device(), &self.state.device) {
            (Ok(device), _) => {
                let read = |buf: &mut [u8], at| device.peek_at(buf, at).map_err(io::Error::other);
                Superblock::read(&ReadOnlyStore::new("the volume", device.size(), read)).ok().flatten()
            }
            (Err(_), Some(device)) => {
                File::open(device).and_then(|device| Superblock::on(&device)).ok().flatten()
            }
            (Err(_), None) => None,
        };
        self.state.filesystem = found.map(|found| found.kind.mount_type().to_owned());
        self.counted_before = self.counts.as_ref().and_then(KernelStat::read).unwrap_or_default();
    }

    /// Where the file system inside has been mounted, and is no longer: by whomever it was.
    pub(super) fn is_unmounted(&self, table: &MountTable) -> bool {
        let (Some(device), Some(_)) = (&self.state.device, &self.state.mountpoint) else { return false };
        // Moved, or seen at a second place, it is still in use.
        table.mounts().is_ok_and(|mounts| mounts.iter().all(|mount| mount.source != *device))
    }

    /// What there is to take down now.
    pub(super) fn record(&self) -> Record {
        let state = &self.state;
        let files = state.attachment == files::ATTACHMENT;
        let (inside, ours) = match files {
            true => (None, state.mountpoint.clone()),
            false => (state.mountpoint.clone(), state.file.as_ref().map(|_| self.folder.mount_point())),
        };
        Record {
            folder: self.folder.path().to_owned(),
            mountpoint: inside,
            device: state.device.clone(),
            cache: state.cache.clone(),
            fuse: ours,
            files,
            socket: state.socket.as_ref().and_then(|socket| OwnSocket::at(socket)),
        }
    }

    /// Takes a part of it down: the warden does, where there is one.
    pub(super) fn perform(&self, action: Action) -> Result<(), AttachError> {
        self.ask(action).map(drop)
    }

    /// A new file for a recording.
    pub(super) fn trace(&self) -> Result<File, AttachError> {
        let none = || AttachError::io("make a file for it", io::Error::from(io::ErrorKind::InvalidData));
        self.ask(Action::OpenTrace)?.ok_or_else(none)
    }

    /// Removes the session's folder, at the very end.
    pub(super) fn remove(&self) -> Result<(), AttachError> {
        match &self.warden {
            Some(warden) => warden.ask(Action::Remove).map(drop),
            None => self.folder.remove(),
        }
    }

    fn ask(&self, action: Action) -> Result<Option<File>, AttachError> {
        match &self.warden {
            Some(warden) => warden.ask(action),
            None => self.record().perform(action),
        }
    }
}

/// Why something in the volume could not be mounted: its driver blames what is in it for what the medium did not take.
fn unwritten(error: AttachError, why: Option<String>) -> AttachError {
    match (error, why) {
        (AttachError::Unmountable { found, at, .. } | AttachError::Mount { found, at, .. }, Some(why)) => {
            AttachError::MountUnwritten { found, at, why }
        }
        (error, _) => error,
    }
}

/// Lets [`AttachError::Busy`] through; keeps the first of any other errors in `first`.
pub(super) fn keep_first(
    first: &mut Result<(), AttachError>,
    done: Result<(), AttachError>,
) -> Result<(), AttachError> {
    match done {
        Err(e @ AttachError::Busy { .. }) => Err(e),
        Err(e) if first.is_ok() => {
            *first = Err(e);
            Ok(())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_medium_did_not_take_is_not_the_file_system_s_fault() {
        let refused = |why: Option<&str>| {
            let source = io::Error::from_raw_os_error(5);
            let error = AttachError::Unmountable { found: "ext4".into(), at: "/mnt".into(), source };
            unwritten(error, why.map(str::to_owned))
        };
        assert!(matches!(refused(None), AttachError::Unmountable { .. }));
        let told = refused(Some("No space left on device"));
        assert!(
            matches!(told, AttachError::MountUnwritten { .. }) && told.to_string().contains("No space left")
        );
        let busy = unwritten(AttachError::busy("/mnt".as_ref(), Vec::new()), Some(String::new()));
        assert!(matches!(busy, AttachError::Busy { .. }));
    }
}
