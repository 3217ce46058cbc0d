//! A buffer whose memory starts on a page boundary, as direct I/O wants it; a large one lies in huge pages.

use std::ops::{Deref, DerefMut};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};
use zeroize::optimization_barrier;

#[derive(Clone, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

/// Bytes that start at a multiple of 4096 in memory. Reused between requests; only grows.
#[derive(Default)]
pub struct AlignedBuf {
    memory: Memory,
    len: usize,
}

enum Memory {
    /// From the heap.
    Pages(Vec<Page>),
    /// In huge pages.
    #[cfg(target_os = "linux")]
    Huge(keyway_sys::IoMemory),
}

impl Default for Memory {
    fn default() -> Self {
        Self::Pages(Vec::new())
    }
}

impl Memory {
    /// At least `len` zeros, where the heap is not good enough.
    #[cfg(target_os = "linux")]
    fn huge(len: usize) -> Option<Self> {
        let large = len >= keyway_sys::IoMemory::SMALLEST;
        large.then(|| keyway_sys::IoMemory::zeroed(len).ok()).flatten().map(Self::Huge)
    }

    #[cfg(not(target_os = "linux"))]
    fn huge(_len: usize) -> Option<Self> {
        None
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Pages(pages) => pages.as_bytes(),
            #[cfg(target_os = "linux")]
            Self::Huge(memory) => memory,
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Pages(pages) => pages.as_mut_bytes(),
            #[cfg(target_os = "linux")]
            Self::Huge(memory) => memory,
        }
    }

    /// Makes room for `len` bytes; what was in it stays.
    fn grow(&mut self, len: usize) {
        if let Some(mut larger) = Self::huge(len) {
            let old = self.bytes();
            if let Some(front) = larger.bytes_mut().get_mut(..old.len()) {
                front.copy_from_slice(old);
            }
            *self = larger;
            return;
        }
        let pages = len.div_ceil(4096);
        match self {
            Self::Pages(old) => old.resize_with(pages, Page::new_zeroed),
            // The system has no more of it.
            #[cfg(target_os = "linux")]
            Self::Huge(old) => {
                let mut new = Vec::new();
                new.resize_with(pages, Page::new_zeroed);
                if let Some(front) = new.as_mut_bytes().get_mut(..old.len()) {
                    front.copy_from_slice(old);
                }
                *self = Self::Pages(new);
            }
        }
    }
}

impl AlignedBuf {
    /// `len` zero bytes.
    pub fn zeroed(len: usize) -> Self {
        let mut buf = Self::default();
        buf.resize(len);
        buf
    }

    /// Makes the buffer `len` bytes long; the contents are unspecified (old bytes or zeros).
    pub fn resize(&mut self, len: usize) {
        if len > self.capacity() {
            self.memory.grow(len);
        }
        self.len = len;
    }

    /// Sees to it that what was in it does not stay when it is dropped. It can't be used for anything else then.
    pub fn wipe(mut self) {
        match &mut self.memory {
            // Not byte by byte, as what is volatile is written: it is as long as a request.
            Memory::Pages(pages) => {
                pages.as_mut_bytes().fill(0);
                optimization_barrier(&pages[..]);
            }
            // It is wiped by whom it goes back to.
            #[cfg(target_os = "linux")]
            Memory::Huge(_) => {}
        }
    }

    /// Bytes of memory that it has.
    pub fn capacity(&self) -> usize {
        self.memory.bytes().len()
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.memory.bytes()[..self.len]
    }
}

impl DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory.bytes_mut()[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths around those at which memory comes from elsewhere.
    const LENGTHS: [usize; 9] = [1, 4096, 65_535, 65_536, 65_537, 300_000, 2 << 20, (2 << 20) + 1, 5_000_000];

    #[test]
    fn buffers_start_on_pages_and_are_zeros() {
        for len in LENGTHS {
            let mut buf = AlignedBuf::zeroed(len);
            assert!(buf.len() == len && buf.capacity() >= len);
            assert!(buf.as_ptr().addr().is_multiple_of(4096) && buf.iter().all(|byte| *byte == 0));
            buf.fill(0xa5);
        }
    }

    #[test]
    fn what_is_in_it_stays_when_it_grows() {
        let mut buf = AlignedBuf::default();
        let mut old = 0;
        for (number, len) in (1u8..).zip(LENGTHS) {
            buf.resize(len);
            assert!(buf[..old].iter().all(|byte| *byte == number - 1), "at {len}");
            assert!(buf[old..].iter().all(|byte| *byte == number - 1 || *byte == 0), "at {len}");
            buf.fill(number);
            old = len;
        }
        let capacity = buf.capacity();
        buf.resize(1);
        assert!(buf.len() == 1 && buf.capacity() == capacity);
    }
}
