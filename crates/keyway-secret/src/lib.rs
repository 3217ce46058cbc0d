//! Memory for keys and passwords: locked against swapping, left out of core dumps, wiped on drop.
//!
//! Two types. [`SecretBytes`] holds a run of bytes (a password, a derived key); [`Locked`] holds
//! one value of any type (a cipher's key schedule). Neither has `Debug`, `Clone` or `Serialize`.
//! Each lives in pages of its own between two that end the process which touches them, so locking or unlocking one never
//! touches another, and what overruns a buffer never comes to one.
//!
//! Locking can fail where `RLIMIT_MEMLOCK` is used up; the memory then still works, still is
//! wiped and still is left out of core dumps, and [`all_locked`] tells the caller to warn. On systems other
//! than Linux nothing is locked or left out yet: secrets are wiped, and [`all_locked`] says no.

#[cfg(not(target_os = "linux"))]
#[path = "heap.rs"]
mod pages;
#[cfg(target_os = "linux")]
mod pages;

use pages::Pages;
use std::ops::{Deref, DerefMut};

pub use pages::all_locked;

/// A run of secret bytes of a fixed length.
pub struct SecretBytes {
    pages: Pages,
    len: usize,
}

impl SecretBytes {
    /// `len` zero bytes.
    ///
    /// # Panics
    /// When the machine is out of address space, like any allocation.
    pub fn zeroed(len: usize) -> Self {
        Self { pages: Pages::new(len), len }
    }

    /// Moves `source` into locked memory and wipes it where it was.
    pub fn take(source: &mut [u8]) -> Self {
        let mut secret = Self::zeroed(source.len());
        secret.copy_from_slice(source);
        wipe(source);
        secret
    }

    /// Copies `source`, which stays with its owner. For parts of another secret.
    pub fn copy_of(source: &[u8]) -> Self {
        let mut secret = Self::zeroed(source.len());
        secret.copy_from_slice(source);
        secret
    }

    /// Reads everything from `reader`, refusing more than `limit` bytes, without ever growing a
    /// buffer outside locked memory.
    pub fn read_from(mut reader: impl std::io::Read, limit: usize) -> std::io::Result<Self> {
        let mut room = Self::zeroed(limit.saturating_add(1));
        let mut filled = 0;
        while filled <= limit {
            match reader.read(&mut room[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        if filled > limit {
            return Err(std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                format!("the secret is longer than {limit} bytes"),
            ));
        }
        Ok(Self::copy_of(&room[..filled]))
    }

    /// Shortens the secret; the bytes cut off are wiped at once.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len {
            wipe(&mut self[len..]);
            self.len = len;
        }
    }

    /// Compares in a time that does not depend on where the two differ.
    pub fn same_as(&self, other: &[u8]) -> bool {
        self.len == other.len()
            && self.iter().zip(other).fold(0u8, |acc, (a, b)| std::hint::black_box(acc | (a ^ b))) == 0
    }
}

impl Deref for SecretBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.pages.bytes()[..self.len]
    }
}

impl DerefMut for SecretBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        let len = self.len;
        &mut self.pages.bytes_mut()[..len]
    }
}

/// One value in locked memory: its destructor runs, then its bytes are wiped.
pub struct Locked<T> {
    pages: Pages,
    value: std::marker::PhantomData<T>,
}

impl<T> Locked<T> {
    /// Makes the value and moves it in; the stack that carried it is wiped.
    pub fn new(make: impl FnOnce() -> T) -> Self {
        const { assert!(align_of::<T>() <= 4096) };
        let mut pages = Pages::new(size_of::<T>());
        fill(&mut pages, make);
        wipe_stack();
        Self { pages, value: std::marker::PhantomData }
    }
}

#[inline(never)]
fn fill<T>(pages: &mut Pages, make: impl FnOnce() -> T) {
    // SAFETY: the pages are at least size_of::<T>() long, page-aligned, and nobody else's.
    unsafe { pages.bytes_mut().as_mut_ptr().cast::<T>().write(make()) };
}

/// Overwrites the part of the stack that calls just returned from have used.
#[inline(never)]
pub fn wipe_stack() {
    let mut below = [0u8; 64 * 1024];
    std::hint::black_box(&mut below);
    wipe(&mut below);
}

/// Overwrites all that a vector has room for: what it was shortened by is still there.
pub fn wipe_vec(mut bytes: Vec<u8>) {
    bytes.resize(bytes.capacity(), 0);
    wipe(&mut bytes);
}

/// Overwrites bytes with zeros, whatever becomes of them: in wide writes, where those that are volatile go byte by byte.
pub fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    zeroize::optimization_barrier(bytes);
}

