//! Which whole disks a file, a folder or a device rests on.
//!
//! From sysfs (`Documentation/ABI/stable/sysfs-block` in the kernel): a partition lies in its disk's folder, what is
//! made of other devices names them under `slaves`, a loop device names its file. A drive's controller, which security
//! commands are sent to as well, names its namespaces (NVMe) or its block device (SCSI generic).

use crate::mounts::mounts;
use rustix::fs::{FileType, major, minor};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{canonicalize, read, read_to_string};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Devices that stand on one another, at most: a stack that is deeper is not followed.
const DEPTH: u8 = 8;

/// The devices of the whole disks that `path` rests on, in order: of a block device its disk, and those below it; of
/// a controller's device its disks; of anything else those of its file system. None for what rests on no disk
/// (a file system in memory or on a network).
///
/// # Errors
/// Nothing is there, or it can't be looked at.
pub fn disks_under(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = BTreeSet::new();
    follow(path, DEPTH, &mut found)?;
    Ok(found.into_iter().collect())
}

fn follow(path: &Path, depth: u8, found: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    let meta = path.metadata()?;
    match FileType::from_raw_mode(meta.mode()) {
        FileType::BlockDevice => below(meta.rdev(), depth, found),
        FileType::CharacterDevice => {
            for disk in of_controller(meta.rdev()) {
                follow(&disk, depth, found)?;
            }
        }
        // A file system that shows a number of its own (Btrfs) is mounted from a device with a name.
        _ if major(meta.dev()) == 0 => {
            let at = canonicalize(path)?;
            let holding = mounts()?.into_iter().filter(|mount| at.starts_with(&mount.at));
            let holding = holding.max_by_key(|mount| mount.at.components().count());
            if let Some(mount) = holding.filter(|mount| depth > 0 && mount.source.starts_with("/dev")) {
                follow(&mount.source, depth - 1, found)?;
            }
        }
        _ => below(meta.dev(), depth, found),
    }
    Ok(())
}

/// The disk that a block device is or is a part of, and what that is made of.
fn below(device: u64, depth: u8, found: &mut BTreeSet<PathBuf>) {
    let Ok(mut folder) = canonicalize(format!("/sys/dev/block/{}:{}", major(device), minor(device))) else {
        return;
    };
    if folder.join("partition").exists() {
        folder.pop();
    }
    let uevent = read_to_string(folder.join("uevent")).unwrap_or_default();
    let Some(name) = uevent.lines().find_map(|line| line.strip_prefix("DEVNAME=")) else { return };
    if !found.insert(Path::new("/dev").join(name)) || depth == 0 {
        return;
    }
    let mut parts: Vec<PathBuf> =
        names(&folder.join("slaves")).iter().map(|name| Path::new("/dev").join(name)).collect();
    if let Ok(mut file) = read(folder.join("loop/backing_file")) {
        file.pop_if(|last| *last == b'\n');
        parts.push(OsString::from_vec(file).into());
    }
    for part in parts {
        // What is gone or hidden from us is not followed.
        let _ = follow(&part, depth - 1, found);
    }
}

/// The disks behind a controller's own device.
fn of_controller(device: u64) -> Vec<PathBuf> {
    let folder = PathBuf::from(format!("/sys/dev/char/{}:{}", major(device), minor(device)));
    let scsi = names(&folder.join("device/block"));
    let nvme = names(&folder).into_iter().filter_map(|name| namespace(&name));
    scsi.into_iter().chain(nvme).map(|name| Path::new("/dev").join(name)).collect()
}

/// The disk of an NVMe namespace by its name in its controller's folder: `nvme0n1`, or `nvme0c1n1` where the kernel
/// joins several paths to it.
fn namespace(name: &str) -> Option<String> {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (controller, id) = name.strip_prefix("nvme")?.split_once('n')?;
    let subsystem = controller.split_once('c').map_or(controller, |(subsystem, _)| subsystem);
    (number(subsystem) && number(id)).then(|| format!("nvme{subsystem}n{id}"))
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_memory_rests_on_no_disk() {
        assert_eq!(disks_under(Path::new("/proc/self/stat")).expect("Linux"), [] as [PathBuf; 0]);
        assert_eq!(disks_under(Path::new("/dev/null")).expect("Linux"), [] as [PathBuf; 0]);
        assert!(disks_under(Path::new("/nothing/here")).is_err());
    }

    #[test]
    fn namespaces_are_named_by_their_subsystem() {
        assert_eq!(namespace("nvme0n1").as_deref(), Some("nvme0n1"));
        assert_eq!(namespace("nvme2c5n13").as_deref(), Some("nvme2n13"));
        for name in ["nvme0", "ng0n1", "nvmen1", "nvme0n", "nvme0n1p1", "power", "nvme0cxn"] {
            assert_eq!(namespace(name), None, "{name}");
        }
    }
}
