//! Which process has locked a file: `/proc/locks` (proc(5)).

use rustix::fs::{major, makedev, minor};
use std::fs::{Metadata, read, read_to_string};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A longer name is cut.
const LONGEST: usize = 32;

/// A process that holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// Its number.
    pub pid: u32,
    /// The name that it was started by, in letters that any terminal may be shown.
    pub name: String,
    /// Its user.
    pub user: u32,
}

/// Who holds an exclusive flock(2) on the file or device at `path`, as far as this process may see.
pub fn write_locked_by(path: &Path) -> Option<LockHolder> {
    let meta = path.metadata().ok()?;
    let pid = pid_in(&read_to_string("/proc/locks").ok()?, &meta)?;
    let name = name_of(pid);
    let user = Path::new("/proc").join(pid.to_string()).metadata().map_or(u32::MAX, |meta| meta.uid());
    Some(LockHolder { pid, name, user })
}

/// The files and devices that processes with such a name have locked with an exclusive flock(2).
pub fn write_locked_under(name: &str) -> Vec<(u64, u64)> {
    let locks = read_to_string("/proc/locks").unwrap_or_default();
    let held = locks.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", pid, at, ..] = words.as_slice() else { return None };
        let mut at = at.split(':');
        let mut hex = || u32::from_str_radix(at.next()?, 16).ok();
        let device = makedev(hex()?, hex()?);
        Some((pid.parse().ok()?, (device, at.next()?.parse().ok()?)))
    });
    held.filter(|(pid, _)| name_of(*pid) == name).map(|(_, file)| file).collect()
}

/// By its first argument: a program that starts itself anew is "exe" to the kernel.
fn name_of(pid: u32) -> String {
    let line = read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let first = line.split(|b| *b == 0).next().unwrap_or_default();
    let name = first.rsplit(|b| *b == b'/').next().unwrap_or_default();
    let shown = name.iter().filter(|b| b.is_ascii_graphic()).take(LONGEST);
    let name: String = shown.map(|b| char::from(*b)).collect();
    if name.is_empty() { "a process".to_owned() } else { name }
}

/// "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF"; a line of one who waits has an arrow.
fn pid_in(text: &str, meta: &Metadata) -> Option<u32> {
    let device = meta.dev();
    let place = format!("{:02x}:{:02x}:{}", major(device), minor(device), meta.ino());
    text.lines().find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            [_, "FLOCK", _, "WRITE", pid, at, ..] if *at == place => pid.parse().ok().filter(|pid| *pid > 0),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FlockOperation, flock};
    use std::fs::File;

    #[test]
    fn the_holder_of_a_lock_is_named() {
        let path = std::env::temp_dir().join(format!("keyway-locks-{}", std::process::id()));
        let file = File::create(&path).expect("made");
        assert_eq!(write_locked_by(&path), None);
        flock(&file, FlockOperation::LockShared).expect("locked");
        assert_eq!(write_locked_by(&path), None);
        flock(&file, FlockOperation::LockExclusive).expect("locked");
        let holder = write_locked_by(&path);
        let meta = path.metadata().expect("there");
        let ours = write_locked_under(&name_of(std::process::id()));
        assert!(ours.contains(&(meta.dev(), meta.ino())), "{ours:?}");
        std::fs::remove_file(&path).expect("removed");
        let holder = holder.expect("it is locked");
        assert_eq!((holder.pid, holder.user), (std::process::id(), rustix::process::geteuid().as_raw()));
        assert!(!holder.name.is_empty());
    }
}
