//! Sessions as they are found in the runtime folder, of processes that live or do not.

use super::folder::{SessionFolder, existing_runtime_folder, session_folders};
use super::later_mount;
use super::state::SessionState;
use crate::AttachError;
use std::path::Path;

/// A session, of a process that lives or does not.
pub(super) struct FoundSession {
    pub(super) folder: SessionFolder,
    pub(super) state: SessionState,
    pub(super) alive: bool,
}

/// All sessions of this user.
pub(super) fn found() -> Result<Vec<FoundSession>, AttachError> {
    Ok(existing_runtime_folder()?.map(|runtime| found_in(&runtime)).unwrap_or_default())
}

/// All sessions of that runtime folder.
pub(super) fn found_in(runtime: &Path) -> Vec<FoundSession> {
    let found = |folder: SessionFolder| {
        let state = later_mount::with_it(&folder, SessionState::read(&folder.state())?);
        let alive = folder.is_alive(Some(state.pid));
        Some(FoundSession { folder, state, alive })
    };
    session_folders(runtime).into_iter().filter_map(found).collect()
}
