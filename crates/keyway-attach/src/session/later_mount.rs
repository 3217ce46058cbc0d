//! A file system that was mounted after its volume was opened. The process that serves had given up paths by then: a link in
//! the session's folder says where it is, and the warden unmounts what that names.

use super::folder::SessionFolder;
use super::state::SessionState;
use std::path::{Path, PathBuf};

/// Where the session's device was mounted later, as long as it is.
pub(super) fn place(folder: &SessionFolder, device: &Path) -> Option<PathBuf> {
    let at = std::fs::read_link(folder.later_mount()).ok()?;
    is_mounted(device, &at).then_some(at)
}

/// Whether the device is mounted there.
pub(super) fn is_mounted(device: &Path, at: &Path) -> bool {
    let mounted = keyway_sys::mounts().unwrap_or_default();
    mounted.iter().any(|mount| mount.at == at && mount.source == device)
}

/// The state with that.
pub(super) fn with_it(folder: &SessionFolder, mut state: SessionState) -> SessionState {
    // A conversion goes on when its volume is unmounted, and then its process has no paths to write that down by.
    let left = |device: &PathBuf| state.mountpoint.as_ref().is_some_and(|at| !is_mounted(device, at));
    if state.is_converting() && state.device.as_ref().is_some_and(left) {
        state.mountpoint = None;
    }
    if let (None, Some(device)) = (&state.mountpoint, &state.device) {
        state.mountpoint = place(folder, device);
    }
    state
}
