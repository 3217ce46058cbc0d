//! A store of whatever answers "give me these bytes": a web server, an archive, another program.

use crate::{Operation, Store, StoreError};
use std::io;

/// Bytes that are only read, by a function of one's own.
///
/// ```
/// use keyway_store::{ReadOnlyStore, Store};
///
/// let counting = ReadOnlyStore::new("the numbers", 256, |buf: &mut [u8], offset| {
///     buf.iter_mut().zip(offset..).for_each(|(byte, number)| *byte = number as u8);
///     Ok(())
/// });
/// let mut bytes = [0; 3];
/// counting.read_at(&mut bytes, 253)?;
/// assert_eq!(bytes, [253, 254, 255]);
/// assert!(counting.read_at(&mut bytes, 254).is_err() && counting.write_at(&bytes, 0).is_err());
/// # Ok::<(), keyway_store::StoreError>(())
/// ```
pub struct ReadOnlyStore<F> {
    name: String,
    size: u64,
    read: F,
}

impl<F: Fn(&mut [u8], u64) -> io::Result<()> + Send + Sync> ReadOnlyStore<F> {
    /// A store of `size` bytes. `read` fills all of a buffer from an offset on, or fails; it is called by several threads
    /// at once, and never for bytes past the end or for none. `name` stands in errors.
    pub fn new(name: impl Into<String>, size: u64, read: F) -> Self {
        Self { name: name.into(), size, read }
    }

    fn refuse(&self, operation: Operation, offset: u64, len: usize) -> Result<(), StoreError> {
        Err(StoreError::new(
            operation,
            self.name.as_str(),
            offset,
            len,
            io::ErrorKind::ReadOnlyFilesystem.into(),
        ))
    }
}

impl<F: Fn(&mut [u8], u64) -> io::Result<()> + Send + Sync> Store for ReadOnlyStore<F> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let len = buf.len();
        StoreError::within(Operation::Read, &self.name, offset, len as u64, self.size)?;
        let read = if buf.is_empty() { Ok(()) } else { (self.read)(buf, offset) };
        read.map_err(|e| StoreError::new(Operation::Read, self.name.as_str(), offset, len, e))
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.refuse(Operation::Write, offset, buf.len())
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn discard(&self, offset: u64, _len: u64) -> Result<(), StoreError> {
        self.refuse(Operation::Discard, offset, 0)
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
