//! Which drive a partition's device belongs to, and where on it the partition begins.
//!
//! From sysfs (`Documentation/ABI/stable/sysfs-block` in the kernel): a partition's folder has the
//! files `partition` and `start` and lies in its drive's folder, whose `uevent` names the device.

use rustix::fs::{FileType, major, minor};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The unit of sysfs's `start`, in bytes, whatever the drive's sectors are.
const UNIT: u64 = 512;

/// A partition as the kernel sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The drive's device.
    pub drive: PathBuf,
    /// The partition's first byte on the drive.
    pub start: u64,
}

/// The drive and place of the partition whose device is at `path`; `None` for a file, a whole
/// drive, or a device that only looks like a partition (device-mapper).
///
/// # Errors
/// Nothing is there, or sysfs is not mounted or says something else than the kernel documents.
pub fn partition_of(path: &Path) -> io::Result<Option<Partition>> {
    let meta = path.metadata()?;
    if FileType::from_raw_mode(meta.mode()) != FileType::BlockDevice {
        return Ok(None);
    }
    let (major, minor) = (major(meta.rdev()), minor(meta.rdev()));
    let folder = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"))?;
    if !folder.join("partition").exists() {
        return Ok(None);
    }
    let odd = || io::Error::new(io::ErrorKind::InvalidData, format!("{} is odd", folder.display()));
    let start = fs::read_to_string(folder.join("start"))?;
    let start = start.trim().parse::<u64>().ok().and_then(|units| units.checked_mul(UNIT));
    let uevent = fs::read_to_string(folder.parent().ok_or_else(odd)?.join("uevent"))?;
    let name = uevent.lines().find_map(|line| line.strip_prefix("DEVNAME=")).ok_or_else(odd)?;
    Ok(Some(Partition { drive: Path::new("/dev").join(name), start: start.ok_or_else(odd)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_partition() {
        assert_eq!(partition_of(&std::env::current_exe().expect("it runs")).expect("readable"), None);
        assert!(partition_of(Path::new("/nothing/here")).is_err());
    }
}
