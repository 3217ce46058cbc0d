//! Locks a volume's file, and its bytes by other names, for as long as it is served.

use crate::AttachError;
use keyway_store::{Elsewhere, InUse, OpenMode, patiently};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// A served volume. The lock goes with the process, however it ends, and holds for every user and
/// every runtime folder.
pub(super) struct Claim {
    #[cfg_attr(not(feature = "dm-crypt"), allow(dead_code, reason = "held for its lock"))]
    file: File,
    _elsewhere: Elsewhere,
}

impl Claim {
    /// Locks the volume's file, opened as `writable` says.
    pub(super) fn new(volume: &Path, writable: bool) -> Result<Self, AttachError> {
        let mode = if writable { OpenMode::ReadWrite } else { OpenMode::ReadOnly };
        let open = OpenOptions::new().read(true).write(writable).clone();
        let claimed = patiently(volume, || {
            let file = open.open(volume)?;
            // Some network file systems have no locks for files opened to read.
            if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
                return Err(io::ErrorKind::ResourceBusy.into());
            }
            Ok(Self { file, _elsewhere: Elsewhere::claim(volume, mode)? })
        });
        claimed.map_err(|e| match e.get_ref().and_then(|inner| inner.downcast_ref::<InUse>()) {
            Some(by) => AttachError::Taken { volume: volume.to_owned(), by: by.clone() },
            None => AttachError::on("lock", volume, e),
        })
    }

    /// The file. Whatever keeps it open keeps the lock, too: a loop device does, when this process is long
    /// gone.
    #[cfg_attr(not(feature = "dm-crypt"), allow(dead_code, reason = "only dm-crypt takes it"))]
    pub(super) fn file(&self) -> &File {
        &self.file
    }
}
