//! A file system that was mounted after its volume was opened. The process that serves had given up paths by then: a link in
//! the session's folder says where it is, and the warden unmounts what that names.

use super::folder::SessionFolder;
use super::state::SessionState;
use std::path::{Path, PathBuf};

/// Where the session's device was mounted later, as long as it is.
pub(super) fn place(folder: &SessionFolder, device: &Path) -> Option<PathBuf> {
    let at = std::fs::read_link(folder.later_mount()).ok()?;
    let mounted = keyway_sys::mounts().unwrap_or_default();
    mounted.iter().any(|mount| mount.at == at && mount.source == device).then_some(at)
}

/// The state with that.
pub(super) fn with_it(folder: &SessionFolder, mut state: SessionState) -> SessionState {
    if let (None, Some(device)) = (&state.mountpoint, &state.device) {
        state.mountpoint = place(folder, device);
    }
    state
}
