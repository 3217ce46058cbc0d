//! A volume's decrypted sectors, to look at while its headers are made or changed.

use keyway_engine::{Layout, Mapping, Segment};
use keyway_store::{Operation, Store, StoreError};
use std::io;

/// What they are called where they can't be read.
const NAME: &str = "the volume";

/// A volume's sectors, to be read by whoever has its layout at hand and its medium on loan.
pub(super) struct Plain<'a> {
    /// The medium.
    pub(super) store: &'a dyn Store,
    /// Where the sectors are on it.
    pub(super) layout: &'a Layout,
}

impl Store for Plain<'_> {
    /// Whole sectors in one stored segment: a new volume's layout has no other.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let end = offset.saturating_add(buf.len() as u64);
        let holds = |segment: &&Segment| offset >= segment.start && end <= segment.start + segment.len;
        let found =
            self.layout.segments().iter().find(holds).map(|segment| (segment.start, &segment.mapping));
        let Some((start, Mapping::Encrypted { store_offset, first_unit, cipher })) = found else {
            return Err(StoreError::past_end(Operation::Read, NAME, offset, buf.len(), self.layout.size()));
        };
        let within = offset - start;
        self.store.read_at(buf, store_offset + within)?;
        cipher.decrypt_sectors(buf, first_unit + within / u64::from(cipher.unit_bytes()));
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let reason = io::Error::from(io::ErrorKind::ReadOnlyFilesystem);
        Err(StoreError::new(Operation::Write, NAME, offset, buf.len(), reason))
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn discard(&self, _: u64, _: u64) -> Result<(), StoreError> {
        Ok(())
    }

    fn size(&self) -> u64 {
        self.layout.size()
    }

    fn sector_bytes(&self) -> u32 {
        self.store.sector_bytes()
    }

    fn is_read_only(&self) -> bool {
        true
    }
}
