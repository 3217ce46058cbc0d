//! Who keeps the bytes of a file or device from being claimed.

use keyway_error::Advice;
use keyway_sys::{LayerRelation, LockHolder, Use, layers, partitions, uses, views, write_locked_by};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What a virtual drive that is served is called where nobody has named it.
pub const DRIVE_NQN: &str = "nqn.2026-11.keyway:drive";

/// Somebody has the same bytes, by this name or by another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InUse {
    /// What was asked for.
    asked: PathBuf,
    /// The name by which they are had.
    what: PathBuf,
    by: By,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum By {
    Process(LockHolder),
    System(Use),
    /// The kernel says no more than that.
    Somebody,
}

impl InUse {
    /// Looks for whoever has what is at `path`.
    pub fn find(path: &Path) -> Self {
        let layers = layers(path).unwrap_or_default();
        let mut names: Vec<PathBuf> = vec![path.to_owned()];
        names.extend(layers.iter().skip(1).map(|layer| layer.path.clone()));
        names.extend(partitions(path));
        let mut beside = views(&layers);
        beside.extend(beside.clone().iter().flat_map(|view| partitions(view)));
        // Only what was opened by its name is locked so; what is beside that or below it is shared.
        let all = names.iter().chain(&beside);
        let process = all.clone().find_map(|name| Some((name, By::Process(write_locked_by(name)?))));
        let used = || {
            // A partition's neighbours on its disk are none of its business.
            let disk =
                |name: &Path| layers.iter().any(|l| l.reached == LayerRelation::Disk && l.path == name);
            all.clone().filter(|name| !disk(name)).find_map(|name| {
                let uses = uses(name).unwrap_or_default();
                // Loop devices are names themselves, and looked at as such.
                let used = uses.into_iter().find(|one| !matches!(one, Use::Loop(_)))?;
                Some((name, By::System(used)))
            })
        };
        let (what, by) = match process.or_else(used) {
            Some((what, by)) => (what.clone(), by),
            None => (beside.first().cloned().unwrap_or_else(|| path.to_owned()), By::Somebody),
        };
        Self { asked: path.to_owned(), what, by }
    }

    /// Nobody is known who has it.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self.by, By::Somebody)
    }

    /// Used so by the system.
    pub fn by(path: &Path, used: Use) -> Self {
        Self { asked: path.to_owned(), what: path.to_owned(), by: By::System(used) }
    }

    /// The process that has it.
    pub fn process(&self) -> Option<u32> {
        match &self.by {
            By::Process(holder) => Some(holder.pid),
            By::System(_) | By::Somebody => None,
        }
    }

    /// Where it is mounted.
    pub fn mounted_at(&self) -> Option<&Path> {
        match &self.by {
            By::System(Use::Mounted(at)) => Some(at),
            _ => None,
        }
    }

    /// What its owner can do about it.
    pub fn advice(&self) -> Advice {
        let what = self.what.clone();
        match &self.by {
            By::Process(LockHolder { name, pid, user }) if name == "keyway" => match *user {
                own if own == rustix::process::geteuid().as_raw() => match BY.get() {
                    Some(ask) => ask(*pid, &what),
                    None => Advice::CloseVolume { path: what, pid: *pid },
                },
                other => close_as(other, *pid, what),
            },
            By::Process(LockHolder { pid, .. }) => Advice::WaitForProcess { pid: *pid },
            By::System(Use::Mounted(at)) => Advice::UnmountIt { path: at.clone() },
            By::System(Use::Swap) => Advice::SwapOff { path: what },
            By::System(Use::Holder(name)) => Advice::TakeDown { device: name.clone() },
            By::System(Use::Loop(name)) => Advice::DetachLoop { device: name.clone() },
            By::Somebody => Advice::CloseUsersOf { path: what },
        }
    }
}

/// What helps against a process of ours: whoever knows what that does says it.
static BY: OnceLock<fn(u32, &Path) -> Advice> = OnceLock::new();

/// Has this function asked from now on what helps where a process of ours, by its number, has what is at a path; the first one
/// stays. Where there is none, it is to be closed.
pub fn advise_by(ask: fn(u32, &Path) -> Advice) {
    let _ = BY.set(ask);
}

/// What closes a volume that another user's process of ours has: the same verb as that user.
pub fn close_as(user: u32, pid: u32, path: PathBuf) -> Advice {
    // Root finds its own sessions.
    let variables = if user == 0 { String::new() } else { folders_of(pid) };
    Advice::CloseVolumeAs { user: name_of(user), variables, path, pid }
}

/// A user's name, else the number behind `#`, as sudo takes them.
fn name_of(user: u32) -> String {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, number) = (fields.next()?, fields.nth(1)?);
        (number.parse() == Ok(user) && is_plain(name)).then(|| name.to_owned())
    });
    named.unwrap_or_else(|| format!("#{user}"))
}

/// Where that process has its sessions, as variables of its own: another process of that user does not get them by itself. Only
/// root sees them.
fn folders_of(pid: u32) -> String {
    let all = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let all = all.split(|byte| *byte == 0).filter_map(|one| std::str::from_utf8(one).ok());
    let wanted = all.filter(|one| {
        one.split_once('=').is_some_and(|(name, value)| {
            ["KEYWAY_RUNTIME_DIR", "XDG_RUNTIME_DIR"].contains(&name) && is_plain(value)
        })
    });
    wanted.collect::<Vec<_>>().join(" ")
}

/// Nothing in it means anything to a shell.
fn is_plain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    !text.is_empty() && !text.starts_with('-') && text.bytes().all(plain)
}

impl fmt::Display for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.what != self.asked {
            write!(f, "{} holds the same bytes, and ", self.what.display())?;
        }
        match &self.by {
            By::Process(LockHolder { pid, name, user }) => {
                write!(f, "{name} (process {pid}")?;
                if *user != rustix::process::geteuid().as_raw() {
                    write!(f, ", user {user}")?;
                }
                f.write_str(") has it open")
            }
            By::System(used) => write!(f, "{used}"),
            By::Somebody => f.write_str("another program has it open"),
        }
    }
}

impl std::error::Error for InUse {}
