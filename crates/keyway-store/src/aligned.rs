//! A buffer whose memory starts on a page boundary, as direct I/O wants it.

use std::ops::{Deref, DerefMut};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

#[derive(Clone, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

/// Bytes that start at a multiple of 4096 in memory. Reused between requests; only grows.
#[derive(Default)]
pub struct AlignedBuf {
    pages: Vec<Page>,
    len: usize,
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
        let pages = len.div_ceil(4096);
        if pages > self.pages.len() {
            self.pages.resize_with(pages, Page::new_zeroed);
        }
        self.len = len;
    }
}

impl AlignedBuf {
    /// Bytes of memory that it has.
    pub fn capacity(&self) -> usize {
        self.pages.len() * 4096
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.pages.as_bytes()[..self.len]
    }
}

impl DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.pages.as_mut_bytes()[..self.len]
    }
}
