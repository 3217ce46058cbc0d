//! Whole pages from the kernel, locked, kept out of core dumps and children, wiped before return.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mlock, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use zeroize::Zeroize;

static LOCK_FAILED: AtomicBool = AtomicBool::new(false);

/// Whether every secret so far could be locked against swapping.
pub fn all_locked() -> bool {
    !LOCK_FAILED.load(Ordering::Relaxed)
}

pub(crate) struct Pages {
    start: NonNull<u8>,
    len: usize,
}

impl Pages {
    /// At least `len` zero bytes, page-aligned. The kernel rounds the mapping up by itself.
    #[allow(clippy::panic, reason = "out of address space ends a process in every allocator")]
    pub(crate) fn new(len: usize) -> Self {
        let len = len.max(1);
        // SAFETY: an anonymous private mapping at an address the kernel chooses aliases nothing.
        let mapped = unsafe {
            mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        let start = match mapped.ok().and_then(|p| NonNull::new(p.cast::<u8>())) {
            Some(start) => start,
            None => panic!("out of memory for a secret of {len} bytes"),
        };
        let address: *mut c_void = start.as_ptr().cast();
        // SAFETY: the three calls below name exactly the mapping made above.
        if unsafe { mlock(address, len) }.is_err() {
            LOCK_FAILED.store(true, Ordering::Relaxed);
        }
        // SAFETY: as above; neither advice changes the contents for this process.
        let _ = unsafe { madvise(address, len, Advice::LinuxDontDump) };
        // SAFETY: as above. A forked child must not inherit the secret.
        let _ = unsafe { madvise(address, len, Advice::LinuxWipeOnFork) };
        Self { start, len }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is `len` bytes long, initialised (zero pages) and lives with self.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`, and `&mut self` makes the borrow unique.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.bytes_mut().zeroize();
        // SAFETY: the mapping is ours and nothing borrows from it any more. Unmapping unlocks it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

// SAFETY: the mapping has one owner and no thread affinity.
unsafe impl Send for Pages {}
// SAFETY: shared access is read-only.
unsafe impl Sync for Pages {}
