//! A store in memory, for tests and for measuring everything but the drive.

use crate::{Operation, Store, StoreError};
use std::sync::RwLock;

const NAME: &str = "the memory store";

/// Bytes in memory.
pub struct MemStore {
    bytes: RwLock<Vec<u8>>,
    sector_bytes: u32,
    read_only: bool,
}

impl MemStore {
    /// `len` zero bytes, 512-byte sectors.
    pub fn new(len: usize) -> Self {
        Self::from_vec(vec![0; len])
    }

    /// Takes `bytes` as they are, 512-byte sectors.
    pub fn from_vec(bytes: Vec<u8>) -> Self {
        Self { bytes: RwLock::new(bytes), sector_bytes: 512, read_only: false }
    }

    /// The same store with another sector size.
    pub fn with_sector_bytes(mut self, sector_bytes: u32) -> Self {
        self.sector_bytes = sector_bytes;
        self
    }

    /// The same store, refusing writes.
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// A copy of everything in it.
    pub fn snapshot(&self) -> Vec<u8> {
        self.bytes.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

fn range(op: Operation, offset: u64, len: usize, size: usize) -> Result<std::ops::Range<usize>, StoreError> {
    usize::try_from(offset)
        .ok()
        .and_then(|from| Some(from..from.checked_add(len)?))
        .filter(|r| r.end <= size)
        .ok_or_else(|| StoreError::past_end(op, NAME, offset, len, size as u64))
}

impl Store for MemStore {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let bytes = self.bytes.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        buf.copy_from_slice(&bytes[range(Operation::Read, offset, buf.len(), bytes.len())?]);
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        if self.read_only {
            let reason = std::io::ErrorKind::ReadOnlyFilesystem.into();
            return Err(StoreError::new(Operation::Write, NAME, offset, buf.len(), reason));
        }
        let mut bytes = self.bytes.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let range = range(Operation::Write, offset, buf.len(), bytes.len())?;
        bytes[range].copy_from_slice(buf);
        Ok(())
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn discard(&self, _offset: u64, _len: u64) -> Result<(), StoreError> {
        Ok(())
    }

    fn size(&self) -> u64 {
        self.bytes.read().unwrap_or_else(std::sync::PoisonError::into_inner).len() as u64
    }

    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }
}
