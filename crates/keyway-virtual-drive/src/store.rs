//! The drive's blocks as a [`Store`], for whatever reads and writes one: the laboratory, a file system.

use super::drive::Drive;
use super::error::DriveError;
use super::media::IoError;
use keyway_store::{Operation, Store, StoreError};
use std::io;
use std::ops::Range;
use std::sync::Arc;

const NAME: &str = "the virtual drive";

/// The blocks of a drive under power, as a host sees them: what is locked can't be read or written.
///
/// Requests of whole blocks go straight to the drive. The parts of blocks that others begin or end with are
/// completed by reading first; a caller that has several threads write parts of one block orders them itself.
pub struct DriveStore {
    drive: Arc<Drive>,
    /// Bytes of a block, and of all: they stay for the drive's life.
    block: u64,
    size: u64,
}

impl DriveStore {
    /// The blocks of that drive.
    pub fn new(drive: Arc<Drive>) -> Self {
        let block = drive.block_bytes().into();
        let size = drive.blocks() * block;
        Self { drive, block, size }
    }

    fn check(&self, operation: Operation, offset: u64, len: usize) -> Result<(), StoreError> {
        match offset.checked_add(len as u64) {
            Some(end) if end <= self.size() => Ok(()),
            _ => Err(StoreError::past_end(operation, NAME, offset, len, self.size())),
        }
    }

    /// The blocks that a range of bytes touches.
    fn touched(&self, offset: u64, len: usize) -> Range<u64> {
        offset / self.block..(offset + len as u64).div_ceil(self.block)
    }

    fn is_whole(&self, offset: u64, len: usize) -> bool {
        offset.is_multiple_of(self.block) && (len as u64).is_multiple_of(self.block)
    }

    /// Reads whole blocks around a request; and where it is in them.
    fn around(&self, offset: u64, len: usize) -> Result<(u64, Vec<u8>, Range<usize>), IoError> {
        let blocks = self.touched(offset, len);
        let mut bytes = vec![0; ((blocks.end - blocks.start) * self.block) as usize];
        self.drive.read(blocks.start, &mut bytes)?;
        let from = (offset - blocks.start * self.block) as usize;
        Ok((blocks.start, bytes, from..from + len))
    }
}

fn failed(operation: Operation, offset: u64, len: usize) -> impl FnOnce(IoError) -> StoreError {
    move |error| match error {
        IoError::Drive(DriveError::Store(error)) => error,
        IoError::Locked { .. } | IoError::Shadowed { .. } => {
            let source = io::Error::new(io::ErrorKind::PermissionDenied, error.to_string());
            StoreError::new(operation, NAME, offset, len, source)
        }
        other => StoreError::new(operation, NAME, offset, len, io::Error::other(other.to_string())),
    }
}

impl Store for DriveStore {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let len = buf.len();
        self.check(Operation::Read, offset, len)?;
        let done = if self.is_whole(offset, len) {
            self.drive.read(offset / self.block, buf)
        } else {
            self.around(offset, len).map(|(_, bytes, part)| {
                if let Some(part) = bytes.get(part) {
                    buf.copy_from_slice(part);
                }
            })
        };
        done.map_err(failed(Operation::Read, offset, len))
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let len = buf.len();
        self.check(Operation::Write, offset, len)?;
        let done = if self.is_whole(offset, len) {
            self.drive.write(offset / self.block, buf)
        } else {
            self.around(offset, len).and_then(|(first, mut bytes, part)| {
                if let Some(part) = bytes.get_mut(part) {
                    part.copy_from_slice(buf);
                }
                self.drive.write(first, &bytes)
            })
        };
        done.map_err(failed(Operation::Write, offset, len))
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.drive.flush().map_err(failed(Operation::Flush, 0, 0))
    }

    /// Blocks of which only a part is named keep what they hold.
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        let end = offset.saturating_add(len).min(self.size()) / self.block;
        let first = offset.div_ceil(self.block);
        if first >= end {
            return Ok(());
        }
        self.drive.discard(first, end - first).map_err(failed(Operation::Discard, offset, len as usize))
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn sector_bytes(&self) -> u32 {
        self.block as u32
    }

    fn is_read_only(&self) -> bool {
        false
    }
}
