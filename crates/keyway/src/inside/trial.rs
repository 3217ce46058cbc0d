//! What would be written, without writing it: whether a hidden volume's guard would refuse any of it is known before the
//! first byte, and nothing half done is left.

use keyway_engine::{Device, DeviceError};
use keyway_error::carry;
use keyway_store::{Operation, Store, StoreError, pass_on};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that are kept together.
const BLOCK: usize = 4096;

/// A volume over which writes stay in memory; zeros, which a trial's file is made of, take none.
pub(super) struct Trial {
    below: Arc<Device>,
    written: Mutex<HashMap<u64, Option<Box<[u8]>>>>,
}

impl Trial {
    /// Over an open volume.
    pub(super) fn new(below: Arc<Device>) -> Self {
        Self { below, written: Mutex::default() }
    }

    /// Goes through the blocks of a range: each one's number, what of it is meant, and where that begins in the buffer.
    fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (u64, Range<usize>, usize)> {
        let mut done = 0;
        std::iter::from_fn(move || {
            let at = offset.checked_add(done as u64).filter(|_| done < len)?;
            let within = (at % BLOCK as u64) as usize;
            let n = (BLOCK - within).min(len - done);
            let from = done;
            done += n;
            Some((at / BLOCK as u64, within..within + n, from))
        })
    }

    /// A block as it lies below; the last one may be short.
    fn block(&self, number: u64) -> Result<Vec<u8>, StoreError> {
        let start = number.saturating_mul(BLOCK as u64);
        let mut block = vec![0; BLOCK];
        let there = usize::try_from(self.below.size().saturating_sub(start)).unwrap_or(BLOCK).min(BLOCK);
        Store::read_at(&*self.below, block.get_mut(..there).unwrap_or_default(), start)?;
        Ok(block)
    }
}

impl Store for Trial {
    pass_on! { [below] size sector_bytes }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        Store::read_at(&*self.below, buf, offset)?;
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, within, from) in Self::pieces(offset, buf.len()) {
            let Some(block) = written.get(&number) else { continue };
            let part = buf.get_mut(from..from + within.len()).unwrap_or_default();
            match block.as_deref().and_then(|block| block.get(within)) {
                Some(held) => part.copy_from_slice(held),
                None => part.fill(0),
            }
        }
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        StoreError::within(Operation::Write, "the volume", offset, buf.len() as u64, self.size())?;
        if self.below.is_guarded(offset, buf.len() as u64) {
            let refused = carry(DeviceError::HiddenVolume, DeviceError::HiddenVolume.errno());
            return Err(StoreError::new(Operation::Write, "the volume", offset, buf.len(), refused));
        }
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, within, from) in Self::pieces(offset, buf.len()) {
            let part = buf.get(from..from + within.len()).unwrap_or_default();
            let mut block = match written.get(&number) {
                Some(Some(block)) => block.to_vec(),
                Some(None) => vec![0; BLOCK],
                None if part.len() == BLOCK => Vec::new(),
                None => self.block(number)?,
            };
            block.resize(BLOCK, 0);
            if let Some(place) = block.get_mut(within) {
                place.copy_from_slice(part);
            }
            let zeros = block.iter().all(|byte| *byte == 0);
            written.insert(number, (!zeros).then(|| block.into_boxed_slice()));
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn discard(&self, _: u64, _: u64) -> Result<(), StoreError> {
        Ok(())
    }

    fn is_read_only(&self) -> bool {
        false
    }
}
