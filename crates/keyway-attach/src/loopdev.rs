//! Loop devices: the decrypted volume as a block device, for root.
//!
//! Direct I/O from the loop device to our file: every page lies once in the page cache, above the
//! loop device, and a flush of it comes through to us. [`cache`] is for who wants pages of a loop device cached
//! for those, too, who ask past its page cache.

use crate::retry::{retry, wait_until};
use crate::{AttachError, User};
use rustix::fs::{Advice, OFlags, fadvise};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long others (udev looks at every device that changes) may keep a device after it was
/// detached.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// How long a program that only looks at a device (udev, blkid, a list of loop devices) has it open
/// at most: whoever has it longer uses it.
pub(crate) const GLANCE: Duration = Duration::from_secs(1);

/// How often it is looked again.
pub(crate) const LOOK: Duration = Duration::from_millis(10);

/// Puts a free loop device with sectors of `sector_bytes` on the file at `backing`.
pub fn attach(backing: &Path, sector_bytes: u32, read_only: bool) -> Result<PathBuf, AttachError> {
    attach_open(&open(backing, read_only)?, backing, sector_bytes, read_only)
}

/// As [`attach`], on a device that offers discards, where there are such. A loop device whose file once refused a discard
/// offers none for ever, whatever it is on next: such ones are held until another one is found. A new one that offers none
/// ends the search: this kernel's do not.
pub(crate) fn attach_for_discards(
    backing: &Path,
    sector_bytes: u32,
    read_only: bool,
) -> Result<PathBuf, AttachError> {
    let (old, mut spent) = (all(), Vec::new());
    let found = loop {
        let device = match attach(backing, sector_bytes, read_only) {
            Ok(device) => device,
            Err(e) => break Err(e),
        };
        if !old.contains(&device) || queue_limit(&device, "discard_max_bytes") != Some(0) {
            break Ok(device);
        }
        spent.push(device);
    };
    if let Err(e) = spent.iter().try_for_each(|device| abandon(device)) {
        if let Ok(device) = &found {
            let _ = abandon(device);
        }
        return Err(e);
    }
    found
}

/// A number that the kernel tells of the block device's queue.
fn queue_limit(device: &Path, name: &str) -> Option<u64> {
    let path = Path::new("/sys/block").join(device.file_name()?).join("queue").join(name);
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn open(backing: &Path, read_only: bool) -> Result<File, AttachError> {
    OpenOptions::new()
        .read(true)
        .write(!read_only)
        .open(backing)
        .map_err(|e| AttachError::io(putting(backing), e))
}

fn attach_open(
    file: &File,
    backing: &Path,
    sector_bytes: u32,
    read_only: bool,
) -> Result<PathBuf, AttachError> {
    keyway_sys::loop_attach(file, sector_bytes, read_only).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => {
            AttachError::Missing { what: "/dev/loop-control".into(), advice: keyway_error::Advice::LoadLoop }
        }
        _ => AttachError::io(putting(backing), e),
    })
}

fn putting(backing: &Path) -> String {
    format!("put a loop device on {}", backing.display())
}

/// Puts a second loop device on the loop device `below`, through whose page cache it reads and writes. A flush of it
/// writes that out, and flushes the one below. It passes no discards on.
///
/// The page cache of the FUSE file would do without a second device; but Linux 6.18 keeps it in pages of 4 KiB, which
/// take more time than the bytes in them.
pub(crate) fn cache(below: &Path, sector_bytes: u32, read_only: bool) -> Result<PathBuf, AttachError> {
    let file = open_alone(below, read_only).map_err(|e| AttachError::io(putting(below), e))?;
    // Twice the read-ahead, for this opening alone: what is not cached makes a longer way than a plain file's bytes.
    // Without it, it is as it was.
    let _ = fadvise(&file, 0, None, Advice::Sequential);
    let above = attach_open(&file, below, sector_bytes, read_only)?;
    let through = File::open(&above).and_then(|open| keyway_sys::loop_set_direct(&open, false));
    if let Err(e) = through {
        abandon(&above)?;
        return Err(AttachError::io(format!("let {} go through a page cache", above.display()), e));
    }
    Ok(above)
}

/// Opens a block device as long as nobody else claims it, and keeps everybody from that: what is mounted from it besides,
/// by the identifier that both devices show, would be another view of the same bytes.
fn open_alone(device: &Path, read_only: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(!read_only).custom_flags(OFlags::EXCL.bits().cast_signed());
    // `blkid` claims a new device for a moment.
    retry(GLANCE, LOOK, is_busy, || options.open(device))
}

fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ResourceBusy
}

