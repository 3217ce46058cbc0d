//! A bar on a terminal while a volume's lost metadata is looked for in all of a large drive.

use crate::progress;
use indicatif::ProgressBar;
use keyway_store::{DirectFile, Store, StoreError};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What a search reads at a time is larger than this, and what else is read of metadata is not.
const LARGE: usize = 1 << 20;

/// A search that ends sooner is not shown.
const SOON: Duration = Duration::from_secs(1);

/// A store that shows how far the large reads are which go through it.
pub(crate) struct Searched<'a> {
    store: &'a dyn Store,
    began: Instant,
    bar: OnceLock<ProgressBar>,
}

impl<'a> Searched<'a> {
    /// Shown until it is dropped, and where it takes a while.
    pub(crate) fn new(store: &'a dyn Store) -> Self {
        Self { store, began: Instant::now(), bar: OnceLock::new() }
    }

    /// Where a read ended that took place so long after the beginning.
    fn reached(&self, len: usize, offset: u64, after: Duration) {
        if len > LARGE && after > SOON {
            let bar = self.bar.get_or_init(|| {
                let bar = progress::bar("looking for the metadata");
                bar.set_length(self.store.size());
                bar
            });
            bar.set_position(offset.saturating_add(len as u64));
        }
    }
}

impl Drop for Searched<'_> {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

impl Store for Searched<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let done = self.store.read_at(buf, offset);
        self.reached(buf.len(), offset, self.began.elapsed());
        done
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.store.write_at(buf, offset)
    }
    fn flush(&self) -> Result<(), StoreError> {
        self.store.flush()
    }
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.store.discard(offset, len)
    }
    fn size(&self) -> u64 {
        self.store.size()
    }
    fn sector_bytes(&self) -> u32 {
        self.store.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        self.store.is_read_only()
    }
    fn is_claimed(&self) -> bool {
        self.store.is_claimed()
    }
    fn queueable(&self) -> Option<DirectFile<'_>> {
        self.store.queueable()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;
    use keyway_volume::bitlocker;

    #[test]
    fn a_long_search_is_shown_and_nothing_else_is() {
        let store = MemStore::new(24 << 20);
        let mut searched = Searched::new(&store);
        assert!(bitlocker::look(&searched).is_err());
        searched.reached(LARGE + 1, 0, Duration::ZERO);
        searched.reached(4096, 0, SOON * 2);
        assert!(searched.bar.get().is_none());
        // As if it had been at it for long.
        searched.began = Instant::now().checked_sub(SOON * 2).expect("a machine that is up");
        assert!(bitlocker::find(&searched).is_err());
        let bar = searched.bar.get().expect("shown");
        assert_eq!(bar.length(), Some(24 << 20));
        // It looks at the end first, then at what lies before that.
        assert_eq!(bar.position(), 23 << 20);
    }
}
