//! A volume as it would be with the headers of a backup in their places: so the one way of opening
//! volumes also judges whether a backup opens and fits.

use keyway_store::{Store, StoreError};

/// A store that can only be read, with some of its bytes replaced.
pub(crate) struct Overlay<'a> {
    below: &'a dyn Store,
    /// Offset in the store, and what is to be seen there.
    patches: Vec<(u64, Vec<u8>)>,
}

impl<'a> Overlay<'a> {
    /// Puts the patches over `below`. A read sees a patch only where it lies wholly in it.
    pub(crate) fn new(below: &'a dyn Store, patches: Vec<(u64, Vec<u8>)>) -> Self {
        Self { below, patches }
    }
}

impl Store for Overlay<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        // The headers it hides may be unreadable: that is why they are restored.
        let end = offset.saturating_add(buf.len() as u64);
        for (start, bytes) in &self.patches {
            let within = offset.checked_sub(*start).and_then(|at| usize::try_from(at).ok());
            if let Some(part) = within.and_then(|at| bytes.get(at..at.checked_add(buf.len())?))
                && end <= self.below.size()
            {
                buf.copy_from_slice(part);
                return Ok(());
            }
        }
        self.below.read_at(buf, offset)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let reason = std::io::ErrorKind::ReadOnlyFilesystem.into();
        Err(StoreError::new(keyway_store::Operation::Write, "a header backup", offset, buf.len(), reason))
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn discard(&self, _offset: u64, _len: u64) -> Result<(), StoreError> {
        Ok(())
    }

    fn size(&self) -> u64 {
        self.below.size()
    }

    fn sector_bytes(&self) -> u32 {
        self.below.sector_bytes()
    }

    fn is_read_only(&self) -> bool {
        true
    }
}
