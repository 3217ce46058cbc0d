//! What the laboratory's tests have in common.

use keyway_lab::Sectors;
use std::io;

/// A drive without bytes, of which a read at an offset does what it is given.
pub(crate) struct Reads<F> {
    pub(crate) size: u64,
    pub(crate) read: F,
}

impl<F: Fn(usize, u64) + Send + Sync> Sectors for Reads<F> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        (self.read)(buf.len(), offset);
        Ok(())
    }
    fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
        Ok(())
    }
    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
    fn size(&self) -> u64 {
        self.size
    }
    fn sector_bytes(&self) -> u32 {
        512
    }
    fn is_read_only(&self) -> bool {
        true
    }
}