impl<T> Deref for Locked<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: `new` put a valid T there and it stays until drop.
        unsafe { &*self.pages.bytes().as_ptr().cast::<T>() }
    }
}

impl<T> DerefMut for Locked<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as for `deref`, and `&mut self` makes the borrow unique.
        unsafe { &mut *self.pages.bytes_mut().as_mut_ptr().cast::<T>() }
    }
}

impl<T> Drop for Locked<T> {
    fn drop(&mut self) {
        // SAFETY: the value is valid and is not used again; the pages wipe themselves after.
        unsafe { self.pages.bytes_mut().as_mut_ptr().cast::<T>().drop_in_place() };
    }
}

// SAFETY: a Locked<T> owns its T exclusively, like a Box<T>.
unsafe impl<T: Send> Send for Locked<T> {}
// SAFETY: as above; `&Locked<T>` gives `&T` only.
unsafe impl<T: Sync> Sync for Locked<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn take_wipes_its_source() {
        let mut source = *b"correct horse";
        let secret = SecretBytes::take(&mut source);
        assert_eq!(&secret[..], b"correct horse");
        assert_eq!(source, [0; 13]);
    }

    #[test]
    fn an_empty_secret_is_fine() {
        assert!(SecretBytes::zeroed(0).is_empty());
    }

    #[test]
    fn truncate_wipes_what_it_cuts() {
        let mut secret = SecretBytes::copy_of(b"abcdef");
        secret.truncate(2);
        assert_eq!(&secret[..], b"ab");
        assert_eq!(&secret.pages.bytes()[..6], b"ab\0\0\0\0");
    }

    #[test]
    fn reading_more_than_the_limit_is_refused() {
        assert!(SecretBytes::read_from(&[7u8; 5][..], 4).is_err());
        assert_eq!(&SecretBytes::read_from(&[7u8; 4][..], 4).expect("fits")[..], [7; 4]);
    }

    #[test]
    fn comparison_sees_every_byte_and_the_length() {
        let secret = SecretBytes::copy_of(b"abc");
        assert!(secret.same_as(b"abc"));
        assert!(!secret.same_as(b"abd"));
        assert!(!secret.same_as(b"ab"));
    }

    #[test]
    fn locked_runs_the_destructor_once() {
        use std::sync::atomic::{AtomicU32, Ordering};
        static DROPS: AtomicU32 = AtomicU32::new(0);
        struct Counted(#[allow(dead_code)] u64);
        impl Drop for Counted {
            fn drop(&mut self) {
                DROPS.fetch_add(1, Ordering::SeqCst);
            }
        }
        drop(Locked::new(|| Counted(5)));
        assert_eq!(DROPS.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_guard_stands_before_and_behind() {
        let secret = SecretBytes::zeroed(5000);
        let (start, page) = (secret.as_ptr() as usize, 4096);
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
        let at = |address: usize| {
            maps.lines().find_map(|line| {
                let (range, rest) = line.split_once(' ')?;
                let (from, to) = range.split_once('-')?;
                let (from, to) = (usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?);
                (from..to).contains(&address).then(|| rest.get(..4)).flatten()
            })
        };
        assert_eq!(at(start - 1), Some("---p"));
        assert_eq!(at(start + 2 * page), Some("---p"));
        assert!(at(start).is_some_and(|access| access.starts_with("rw")));
    }

    #[test]
    fn a_secret_is_there_again_where_one_was_wiped() {
        for len in [1, 4096, 4097, 100_000] {
            let mut secret = SecretBytes::zeroed(len);
            assert!(secret.iter().all(|byte| *byte == 0));
            secret.fill(0xa5);
        }
    }

    #[test]
    fn the_pages_are_locked_and_not_dumped() {
        let secret = SecretBytes::copy_of(b"needle");
        let address = secret.as_ptr() as usize;
        let smaps = std::fs::read_to_string("/proc/self/smaps").expect("Linux");
        let mut inside = false;
        let mut flags = "";
        for line in smaps.lines() {
            if let Some((range, _)) = line.split_once(' ')
                && let Some((from, to)) = range.split_once('-')
                && let (Ok(from), Ok(to)) = (usize::from_str_radix(from, 16), usize::from_str_radix(to, 16))
            {
                inside = (from..to).contains(&address);
            }
            if inside && line.starts_with("VmFlags:") {
                flags = line;
            }
        }
        assert!(flags.contains(" dd"), "MADV_DONTDUMP is missing: {flags}");
        assert!(!all_locked() || flags.contains(" lo"), "mlock is missing: {flags}");
    }
}
