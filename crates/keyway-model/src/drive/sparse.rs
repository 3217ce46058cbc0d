//! A large store in memory that keeps only what was written.

use keyway_store::{Operation, Store, StoreError};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

const NAME: &str = "the drive in memory";
const PAGE: usize = 4096;
/// Pages looked up together: 2 MiB.
const REGION_PAGES: usize = 512;
const REGION: u64 = (PAGE * REGION_PAGES) as u64;

type Page = Box<[u8; PAGE]>;
type Region = Arc<RwLock<Vec<Option<Page>>>>;

/// Bytes in memory, 4 KiB at a time as they are written; the rest reads as zeros.
pub struct SparseStore {
    size: u64,
    sector_bytes: u32,
    /// Offsets are taken modulo this.
    window: u64,
    /// Nobody looks at the bytes any more.
    moves_nothing: AtomicBool,
    regions: RwLock<HashMap<u64, Region>>,
}

impl SparseStore {
    /// `size` bytes that read as zeros.
    pub fn new(size: u64, sector_bytes: u32) -> Self {
        Self {
            size,
            sector_bytes,
            window: u64::MAX,
            moves_nothing: AtomicBool::new(false),
            regions: RwLock::default(),
        }
    }

    /// The same, but with the whole address space folded onto `window` bytes (rounded up to 2 MiB):
    /// offsets that far apart share their bytes. What is written is *not* what is read back, so this
    /// is for load generators only, which would otherwise fill the machine's memory.
    #[must_use]
    pub fn folded(mut self, window: u64) -> Self {
        self.window = window.max(1).checked_next_multiple_of(REGION).unwrap_or(u64::MAX);
        self
    }

    /// From now on requests move no byte: a write is forgotten, a read leaves the buffer as it is. A real drive moves them
    /// without the processor; here it would be the thread whose time is measured. For load generators only.
    pub fn move_nothing(&self) {
        self.moves_nothing.store(true, Ordering::Relaxed);
    }

    fn is_still(&self) -> bool {
        self.moves_nothing.load(Ordering::Relaxed)
    }

    fn check(&self, op: Operation, offset: u64, len: usize) -> Result<(), StoreError> {
        StoreError::within(op, NAME, offset, len as u64, self.size)
    }

    fn region(&self, number: u64) -> Option<Region> {
        self.regions.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }

    fn region_or_new(&self, number: u64) -> Region {
        self.region(number).unwrap_or_else(|| {
            let mut regions = self.regions.write().unwrap_or_else(PoisonError::into_inner);
            regions.entry(number).or_default().clone()
        })
    }

    /// Splits `len` bytes from `offset` on into pieces within a page: region, page in it, byte in
    /// that, and range of the request.
    fn pieces(&self, offset: u64, len: usize) -> impl Iterator<Item = Piece> {
        let window = self.window;
        let mut done = 0;
        std::iter::from_fn(move || {
            if done >= len {
                return None;
            }
            let at = (offset + done as u64) % window;
            let within = (at % PAGE as u64) as usize;
            let n = (PAGE - within).min(len - done);
            let page = (at % REGION) as usize / PAGE;
            let piece = Piece { region: at / REGION, page, within, done, n };
            done += n;
            Some(piece)
        })
    }
}

struct Piece {
    region: u64,
    page: usize,
    within: usize,
    done: usize,
    n: usize,
}

