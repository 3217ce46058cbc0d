//! How far a search for lost metadata is: it may read all of a large drive.

use crate::error::Error;
use keyway_store::{DirectFile, Operation, Store, StoreError};
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a search reads at a time is larger than this, and what else is read of metadata is not.
const LARGE: usize = 1 << 20;

/// Somebody who is told how far a search is, and may stop it. `()` listens to nothing.
pub trait SearchProgress: Sync {
    /// The search is at this byte of so many: first at the end of the medium, then in what lies before that.
    /// `Break` ends it.
    fn at(&self, reached: u64, size: u64) -> ControlFlow<()>;
}

impl SearchProgress for () {
    fn at(&self, _reached: u64, _size: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: Fn(u64, u64) -> ControlFlow<()> + Sync> SearchProgress for F {
    fn at(&self, reached: u64, size: u64) -> ControlFlow<()> {
        self(reached, size)
    }
}

/// A store that tells how far the large reads are which go through it.
pub struct Searched<'a> {
    store: &'a dyn Store,
    progress: &'a dyn SearchProgress,
    stopped: AtomicBool,
}

impl<'a> Searched<'a> {
    /// Tells the one who watches.
    pub fn new(store: &'a dyn Store, progress: &'a dyn SearchProgress) -> Self {
        Self { store, progress, stopped: AtomicBool::new(false) }
    }

    /// What came of it, unless it was stopped: a search takes a read that fails for a damaged place, and goes on.
    pub(crate) fn unless_stopped<T>(&self, came: Result<T, Error>) -> Result<T, Error> {
        if came.is_err() && self.stopped.load(Ordering::Relaxed) { Err(Error::Stopped) } else { came }
    }
}

impl Store for Searched<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        if self.stopped.load(Ordering::Relaxed) {
            let reason = io::Error::other("it was stopped");
            return Err(StoreError::new(Operation::Read, "the medium", offset, buf.len(), reason));
        }
        let done = self.store.read_at(buf, offset);
        let reached = offset.saturating_add(buf.len() as u64);
        if buf.len() > LARGE && self.progress.at(reached, self.store.size()).is_break() {
            self.stopped.store(true, Ordering::Relaxed);
        }
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
    use std::sync::Mutex;

    #[test]
    fn a_search_is_told_and_nothing_else_is() {
        let store = MemStore::new(24 << 20);
        let told = Mutex::new(Vec::new());
        let watch = |reached: u64, size: u64| {
            told.lock().expect("whole").push((reached, size));
            ControlFlow::Continue(())
        };
        let searched = Searched::new(&store, &watch);
        assert!(bitlocker::look(&searched).is_err());
        assert!(told.lock().expect("whole").is_empty());
        assert!(bitlocker::find(&searched).is_err());
        // It looks at the end first, then at what lies before that.
        assert_eq!(told.lock().expect("whole").last(), Some(&(23 << 20, 24 << 20)));
    }

    #[test]
    fn whoever_watches_stops_it() {
        let store = MemStore::new(64 << 20);
        let stop = |_: u64, _: u64| ControlFlow::Break(());
        let searched = Searched::new(&store, &stop);
        let came = bitlocker::find(&searched).map_err(Error::from);
        assert!(matches!(searched.unless_stopped(came), Err(Error::Stopped)));
    }
}
