//! A volume's medium whose failures are in the log: what could not be read or written, by its place and length, never its bytes.

use crate::shown::shown;
use keyway_store::{Store, StoreError, pass_on};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Failures that are logged; a drive that dies would fill the disk that the log is on.
const MOST: u32 = 1000;

/// A store that tells the log what it fails at.
pub(crate) struct LoggedStore {
    store: Box<dyn Store>,
    path: PathBuf,
    failures: AtomicU32,
}

impl LoggedStore {
    /// The medium at this path.
    pub(crate) fn new(store: Box<dyn Store>, path: PathBuf) -> Self {
        Self { store, path, failures: AtomicU32::new(0) }
    }

    fn told(&self, came: Result<(), StoreError>) -> Result<(), StoreError> {
        came.inspect_err(|e| {
            let before = self.failures.fetch_add(1, Ordering::Relaxed);
            let (path, operation) = (shown(&self.path), e.operation);
            if before < MOST {
                log::error!("{operation} {path}: offset {}, length {}: {}", e.offset, e.len, e.source);
            }
            if before.checked_add(1) == Some(MOST) {
                log::error!("{operation} {path}: what fails from now on is not logged");
            }
        })
    }
}

impl Store for LoggedStore {
    pass_on! { [store] size sector_bytes is_read_only is_claimed queueable }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.told(self.store.read_at(buf, offset))
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.told(self.store.write_at(buf, offset))
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.told(self.store.flush())
    }

    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.told(self.store.discard(offset, len))
    }
}
