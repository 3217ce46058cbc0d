//! Which processes keep a file system or a device busy, as far as `/proc` lets us see.

use crate::User;
use std::fs::{read_dir, read_link, read_to_string};
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

    fn with_link(is_wanted: impl Fn(&Path) -> bool) -> Vec<Self> {
        let own = std::process::id();
        let pids = read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| *pid != own);
        let uses = |pid: &u32| {
            let folder = Path::new("/proc").join(pid.to_string());
            let open = read_dir(folder.join("fd")).into_iter().flatten().flatten().map(|e| e.path());
            open.chain([folder.join("cwd"), folder.join("root")])
                .filter_map(|link| read_link(link).ok())
                .any(|target| is_wanted(&target))
        };
        pids.filter(uses)
            .take(MOST)
            .map(|pid| {
                let name = read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
                Self { pid, name: name.trim().to_owned() }
            })
            .collect()
    }
}