impl Store for SparseStore {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.check(Operation::Read, offset, buf.len())?;
        if self.is_still() {
            return Ok(());
        }
        let mut last: Option<(u64, Option<Region>)> = None;
        for piece in self.pieces(offset, buf.len()) {
            if last.as_ref().is_none_or(|(number, _)| *number != piece.region) {
                last = Some((piece.region, self.region(piece.region)));
            }
            let Some(to) = buf.get_mut(piece.done..piece.done + piece.n) else { break };
            let region = last.as_ref().and_then(|(_, region)| region.as_ref());
            let pages = region.map(|region| region.read().unwrap_or_else(PoisonError::into_inner));
            let page = pages.as_ref().and_then(|pages| pages.get(piece.page)).and_then(Option::as_ref);
            match page.and_then(|page| page.get(piece.within..piece.within + piece.n)) {
                Some(from) => to.copy_from_slice(from),
                None => to.fill(0),
            }
        }
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.check(Operation::Write, offset, buf.len())?;
        if self.is_still() {
            return Ok(());
        }
        let mut last: Option<(u64, Region)> = None;
        for piece in self.pieces(offset, buf.len()) {
            let region = match &last {
                Some((number, region)) if *number == piece.region => region.clone(),
                _ => last.insert((piece.region, self.region_or_new(piece.region))).1.clone(),
            };
            let mut pages = region.write().unwrap_or_else(PoisonError::into_inner);
            if pages.is_empty() {
                pages.resize_with(REGION_PAGES, || None);
            }
            let from = buf.get(piece.done..piece.done + piece.n).unwrap_or_default();
            if let Some(slot) = pages.get_mut(piece.page) {
                let page = slot.get_or_insert_with(|| Box::new([0; PAGE]));
                if let Some(to) = page.get_mut(piece.within..piece.within + from.len()) {
                    to.copy_from_slice(from);
                }
            }
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Gives the memory of whole pages back.
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        self.check(Operation::Discard, offset, len)?;
        if self.window < self.size {
            return Ok(());
        }
        let first = offset.checked_next_multiple_of(PAGE as u64).unwrap_or(u64::MAX);
        let end = (offset + len as u64) / PAGE as u64 * PAGE as u64;
        let mut at = first;
        while at < end {
            let (number, page) = (at / REGION, (at % REGION) as usize / PAGE);
            let next = ((number + 1) * REGION).min(end);
            if let Some(region) = self.region(number) {
                let mut pages = region.write().unwrap_or_else(PoisonError::into_inner);
                let count = (next - at) as usize / PAGE;
                pages.iter_mut().skip(page).take(count).for_each(|page| *page = None);
            }
            at = next;
        }
        Ok(())
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn is_read_only(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_written_and_zeros_elsewhere() {
        let store = SparseStore::new(4_000_000_000_000, 512);
        let bytes: Vec<u8> = (0..70_000u32).map(|n| (n % 251) as u8).collect();
        // Across a region's edge, and not on a page's.
        let at = 3 * REGION - 30_123;
        store.write_at(&bytes, at).unwrap();
        let mut back = vec![1; bytes.len() + 2000];
        store.read_at(&mut back, at - 1000).unwrap();
        assert!(back[..1000].iter().all(|b| *b == 0));
        assert_eq!(&back[1000..][..bytes.len()], &bytes);
        assert!(back[1000 + bytes.len()..].iter().all(|b| *b == 0));
    }

    #[test]
    fn discards_whole_pages_only() {
        let store = SparseStore::new(1 << 30, 512);
        store.write_at(&[7; 3 * PAGE], 0).unwrap();
        store.discard(100, 2 * PAGE as u64).unwrap();
        let mut back = [0; 3 * PAGE];
        store.read_at(&mut back, 0).unwrap();
        assert!(back[..PAGE].iter().all(|b| *b == 7));
        assert!(back[PAGE..2 * PAGE].iter().all(|b| *b == 0));
        assert!(back[2 * PAGE..].iter().all(|b| *b == 7));
    }

    #[test]
    fn ends_where_it_ends() {
        let store = SparseStore::new(8192, 512);
        assert!(store.write_at(&[0; 512], 7681).is_err());
        assert!(store.read_at(&mut [0; 512], u64::MAX).is_err());
        assert!(store.discard(8192, 1).is_err());
    }

    #[test]
    fn told_to_be_still_it_moves_no_byte() {
        let store = SparseStore::new(8192, 512);
        store.write_at(&[1; 4096], 0).unwrap();
        store.move_nothing();
        store.write_at(&[2; 4096], 0).unwrap();
        let mut buf = [7; 4096];
        store.read_at(&mut buf, 0).unwrap();
        assert_eq!(buf, [7; 4096]);
        assert!(store.read_at(&mut buf, 4097).is_err());
    }

    #[test]
    fn folded_takes_no_more_memory_than_its_window() {
        let store = SparseStore::new(1 << 40, 512).folded(4 << 20);
        for n in 0..100u64 {
            store.write_at(&[n as u8 + 1; PAGE], n << 33).unwrap();
            let mut back = [0; PAGE];
            store.read_at(&mut back, n << 33).unwrap();
            assert_eq!(back, [n as u8 + 1; PAGE]);
        }
        assert!(store.regions.read().unwrap().len() <= 2);
    }
}
