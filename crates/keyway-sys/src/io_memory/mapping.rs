//! Memory straight from the kernel: whole huge pages where it has them, ordinary ones where not.

use rustix::mm::{
    Advice, MapFlags, MlockFlags, ProtFlags, madvise, mlock_with, mmap_anonymous, munlock, munmap,
};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities, transparent_huge_pages_are_disabled};
use std::ffi::c_void;
use std::io;
use std::ptr::{NonNull, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A huge page of most architectures, in bytes (`Documentation/admin-guide/mm/transhuge.rst`).
pub(super) const HUGE: usize = 2 << 20;

/// Bytes that are mapped now,
pub(super) static MAPPED: AtomicUsize = AtomicUsize::new(0);
/// and those of them that are kept out of swap.
pub(super) static LOCKED: AtomicUsize = AtomicUsize::new(0);

const ACCESS: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

/// A mapping that begins with a huge page and is a multiple of one long.
///
/// Pages come with the first touch. They are left out of core dumps and of children: a child that copies a page which
/// a drive is just writing to would have one of the two lose it.
pub(super) struct Mapping {
    start: NonNull<u8>,
    len: usize,
    locked: bool,
    /// It is from the pages that were set aside when the system was set up (`hugetlbfs`).
    reserved: bool,
}

impl Mapping {
    /// At least `bytes` zeros.
    pub(super) fn zeroed(bytes: usize) -> io::Result<Self> {
        let none = || io::Error::from(io::ErrorKind::OutOfMemory);
        let len = bytes.max(1).checked_next_multiple_of(HUGE).ok_or_else(none)?;
        let (start, reserved) = match set_aside(len) {
            Some(start) => (start, true),
            None => (map(len).ok_or_else(none)?, false),
        };
        // A refused advice costs speed, or is for what can't happen there.
        for advice in [Advice::LinuxHugepage, Advice::LinuxDontDump, Advice::LinuxDontFork] {
            // SAFETY: the mapping just made, whole; none of the three changes a byte of it.
            let _ = unsafe { madvise(start.as_ptr().cast(), len, advice) };
        }
        MAPPED.fetch_add(len, Ordering::Relaxed);
        let mut mapping = Self { start, len, locked: false, reserved };
        mapping.lock();
        Ok(mapping)
    }

    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn address(&self) -> *mut c_void {
        self.start.as_ptr().cast()
    }

    /// Keeps it out of swap, as far as that is allowed. Pages that are set aside are never swapped.
    fn lock(&mut self) {
        let before = LOCKED.fetch_add(self.len, Ordering::Relaxed);
        let allowed = before.saturating_add(self.len) <= lockable();
        // SAFETY: the mapping is ours; locking changes no byte. Pages are locked when they come.
        self.locked = self.reserved
            || allowed && unsafe { mlock_with(self.address(), self.len, MlockFlags::ONFAULT) }.is_ok();
        if !self.locked {
            LOCKED.fetch_sub(self.len, Ordering::Relaxed);
        }
    }

    /// Gives the pages back to the system. What is in them is lost: they read as zeros.
    pub(super) fn empty(&mut self) {
        // One that is set aside might be somebody else's by the time it is wanted again.
        if self.reserved {
            return;
        }
        if self.locked {
            // SAFETY: the mapping is ours. Locked pages are not given back (before Linux 5.18 not on request either).
            let _ = unsafe { munlock(self.address(), self.len) };
            LOCKED.fetch_sub(self.len, Ordering::Relaxed);
        }
        // SAFETY: the mapping is ours alone, `&mut self` says that nobody has a reference into it, and zeros are
        // as good as what was there.
        let _ = unsafe { madvise(self.address(), self.len, Advice::LinuxDontNeed) };
        self.lock();
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `zeroed` with this length and unmapped only here; nobody refers to it any more.
        let _ = unsafe { munmap(self.address(), self.len) };
        MAPPED.fetch_sub(self.len, Ordering::Relaxed);
        if self.locked {
            LOCKED.fetch_sub(self.len, Ordering::Relaxed);
        }
    }
}

// SAFETY: the mapping has one owner and no thread affinity.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference gives nothing but the address.
unsafe impl Sync for Mapping {}

/// Maps so many bytes where a huge page begins.
fn map(len: usize) -> Option<NonNull<u8>> {
    let whole = len.checked_add(HUGE)?;
    // SAFETY: a new mapping at a place of the kernel's choice; its length is not 0.
    let mapped = unsafe { mmap_anonymous(null_mut(), whole, ACCESS, MapFlags::PRIVATE) }.ok()?;
    let mapped = mapped.cast::<u8>();
    let before = mapped.align_offset(HUGE);
    let start = mapped.wrapping_add(before);
    // What lies before it and behind it, whole pages both, goes back.
    for (from, len) in [(mapped, before), (start.wrapping_add(len), HUGE - before)] {
        if len > 0 {
            // SAFETY: a part of the mapping just made, of which nobody knows, and outside of `start..start + len`.
            let _ = unsafe { munmap(from.cast(), len) };
        }
    }
    NonNull::new(start)
}

/// Maps pages that were set aside, where there are no others that are huge.
fn set_aside(len: usize) -> Option<NonNull<u8>> {
    if !are_wanted() {
        return None;
    }
    let flags = MapFlags::PRIVATE.union(MapFlags::HUGETLB).union(MapFlags::HUGE_2MB);
    // SAFETY: a new mapping at a place of the kernel's choice. It reserves all its pages or fails.
    let mapped = unsafe { mmap_anonymous(null_mut(), len, ACCESS, flags) }.ok()?;
    NonNull::new(mapped.cast())
}

/// Finds out what can be found out only as long as this process may open files, and has its rights.
pub(crate) fn find_out() {
    are_wanted();
    lockable();
}

/// Whether pages that were set aside are to be tried.
fn are_wanted() -> bool {
    static WANTED: OnceLock<bool> = OnceLock::new();
    *WANTED.get_or_init(|| !given_when_asked())
}

/// Whether the kernel makes huge pages for whoever asks for them.
fn given_when_asked() -> bool {
    let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    let switched_on = setting.is_ok_and(|setting| !setting.contains("[never]"));
    switched_on && !transparent_huge_pages_are_disabled().unwrap_or(false)
}

/// How many bytes may be locked: as many as one likes with the right to, else half of the limit, for secrets come
/// first and want the rest.
fn lockable() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let rights = capabilities(None).is_ok_and(|had| had.effective.contains(CapabilitySet::IPC_LOCK));
        let limit = getrlimit(Resource::Memlock).current.filter(|_| !rights);
        limit.map_or(usize::MAX, |bytes| usize::try_from(bytes / 2).unwrap_or(usize::MAX))
    })
}
