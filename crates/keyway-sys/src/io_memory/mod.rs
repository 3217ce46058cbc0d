//! Memory that requests are moved through, in huge pages.
//!
//! A drive takes a request in pieces of memory that lie side by side, and the system maps each of them. 1 MiB in
//! ordinary pages is up to 256 of them, more than many a drive takes at once; in huge pages it is one or two.
//!
//! Blocks of one huge page each are shared: what is smaller gets as many of a block's 32 parts as it needs, side by
//! side. What is larger has a mapping of its own. What goes back is wiped, so that everything handed out is zeros and
//! no plaintext lies about in what nobody uses; a block that nobody has a part of goes back to the system, but
//! for one.

mod mapping;

pub(crate) use mapping::find_out;
use mapping::{HUGE, LOCKED, MAPPED, Mapping};
use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A block's parts, in bytes: less than one is not worth a part.
const PART: usize = HUGE / u32::BITS as usize;

/// Bytes that are handed out.
static LENT: AtomicUsize = AtomicUsize::new(0);

static POOL: Mutex<Vec<Block>> = Mutex::new(Vec::new());

/// What the process has of such memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoMemoryUse {
    /// Bytes that it may touch; those that were never touched, or given back since, take no memory.
    pub mapped: usize,
    /// Bytes of them that somebody has.
    pub lent: usize,
    /// Bytes of `mapped` that are kept out of swap.
    pub locked: usize,
}

/// Some of it: zeros at first, starting on a page.
pub struct IoMemory {
    start: NonNull<u8>,
    len: usize,
    /// What it has for itself; `None` where it is part of a block.
    own: Option<Mapping>,
}

/// One huge page.
struct Block {
    mapping: Mapping,
    /// A bit for each part: somebody has it.
    taken: u32,
}

impl IoMemory {
    /// What is smaller had better come from elsewhere.
    pub const SMALLEST: usize = PART;

    /// At least `bytes` zeros.
    ///
    /// # Errors
    /// The kernel has no memory, or no place for it.
    pub fn zeroed(bytes: usize) -> io::Result<Self> {
        let memory = match bytes {
            0..=HUGE => part_of_a_block(bytes.div_ceil(PART).max(1))?,
            _ => {
                let mapping = Mapping::zeroed(bytes)?;
                Self { start: mapping.start(), len: mapping.len(), own: Some(mapping) }
            }
        };
        LENT.fetch_add(memory.len, Ordering::Relaxed);
        Ok(memory)
    }

    /// At least `bytes` zeros that are shared with nobody, so that they can be emptied.
    ///
    /// # Errors
    /// As for `zeroed`.
    pub fn apart(bytes: usize) -> io::Result<Self> {
        let mapping = Mapping::zeroed(bytes)?;
        LENT.fetch_add(mapping.len(), Ordering::Relaxed);
        Ok(Self { start: mapping.start(), len: mapping.len(), own: Some(mapping) })
    }

    /// Makes all of it zeros. What is shared with nobody takes no memory then, until it is touched.
    pub fn empty(&mut self) {
        match &mut self.own {
            Some(mapping) => mapping.empty(),
            None => self.fill(0),
        }
    }

    /// What the process has.
    pub fn in_use() -> IoMemoryUse {
        let [mapped, lent, locked] = [&MAPPED, &LENT, &LOCKED].map(|count| count.load(Ordering::Relaxed));
        IoMemoryUse { mapped, lent, locked }
    }

    /// Where it begins, for whoever gives parts of it to the kernel.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Deref for IoMemory {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: `len` bytes from `start` on are mapped, initialised by the kernel, and ours alone until `drop`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for IoMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` makes the borrow the only one.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for IoMemory {
    fn drop(&mut self) {
        LENT.fetch_sub(self.len, Ordering::Relaxed);
        if self.own.is_none() {
            // Nobody sees it until the block says that it is free.
            self.fill(0);
            give_back(self.start, self.len / PART);
        }
    }
}

// SAFETY: the bytes have one owner and no thread affinity.
unsafe impl Send for IoMemory {}
// SAFETY: shared access is read-only.
unsafe impl Sync for IoMemory {}

impl Block {
    /// The bits of `parts` free parts side by side, and the first one's number.
    fn room_for(&self, parts: usize) -> Option<(u32, usize)> {
        let run = bits(parts);
        let last = (u32::BITS as usize).checked_sub(parts)?;
        (0..=last).map(|first| (run << first, first)).find(|(run, _)| self.taken & run == 0)
    }
}

/// The lowest `parts` bits.
fn bits(parts: usize) -> u32 {
    u32::MAX.checked_shr(u32::BITS - parts.clamp(1, 32) as u32).unwrap_or_default()
}

fn pool() -> MutexGuard<'static, Vec<Block>> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

fn part_of_a_block(parts: usize) -> io::Result<IoMemory> {
    let mut pool = pool();
    let found =
        pool.iter_mut().find_map(|block| block.room_for(parts).map(|(run, first)| (block, run, first)));
    let (block, run, first) = match found {
        Some(found) => found,
        None => {
            pool.push(Block { mapping: Mapping::zeroed(HUGE)?, taken: 0 });
            (pool.last_mut().ok_or(io::ErrorKind::OutOfMemory)?, bits(parts), 0)
        }
    };
    block.taken |= run;
    // SAFETY: `room_for` found the parts inside of the block.
    let start = unsafe { block.mapping.start().add(first * PART) };
    Ok(IoMemory { start, len: parts * PART, own: None })
}

fn give_back(start: NonNull<u8>, parts: usize) {
    let mut pool = pool();
    let block = start.as_ptr().addr() & !(HUGE - 1);
    let first = (start.as_ptr().addr() - block) / PART;
    if let Some(block) = pool.iter_mut().find(|b| b.mapping.start().as_ptr().addr() == block) {
        block.taken &= !(bits(parts) << first);
    }
    // One is kept for whoever comes next.
    let mut kept = false;
    pool.retain(|block| block.taken != 0 || !std::mem::replace(&mut kept, true));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_bits() {
        assert_eq!([bits(1), bits(4), bits(32)], [1, 0b1111, u32::MAX]);
        let block = |taken| Block { mapping: Mapping::zeroed(HUGE).expect("memory"), taken };
        assert_eq!(block(0b1101).room_for(1), Some((0b10, 1)));
        assert_eq!(block(0b1101).room_for(2), Some((0b11_0000, 4)));
        assert_eq!(block(u32::MAX >> 1).room_for(1), Some((1 << 31, 31)));
        assert_eq!(block(u32::MAX >> 1).room_for(2), None);
        assert_eq!(block(1).room_for(32), None);
        assert_eq!(block(0).room_for(32), Some((u32::MAX, 0)));
    }
}
