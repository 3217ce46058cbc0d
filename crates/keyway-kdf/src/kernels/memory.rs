//! A large run of Argon2's blocks, straight from the kernel, wiped before it goes back.

use super::argon2::Block;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Zeroed blocks: on huge pages where there are any, left out of core dumps and of children.
pub(crate) struct Memory {
    start: NonNull<Block>,
    blocks: usize,
}

impl Memory {
    /// `None` when the kernel refuses.
    pub(crate) fn new(blocks: usize) -> Option<Self> {
        let bytes = blocks.checked_mul(Block::BYTES).filter(|&bytes| bytes > 0)?;
        // SAFETY: an anonymous private mapping at an address the kernel chooses aliases nothing.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        let start = start.ok()?;
        // Argon2 reads 1 KiB here and there: with small pages every read misses the page tables' cache.
        for advice in [Advice::LinuxHugepage, Advice::LinuxDontDump, Advice::LinuxWipeOnFork] {
            // SAFETY: this is exactly the mapping made above; no advice changes its contents here.
            let _ = unsafe { madvise(start, bytes, advice) };
        }
        Some(Self { start: NonNull::new(start.cast())?, blocks })
    }
}

impl Deref for Memory {
    type Target = [Block];
    fn deref(&self) -> &[Block] {
        // SAFETY: the mapping is page-aligned, holds that many blocks and begins as zeros.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.blocks) }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [Block] {
        // SAFETY: as for `deref`, and `&mut self` makes the borrow unique.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.blocks) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let bytes = self.blocks * Block::BYTES;
        // SAFETY: the mapping holds that many blocks, for which zeros are a value.
        unsafe { self.start.as_ptr().write_bytes(0, self.blocks) };
        std::hint::black_box(&mut **self);
        // SAFETY: the mapping is ours and nothing borrows from it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), bytes) };
    }
}
