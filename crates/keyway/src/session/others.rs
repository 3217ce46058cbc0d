//! Volumes that other users have open. Their sessions are nobody else's to look at; that they hold a file anybody sees.

use keyway_sys::write_locked_by;
use rustix::process::geteuid;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::fs::{metadata, read, read_to_string};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What a process of ours calls itself.
const NAME: &[u8] = b"keyway";
const ROOT: u32 = 0;

/// Another user's process that has a volume.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct OtherUser {
    /// The user's number.
    pub user: u32,
    /// The process's.
    pub pid: u32,
}

impl fmt::Display for OtherUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.user {
            ROOT => f.write_str("root"),
            user => write!(f, "user {user}"),
        }
    }
}

impl OtherUser {
    /// Whoever else has the volume at `path` for writing, where that is a process of ours.
    pub fn having(path: &Path) -> Option<Self> {
        Self::of(write_locked_by(path)?.pid)
    }

    /// Root's processes, as another user sees them.
    pub fn root() -> Vec<Self> {
        let locks = read_to_string("/proc/locks").unwrap_or_default();
        // proc(5): "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF"
        let pids = locks.lines().filter_map(|line| {
            let mut words = line.split_ascii_whitespace().skip(1);
            let (kind, _, _, pid) = (words.next()?, words.next()?, words.next()?, words.next()?);
            pid.parse().ok().filter(|_| kind == "FLOCK")
        });
        let all: BTreeSet<Self> = pids.filter_map(Self::of).filter(|other| other.user == ROOT).collect();
        all.into_iter().collect()
    }

    fn of(pid: u32) -> Option<Self> {
        let user = metadata(format!("/proc/{pid}")).ok()?.uid();
        let line = read(format!("/proc/{pid}/cmdline")).ok()?;
        let program = line.split(|byte| *byte == 0).next()?;
        let is_ours = program.rsplit(|byte| *byte == b'/').next() == Some(NAME);
        (is_ours && user != geteuid().as_raw()).then_some(Self { user, pid })
    }
}
