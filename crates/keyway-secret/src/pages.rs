//! Whole pages from the kernel between two that nobody may touch: locked, kept out of core dumps and children, wiped before
//! return.

use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mlock, mmap_anonymous, mprotect, munmap,
};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

static LOCK_FAILED: AtomicBool = AtomicBool::new(false);

/// Whether every secret so far could be locked against swapping.
pub fn all_locked() -> bool {
    !LOCK_FAILED.load(Ordering::Relaxed)
}

pub(crate) struct Pages {
    /// The secret's first byte, behind the first guard page.
    start: NonNull<u8>,
    /// Bytes of the secret, a whole number of pages.
    len: usize,
}

impl Pages {
    /// At least `len` zero bytes, page-aligned.
    #[allow(clippy::panic, reason = "out of address space ends a process in every allocator")]
    pub(crate) fn new(len: usize) -> Self {
        let page = rustix::param::page_size();
        let pages = len.max(1).checked_next_multiple_of(page);
        let Some(start) = pages.and_then(|len| map(len, page)) else {
            panic!("out of memory for a secret of {len} bytes")
        };
        Self { start, len: pages.unwrap_or_default() }
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
        crate::wipe(self.bytes_mut());
        let page = rustix::param::page_size();
        // SAFETY: the mapping with its two guards is ours and nothing borrows from it any more. Unmapping unlocks it.
        let _ = unsafe { munmap(self.start.as_ptr().sub(page).cast(), self.len + 2 * page) };
    }
}

/// `len` bytes, whole pages, with a page before and one behind that end the process which touches them: what overruns
/// another buffer never comes to a secret, and what overruns a secret goes no further.
fn map(len: usize, page: usize) -> Option<NonNull<u8>> {
    let whole = len.checked_add(2 * page)?;
    // SAFETY: an anonymous private mapping at an address the kernel chooses aliases nothing.
    let room = unsafe { mmap_anonymous(std::ptr::null_mut(), whole, ProtFlags::empty(), MapFlags::PRIVATE) };
    // SAFETY: `whole` bytes were mapped, more than a page.
    let start = unsafe { room.ok()?.cast::<u8>().add(page) };
    let address: *mut c_void = start.cast();
    // SAFETY: the calls below name exactly the middle of the mapping made above, which nobody uses yet.
    unsafe { mprotect(address, len, MprotectFlags::READ | MprotectFlags::WRITE) }.ok()?;
    // SAFETY: as above.
    if unsafe { mlock(address, len) }.is_err() {
        LOCK_FAILED.store(true, Ordering::Relaxed);
    }
    // SAFETY: as above; neither advice changes the contents for this process.
    let _ = unsafe { madvise(address, len, Advice::LinuxDontDump) };
    // SAFETY: as above. A forked child must not inherit the secret.
    let _ = unsafe { madvise(address, len, Advice::LinuxWipeOnFork) };
    NonNull::new(start)
}

// SAFETY: the mapping has one owner and no thread affinity.
unsafe impl Send for Pages {}
// SAFETY: shared access is read-only.
unsafe impl Sync for Pages {}
