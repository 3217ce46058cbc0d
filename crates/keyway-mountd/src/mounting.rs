//! Mounts a loop device on a folder, and takes it down again.

use crate::options::{Driver, flags};
use crate::refusal::{Kind, Refusal};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long others (udev looks at every new device) may keep what is to go.
const GLANCE: Duration = Duration::from_secs(1);
/// How long the kernel may take to let go of a loop device's file.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);

/// Mounts the device on that very folder, whatever its path leads to.
pub(crate) fn mount(device: &Path, on: &OwnedFd, driver: &Driver, read_only: bool) -> Result<(), Refusal> {
    let target = format!("/proc/self/fd/{}", on.as_raw_fd());
    let options = CString::new(driver.options.as_str()).map_err(|e| Kind::Failed.of("write options", e))?;
    match rustix::mount::mount(
        device,
        target.as_str(),
        driver.name,
        flags(read_only),
        Some(options.as_c_str()),
    ) {
        Ok(()) => Ok(()),
        Err(Errno::NODEV) => {
            Err(Kind::NoDriver.says(format!("this kernel has no driver for {}", driver.name)))
        }
        Err(e) => Err(Kind::Failed.of(&format!("mount the {} in it", driver.name), e)),
    }
}

/// Unmounts what that device has on the folder, and removes that. `lazily`: whoever uses it loses it, and what somebody else
/// has mounted over it stays all the same.
///
/// # Errors
/// [`Kind::Busy`], with nothing changed.
pub(crate) fn take_down(folder: &Path, device: &Path, lazily: bool) -> Result<(), Refusal> {
    let more = if lazily { UnmountFlags::DETACH } else { UnmountFlags::empty() };
    let began = Instant::now();
    while is_mounted(folder, device) {
        let over = || keyway_sys::mounted_over(&keyway_sys::mounts().unwrap_or_default(), folder, device);
        if let Some(other) = over().filter(|over| !lazily || over == folder) {
            return Err(Kind::Busy.says(format!("something else is mounted at {}", other.display())));
        }
        match rustix::mount::unmount(folder, UnmountFlags::NOFOLLOW | more) {
            // EINVAL, ENOENT: somebody else has unmounted it.
            Ok(()) | Err(Errno::INVAL | Errno::NOENT) => {}
            Err(Errno::BUSY) if began.elapsed() < GLANCE => std::thread::sleep(LOOK),
            Err(Errno::BUSY) => return Err(Kind::Busy.says(format!("{} is in use", folder.display()))),
            Err(e) => return Err(Kind::Failed.of(&format!("unmount {}", folder.display()), e)),
        }
    }
    if !lazily {
        wait_until_detached(device);
    }
    match std::fs::remove_dir(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(Kind::Failed.of(&format!("remove {}", folder.display()), e))
        }
        _ => Ok(()),
    }
}

/// Whoever is answered wants the device's file back.
pub(crate) fn wait_until_detached(device: &Path) {
    let began = Instant::now();
    while is_attached(device) && began.elapsed() < PATIENCE {
        std::thread::sleep(LOOK);
    }
}

/// Whether the device's file system is on that folder.
fn is_mounted(folder: &Path, device: &Path) -> bool {
    let mounts = keyway_sys::mounts().unwrap_or_default();
    mounts.iter().any(|mount| mount.at == folder && mount.source == device)
}

/// Whether the loop device is on a file.
fn is_attached(device: &Path) -> bool {
    let name = device.file_name().unwrap_or_default();
    Path::new("/sys/block").join(name).join("loop/backing_file").exists()
}
