//! One process at a time: the volume's own file is locked for as long as it is served.

use crate::AttachError;
use keyway_engine::Device;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Duration;

/// udev takes the same lock on block devices for a moment, whenever one changes
/// (systemd's `BLOCK_DEVICE_LOCKING`).
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// A served volume. The lock goes with the process, however it ends, and holds for every user and
/// every runtime folder.
pub(super) struct Claim {
    _locked: Option<File>,
}

impl Claim {
    /// Locks the volume's file, unless the device's store has done so already.
    pub(super) fn new(volume: &Path, device: &Device) -> Result<Self, AttachError> {
        if device.is_claimed() {
            return Ok(Self { _locked: None });
        }
        let doing = || format!("lock {}", volume.display());
        let file = File::open(volume).map_err(|e| AttachError::io(doing(), e))?;
        let block_device = file.metadata().is_ok_and(|meta| meta.file_type().is_block_device());
        let mut tries = if block_device { TRIES } else { 1 };
        loop {
            tries -= 1;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { _locked: Some(file) }),
                Err(Errno::WOULDBLOCK) if tries > 0 => std::thread::sleep(PAUSE),
                Err(Errno::WOULDBLOCK) => {
                    return Err(AttachError::AlreadyOpen { volume: volume.display().to_string() });
                }
                // Some network file systems have no locks for files opened to read.
                Err(_) => return Ok(Self { _locked: None }),
            }
        }
    }
}
