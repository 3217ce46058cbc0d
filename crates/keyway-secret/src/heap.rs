//! Memory for secrets on systems whose pages we can't lock yet: page-aligned, wiped before return, and that is all.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes to which a secret is aligned, as it would be in pages of its own.
const ALIGN: usize = 4096;

static IN_USE: AtomicBool = AtomicBool::new(false);

/// Whether every secret so far could be locked against swapping: true until there is one.
pub fn all_locked() -> bool {
    !IN_USE.load(Ordering::Relaxed)
}

pub(crate) struct Pages {
    start: NonNull<u8>,
    layout: Layout,
}

impl Pages {
    /// At least `len` zero bytes, page-aligned.
    #[allow(clippy::panic, reason = "out of address space ends a process in every allocator")]
    pub(crate) fn new(len: usize) -> Self {
        let Ok(layout) = Layout::from_size_align(len.max(1), ALIGN) else {
            panic!("out of memory for a secret of {len} bytes")
        };
        IN_USE.store(true, Ordering::Relaxed);
        // SAFETY: the layout has a byte at least.
        let start = unsafe { alloc_zeroed(layout) };
        match NonNull::new(start) {
            Some(start) => Self { start, layout },
            None => handle_alloc_error(layout),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation has the layout's size, began as zeros and lives with self.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`, and `&mut self` makes the borrow unique.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        crate::wipe(self.bytes_mut());
        // SAFETY: it was allocated with this layout, and nothing borrows from it any more.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

// SAFETY: the allocation has one owner and no thread affinity.
unsafe impl Send for Pages {}
// SAFETY: shared access is read-only.
unsafe impl Sync for Pages {}
