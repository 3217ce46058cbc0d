//! Where a conversion writes what it depends on for going on: markers, headers, metadata, first pages, what is parked.
//!
//! A medium may say that it has written, and have lost it, cut it short, put it elsewhere or changed a bit of it. So a flush
//! compares what was written since the last one with what is there, before anything that it replaces is given up
//! ([`ReadBack`]). What differs ends the run. The first page, the second marker and what lies beside it are then what tells how to
//! go on: where one of them was replaced wrongly, or was hit by a write that was to go elsewhere, the last one that was
//! read back is put there again, as well as that goes.

use crate::ConvertError;
use crate::journal::Journal;
use crate::marker::MARKER_BYTES;
use keyway_store::{AlignedBuf, Store, StoreError, pass_on};
use keyway_volume::{ReadBack, ReadsBackDifferently};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that must be there, whatever happens.
struct Anchor {
    at: u64,
    /// As they were when the run began, or as they were read back since.
    known: AlignedBuf,
    /// With what was written to them since, and is not flushed.
    written: Option<AlignedBuf>,
}

impl Anchor {
    /// As it is there; who can't read it meets that where it is needed.
    fn read(store: &dyn Store, range: &Range<u64>) -> Option<Self> {
        let mut known = AlignedBuf::zeroed(usize::try_from(range.end.saturating_sub(range.start)).ok()?);
        store.read_at(&mut known, range.start).ok()?;
        Some(Self { at: range.start, known, written: None })
    }

    fn write(&mut self, buf: &[u8], offset: u64) {
        let ends = offset.saturating_add(buf.len() as u64);
        if ends <= self.at || self.at.saturating_add(self.known.len() as u64) <= offset {
            return;
        }
        let now = self.written.get_or_insert_with(|| copy_of(&self.known));
        let (to, from) = (offset.saturating_sub(self.at) as usize, self.at.saturating_sub(offset) as usize);
        now.iter_mut().skip(to).zip(buf.iter().skip(from)).for_each(|(to, from)| *to = *from);
    }

    fn hold(&mut self, store: &dyn Store) {
        self.written = None;
        let mut there = AlignedBuf::zeroed(self.known.len());
        let is_there = store.read_at(&mut there, self.at).is_ok() && *there == *self.known;
        if !is_there && store.write_at(&self.known, self.at).is_ok() {
            // A medium that fails at that too is not told: the run has its error, and `resume` looks at what there is.
            let _ = store.flush();
        }
    }
}

fn copy_of(bytes: &AlignedBuf) -> AlignedBuf {
    let mut copy = AlignedBuf::zeroed(bytes.len());
    copy.copy_from_slice(bytes);
    copy
}

/// A store that compares what was written through it. It keeps that in memory until the next flush: it is not for content.
pub(crate) struct CarefulStore<'a> {
    below: &'a dyn Store,
    checked: ReadBack<'a>,
    anchors: Mutex<Vec<Anchor>>,
}

