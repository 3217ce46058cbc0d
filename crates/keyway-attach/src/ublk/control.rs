//! Asks the ublk driver for its devices, their owners and their volumes.

use crate::UblkError;
use keyway_sys::UblkControl;
use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the kernel may need to clean up after a dead server: it looks for requests that nobody answers
/// every 30 seconds (the block layer's default time-out), so one may be twice as old when it is found.
pub(crate) const CLEAN_UP: Duration = Duration::from_secs(90);

/// Whether this kernel has the driver, and this user may use it; or what is missing.
///
/// # Errors
/// [`UblkError::Missing`].
pub fn available() -> Result<(), UblkError> {
    control().map(drop)
}

pub(super) fn control() -> Result<UblkControl, UblkError> {
    UblkControl::open().map_err(|e| {
        UblkError::Missing(match e.kind() {
            io::ErrorKind::NotFound => format!(
                "{} is missing: the kernel has no ublk, or has not loaded it (modprobe ublk_drv)",
                keyway_sys::UBLK_CONTROL
            ),
            io::ErrorKind::Unsupported => {
                "the kernel's driver is too old; Linux 6.5 has what is needed".to_owned()
            }
            io::ErrorKind::PermissionDenied => format!(
                "only root may open {}: users can where udev rules hand it to them (docs/reference/attachments.md has them)",
                keyway_sys::UBLK_CONTROL
            ),
            _ => format!("{}: {e}", keyway_sys::UBLK_CONTROL),
        })
    })
}

/// Whether this user's devices outlive their server.
pub fn outlives_its_server() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whose a device is that was made without root, as user and group: for udev, which asks for `name` ("ublkb0",
/// "ublkc0") when that appears. `None` for root's, and what is none.
pub fn owner(name: &str) -> Option<(u32, u32)> {
    let id = name.strip_prefix("ublkb").or_else(|| name.strip_prefix("ublkc"))?.parse().ok()?;
    let info = control().ok()?.look(id).ok()?;
    info.unprivileged.then_some(info.owner)
}

pub(super) fn path_of(id: u32) -> PathBuf {
    PathBuf::from(format!("/dev/ublkb{id}"))
}

/// The number of a block device of the driver's.
pub(super) fn number(device: &Path) -> Option<u32> {
    device.file_name()?.to_str()?.strip_prefix("ublkb")?.parse().ok()
}

/// By this the kernel's device is known as the volume's: FNV-1a of its path.
pub(super) fn tag(volume: &Path) -> u64 {
    let bytes = volume.as_os_str().as_encoded_bytes();
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Whether this user may read and write a node.
pub(super) fn is_ours(node: &Path) -> bool {
    accessat(CWD, node, Access::READ_OK | Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_tell_volumes_apart() {
        // FNV-1a's own vectors.
        assert_eq!(tag(Path::new("")), 0xcbf2_9ce4_8422_2325);
        assert_eq!(tag(Path::new("a")), 0xaf63_dc4c_8601_ec8c);
        assert_ne!(tag(Path::new("/dev/sdb1")), tag(Path::new("/dev/sdb2")));
    }
}
