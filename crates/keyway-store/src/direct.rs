//! Direct I/O: whether a file or device has it, and which requests it takes.

use crate::AlignedBuf;
use rustix::fs::{AtFlags, OFlags, StatxFlags, statx};
use rustix::io::{Errno, IoSliceMut, ReadWriteFlags, preadv2};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
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

    /// `None` where a transfer is done while the caller waits, as in memory.
    pub(crate) fn queueable<'a>(&'a self, claim: &'a File) -> Option<DirectFile<'a>> {
        let mut block = AlignedBuf::zeroed(self.offset_align.max(self.memory_align));
        let into = &mut [IoSliceMut::new(&mut block)];
        // EAGAIN: yes, and this one would have waited. Else it says that it can't tell.
        match preadv2(&self.file, into, 0, ReadWriteFlags::NOWAIT) {
            Ok(_) | Err(Errno::AGAIN) if self.works() => Some(DirectFile {
                file: self.file.as_fd(),
                claim: claim.as_fd(),
                offset_align: self.offset_align,
                memory_align: self.memory_align,
            }),
            _ => None,
        }
    }
}

/// A file without a page cache whose transfers can be queued: the system does them on its own.
pub struct DirectFile<'a> {
    /// The file.
    pub file: BorrowedFd<'a>,
    /// What keeps others from writing to it as long as it is open. Whoever queues transfers lets the
    /// system keep it open until the last is over: those of a killed process go on without it.
    pub claim: BorrowedFd<'a>,
    /// Offsets and lengths are multiples of so many bytes,
    pub offset_align: usize,
    /// and addresses in memory of so many.
    pub memory_align: usize,
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
