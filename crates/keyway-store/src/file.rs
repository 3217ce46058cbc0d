//! A file or a block device as a store, through the page cache or past it.

use crate::{Operation, Store, StoreError};
use rustix::fs::{FallocateFlags, OFlags};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Whether a store may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Reads only.
    ReadOnly,
    /// Reads and writes.
    ReadWrite,
}

/// Whether the system's page cache stands between us and the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// Through the page cache.
    Buffered,
    /// Past it, for requests that are aligned; the file system that lies inside the volume has
    /// its own cache, a second one under it only costs memory. Falls back to `Buffered` where
    /// the medium does not offer direct I/O.
    Direct,
}

/// A file or block device.
pub struct FileStore {
    path: PathBuf,
    file: File,
    direct: Option<File>,
    align: usize,
    size: u64,
    sector_bytes: u32,
    block_device: bool,
    mode: OpenMode,
}

impl FileStore {
    /// Opens what is at `path`; it must exist and be a regular file or a block device.
    pub fn open(path: &Path, mode: OpenMode, caching: Caching) -> Result<Self, StoreError> {
        let fail = |e| StoreError::new(Operation::Open, path.display().to_string(), 0, 0, e);
        let file = options(mode).open(path).map_err(fail)?;
        let kind = file.metadata().map_err(fail)?.file_type();
        let block_device = kind.is_block_device();
        if !block_device && !kind.is_file() {
            let reason = "it is neither a file nor a block device";
            return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, reason)));
        }
        let size = (&file).seek(SeekFrom::End(0)).map_err(fail)?;
        let sector_bytes =
            if block_device { rustix::fs::ioctl_blksszget(&file).map_err(|e| fail(e.into()))? } else { 512 };
        let direct = match caching {
            Caching::Buffered => None,
            Caching::Direct => options(mode).custom_flags(OFlags::DIRECT.bits() as i32).open(path).ok(),
        };
        let align = direct.as_ref().map_or(512, direct_alignment).max(sector_bytes as usize);
        let path = path.to_owned();
        Ok(Self { path, file, direct, align, size, sector_bytes, block_device, mode })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is a block device rather than a file.
    pub fn is_block_device(&self) -> bool {
        self.block_device
    }

    /// Whether aligned requests bypass the page cache.
    pub fn is_direct(&self) -> bool {
        self.direct.is_some()
    }

    fn error(&self, op: Operation, offset: u64, len: usize, e: io::Error) -> StoreError {
        StoreError::new(op, self.path.display().to_string(), offset, len, e)
    }

    fn check(&self, op: Operation, offset: u64, len: usize) -> Result<(), StoreError> {
        match offset.checked_add(len as u64) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(StoreError::past_end(op, self.path.display().to_string(), offset, len, self.size)),
        }
    }

    /// The descriptor for a request: direct where its address, length and offset allow.
    fn for_request(&self, buf: &[u8], offset: u64) -> &File {
        match &self.direct {
            Some(direct)
                if offset.is_multiple_of(self.align as u64)
                    && buf.len().is_multiple_of(self.align)
                    && (buf.as_ptr() as usize).is_multiple_of(self.align) =>
            {
                direct
            }
            _ => &self.file,
        }
    }
}

fn options(mode: OpenMode) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(mode == OpenMode::ReadWrite);
    options
}

/// What the kernel asks of offsets and addresses for direct I/O; 4096 satisfies every device.
fn direct_alignment(file: &File) -> usize {
    rustix::fs::fstat(file).ok().map_or(4096, |_| 4096)
}

impl Store for FileStore {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.check(Operation::Read, offset, buf.len())?;
        let file = self.for_request(buf, offset);
        file.read_exact_at(buf, offset).map_err(|e| self.error(Operation::Read, offset, buf.len(), e))
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.check(Operation::Write, offset, buf.len())?;
        let file = self.for_request(buf, offset);
        file.write_all_at(buf, offset).map_err(|e| self.error(Operation::Write, offset, buf.len(), e))
    }

    fn flush(&self) -> Result<(), StoreError> {
        if self.mode == OpenMode::ReadOnly {
            return Ok(());
        }
        self.file.sync_data().map_err(|e| self.error(Operation::Flush, 0, 0, e))
    }

    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.check(Operation::Discard, offset, len as usize)?;
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match rustix::fs::fallocate(&self.file, flags, offset, len) {
            Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(()),
            Err(e) => Err(self.error(Operation::Discard, offset, len as usize, e.into())),
        }
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn is_read_only(&self) -> bool {
        self.mode == OpenMode::ReadOnly
    }
}
