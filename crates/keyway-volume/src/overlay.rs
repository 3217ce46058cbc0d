//! A view of a store with some of its bytes replaced: to try a backup or a planned change before it is written.

use keyway_store::{Store, StoreError};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of the pages that [`Overlay::pages`] gives.
const PAGE: u64 = 4096;

/// A store over another one, which is only read: what is written to it stays in memory.
pub struct Overlay<'a> {
    below: &'a dyn Store,
    /// Offset in the store, and what is to be seen there; later ones lie over those before.
    patches: Mutex<Vec<(u64, Vec<u8>)>>,
}

impl<'a> Overlay<'a> {
    /// Puts the patches over `below`.
    pub fn new(below: &'a dyn Store, patches: Vec<(u64, Vec<u8>)>) -> Self {
        Self { below, patches: Mutex::new(patches) }
    }

    /// Every page of 4096 bytes that was patched or written, with its place; the last one of a medium may be
    /// shorter.
    ///
    /// # Errors
    /// What is below could not be read.
    pub fn pages(&self) -> Result<Vec<(u64, Vec<u8>)>, StoreError> {
        let touched = |(at, bytes): &(u64, Vec<u8>)| at / PAGE..(at + bytes.len() as u64).div_ceil(PAGE);
        let numbers: BTreeSet<u64> = self.lock().iter().flat_map(touched).collect();
        let read = |number: u64| {
            let at = number * PAGE;
            let mut page = vec![0; (self.size().saturating_sub(at)).min(PAGE) as usize];
            self.read_at(&mut page, at).map(|()| (at, page))
        };
        numbers.into_iter().map(read).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Vec<u8>)>> {
        self.patches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Copies what a patch at `start` has of the bytes at `offset`.
pub(crate) fn lay_over(buf: &mut [u8], offset: u64, start: u64, bytes: &[u8]) {
    let from = offset.max(start);
    let end = offset.saturating_add(buf.len() as u64).min(start.saturating_add(bytes.len() as u64));
    let Some(len) = end.checked_sub(from).map(|len| len as usize) else { return };
    let (to, from) = ((from - offset) as usize, (from - start) as usize);
    if let (Some(slot), Some(part)) = (buf.get_mut(to..to + len), bytes.get(from..from + len)) {
        slot.copy_from_slice(part);
    }
}

impl Store for Overlay<'_> {
    keyway_store::pass_on! { [below] size sector_bytes }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let patches = self.lock();
        let end = offset.saturating_add(buf.len() as u64);
        // The headers that a patch hides may be unreadable: that is why they are restored.
        let hides = |(start, bytes): &(u64, Vec<u8>)| {
            *start <= offset && end <= start.saturating_add(bytes.len() as u64) && end <= self.below.size()
        };
        let first = patches.iter().rposition(hides);
        if first.is_none() {
            self.below.read_at(buf, offset)?;
        }
        for (start, bytes) in patches.iter().skip(first.unwrap_or_default()) {
            lay_over(buf, offset, *start, bytes);
        }
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let (op, len) = (keyway_store::Operation::Write, buf.len() as u64);
        StoreError::within(op, "a planned change", offset, len, self.size())?;
        let mut patches = self.lock();
        match patches.last_mut() {
            Some((at, bytes)) if *at == offset && bytes.len() == buf.len() => bytes.copy_from_slice(buf),
            _ => patches.push((offset, buf.to_vec())),
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn discard(&self, _offset: u64, _len: u64) -> Result<(), StoreError> {
        Ok(())
    }

    fn is_read_only(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;

    #[test]
    fn patches_and_writes_are_seen_wherever_a_read_begins() {
        let below = MemStore::from_vec(vec![1; 20_000]);
        let overlay = Overlay::new(&below, vec![(100, vec![2; 50])]);
        overlay.write_at(&[3; 4096], 4096).expect("in memory");
        overlay.write_at(&[4; 10], 4100).expect("in memory");
        let mut expected = vec![1; 20_000];
        expected[100..150].fill(2);
        expected[4096..8192].fill(3);
        expected[4100..4110].fill(4);
        for (at, len) in
            [(0, 20_000), (0, 512), (90, 20), (100, 50), (120, 30), (4000, 200), (4090, 15), (8190, 9)]
        {
            let mut buf = vec![0; len];
            overlay.read_at(&mut buf, at as u64).expect("read");
            assert!(buf == expected[at..at + len], "{len} bytes at {at}");
        }
        let pages = overlay.pages().expect("read");
        assert_eq!(
            pages.iter().map(|(at, page)| (*at, page.len())).collect::<Vec<_>>(),
            [(0, 4096), (4096, 4096)]
        );
        assert!(pages.iter().all(|(at, page)| *page == expected[*at as usize..][..4096]));
        assert!(below.snapshot().iter().all(|byte| *byte == 1));
        overlay.write_at(&[5; 10], 19_995).expect_err("behind the end");
    }

    #[test]
    fn what_a_patch_hides_is_not_read() {
        let below = MemStore::new(512);
        let overlay = Overlay::new(&below, vec![(512, vec![1; 512])]);
        overlay.read_at(&mut [0; 512], 512).expect_err("there is no such place");
    }
}
