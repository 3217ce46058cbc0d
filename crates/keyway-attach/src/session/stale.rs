//! Cleans up after killed processes, and hands on what waits for another one.

use super::folder::{SessionFolder, existing_runtime_folder, lock_runtime, runtime_folder, session_folders};
use super::found::{found, found_in};
use super::medium::Inode;
use super::name::Name;
use super::state::SessionState;
use crate::address::is_dead;
use crate::notice::{Notice, tell};
use crate::ublk::{self, UblkError};
use crate::{AttachError, dmcrypt, files, fuse, loopdev, mount};
use rustix::process::geteuid;
use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

/// Takes away what killed processes left: mounts, loop devices, files. Returns their states as far
/// as they can be read.
pub fn clean_stale() -> Result<Vec<SessionState>, AttachError> {
    existing_runtime_folder()?.map_or(Ok(Vec::new()), |runtime| clean_stale_in(&runtime, None))
}

/// The same for whoever came for something else, and whose user does not know that a server was killed: a [`Notice`] of each.
pub fn clean_stale_and_tell() -> Result<(), AttachError> {
    clean_stale().map(|cleaned| tell_killed(&cleaned))
}

fn tell_killed(cleaned: &[SessionState]) {
    cleaned.iter().for_each(|state| tell(&Notice::Killed(state.volume.clone())));
}

/// The same for whoever is about to [`run`](super::run) `volume`: a block device of it that waits for a server is left to that
/// one to take over, whether or not somebody uses it at this moment.
pub fn clean_stale_before(volume: &Path) -> Result<(), AttachError> {
    let cleaned = clean_stale_in(&runtime_folder()?, volume.canonicalize().ok().as_deref());
    cleaned.map(|cleaned| tell_killed(&cleaned))
}

/// What waits for another server of the volume `spared` is left alone.
pub(super) fn clean_stale_in(
    runtime: &Path,
    spared: Option<&Path>,
) -> Result<Vec<SessionState>, AttachError> {
    // Where a logout took the folder away, nothing of it is left.
    if !runtime.is_dir() {
        return Ok(Vec::new());
    }
    let _alone = lock_runtime(runtime)?;
    let mut cleaned = Vec::new();
    for folder in session_folders(runtime) {
        let state = SessionState::read(&folder.state());
        if folder.is_alive(state.as_ref().map(|state| state.pid)) {
            continue;
        }
        // What asks its devices would wait for them otherwise.
        fuse::abort(&folder.mount_point());
        let gone = match &state {
            Some(state)
                if spared.is_some_and(|volume| state.is_of(volume, Inode::at(volume).as_ref()))
                    && waiting_device(state, ublk::CLEAN_UP).is_some() =>
            {
                continue;
            }
            Some(state) => take_away(state, false),
            None => dmcrypt::remove_stale(&folder.id()),
        };
        match gone {
            // It works without its process, or waits for another, and only `close` may unmount it; or udev must
            // hand it over first.
            Err(AttachError::Busy { .. } | AttachError::Ublk(UblkError::NotHandedOver { .. })) => continue,
            done => done?,
        }
        if let Some(at) = state.as_ref().filter(|state| state.attachment == files::ATTACHMENT) {
            at.mountpoint.as_deref().map_or(Ok(()), files::abandon)?;
        }
        cleaned.extend(state);
        let at = folder.mount_point();
        for below in loopdev::devices_on(&at.join(fuse::FILE_NAME)) {
            for device in loopdev::devices_on(&below).iter().chain([&below]) {
                mount::abandon(device);
                loopdev::abandon(device)?;
            }
        }
        // What a user's program had mounted from it.
        if fuse::is_mounted(&folder.inside()) {
            fuse::disconnect(&folder.inside(), true)?;
        }
        if fuse::is_mounted(&at) {
            fuse::disconnect(&at, true)?;
        }
        folder.remove()?;
        cleaned.last().filter(|state| state.id == folder.id()).into_iter().for_each(remove_socket);
    }
    Ok(cleaned)
}

/// Removes the socket that a dead session had at a path of its user's choice: clients would find it, and nobody there. One on which
/// somebody listens is another server's by now.
fn remove_socket(state: &SessionState) {
    let Some(path) = state.socket.as_deref().filter(|path| path.is_absolute()) else { return };
    let own = |found: &Metadata| found.file_type().is_socket() && found.uid() == geteuid().as_raw();
    if std::fs::symlink_metadata(path).is_ok_and(|found| own(&found)) && matches!(is_dead(path), Ok(true)) {
        // Nobody is left to tell when this fails; the next server clears it away.
        let _ = std::fs::remove_file(path);
    }
}

