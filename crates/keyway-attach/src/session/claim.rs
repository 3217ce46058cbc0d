//! One process at a time: the volume's own file is locked for as long as it is served.

use crate::AttachError;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::Duration;

/// udev takes the same lock on block devices for a moment, whenever one changes
/// (systemd's `BLOCK_DEVICE_LOCKING`); and the kernel may keep a file open for a moment whose process has ended, with a
/// ring of transfers that are to be cleared away.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// A served volume. The lock goes with the process, however it ends, and holds for every user and
/// every runtime folder.
pub(super) struct Claim {
    file: File,
}

impl Claim {
    /// Locks the volume's file, opened as `writable` says.
    pub(super) fn new(volume: &Path, writable: bool) -> Result<Self, AttachError> {
        let doing = || format!("lock {}", volume.display());
        let open = OpenOptions::new().read(true).write(writable).open(volume);
        let file = open.map_err(|e| AttachError::io(doing(), e))?;
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { file }),
                Err(Errno::WOULDBLOCK) if tries > 0 => std::thread::sleep(PAUSE),
                Err(Errno::WOULDBLOCK) => {
                    return Err(AttachError::AlreadyOpen { volume: volume.display().to_string() });
                }
                // Some network file systems have no locks for files opened to read.
                Err(_) => return Ok(Self { file }),
            }
        }
    }

    /// The file. Whatever keeps it open keeps the lock, too: a loop device does, when this process is long
    /// gone.
    pub(super) fn file(&self) -> &File {
        &self.file
    }
}
