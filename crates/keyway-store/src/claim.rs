//! One writer at a time: what is opened for writing is claimed for as long as it is open.
//!
//! A file or device is locked with flock(2), which every Keyway process respects, and udev on
//! devices (systemd's `BLOCK_DEVICE_LOCKING`). A device is also claimed from the kernel, which then
//! won't mount it, swap to it or build on it, and says no where it already does.

use keyway_sys::claim_device;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::Duration;

/// udev locks and `blkid` claims a device for a moment whenever it changes, a child that was just forked
/// holds a copy of our claim until it becomes another program, and the system keeps that of a killed process
/// until its last transfers are over: a second of patience.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Opens and claims; says whether the lock could be had. A file system without locks is no reason
/// to refuse the file.
pub(crate) fn open(path: &Path, options: &OpenOptions, block_device: bool) -> io::Result<(File, bool)> {
    let mut tries = TRIES;
    loop {
        tries -= 1;
        let file = if block_device { claim_device(path) } else { options.open(path) };
        let locked = file.and_then(|file| {
            let claimed = lock(&file)?;
            Ok((file, claimed))
        });
        match locked {
            Err(e) if e.kind() == io::ErrorKind::ResourceBusy && tries > 0 => std::thread::sleep(PAUSE),
            result => return result,
        }
    }
}

fn lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => {
            Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process has it open for writing"))
        }
        Err(_) => Ok(false),
    }
}