impl<'a> CarefulStore<'a> {
    /// The same store. Its first page is an anchor, and these bytes are, which nobody writes to but through this.
    pub(crate) fn new(below: &'a dyn Store, anchors: &[Range<u64>]) -> Self {
        let front = 0..MARKER_BYTES as u64;
        let anchors = std::iter::once(&front).chain(anchors).filter_map(|range| Anchor::read(below, range));
        Self { below, checked: ReadBack::new(below), anchors: Mutex::new(anchors.collect()) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Anchor>> {
        self.anchors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on somebody else may write to the first page.
    pub(crate) fn leave_front(&self) {
        self.lock().retain(|anchor| anchor.at != 0);
    }

    /// What was read back otherwise has ended a run: the anchors must be what they were, and the journal's pages.
    pub(crate) fn held<T>(
        &self,
        journal: &Journal<'_>,
        result: Result<T, ConvertError>,
    ) -> Result<T, ConvertError> {
        if let Err(ConvertError::NotKept(_)) = &result {
            self.hold();
            journal.hold();
        }
        result
    }

    fn hold(&self) {
        self.lock().iter_mut().for_each(|anchor| anchor.hold(self.below));
    }
}

impl Store for CarefulStore<'_> {
    pass_on! { [below] read_at discard size sector_bytes is_read_only is_claimed }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.checked.write_at(buf, offset)?;
        self.lock().iter_mut().for_each(|anchor| anchor.write(buf, offset));
        Ok(())
    }

    fn flush(&self) -> Result<(), StoreError> {
        let flushed = self.checked.flush();
        match &flushed {
            Ok(()) => {
                for anchor in self.lock().iter_mut() {
                    if let Some(written) = anchor.written.take() {
                        anchor.known = written;
                    }
                }
            }
            Err(e) if ReadsBackDifferently::is_in(e) => self.hold(),
            Err(_) => {}
        }
        flushed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Changes a bit of each of the next writes, or puts them to the first byte.
    struct Wrong {
        below: MemStore,
        flipped: AtomicU32,
        astray: AtomicU32,
    }

    impl Store for Wrong {
        pass_on! { [below] read_at flush discard size sector_bytes is_read_only }
        fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
            let takes = |left: &AtomicU32| {
                left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok()
            };
            let mut wrong = buf.to_vec();
            if takes(&self.flipped) {
                wrong[0] ^= 1;
            }
            self.below.write_at(&wrong, if takes(&self.astray) { 0 } else { offset })
        }
    }

    fn medium() -> Wrong {
        let below = MemStore::from_vec(vec![1; 64 << 10]);
        Wrong { below, flipped: AtomicU32::new(0), astray: AtomicU32::new(0) }
    }

    #[test]
    fn the_first_page_is_put_back_where_it_was_replaced_wrongly() {
        let medium = medium();
        let store = CarefulStore::new(&medium, &[]);
        store.write_at(&[2; 4096], 0).expect("written");
        store.flush().expect("right");
        medium.flipped.store(1, Ordering::SeqCst);
        store.write_at(&[3; 512], 0).expect("it says so");
        let error = store.flush().expect_err("another bit");
        assert!(ReadsBackDifferently::is_in(&error) && error.offset == 0);
        assert!(medium.below.snapshot()[..4096] == [2; 4096]);
    }

    #[test]
    fn so_it_is_where_a_write_hits_it_that_was_to_go_elsewhere() {
        let medium = medium();
        let store = CarefulStore::new(&medium, &[]);
        medium.astray.store(1, Ordering::SeqCst);
        store.write_at(&[3; 4096], 8192).expect("it says so");
        let error = store.flush().expect_err("it is not there");
        assert_eq!(error.offset, 8192);
        assert!(medium.below.snapshot()[..4096] == [1; 4096]);
    }

    #[test]
    fn what_somebody_else_may_have_written_stays() {
        let medium = medium();
        let store = CarefulStore::new(&medium, &[]);
        store.leave_front();
        medium.below.write_at(&[7; 4096], 0).expect("in memory");
        medium.flipped.store(1, Ordering::SeqCst);
        store.write_at(&[3; 4096], 8192).expect("it says so");
        store.flush().expect_err("another bit");
        assert!(medium.below.snapshot()[..4096] == [7; 4096]);
    }

    #[test]
    fn bytes_that_were_named_are_put_back_as_they_were_read_back_last() {
        let medium = medium();
        let store = CarefulStore::new(&medium, std::slice::from_ref(&(8192..12_288)));
        store.write_at(&[2; 8192], 4096).expect("written");
        store.flush().expect("right");
        medium.flipped.store(1, Ordering::SeqCst);
        store.write_at(&[3; 8192], 8192).expect("it says so");
        store.flush().expect_err("another bit");
        let there = medium.below.snapshot();
        assert!(there[4096..12_288] == [2; 8192] && there[12_288..16_384] == [3; 4096]);
    }
}