/// Removes what a dead session left in the kernel: in use only where told to.
pub(super) fn take_away(state: &SessionState, in_use: bool) -> Result<(), AttachError> {
    match waiting_device(state, ublk::CLEAN_UP) {
        Some(device) if !in_use && device.is_in_use() => Err(AttachError::busy(device.device(), Vec::new())),
        Some(device) => device.give_up(),
        None => {
            if let Some(device) = state.device.as_ref().filter(|_| state.attachment == ublk::ATTACHMENT) {
                ublk::clear(device, &state.volume, state.pid)?;
            }
            take_away_mapping(state, in_use)
        }
    }
}

/// The ublk device of a dead session, if it still is there.
pub(super) fn waiting_device(state: &SessionState, patience: Duration) -> Option<ublk::Waiting> {
    let device = state.device.as_ref().filter(|_| state.attachment == ublk::ATTACHMENT)?;
    ublk::waiting(device, &state.volume, state.pid, patience)
}

/// The block device of this volume that waits for a server, because its own was killed; [`run`](super::run) takes it over
/// where the plan is [`Attachment::Ublk`](super::Attachment::Ublk), and refuses to attach the volume otherwise.
pub fn waiting(volume: &Path) -> Result<Option<SessionState>, AttachError> {
    let Ok(volume) = volume.canonicalize() else { return Ok(None) };
    let Some(runtime) = existing_runtime_folder()? else { return Ok(None) };
    Ok(waiting_in(&runtime, &volume).into_iter().next().map(|(_, state)| state))
}

/// What waits as [`waiting`] says, of every volume, or of the one that `what` names as in [`find`](super::find).
pub fn waiting_named(what: Option<&Path>) -> Result<Vec<SessionState>, AttachError> {
    Ok(dead(what)?.filter(waits).collect())
}

/// What is left of others whose server was killed, of every volume or of the one that `what` names: nobody has cleared it away.
pub fn killed(what: Option<&Path>) -> Result<Vec<SessionState>, AttachError> {
    Ok(dead(what)?.filter(|state| !waits(state)).collect())
}

/// Whoever only looks waits for nothing.
fn waits(state: &SessionState) -> bool {
    waiting_device(state, Duration::ZERO).is_some()
}

fn dead(what: Option<&Path>) -> Result<impl Iterator<Item = SessionState>, AttachError> {
    let mut dead = found()?;
    dead.retain(|session| !session.alive);
    let named = match what {
        None => dead,
        Some(what) => Name::pick(what, dead),
    };
    Ok(named.into_iter().map(|session| session.state))
}

/// The dead sessions of the volume that have left a ublk device. Another file that has its path now is another volume.
pub(super) fn waiting_in(runtime: &Path, volume: &Path) -> Vec<(SessionFolder, SessionState)> {
    let inode = Inode::at(volume);
    let dead = found_in(runtime).into_iter().filter(|session| !session.alive);
    dead.filter(|session| session.state.is_of(volume, inode.as_ref()))
        .filter(|session| waiting_device(&session.state, ublk::CLEAN_UP).is_some())
        .map(|session| (session.folder, session.state))
        .collect()
}

/// What dead sessions of ublk said of themselves.
#[cfg(feature = "ublk")]
pub(super) fn dead_states(runtime: &Path) -> Vec<SessionState> {
    let dead = found_in(runtime).into_iter().filter(|session| !session.alive);
    dead.map(|session| session.state).filter(|state| state.attachment == ublk::ATTACHMENT).collect()
}

/// Removes the kernel's mapping of a dead session, in good order; unmounts it before that only where told to.
fn take_away_mapping(state: &SessionState, unmount: bool) -> Result<(), AttachError> {
    if state.attachment != dmcrypt::ATTACHMENT {
        return Ok(());
    }
    // Only where it is still this device's: somebody else may use the folder by now.
    if let (true, Some(device), Some(at)) = (unmount, &state.device, &state.mountpoint) {
        mount::unmount_device(at, device)?;
    }
    dmcrypt::remove_stale(&state.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn the_socket_of_a_dead_session_goes_and_that_of_another_server_stays() {
        let place = tempfile::tempdir().expect("a folder");
        let runtime = place.path().join("run");
        std::fs::create_dir(&runtime).expect("room");
        for listens in [false, true] {
            let (folder, lock) = SessionFolder::create(&runtime).expect("made");
            let socket = place.path().join("socket");
            let state = serde_json::json!({
                "id": folder.id(), "volume": "/v", "attachment": "nbd", "socket": socket, "filesystem": null, "pid": 0,
                "pid_started": 0, "opened": 0, "size_bytes": 512, "sector_bytes": 512, "read_only": false,
                "transport": "nbd", "details": null,
            });
            std::fs::write(folder.state(), state.to_string()).expect("room");
            let listener = UnixListener::bind(&socket).expect("a new path");
            let listener = Some(listener).filter(|_| listens);
            drop(lock);
            assert_eq!(clean_stale_in(&runtime, None).expect("cleared").len(), 1);
            assert_eq!((socket.exists(), folder.path().exists()), (listens, false));
            drop(listener);
        }
    }
}
