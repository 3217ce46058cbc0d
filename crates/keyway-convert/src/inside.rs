//! What is in a volume, as a store: for those who read a file system's map wherever it lies.

use crate::ConvertError;
use keyway_engine::{Access, Device, Layout};
use keyway_store::{Operation, Store, StoreError};
use std::sync::Arc;

/// The plain sectors of a volume.
pub(crate) struct Inside(Device);

impl Inside {
    /// Those that the layout has in that store.
    pub(crate) fn new(store: &Arc<dyn Store>, layout: Layout, access: Access) -> Result<Self, ConvertError> {
        Ok(Self(Device::new(Box::new(Arc::clone(store)), layout, access)?))
    }
}

fn failed(op: Operation, offset: u64, len: usize, error: &dyn std::error::Error) -> StoreError {
    StoreError::new(op, "the volume", offset, len, std::io::Error::other(error.to_string()))
}

impl Store for Inside {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let len = buf.len();
        self.0.read_at(buf, offset).map_err(|e| failed(Operation::Read, offset, len, &e))
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.0.write_at(buf, offset).map_err(|e| failed(Operation::Write, offset, buf.len(), &e))
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.0.flush().map_err(|e| failed(Operation::Flush, 0, 0, &e))
    }

    fn discard(&self, _offset: u64, _len: u64) -> Result<(), StoreError> {
        Ok(())
    }

    fn size(&self) -> u64 {
        self.0.size()
    }

    fn sector_bytes(&self) -> u32 {
        self.0.sector_bytes()
    }

    fn is_read_only(&self) -> bool {
        self.0.is_read_only()
    }
}