/// Has the device learn that its file can't zero ranges: it is told to zero its first sector, while the
/// file refuses that and takes no notice of zeros that are written instead. From then on only discards make
/// holes in the file; before, zeroing would as well. Says whether the device has learned it and has
/// discards to offer (Linux 6.10 and later).
///
/// Nobody else has the device yet, and nobody gets it in the meantime.
pub(crate) fn forgo_zeroing(device: &Path, sector_bytes: u32) -> bool {
    // `blkid` claims a new device for a moment, on a busy machine a long one; nobody uses it yet.
    let Ok(open) = retry(PATIENCE, LOOK, |_| true, || keyway_sys::claim_device(device)) else { return false };
    let asked = keyway_sys::zero_blocks(&open, 0, u64::from(sector_bytes));
    let limit = |name| queue_limit(device, name);
    let (zeroing, discards) = (limit("write_zeroes_max_bytes"), limit("discard_max_bytes"));
    asked.is_ok() && zeroing == Some(0) && discards.is_some_and(|bytes| bytes > 0)
}

/// The file that the loop device is on, as the kernel tells it; `None` when it is on nothing.
pub fn backing_file(device: &Path) -> Option<PathBuf> {
    let path = Path::new("/sys/block").join(device.file_name()?).join("loop/backing_file");
    let mut name = std::fs::read(path).ok()?;
    name.pop_if(|last| *last == b'\n');
    Some(PathBuf::from(std::ffi::OsString::from_vec(name)))
}

/// The loop devices that are on the file at `backing`, which need not answer any more.
pub(crate) fn devices_on(backing: &Path) -> Vec<PathBuf> {
    let mut devices = all();
    devices.retain(|device| backing_file(device).is_some_and(|file| file == backing));
    devices
}

/// The machine's block devices, loop devices that are on nothing among them.
fn all() -> Vec<PathBuf> {
    let names = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    names.map(|entry| Path::new("/dev").join(entry.file_name())).collect()
}

/// Whether the device is on that file, as far as the end of a path tells it: the rest depends on who looks. The
/// folder of each session has a name that no other has.
pub(crate) fn is_on(device: &Path, backing: &Path) -> bool {
    let end = |path: &Path| path.iter().rev().take(3).map(ToOwned::to_owned).collect::<Vec<_>>();
    backing_file(device).is_some_and(|file| end(&file) == end(backing))
}

/// Writes out what the page cache holds for the device and takes it off the file at `backing`. Fails with
/// [`AttachError::Busy`], and changes nothing, while it is mounted or open. What can't be written
/// out is told, with the device taken off all the same: the kernel does not try a second time. A device that is on something else
/// by now is somebody else's, and left alone.
pub fn detach(device: &Path, backing: &Path) -> Result<(), AttachError> {
    let doing = || format!("detach {}", device.display());
    if !is_on(device, backing) {
        return Ok(());
    }
    refuse_while_used(device)?;
    let open = match open_alone(device, true) {
        Ok(open) => open,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        // Taken off now, it would vanish whenever whoever has mounted it lets go, unnoticed by us.
        Err(e) if is_busy(&e) => {
            let how = "mounted in another view of the mounts, as a container has";
            return Err(AttachError::busy_so(device, how, User::of_device_elsewhere(device)));
        }
        Err(e) => return Err(AttachError::io(doing(), e)),
    };
    // As long as this has it open it stays on what it is on.
    if !is_on(device, backing) {
        return Ok(());
    }
    let flushed = open.sync_all().map_err(|e| AttachError::io(format!("flush {}", device.display()), e));
    release(device, open)?;
    flushed
}

/// [`AttachError::Busy`] while the device is mounted or open.
pub(crate) fn refuse_while_used(device: &Path) -> Result<(), AttachError> {
    let uses = keyway_sys::uses(device).unwrap_or_default();
    if let Some(first) = uses.first() {
        let users = User::of_path(device);
        return Err(AttachError::busy_so(device, first, users));
    }
    refuse_while_open(device)
}

/// [`AttachError::Busy`] while a process has the device open; what the kernel put on top of it does not count.
pub(crate) fn refuse_while_open(device: &Path) -> Result<(), AttachError> {
    let free = || match User::of_path(device) {
        users if users.is_empty() => Ok(()),
        users => Err(users),
    };
    let busy = |users| AttachError::busy(device, users);
    // Who only looks at it has it no longer.
    retry(GLANCE, Duration::from_millis(20), |_| true, free).map_err(busy)
}

/// As [`detach`], for a device whose file is dead: nothing is flushed and nobody is asked.
pub(crate) fn abandon(device: &Path) -> Result<(), AttachError> {
    match File::open(device) {
        Ok(open) => release(device, open),
        Err(_) => Ok(()),
    }
}

fn release(device: &Path, open: File) -> Result<(), AttachError> {
    keyway_sys::loop_detach(&open).map_err(|e| AttachError::io(format!("detach {}", device.display()), e))?;
    // Newer kernels do it when the last descriptor is closed, and ours may be that one.
    drop(open);
    wait_until_detached(device)
}

/// Waits until the kernel has let go of the device's file.
fn wait_until_detached(device: &Path) -> Result<(), AttachError> {
    if wait_until(PATIENCE, LOOK, || backing_file(device).is_none()) {
        return Ok(());
    }
    Err(AttachError::busy(device, User::of_path(device)))
}
