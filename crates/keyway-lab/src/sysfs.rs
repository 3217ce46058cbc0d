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

/// By what a drive is known again, whatever it is called then: model, serial number and bytes, of a partition those of its
/// drive. A file is known by its path.
pub fn drive_identity(path: &Path) -> String {
    let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_device = path.metadata().is_ok_and(|meta| meta.file_type().is_block_device());
    let Some(folder) = is_device.then(|| device_folder(path)).flatten() else {
        return whole.display().to_string();
    };
    let says = |names: &[&str]| names.iter().find_map(|name| text(&folder.join(name)));
    let model = says(&["device/model"]);
    // Who tells none of its own is known by its name.
    let serial = says(&["device/serial", "serial", "device/wwid", "wwid", "loop/backing_file"]);
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let own = serial.or(name).unwrap_or_default();
    [model.unwrap_or_default(), own, says(&["size"]).unwrap_or_default()].join("/")
}
