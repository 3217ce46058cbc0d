//! Which processes keep a file system or a device busy, as far as `/proc` lets us see.

use crate::User;
use keyway_sys::MountTable;
use rustix::fs::{major, minor};
use std::fs::{File, read_dir, read_link, read_to_string};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How many are named; more would not help anybody.
const MOST: usize = 8;

impl User {
    /// Processes with an open file, a working folder or a root below the mount point `at`.
    pub(crate) fn of_mount(at: &Path) -> Vec<Self> {
        Self::with_link(|target| target.starts_with(at))
    }

    /// Processes that have the device or file at `path` open.
    pub(crate) fn of_path(path: &Path) -> Vec<Self> {
        Self::with_link(|target| target == path)
    }

    /// Whoever holds a lock (`flock`) on that file (proc_locks(5)).
    pub(crate) fn of_lock(file: &File) -> Vec<Self> {
        let Ok(inode) = file.metadata().map(|meta| meta.ino().to_string()) else { return Vec::new() };
        let locks = read_to_string("/proc/locks").unwrap_or_default();
        let held = locks.lines().filter_map(|line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            // Those who wait for it have an arrow in front.
            let [_, "FLOCK", _, _, pid, place, ..] = fields.as_slice() else { return None };
            let (_, number) = place.rsplit_once(':')?;
            (number == inode).then(|| pid.parse::<u32>().ok()).flatten()
        });
        held.take(MOST).map(Self::named).collect()
    }

    /// Processes with a view of the mounts of their own, in which a device is mounted: one for each view.
    pub(crate) fn of_device_elsewhere(device: &Path) -> Vec<Self> {
        let view = |pid: u32| read_link(format!("/proc/{pid}/ns/mnt")).ok();
        let Ok(number) = device.metadata().map(|meta| (major(meta.rdev()), minor(meta.rdev()))) else {
            return Vec::new();
        };
        let mut seen = vec![view(std::process::id())];
        let mut mounts_it = |pid: &u32| {
            let its = view(*pid);
            if its.is_none() || seen.contains(&its) {
                return false;
            }
            seen.push(its);
            let mounts = MountTable::of(*pid).and_then(|table| table.mounts()).unwrap_or_default();
            mounts.iter().any(|mount| mount.device == number || mount.source == device)
        };
        pids().filter(|pid| mounts_it(pid)).take(MOST).map(Self::named).collect()
    }

    pub(crate) fn named(pid: u32) -> Self {
        let name = read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        Self { pid, name: name.trim().to_owned() }
    }

    fn with_link(is_wanted: impl Fn(&Path) -> bool) -> Vec<Self> {
        let uses = |pid: &u32| {
            let folder = Path::new("/proc").join(pid.to_string());
            let open = read_dir(folder.join("fd")).into_iter().flatten().flatten().map(|e| e.path());
            open.chain([folder.join("cwd"), folder.join("root")])
                .filter_map(|link| read_link(link).ok())
                .any(|target| is_wanted(&target))
        };
        pids().filter(uses).take(MOST).map(Self::named).collect()
    }
}

/// All processes but this one.
fn pids() -> impl Iterator<Item = u32> {
    let own = std::process::id();
    let names = read_dir("/proc").into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(move |pid| *pid != own)
}
