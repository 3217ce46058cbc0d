//! What the kernel says of this machine's drives in files.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A file of sysfs or proc, where there is one that says anything.
pub(crate) fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The folder in sysfs of the drive under a path.
pub(crate) fn device_folder(path: &Path) -> Option<PathBuf> {
    let meta = path.metadata().ok()?;
    let device = if meta.file_type().is_block_device() { meta.rdev() } else { meta.dev() };
    let folder = format!("/sys/dev/block/{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let folder = fs::canonicalize(folder).ok()?;
    // A partition's folder lies inside the drive's.
    if folder.join("partition").exists() { folder.parent().map(Path::to_owned) } else { Some(folder) }
}
