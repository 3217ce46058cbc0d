//! Whether the page cache answered: the kernel counts the bytes that a process had fetched from
//! block devices (`ru_inblock`, getrusage(2)). Where fewer were fetched than were
//! read, memory answered.
//!
//! Not every file's bytes come from a block device (FUSE, network file systems, tmpfs); whether they
//! do is found out by fetching one block past the cache and looking whether it was counted.

use crate::cell::{Cell, Mix};
use crate::sectors::Subject;
use keyway_store::AlignedBuf;
use keyway_sys::bytes_fetched;
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// The part of what was read that must have been fetched; the rest allows for what the ramp read
/// before, and for blocks that were read twice in a moment.
const FETCHED: f64 = 0.8;

/// Watches one turn.
pub(super) struct CacheWatch {
    /// Bytes fetched until now, where that tells anything.
    before: Option<u64>,
}

impl CacheWatch {
    pub(super) fn start(subject: &Subject, cell: &Cell) -> Self {
        let counted = match subject {
            Subject::File { path, start, .. } if cell.mix != Mix::Write => counts(path, *start),
            _ => false,
        };
        Self { before: counted.then(bytes_fetched).flatten() }
    }

    /// Whether fewer bytes were fetched than `bytes_read`.
    pub(super) fn answered(&self, bytes_read: u64) -> bool {
        let fetched = self.before.zip(bytes_fetched()).map(|(before, now)| now.saturating_sub(before));
        fetched.is_some_and(|fetched| (fetched as f64) < bytes_read as f64 * FETCHED)
    }
}

/// Whether reading this file past the cache is counted as fetched.
fn counts(path: &Path, start: u64) -> bool {
    let open = OpenOptions::new().read(true).custom_flags(OFlags::DIRECT.bits() as i32).open(path);
    let (Ok(file), Some(before)) = (open, bytes_fetched()) else { return false };
    let mut block = AlignedBuf::zeroed(4096);
    let read = file.read_exact_at(&mut block, start.next_multiple_of(4096));
    read.is_ok() && bytes_fetched().is_some_and(|now| now >= before + 4096)
}
