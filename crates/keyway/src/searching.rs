//! How far a search for lost metadata is: it may read all of a large drive.

use crate::error::Error;
use crate::progress::Progress;
use keyway_store::{Operation, Store, StoreError};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a search reads at a time is larger than this, and what else is read of metadata is not.
const LARGE: usize = 1 << 20;

/// A store that tells how far the large reads are which go through it.
pub(crate) struct Searched<'a> {
    store: &'a dyn Store,
    progress: &'a dyn Progress,
    stopped: AtomicBool,
}

impl<'a> Searched<'a> {
    /// Tells the one who watches.
    pub(crate) fn new(store: &'a dyn Store, progress: &'a dyn Progress) -> Self {
        Self { store, progress, stopped: AtomicBool::new(false) }
    }

    /// What came of it, unless it was stopped: a search takes a read that fails for a damaged place, and goes on.
    pub(crate) fn unless_stopped<T>(&self, came: Result<T, Error>) -> Result<T, Error> {
        if came.is_err() && self.stopped.load(Ordering::Relaxed) { Err(Error::Stopped) } else { came }
    }
}

impl Store for Searched<'_> {
    keyway_store::pass_on! { [store] write_at flush discard size sector_bytes is_read_only is_claimed queueable }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        if self.stopped.load(Ordering::Relaxed) {
            let reason = io::Error::other("it was stopped");
            return Err(StoreError::new(Operation::Read, "the medium", offset, buf.len(), reason));
        }
        let done = self.store.read_at(buf, offset);
        let reached = offset.saturating_add(buf.len() as u64);
        if buf.len() > LARGE && self.progress.searching(reached, self.store.size()).is_break() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;
    use keyway_volume::bitlocker;
    use std::ops::ControlFlow;
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
