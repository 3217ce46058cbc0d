//! Direct I/O: whether a file or device has it, and which requests it takes.

use rustix::fs::{AtFlags, OFlags, StatxFlags, statx};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What every device and file system takes, for kernels that do not tell (before 6.1).
const SAFE: usize = 4096;

/// A descriptor that bypasses the page cache.
pub(crate) struct Direct {
    file: File,
    /// Offsets and lengths are multiples of this.
    offset_align: usize,
    /// Addresses are multiples of this.
    memory_align: usize,
    refused: Arc<AtomicBool>,
}

impl Direct {
    /// `None`: only through the cache.
    pub(crate) fn open(path: &Path, mut options: OpenOptions, sector_bytes: usize) -> Option<Self> {
        let file = options.custom_flags(OFlags::DIRECT.bits() as i32).open(path).ok()?;
        let (memory_align, offset_align) = alignment(&file)?;
        let offset_align = offset_align.max(sector_bytes);
        Some(Self { file, offset_align, memory_align, refused: Arc::default() })
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()?, refused: self.refused.clone(), ..*self })
    }

    /// Whether a request may go this way.
    pub(crate) fn takes(&self, address: usize, len: usize, offset: u64) -> bool {
        offset.is_multiple_of(self.offset_align as u64)
            && len.is_multiple_of(self.offset_align)
            && address.is_multiple_of(self.memory_align)
            && self.works()
    }

    /// From now on everything goes through the cache.
    pub(crate) fn give_up(&self) {
        self.refused.store(true, Ordering::Relaxed);
    }

    pub(crate) fn works(&self) -> bool {
        !self.refused.load(Ordering::Relaxed)
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

/// Alignment of memory and of offsets, in bytes, as statx(2) tells it; `None` where it says that
/// there is no direct I/O.
fn alignment(file: &File) -> Option<(usize, usize)> {
    match statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN) {
        Ok(told) if told.stx_mask & StatxFlags::DIOALIGN.bits() != 0 => {
            let (memory, offset) = (told.stx_dio_mem_align as usize, told.stx_dio_offset_align as usize);
            (memory > 0 && offset > 0).then_some((memory, offset))
        }
        _ => Some((SAFE, SAFE)),
    }
}
