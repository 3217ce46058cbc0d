//! How many processors this process may use: found out once, while it may open the files that say so.

use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// How many there were when it was asked first, before any thread had a place of its own.
pub(crate) fn cpus() -> usize {
    static CPUS: OnceLock<usize> = OnceLock::new();
    *CPUS.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZeroUsize::get))
}
