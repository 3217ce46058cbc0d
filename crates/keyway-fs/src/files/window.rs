//! A store as the libraries for file systems want it: seek, read, write, with a small cache, and an
//! end to how much one operation may read.

use super::error::FilesError;
use super::pending::{Pending, Step};
use keyway_store::{Store, StoreError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that looking at a folder may read: more than the largest anyone has.
pub(crate) const LOOK: u64 = 512 << 20;

/// Bytes that a read counts at least, so that one from the cache is not free, either.
const LEAST: u64 = 64;

/// Bytes of a cached block, and how many there are: the tables of a file system are read in small
/// pieces, again and again.
const BLOCK: usize = 16 << 10;
const BLOCKS: usize = 64;

/// A view of a store; clones share the cache and the allowance, each has its own place.
#[derive(Clone)]
pub(crate) struct Window {
    shared: Arc<Shared>,
    at: u64,
}

struct Shared {
    store: Arc<dyn Store>,
    left: AtomicU64,
    cache: Mutex<Vec<Block>>,
    watch: Mutex<Watch>,
    pending: Mutex<Pending>,
}

/// Bytes whose writing is watched for, and where they were written last.
#[derive(Default)]
struct Watch {
    wanted: Vec<u8>,
    found: Option<u64>,
}

/// A cached block; empty bytes are none.
struct Block {
    number: u64,
    bytes: Vec<u8>,
}

impl Window {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let cache = (0..BLOCKS).map(|_| Block { number: 0, bytes: Vec::new() }).collect();
        let shared = Shared {
            store,
            left: AtomicU64::new(0),
            cache: Mutex::new(cache),
            watch: Mutex::default(),
            pending: Mutex::default(),
        };
        Self { shared: Arc::new(shared), at: 0 }
    }

    pub(crate) fn flush_store(&self) -> Result<(), StoreError> {
        self.shared.store.flush()
    }

    pub(crate) fn size(&self) -> u64 {
        self.shared.store.size()
    }

    /// Sets how many bytes may be read until the next call.
    pub(crate) fn allow(&self, bytes: u64) {
        self.shared.left.store(bytes, Ordering::Relaxed);
    }

    /// Watches for a write of just these bytes.
    pub(crate) fn watch_for(&self, wanted: &[u8]) {
        *self.watch() = Watch { wanted: wanted.to_vec(), found: None };
    }

    /// Where they were written last.
    pub(crate) fn watched(&self) -> Option<u64> {
        self.watch().found
    }

    fn watch(&self) -> MutexGuard<'_, Watch> {
        self.shared.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spend(&self, bytes: usize) -> io::Result<()> {
        let cost = (bytes as u64).max(LEAST);
        let less = |left: u64| left.checked_sub(cost);
        match self.shared.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::Error::other(FilesError::Endless("reading it does not end"))),
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.shared.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a change wait for its step; it is read as if it was made.
    pub(super) fn stage(&self, step: Step, at: u64, bytes: &[u8]) -> Result<(), FilesError> {
        within(self.size(), at, bytes.len()).map_err(FilesError::from_io)?;
        let read = |sector: &mut [u8; 512], at| self.shared.store.read_at(sector, at);
        Ok(self.pending().add(step, at, bytes, read)?)
    }

    pub(super) fn has_pending(&self) -> bool {
        !self.pending().is_empty()
    }

    /// Writes what waits, step by step.
    pub(super) fn write_pending(&self) -> Result<(), StoreError> {
        let pending = std::mem::take(&mut *self.pending());
        pending.write(&*self.shared.store, &mut |at, len| self.forget(at, len))
    }

    /// Gives up what waits.
    pub(super) fn drop_pending(&self) {
        *self.pending() = Pending::default();
    }

    /// Fills `buf` from that place; a place past the end is an error.
    pub(crate) fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_medium(buf, offset)?;
        self.pending().over(buf, offset);
        Ok(())
    }

    fn read_medium(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.spend(buf.len())?;
        let whole = offset.is_multiple_of(BLOCK as u64) && buf.len() >= BLOCK;
        let size = self.size();
        within(size, offset, buf.len())?;
        if whole || buf.len() > BLOCK {
            return self.shared.store.read_at(buf, offset).map_err(io::Error::other);
        }
        let (mut rest, mut at) = (buf, offset);
        while !rest.is_empty() {
            let number = at / BLOCK as u64;
            let within = (at % BLOCK as u64) as usize;
            let mut cache = self.cache();
            let Some(block) = cache.get_mut((number % BLOCKS as u64) as usize) else { break };
            if block.number != number || block.bytes.is_empty() {
                let start = number * BLOCK as u64;
                block.bytes.resize((size - start).min(BLOCK as u64) as usize, 0);
                block.number = number;
                if let Err(e) = self.shared.store.read_at(&mut block.bytes, start) {
                    block.bytes.clear();
                    return Err(io::Error::other(e));
                }
            }
            let held = block.bytes.get(within..).unwrap_or_default();
            let n = held.len().min(rest.len());
            let (part, tail) = std::mem::take(&mut rest).split_at_mut(n);
            part.copy_from_slice(held.get(..n).unwrap_or_default());
            rest = tail;
            at += n as u64;
        }
        Ok(())
    }

    fn cache(&self) -> MutexGuard<'_, Vec<Block>> {
        self.shared.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, offset: u64, len: u64) {
        let mut cache = self.cache();
        let blocks = offset / BLOCK as u64..=offset.saturating_add(len) / BLOCK as u64;
        for block in cache.iter_mut().filter(|block| blocks.contains(&block.number)) {
            block.bytes.clear();
        }
    }
}

/// A structure that points past the end is the file system's fault, not the medium's.
fn within(size: u64, offset: u64, len: usize) -> io::Result<()> {
    match offset.checked_add(len as u64) {
        Some(end) if end <= size => Ok(()),
        _ => Err(io::Error::other(FilesError::Damaged("it points past the end of the volume".to_owned()))),
    }
}

impl Read for Window {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.size().saturating_sub(self.at);
        let n = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        self.read_exact_at(buf.get_mut(..n).unwrap_or_default(), self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Write for Window {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        within(self.size(), self.at, buf.len())?;
        self.forget(self.at, buf.len() as u64);
        let mut watch = self.watch();
        if watch.wanted == buf {
            watch.found = Some(self.at);
        }
        drop(watch);
        self.shared.store.write_at(buf, self.at).map_err(io::Error::other)?;
        self.at += buf.len() as u64;
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Once at the end, by whoever began: FAT has no order of writes that a flush would keep.
        Ok(())
    }
}

impl Seek for Window {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.size().checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
