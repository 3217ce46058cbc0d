//! One writer at a time: what is opened for writing is claimed for as long as it is open.
//!
//! A file or device is locked with flock(2), which every Keyway process respects, and udev on
//! devices (systemd's `BLOCK_DEVICE_LOCKING`). A device is also claimed from the kernel, which then
//! won't mount it, swap to it or build on it, and says no where it already does.
//!
//! The same bytes may have other names ([`Elsewhere`]). Only the file or device that was named is locked for oneself
//! alone; below it and beside it the lock is a shared one. So whoever comes by one name meets whoever came by another,
//! in either order, and neighbours on one disk don't meet at all.

use crate::in_use::InUse;
use crate::mode::OpenMode;
use crate::own_locks;
use keyway_sys::{Layer, LayerRelation, Node, claim_device, is_write_protected, layers, uses, views};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use std::fs::{File, FileType, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// udev locks and `blkid` claims a device for a moment whenever it changes, a child that was just forked
/// holds a copy of our claim until it becomes another program, and the system keeps that of a killed process
/// until its last transfers are over: a second of patience.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(40);
/// udev has something to do as long as this is there (`udevadm settle` waits for it to go),
const UDEV_AT_WORK: &str = "/run/udev/queue";
/// and on a machine that starts that takes longer: so long it is waited for, where nobody else is known to be in the way.
const AT_WORK: Duration = Duration::from_secs(30);
/// Two that stand in each other's way don't try again at the same time.
const APART: Duration = Duration::from_millis(20);

/// A file that is claimed.
pub(crate) struct Claimed {
    pub(crate) file: File,
    /// Whether the lock could be had.
    pub(crate) locked: bool,
    pub(crate) elsewhere: Elsewhere,
}

/// Opens and claims what is known by that name. A file system without locks is no reason to refuse the file.
pub(crate) fn open(
    path: &Path,
    name: &Path,
    options: &OpenOptions,
    block_device: bool,
) -> io::Result<Claimed> {
    patiently(name, || {
        let file = if block_device { writable(claim_device(path)?) } else { options.open(path) }?;
        let locked = own_locks::has(&file)? || lock_alone(&file)?;
        Ok(Claimed { file, locked, elsewhere: Elsewhere::claim(path, OpenMode::ReadWrite)? })
    })
}

/// The device, unless it is one that could be opened for writing but takes no writes.
fn writable(device: File) -> io::Result<File> {
    match is_write_protected(&device) {
        Ok(true) => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
        _ => Ok(device),
    }
}

/// Tries for a while; what is still busy then is told with who has it.
///
/// # Errors
/// Those of `claim`; of the kind `ResourceBusy` an [`InUse`].
pub fn patiently<T>(path: &Path, claim: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let began = Instant::now();
    with_patience(path, claim, || began.elapsed() < AT_WORK && Path::new(UDEV_AT_WORK).exists())
}

fn with_patience<T>(
    path: &Path,
    mut claim: impl FnMut() -> io::Result<T>,
    udev_works: impl Fn() -> bool,
) -> io::Result<T> {
    let mut tries = TRIES;
    loop {
        tries = tries.saturating_sub(1);
        // Before it is tried: udev may be done a moment after that.
        let may_be_udev = tries == 0 && udev_works();
        match claim() {
            Err(e) if e.kind() != io::ErrorKind::ResourceBusy => return Err(e),
            Err(_) if tries == 0 => {
                let by = InUse::find(path);
                if !(may_be_udev && by.is_unknown()) {
                    return Err(io::Error::new(io::ErrorKind::ResourceBusy, by));
                }
                std::thread::sleep(PAUSE + apart());
            }
            Err(_) => std::thread::sleep(PAUSE + apart()),
            done => return done,
        }
    }
}

fn apart() -> Duration {
    let mut random = [0u8; 1];
    // Without a random number it is no worse than without this pause.
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::NONBLOCK);
    APART * u32::from(random[0]) / u32::from(u8::MAX)
}

/// Refuses what is neither a file nor a block device: a pipe would keep whoever opens it waiting.
///
/// # Errors
/// `ErrorKind::InvalidInput`.
pub fn must_hold_sectors(kind: FileType) -> io::Result<()> {
    if kind.is_file() || kind.is_block_device() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is neither a file nor a block device"))
}

