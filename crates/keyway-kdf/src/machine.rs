//! What this machine has to derive keys with: cores, and memory that is free.
//!
//! Both are asked for by paths. Whoever gives up all paths before it derives a key has them found out before.

use std::fs::File;
use std::io::{Read, Seek};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Memory that could be had, in KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeMemory {
    /// Without swapping.
    pub ram_kib: u64,
    /// In swap.
    pub swap_kib: u64,
}

const MEMINFO: &str = "/proc/meminfo";

static CORES: OnceLock<usize> = OnceLock::new();

/// Kept open, so that it can be read again; nothing where it can't be opened.
static KEPT: OnceLock<Option<Mutex<File>>> = OnceLock::new();

/// Has keys derived later by a process that opens nothing any more then: as many threads, and as much memory, as before.
pub fn look_ahead() {
    CORES.get_or_init(count);
    KEPT.get_or_init(|| File::open(MEMINFO).ok().map(Mutex::new));
}

/// How many threads compute side by side.
pub fn cores() -> usize {
    CORES.get().copied().unwrap_or_else(count)
}

fn count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What could be had now without driving the machine into the ground. The kernel would promise more and kill the process
/// later (overcommit).
pub fn free_memory() -> Option<FreeMemory> {
    let text = match KEPT.get() {
        Some(kept) => read_again(kept.as_ref()?)?,
        None => std::fs::read_to_string(MEMINFO).ok()?,
    };
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    Some(FreeMemory { ram_kib: field("MemAvailable:")?, swap_kib: field("SwapFree:").unwrap_or(0) })
}

/// One at a time: they share the place in the file.
fn read_again(kept: &Mutex<File>) -> Option<String> {
    let mut file = kept.lock().unwrap_or_else(PoisonError::into_inner);
    file.rewind().ok()?;
    let mut text = String::new();
    file.read_to_string(&mut text).ok().map(|_| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_at_ahead_is_known_again_and_again() {
        let (cores, free) = (cores(), free_memory());
        look_ahead();
        assert_eq!(super::cores(), cores);
        for _ in 0..3 {
            assert_eq!(free_memory().is_some(), free.is_some());
        }
        assert!(KEPT.get().is_some_and(|kept| kept.is_some() == free.is_some()));
    }
}
