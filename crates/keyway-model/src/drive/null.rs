//! A store that keeps nothing, for measuring.

use keyway_store::{Operation, Store, StoreError};

/// Takes writes and forgets them; a read leaves the buffer as it is. What the kernel's null block
/// device is without its memory: under a [`ModelDrive`](super::ModelDrive), a drive that moves bytes
/// without the processor's help, as real ones do. For load generators only.
pub struct NullStore {
    size: u64,
    sector_bytes: u32,
}

impl NullStore {
    /// So many bytes of nothing.
    pub fn new(size: u64, sector_bytes: u32) -> Self {
        Self { size, sector_bytes }
    }

    fn check(&self, op: Operation, offset: u64, len: u64) -> Result<(), StoreError> {
        StoreError::within(op, "the store of nothing", offset, len, self.size)
    }
}

impl Store for NullStore {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.check(Operation::Read, offset, buf.len() as u64)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.check(Operation::Write, offset, buf.len() as u64)
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.check(Operation::Discard, offset, len)
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn is_read_only(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_nothing_but_its_ends() {
        let store = NullStore::new(8192, 512);
        store.write_at(&[1; 4096], 4096).unwrap();
        let mut buf = [7; 4096];
        store.read_at(&mut buf, 4096).unwrap();
        assert_eq!(buf, [7; 4096]);
        assert!(store.read_at(&mut buf, 4097).is_err());
        assert!(store.write_at(&buf, u64::MAX).is_err());
        assert!(store.discard(0, 8193).is_err());
    }
}
