//! Sessions as they are found in the runtime folder, of processes that live or do not.

use super::folder::{SessionFolder, session_folders};
use super::later_mount;
use super::state::SessionState;
use std::path::Path;

/// A session, of a process that lives or does not.
pub(super) struct FoundSession {
    pub(super) folder: SessionFolder,
    pub(super) state: SessionState,
    pub(super) alive: bool,
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