/// Whether what is at `path` could be claimed so; said before anybody types a password.
pub fn refuse_if_claimed(path: &Path, mode: OpenMode) -> io::Result<()> {
    let about = path.metadata()?;
    must_hold_sectors(about.file_type())?;
    let device = Node::of(&about);
    let exclusive = matches!((device, mode), (Node::Device(_), OpenMode::ReadWrite));
    patiently(path, || {
        let file = read_only(path, exclusive)?;
        let file = if exclusive { writable(file)? } else { file };
        if !own_locks::has(&file)? {
            lock_alone(&file)?;
        }
        Elsewhere::claim(path, mode)
    })
    .map(drop)
}

/// The same bytes by other names: what is below a device, and loop devices that show any of them. Nobody opens those
/// for writing by one of these names as long as it is kept, nor mounts them when it is kept to write.
pub struct Elsewhere(
    /// Held open.
    #[expect(dead_code, reason = "locks and claims go with the files")]
    Vec<File>,
);

impl Elsewhere {
    /// Claims them for whoever has what is at `path` for himself.
    ///
    /// # Errors
    /// `ErrorKind::ResourceBusy` where somebody has them.
    pub fn claim(path: &Path, mode: OpenMode) -> io::Result<Self> {
        let layers = layers(path)?;
        let below =
            layers.iter().filter(|layer| matches!(layer.reached, LayerRelation::Loop | LayerRelation::Part));
        let mut held = Vec::new();
        for layer in below {
            held.extend(share_below(layer, mode)?);
        }
        for view in views(&layers) {
            held.extend(share_beside(&view, mode)?);
        }
        Ok(Self(held))
    }
}

/// What a loop device shows is claimed as that one is, where it is shown whole. A device that is made of others has
/// claimed them.
fn share_below(layer: &Layer, mode: OpenMode) -> io::Result<Option<File>> {
    let claims = mode == OpenMode::ReadWrite
        && layer.reached == LayerRelation::Loop
        && layer.whole
        && matches!(layer.node, Node::Device(_));
    let opened = match read_only(&layer.path, claims) {
        // Others may share it with us; the lock tells.
        Err(e) if claims && is_busy(&e) && uses(&layer.path)?.is_empty() => read_only(&layer.path, false),
        opened => opened,
    };
    match opened {
        Ok(file) if Node::of(&file.metadata()?) == layer.node => share(file).map(Some),
        Err(e) if is_busy(&e) => Err(e),
        // Gone or hidden from us; who opens it finds us above it.
        Ok(_) | Err(_) => Ok(None),
    }
}

/// A loop device that shows what we have.
fn share_beside(view: &Path, mode: OpenMode) -> io::Result<Option<File>> {
    match read_only(view, mode == OpenMode::ReadWrite) {
        Ok(file) => share(file).map(Some),
        Err(e) if is_busy(&e) => Err(e),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => match uses(view) {
            Ok(uses) if !uses.is_empty() && mode == OpenMode::ReadWrite => {
                Err(io::ErrorKind::ResourceBusy.into())
            }
            _ => Ok(None),
        },
        // Taken off meanwhile.
        Err(_) => Ok(None),
    }
}

fn share(file: File) -> io::Result<File> {
    lock(&file, FlockOperation::NonBlockingLockShared).map(|_| file)
}

fn is_busy(e: &io::Error) -> bool {
    e.kind() == io::ErrorKind::ResourceBusy
}

/// Of a block device, `alone` as nobody else has claimed it (open(2): `O_EXCL` without `O_CREAT`).
fn read_only(path: &Path, alone: bool) -> io::Result<File> {
    let flags = if alone { OFlags::EXCL } else { OFlags::empty() };
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Locks it for itself; whether it could be had.
pub(crate) fn lock_alone(file: &File) -> io::Result<bool> {
    lock(file, FlockOperation::NonBlockingLockExclusive)
}

fn lock(file: &File, operation: FlockOperation) -> io::Result<bool> {
    match flock(file, operation) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Err(io::ErrorKind::ResourceBusy.into()),
        Err(_) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_udev_looks_at_is_waited_for_longer() {
        let busy_for = |times: u32, udev_works: bool| {
            let mut left = times;
            let claim = || match left.checked_sub(1) {
                Some(less) => {
                    left = less;
                    Err(io::Error::from(io::ErrorKind::ResourceBusy))
                }
                None => Ok(()),
            };
            with_patience(Path::new("/nowhere"), claim, || udev_works).map_err(|e| e.kind())
        };
        assert_eq!(busy_for(TRIES + 5, true), Ok(()));
        assert_eq!(busy_for(TRIES + 5, false), Err(io::ErrorKind::ResourceBusy));
    }
}
