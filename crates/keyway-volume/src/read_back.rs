//! What was written is compared with what the medium has of it, before anybody relies on it: headers, metadata, markers.
//!
//! A medium may say that it has written, and have lost it, cut it short, put it elsewhere or changed a bit of it. So
//! whoever replaces one copy of a header goes on to the next one only when the first has been read back and is the same.
//!
//! What is read back comes in whole pages, into memory that starts on one: a file or device that is open for direct I/O, as
//! those are whose headers are changed, gives these past the system's page cache, from the drive. What that can't see: a
//! drive that answers from a cache of its own and loses it later (the flush before asked it not to), and what is written
//! elsewhere *besides*, over bytes that nobody looks at again. Without direct I/O, and at the end of a file that isn't whole
//! pages, the page cache answers, and only what the system has noticed is seen.

use crate::overlay::lay_over;
use keyway_error::{Advice, Explain, carry, explain};
use keyway_store::{AlignedBuf, Operation, Store, StoreError, pass_on};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is read back lies in whole ones of these.
const PAGE: u64 = 4096;

/// Bytes that are compared at a time: whole pages.
const PIECE: u64 = 1 << 20;

/// A medium's smallest sector: the place of a difference is told in these.
const SECTOR: u64 = 512;

/// What an application would get for it: EIO, on Linux.
const EIO: i32 = 5;

/// A medium that said that it has written, and has something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what was written at offset {at} reads back differently")]
pub struct ReadsBackDifferently {
    /// The first sector that is not what was written: its first byte.
    pub at: u64,
}

explain! { ReadsBackDifferently => [Io Medium, DistrustMedium] }

impl ReadsBackDifferently {
    /// Whether that is what is wrong: of all that a store says, only this advises that.
    pub fn is_in(error: &StoreError) -> bool {
        error.advice().contains(&Advice::DistrustMedium)
    }
}

/// A store whose flush compares everything that was written through it since the last one with what is there. It keeps
/// that in memory: it is for headers, not for data.
pub struct ReadBack<'a> {
    store: &'a dyn Store,
    /// Not yet compared: where, and what.
    written: Mutex<Vec<(u64, Vec<u8>)>>,
}

impl<'a> ReadBack<'a> {
    /// The same store.
    pub fn new(store: &'a dyn Store) -> Self {
        Self { store, written: Mutex::default() }
    }

    /// Writes, puts it on the medium and compares.
    ///
    /// # Errors
    /// The medium failed, or has something else there ([`ReadsBackDifferently`]).
    pub fn put(&self, bytes: &[u8], at: u64) -> Result<(), StoreError> {
        self.write_at(bytes, at)?;
        self.flush()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Vec<u8>)>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares what is there with what should be.
    ///
    /// # Errors
    /// As [`ReadBack::put`].
    pub fn compare(&self, at: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let end = at.saturating_add(bytes.len() as u64);
        let mut piece = AlignedBuf::default();
        let mut from = at;
        while from < end {
            let start = from / PAGE * PAGE;
            // What is no whole page at the end of a file comes by itself, or all would come from the cache with it.
            let whole = self.store.size() / PAGE * PAGE;
            let most = if start < whole { whole } else { end };
            let to = end.min(start + PIECE).min(most);
            let pages = to.next_multiple_of(PAGE).min(self.store.size()).max(to) - start;
            piece.resize(pages as usize);
            self.store.read_at(&mut piece, start)?;
            let there = piece.get((from - start) as usize..(to - start) as usize).unwrap_or_default();
            let wanted = bytes.get((from - at) as usize..(to - at) as usize).unwrap_or_default();
            if wanted != there {
                let n = wanted.iter().zip(there).take_while(|(wanted, there)| wanted == there).count();
                let at = (from + n as u64) / SECTOR * SECTOR;
                let why = carry(ReadsBackDifferently { at }, EIO);
                return Err(StoreError::new(Operation::Read, "the medium", at, SECTOR as usize, why));
            }
            from = to;
        }
        Ok(())
    }
}

impl Store for ReadBack<'_> {
    pass_on! { [store] read_at discard size sector_bytes is_read_only is_claimed }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.store.write_at(buf, offset)?;
        let mut written = self.lock();
        for (at, earlier) in written.iter_mut() {
            lay_over(earlier, *at, offset, buf);
        }
        written.push((offset, buf.to_vec()));
        Ok(())
    }

    fn flush(&self) -> Result<(), StoreError> {
        let written = std::mem::take(&mut *self.lock());
        self.store.flush()?;
        written.iter().try_for_each(|(at, bytes)| self.compare(*at, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Says that it writes, and changes one byte of it on the way.
    struct Changes(MemStore, AtomicU64);

    impl Store for Changes {
        pass_on! { [0] read_at flush discard size sector_bytes is_read_only }
        fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
            let mut changed = buf.to_vec();
            let at = self.1.load(Ordering::SeqCst).checked_sub(offset);
            if let Some(byte) = at.and_then(|at| changed.get_mut(at as usize)) {
                *byte ^= 0x10;
            }
            self.0.write_at(&changed, offset)
        }
    }

    fn medium(changed: u64) -> Changes {
        Changes(MemStore::new((3 << 20) + 1536), AtomicU64::new(changed))
    }

    #[test]
    fn whatever_byte_differs_is_seen_and_its_sector_named() {
        let (start, len) = (4608, (2 << 20) + 1024);
        for at in [start, start + 1, 8191, 8192, (1 << 20) + 4095, (2 << 20) + 4608, start + len - 1] {
            let changes = medium(at);
            let store = ReadBack::new(&changes);
            store.write_at(&vec![7; len as usize], start).expect("it says so");
            let error = store.flush().expect_err("it lies");
            assert!(ReadsBackDifferently::is_in(&error), "{error}");
            assert_eq!(error.offset, at / 512 * 512);
            assert_eq!(
                error.to_string(),
                format!("what was written at offset {} reads back differently", error.offset)
            );
            assert_eq!(error.advice(), [Advice::DistrustMedium]);
            store.flush().expect("it was told once");
        }
    }

    #[test]
    fn what_is_the_same_passes_also_where_it_was_written_over_and_at_the_end() {
        let changes = medium(u64::MAX);
        let store = ReadBack::new(&changes);
        store.write_at(&[1; 4096], 512).expect("written");
        store.write_at(&[2; 1024], 0).expect("written");
        store.write_at(&[3; 512], 4096).expect("written");
        let end = store.size() - 512;
        store.write_at(&[4; 512], end).expect("written");
        store.flush().expect("the same");
        changes.1.store(600, Ordering::SeqCst);
        store.put(&[5; 1024], 0).expect_err("one byte differs");
        store.put(&[5; 512], 0).expect("it is not among these");
    }

    #[test]
    fn a_failure_of_the_medium_is_no_lie() {
        let failed =
            StoreError::new(Operation::Read, "a store", 0, 512, std::io::Error::from_raw_os_error(EIO));
        assert!(!ReadsBackDifferently::is_in(&failed));
    }
}
