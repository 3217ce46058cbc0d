//! Mounting the file system inside a volume, for root.

use crate::{AttachError, User};
use keyway_fs::Superblock;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Options of every mount: what lies in a volume gets no rights on this machine.
const OPTIONS: &str = "nosuid,nodev";

/// Mounts what is on the block device at the folder `at` and returns the file system's type.
/// `filesystem` is a type as `mount -t` takes it; it is found out when `None`.
pub fn mount(
    device: &Path,
    at: &Path,
    filesystem: Option<&str>,
    read_only: bool,
) -> Result<String, AttachError> {
    let found = match filesystem {
        Some(name) => Some(name.to_owned()),
        None => {
            let doing = || format!("look for a file system on {}", device.display());
            let file = File::open(device).map_err(|e| AttachError::io(doing(), e))?;
            let found = Superblock::on(&file).map_err(|e| AttachError::io(doing(), e))?;
            found.map(|found| found.kind.mount_type().to_owned())
        }
    };
    let fail = |source: io::Error| AttachError::Mount {
        found: found.clone().unwrap_or_else(|| "no file system we know".into()),
        at: at.to_owned(),
        source,
    };
    let Some(name) = &found else {
        return Err(fail(io::Error::other("make one on the device first, or open without a mount point")));
    };
    let mut flags = MountFlags::NOSUID | MountFlags::NODEV;
    if read_only {
        flags |= MountFlags::RDONLY;
    }
    // NTFS has two drivers in the kernel's history; the newer one first.
    let names: &[&str] = if name == "ntfs" { &["ntfs3", "ntfs"] } else { &[name] };
    for name in names {
        match rustix::mount::mount(device, at, *name, flags, None) {
            Ok(()) => return Ok((*name).to_owned()),
            Err(Errno::NODEV) => {}
            Err(e) => return Err(fail(e.into())),
        }
    }
    // The kernel has no such file system; mount(8) knows helpers for some (ntfs-3g, exfat-fuse).
    by_program(device, at, name, read_only).map_err(fail)?;
    Ok(name.clone())
}

fn by_program(device: &Path, at: &Path, name: &str, read_only: bool) -> io::Result<()> {
    let mode = if read_only { "ro" } else { "rw" };
    let done = Command::new("mount")
        .args(["-t", name, "-o", &format!("{OPTIONS},{mode}"), "--"])
        .args([device, at])
        .stdin(Stdio::null())
        .output()?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let hint = match name {
        "ntfs" => "; the kernel has no ntfs3 module here, and the package ntfs-3g is not installed",
        "exfat" => "; the kernel has no exfat module here, and the package exfat-fuse is not installed",
        _ => "",
    };
    Err(io::Error::other(format!("{}{hint}", said.trim())))
}

/// Unmounts what is mounted at `at`, writing everything out. Fails with [`AttachError::Busy`], and
/// changes nothing, while somebody uses it.
pub fn unmount(at: &Path) -> Result<(), AttachError> {
    match rustix::mount::unmount(at, UnmountFlags::NOFOLLOW) {
        // EINVAL: nothing is mounted there any more.
        Ok(()) | Err(Errno::INVAL | Errno::NOENT) => Ok(()),
        Err(Errno::BUSY) => {
            Err(AttachError::Busy { what: at.display().to_string(), users: User::of_mount(at) })
        }
        Err(e) => Err(AttachError::io(format!("unmount {}", at.display()), e)),
    }
}

/// Takes every mount of the device away, in use or not: its medium is gone.
pub(crate) fn abandon(device: &Path) {
    for mount in keyway_sys::mounts().unwrap_or_default().iter().rev() {
        if mount.source == device {
            // What can't be unmounted lazily can't be helped; the device's detaching reports it.
            let _ = rustix::mount::unmount(&mount.at, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
        }
    }
}
