//! Sessions of this user's in another runtime folder than this process's: a desktop's, which `cron` knows nothing of.

use super::folder::{SessionFolder, alone, existing_runtime_folder, is_session_id};
use super::state::SessionState;
use std::path::{Path, PathBuf};

/// What stands before a socket's path.
const COLUMNS: usize = 7;

/// The other runtime folder in which a process has its session, as far as this user may look into it.
pub fn runtime_folder_of(pid: u32) -> Option<PathBuf> {
    let sockets = std::fs::read("/proc/net/unix").unwrap_or_default();
    let sockets = String::from_utf8_lossy(&sockets);
    let own = existing_runtime_folder().ok().flatten().and_then(|own| own.canonicalize().ok());
    let serves = |session: &&Path| {
        let state = SessionState::read(&SessionFolder::new(session.to_path_buf()).state());
        state.is_some_and(|state| state.pid == pid)
    };
    let session = controls(&sockets).find(serves)?;
    // Somebody else's socket may have any name.
    let folder = alone(session.parent()?.to_owned()).ok()?;
    (folder.canonicalize().ok() != own).then_some(folder)
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
