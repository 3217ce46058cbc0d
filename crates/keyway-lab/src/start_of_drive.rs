//! The first bytes of a drive, as a store of their own.

use keyway_store::{Operation, Store, StoreError};
use std::sync::Arc;

/// The first bytes of a store: an operation on 7 GB is one on 7 GB of a drive of 4 TB as well.
#[derive(Clone)]
pub struct StartOfDrive {
    store: Arc<dyn Store>,
    size: u64,
}

impl StartOfDrive {
    /// So many bytes of the store, or all of it, in whole pages.
    pub fn of(store: &Arc<dyn Store>, bytes: u64) -> Self {
        Self { store: store.clone(), size: bytes.min(store.size()) / 4096 * 4096 }
    }

    fn within(&self, op: Operation, offset: u64, len: usize) -> Result<(), StoreError> {
        StoreError::within(op, "the measured part", offset, len as u64, self.size)
    }
}

impl Store for StartOfDrive {
    keyway_store::pass_on! { [store] flush sector_bytes is_read_only is_claimed }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.within(Operation::Read, offset, buf.len())?;
        self.store.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.within(Operation::Write, offset, buf.len())?;
        self.store.write_at(buf, offset)
    }
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.within(Operation::Discard, offset, usize::try_from(len).unwrap_or(usize::MAX))?;
        self.store.discard(offset, len)
    }
    fn size(&self) -> u64 {
        self.size
    }
}
