//! Volumes that other users have open, or this one with sessions in another folder. Their sessions are nobody else's to look at;
//! that they hold a file anybody sees.

use crate::own_process;
use keyway_attach::loopdev::backing_file;
use keyway_attach::session::{SessionElsewhere, list};
use keyway_error::Advice;
use keyway_store::close_as;
use keyway_sys::{mounts, write_locked_by};
use rustix::process::geteuid;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::fs::{metadata, read, read_to_string};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What a process of ours calls itself.
const NAME: &[u8] = b"keyway";
const ROOT: u32 = 0;

/// A process that has a volume and is none of this user's sessions here: another user's, or one of this user's with its sessions
/// in another folder, or in one that was taken away.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct OtherUser {
    /// The user's number.
    pub user: u32,
    /// The process's; 0 where nobody can tell which of that user's it is.
    pub pid: u32,
    /// It is this user's own, with its sessions in that folder.
    #[serde(skip)]
    pub elsewhere: Option<PathBuf>,
    /// It is this user's own, and the folder of its session was taken away.
    #[serde(skip)]
    pub lost: bool,
}

impl From<SessionElsewhere> for OtherUser {
    fn from(session: SessionElsewhere) -> Self {
        Self { user: geteuid().as_raw(), pid: session.pid, elsewhere: Some(session.folder), lost: false }
    }
}

/// "none of yours; root has it open (process 7)".
impl fmt::Display for OtherUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.user {
            _ if self.elsewhere.is_some() => {
                f.write_str("open, with your sessions in another folder than here")?
            }
            _ if self.lost => f.write_str("open, and the folder of its session was taken away")?,
            ROOT => f.write_str("none of yours; root has it open")?,
            user => write!(f, "none of yours; user {user} has it open")?,
        }
        match self.pid {
            0 => Ok(()),
            pid => write!(f, " (process {pid})"),
        }
    }
}

impl OtherUser {
    /// Whoever else has what is at `path`: a process of ours that has it for writing, or a session of this user's that it names.
    pub fn having(path: &Path) -> Option<Self> {
        let own = SessionElsewhere::find(path).map(Self::from);
        let holds = || {
            write_locked_by(path).and_then(|holder| Self::of(holder.pid).or_else(|| Self::lost(holder.pid)))
        };
        own.or_else(holds).or_else(|| Self::attached_at(path))
    }

    /// Whether it is this user's.
    pub fn is_own(&self) -> bool {
        self.elsewhere.is_some() || self.lost
    }

    /// The process, where it serves a volume of this user's, and its session is one that no command finds any more. One that has
    /// not made its session yet is none of these.
    pub(super) fn lost(pid: u32) -> Option<Self> {
        let user = own_by_name(pid)?;
        let is_found = || list().is_ok_and(|all| all.iter().any(|state| state.pid == pid));
        let is_lost = user == geteuid().as_raw()
            && own_process::serves(pid)
            && SessionElsewhere::is_any_lost()
            && !is_found();
        is_lost.then_some(Self { user, pid, elsewhere: None, lost: true })
    }

    /// Whoever has mounted there, or made the block device: by the folder of its sessions, which the kernel names.
    fn attached_at(path: &Path) -> Option<Self> {
        // Nobody but its user sees more of what FUSE has mounted there.
        let at = path.canonicalize().or_else(|_| std::path::absolute(path)).ok()?;
        let mounted = mounts().ok()?.into_iter().rev().find(|mount| mount.at == at);
        let device = mounted.map_or(at, |mount| mount.source);
        let file = backing_file(&device)?;
        // RUNTIME/SESSION/mnt/volume
        let runtime = file.ancestors().nth(3).filter(|_| file.ends_with("mnt/volume"))?;
        let user = metadata(runtime).ok()?.uid();
        let mut all =
            Self::all().into_iter().filter(|other| other.user == user && user != geteuid().as_raw());
        let (pid, more) = (all.next()?.pid, all.next());
        // Of several of that user's nobody else can tell which.
        Some(Self { user, pid: if more.is_some() { 0 } else { pid }, elsewhere: None, lost: false })
    }

    /// What closes the volume that it has.
    pub(super) fn close(&self, path: &Path) -> Advice {
        let path = path.to_owned();
        match self.elsewhere.clone() {
            Some(folder) => Advice::CloseElsewhere { folder, path },
            None if self.lost => Advice::EndProcess { pid: self.pid },
            None => close_as(self.user, self.pid, path),
        }
    }

    /// Root's processes, as another user sees them.
    pub fn root() -> Vec<Self> {
        Self::all().into_iter().filter(|other| other.user == ROOT && other.elsewhere.is_none()).collect()
    }

    fn all() -> Vec<Self> {
        let locks = read_to_string("/proc/locks").unwrap_or_default();
        // proc(5): "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF"
        let pids = locks.lines().filter_map(|line| {
            let mut words = line.split_ascii_whitespace().skip(1);
            let (kind, _, _, pid) = (words.next()?, words.next()?, words.next()?, words.next()?);
            pid.parse().ok().filter(|_| kind == "FLOCK")
        });
        pids.filter_map(Self::of).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The process, where it is one of ours and none of this user's sessions here.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let user = own_by_name(pid)?;
        let is_own = user == geteuid().as_raw();
        let elsewhere = if is_own { SessionElsewhere::served_by(pid) } else { None };
        let elsewhere = elsewhere.map(|session| session.folder);
        (is_own == elsewhere.is_some()).then_some(Self { user, pid, elsewhere, lost: false })
    }
}

/// The user of a process that is one of ours by its name.
fn own_by_name(pid: u32) -> Option<u32> {
    let user = metadata(format!("/proc/{pid}")).ok()?.uid();
    let line = read(format!("/proc/{pid}/cmdline")).ok()?;
    let program = line.split(|byte| *byte == 0).next()?;
    (program.rsplit(|byte| *byte == b'/').next() == Some(NAME)).then_some(user)
}
