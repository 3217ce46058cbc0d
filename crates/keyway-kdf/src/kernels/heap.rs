//! A large run of Argon2's blocks where the kernel is not Linux: from the allocator, wiped before it goes back.

use super::argon2::Block;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Zeroed blocks.
pub(crate) struct Memory {
    start: NonNull<Block>,
    blocks: usize,
    layout: Layout,
}

impl Memory {
    /// `None` when there is no room.
    pub(crate) fn new(blocks: usize) -> Option<Self> {
        let layout = Layout::array::<Block>(blocks).ok().filter(|layout| layout.size() > 0)?;
        // SAFETY: the layout has a byte at least.
        let start = unsafe { alloc_zeroed(layout) };
        Some(Self { start: NonNull::new(start.cast())?, blocks, layout })
    }
}

impl Deref for Memory {
    type Target = [Block];
    fn deref(&self) -> &[Block] {
        // SAFETY: the allocation holds that many blocks and begins as zeros.
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
        // SAFETY: the allocation holds that many blocks, for which zeros are a value.
        unsafe { self.start.as_ptr().write_bytes(0, self.blocks) };
        std::hint::black_box(&mut **self);
        // SAFETY: it was allocated with this layout, and nothing borrows from it any more.
        unsafe { dealloc(self.start.as_ptr().cast(), self.layout) };
    }
}
