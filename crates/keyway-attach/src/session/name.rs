//! What somebody calls a session: its id, or the path of its volume, device, file, socket or mount point.

use super::found::FoundSession;
use super::medium::Inode;
use super::state::SessionState;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

/// A file system that hangs is not waited for: then a path is what it looks like.
const PATIENCE: Duration = Duration::from_secs(2);

/// A name, looked up.
pub(super) struct Name {
    given: PathBuf,
    /// From the root on, and without links where it exists.
    real: PathBuf,
    /// What is there.
    inode: Option<Inode>,
}

impl Name {
    /// Those of the sessions that `what` names.
    pub(super) fn pick(what: &Path, mut sessions: Vec<FoundSession>) -> Vec<FoundSession> {
        // Files in a mount whose server hangs must not be looked at to know whose they are.
        if sessions.iter().any(|session| session.state.is_called(what)) {
            sessions.retain(|session| session.state.is_called(what));
        } else if !sessions.is_empty() {
            let name = Self::look_up(what);
            sessions.retain(|session| name.is(session));
        }
        sessions
    }

    /// Those of the sessions that live and were opened by the path `what`, at which another file is by now.
    pub(super) fn pick_replaced(what: &Path, mut sessions: Vec<FoundSession>) -> Vec<FoundSession> {
        sessions.retain(|session| session.alive && session.state.inode.is_some());
        if !sessions.is_empty() {
            let name = Self::look_up(what);
            sessions.retain(|session| name.was_that_of(session));
        }
        sessions
    }

    fn look_up(what: &Path) -> Self {
        let given = what.to_owned();
        let absolute = std::path::absolute(&given).unwrap_or_else(|_| given.clone());
        let (found, looked) = channel();
        let path = absolute.clone();
        // It may never come back from there; then it keeps what it had, and ends with the process.
        let looking = std::thread::Builder::new().spawn(move || {
            let real = path.canonicalize().ok().or_else(|| {
                // What is not there any more may have been below a link.
                Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
            });
            let _ = found.send((real, Inode::at(&path)));
        });
        let (real, inode) = match looking {
            Ok(thread) => match looked.recv_timeout(PATIENCE) {
                // It ends now: no thread outlives the moment at which a process gives up its paths.
                Ok(found) => thread.join().map_or((None, None), |()| found),
                Err(_) => (None, None),
            },
            Err(_) => (None, None),
        };
        Self { given, real: real.unwrap_or(absolute), inode }
    }

    /// Whether this session was opened by it, and is not the file that is there now.
    fn was_that_of(&self, session: &FoundSession) -> bool {
        let SessionState { volume, inode, .. } = &session.state;
        let another = self.inode.zip(inode.as_ref()).is_some_and(|(found, open)| !found.is(open));
        another && (*volume == self.given || *volume == self.real)
    }

    /// Whether it names this session. An open volume is the file that is open, not another one that has its path
    /// now.
    fn is(&self, session: &FoundSession) -> bool {
        let state = &session.state;
        let is = |path: &Path| path == self.given || path == self.real;
        let volume = match (&self.inode, &state.inode) {
            (Some(found), Some(open)) => found.is(open) || (!session.alive && is(&state.volume)),
            _ => is(&state.volume),
        };
        volume
            || state.places().any(|path| is(path))
            || state.socket.as_ref().is_some_and(|socket| is(socket))
    }
}
