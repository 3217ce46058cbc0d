//! Sessions of this user's in another runtime folder than this process's: a desktop's, which `cron` knows nothing of.

use super::folder::{RUNTIME_VARIABLE, SessionFolder, alone, existing_runtime_folder, is_session_id};
use super::found::FoundSession;
use super::later_mount;
use super::name::Name;
use super::state::SessionState;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What stands before a socket's path.
const COLUMNS: usize = 7;

/// A session of this user's with another runtime folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionElsewhere {
    /// The runtime folder.
    #[serde(with = "crate::path_text")]
    pub folder: PathBuf,
    /// The volume.
    #[serde(with = "crate::path_text")]
    pub volume: PathBuf,
    /// The process that serves it.
    pub pid: u32,
}

impl SessionElsewhere {
    fn of(session: FoundSession) -> Option<Self> {
        let folder = session.folder.path().parent()?.to_owned();
        Some(Self { folder, volume: session.state.volume, pid: session.state.pid })
    }

    /// All of them. None for whoever has named a runtime folder: those sets of sessions know nothing of each other.
    pub fn all() -> Vec<Self> {
        if std::env::var_os(RUNTIME_VARIABLE).is_some() {
            return Vec::new();
        }
        found_elsewhere().into_iter().filter_map(Self::of).collect()
    }

    /// The one that `what` names, as [`find`](super::find) takes it.
    pub fn find(what: &Path) -> Option<Self> {
        Name::pick(what, found_elsewhere()).into_iter().find_map(Self::of)
    }

    /// Whether some process has a session whose folder was taken away: its socket is there, and no path leads to it. Which of the
    /// processes that is, and of what, nobody but that one can tell.
    pub fn is_any_lost() -> bool {
        let sockets = std::fs::read("/proc/net/unix").unwrap_or_default();
        let sockets = String::from_utf8_lossy(&sockets);
        controls(&sockets).any(|session| !session.join("control").exists())
    }

    /// That of a process.
    pub fn served_by(pid: u32) -> Option<Self> {
        found_elsewhere().into_iter().filter(|session| session.state.pid == pid).find_map(Self::of)
    }
}

/// Those that are alive.
fn found_elsewhere() -> Vec<FoundSession> {
    let sockets = std::fs::read("/proc/net/unix").unwrap_or_default();
    let sockets = String::from_utf8_lossy(&sockets);
    let own = existing_runtime_folder().ok().flatten().and_then(|own| own.canonicalize().ok());
    let found = |session: &Path| {
        // Somebody else's socket may have any name.
        let runtime = alone(session.parent()?.to_owned()).ok()?;
        let folder = SessionFolder::new(session.to_owned());
        let state = later_mount::with_it(&folder, SessionState::read(&folder.state())?);
        let alive = runtime.canonicalize().ok() != own && folder.is_alive(Some(state.pid));
        alive.then_some(FoundSession { folder, state, alive })
    };
    controls(&sockets).filter_map(found).collect()
}

/// The folders of sessions whose sockets are in a table such as `/proc/net/unix`: after [`COLUMNS`], the socket's path
/// (unix(7)).
fn controls(table: &str) -> impl Iterator<Item = &Path> {
    fn past_column(rest: &str) -> Option<&str> {
        rest.trim_start().split_once(' ').map(|(_, rest)| rest)
    }
    let path = |line| (0..COLUMNS).try_fold(line, |rest, _| past_column(rest));
    let paths = table.lines().skip(1).filter_map(path).map(Path::new);
    let controls = paths.filter(|path| path.is_absolute() && path.ends_with("control"));
    controls
        .filter_map(Path::parent)
        .filter(|session| session.file_name().is_some_and(|name| name.to_str().is_some_and(is_session_id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_found_by_their_sockets() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                     ffff8: 00000002 00000000 00010000 0001 01 22079 /run/user/7/keyway/b6374039/control\n\
                     ffff9: 00000003 00000000 00000000 0001 03 22080\n\
                     ffffa: 00000002 00000000 00010000 0001 01     1 /home/a b/keyway/0123abcd/control\n\
                     ffffb: 00000002 00000000 00010000 0001 01 22081 @/run/keyway/b6374039/control\n\
                     ffffc: 00000002 00000000 00010000 0001 01 22082 /run/keyway/b6374039/nbd\n\
                     ffffd: 00000002 00000000 00010000 0001 01 22083 /run/other/control\n";
        let found: Vec<_> = controls(table).collect();
        assert_eq!(found, [Path::new("/run/user/7/keyway/b6374039"), Path::new("/home/a b/keyway/0123abcd")]);
    }
}
