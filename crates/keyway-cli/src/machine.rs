//! How the drive behind a file writes, and the command that runs.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Whether scattered writes cost the drive that this file or device is on far more than those in a row: it says that it
/// rotates, and can't discard. That is a disk with a head, or a stick on USB; a virtual disk can discard.
pub(crate) fn is_slow_to_scatter(path: &Path) -> bool {
    let Ok(about) = std::fs::metadata(path) else { return false };
    let number = if about.file_type().is_block_device() { about.rdev() } else { about.dev() };
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let device = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    is_slow_queue(&device) || is_slow_queue(&device.join(".."))
}

/// The same of a device's folder in sysfs; a partition has no queue of its own.
fn is_slow_queue(device: &Path) -> bool {
    let says = |name: &str, what: &str| {
        std::fs::read_to_string(device.join("queue").join(name)).is_ok_and(|text| text.trim() == what)
    };
    says("rotational", "1") && says("discard_max_bytes", "0")
}

/// The command as it was given; no secret is ever an argument.
pub(crate) fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("keyway".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_that_rotates_and_can_not_discard_is_slow_to_scatter() {
        let device = tempfile::tempdir().expect("temp");
        let queue = device.path().join("queue");
        std::fs::create_dir(&queue).expect("made");
        for (rotational, discard, slow) in [("1", "0", true), ("1", "2147450880", false), ("0", "0", false)] {
            std::fs::write(queue.join("rotational"), format!("{rotational}\n")).expect("written");
            std::fs::write(queue.join("discard_max_bytes"), format!("{discard}\n")).expect("written");
            assert_eq!(is_slow_queue(device.path()), slow, "{rotational}, {discard}");
        }
        assert!(!is_slow_queue(&queue), "it has no queue");
    }
}
