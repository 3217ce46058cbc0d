//! Who keeps an open volume from being closed, as another process than the one that serves it sees that. Nothing is taken down.

use super::{process::Process, state::SessionState};
use crate::{AttachError, User, loopdev, mount};
use keyway_sys::Use;
use std::path::{Path, PathBuf};

/// Refuses what [`close`](super::close) would refuse: somebody uses what it is mounted on, its device or its file. Processes that
/// serve volumes, by their numbers, don't count: those that lie in this one are closed before it.
///
/// # Errors
/// [`AttachError::Busy`] or [`AttachError::MountedThere`].
pub fn must_be_idle(state: &SessionState, serving: &[u32]) -> Result<(), AttachError> {
    let leader = |pid: u32| Process::look(pid).map(|process| process.leader);
    let serves = |pid: u32| pid == state.pid || serving.contains(&pid);
    // Beside each there is one that takes down what it was told of.
    let others = |users: Vec<User>| -> Vec<User> {
        users.into_iter().filter(|user| !serves(user.pid) && !leader(user.pid).is_some_and(serves)).collect()
    };
    let refuse = |path: &Path, users: Vec<User>| match others(users) {
        users if users.is_empty() => Ok(()),
        users => Err(AttachError::busy(path, users)),
    };
    refuse_further_mounts(state)?;
    if let Some(at) = &state.mountpoint {
        refuse(at, User::of_mount(at))?;
    }
    // One that is on something else by now is somebody else's.
    let below = state.cache.as_ref().or(state.file.as_ref());
    let is_ours = |device: &&PathBuf| below.is_none_or(|below| loopdev::is_on(device, below));
    if let Some(device) = state.device.as_ref().filter(is_ours) {
        let uses = keyway_sys::uses(device).unwrap_or_default();
        // That one goes first.
        let own = |used: &Use| matches!(used, Use::Mounted(at) if Some(at) == state.mountpoint.as_ref());
        if let Some(first) = uses.iter().find(|used| !own(used) && !matches!(used, Use::Loop(_))) {
            let users = others(User::of_path(device));
            return Err(AttachError::busy_so(device, first, users));
        }
        refuse(device, User::of_path(device))?;
        refuse(device, User::of_device_elsewhere(device))?;
    }
    match state.file.as_ref().and_then(|file| Some((file, file.parent()?))) {
        Some((file, at)) if state.mountpoint.is_none() => refuse(file, User::of_mount(at)),
        _ => Ok(()),
    }
}

/// Says which other mount is in the way of unmounting what is in the volume.
///
/// # Errors
/// [`AttachError::MountedThere`].
pub(super) fn refuse_further_mounts(state: &SessionState) -> Result<(), AttachError> {
    match (&state.mountpoint, &state.device) {
        (Some(at), Some(device)) => mount::refuse_further_mounts(at, device),
        _ => Ok(()),
    }
}
