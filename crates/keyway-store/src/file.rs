//! A file or a block device as a store, through the page cache or past it.
//!
//! Two descriptors serve it: one through the page cache, and one past it for requests whose offset,
//! length and address in memory the medium takes directly. The kernel keeps the two coherent: a
//! direct write takes the pages it covers out of the cache, a direct read writes them back first.
//! They never meet on one page in writes that do not overlap, because a direct request covers
//! whole units of the alignment, and what is smaller always goes through the cache.
//!
//! A store that writes is claimed: no other process, and no other store in this one, can open the same bytes for
//! writing at the same time, by whatever name, and nobody can mount a device that is claimed. Readers are not kept
//! away.

use crate::claim::{Claimed, Elsewhere};
use crate::direct::{Direct, DirectFile};
use crate::mode::{Caching, OpenMode};
use crate::{Operation, Store, StoreError, claim};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A file or block device.
pub struct FileStore {
    path: PathBuf,
    file: File,
    direct: Option<Direct>,
    size: u64,
    sector_bytes: u32,
    block_device: bool,
    mode: OpenMode,
    claimed: bool,
    /// The same bytes by other names; shared with clones.
    elsewhere: Option<Arc<Elsewhere>>,
    /// A flush has failed; shared with clones, which share the medium.
    lost_writes: Arc<AtomicBool>,
}

impl FileStore {
    /// Opens what is at `path`; it must exist and be a regular file or a block device.
    ///
    /// # Errors
    /// `ErrorKind::ResourceBusy`, an [`InUse`](crate::InUse), when somebody else has the same bytes open for writing
    /// or mounted, by this name or by another one;
    /// `ErrorKind::InvalidInput` when it is something else; the system's reason.
    pub fn open(path: &Path, mode: OpenMode, caching: Caching) -> Result<Self, StoreError> {
        Self::open_as(path, path, mode, caching)
    }

    /// The same, by another path (a descriptor's in `/proc/self/fd`, say) than the one it is known by.
    pub fn open_as(path: &Path, name: &Path, mode: OpenMode, caching: Caching) -> Result<Self, StoreError> {
        let fail = |e| StoreError::new(Operation::Open, name, 0, 0, e);
        let kind = path.metadata().map_err(fail)?.file_type();
        claim::must_hold_sectors(kind).map_err(fail)?;
        let block_device = kind.is_block_device();
        let options = options(mode);
        let (file, claimed, elsewhere) = match mode {
            OpenMode::ReadOnly => (options.open(path).map_err(fail)?, false, None),
            OpenMode::ReadWrite => {
                let Claimed { file, locked, elsewhere } =
                    claim::open(path, name, &options, block_device).map_err(fail)?;
                (file, locked, Some(Arc::new(elsewhere)))
            }
        };
        Self::of(file, path, name, mode, caching).map(|store| Self { claimed, elsewhere, ..store })
    }

    /// To read and to write, beside whoever has it open and builds on it. For who lets other programs do that, and knows
    /// that nothing of it is worth keeping.
    ///
    /// # Errors
    /// It is neither a file nor a block device; the system's reason.
    pub fn open_unclaimed(path: &Path, caching: Caching) -> Result<Self, StoreError> {
        let fail = |e| StoreError::new(Operation::Open, path, 0, 0, e);
        claim::must_hold_sectors(path.metadata().map_err(fail)?.file_type()).map_err(fail)?;
        let file = options(OpenMode::ReadWrite).open(path).map_err(fail)?;
        Self::of(file, path, path, OpenMode::ReadWrite, caching)
    }

    /// What was opened, without a claim.
    fn of(
        file: File,
        path: &Path,
        name: &Path,
        mode: OpenMode,
        caching: Caching,
    ) -> Result<Self, StoreError> {
        let fail = |e| StoreError::new(Operation::Open, name, 0, 0, e);
        let block_device = file.metadata().map_err(fail)?.file_type().is_block_device();
        let size = (&file).seek(SeekFrom::End(0)).map_err(fail)?;
        let sector_bytes =
            if block_device { rustix::fs::ioctl_blksszget(&file).map_err(|e| fail(e.into()))? } else { 512 };
        let direct = match caching {
            Caching::Buffered => None,
            Caching::Direct => Direct::open(path, options(mode), sector_bytes as usize),
        };
        let lost_writes = Arc::default();
        let path = name.to_owned();
        Ok(Self {
            path,
            file,
            direct,
            size,
            sector_bytes,
            block_device,
            mode,
            claimed: false,
            elsewhere: None,
            lost_writes,
        })
    }

    /// A second handle on the same open file: one claim holds for both.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn try_clone(&self) -> Result<Self, StoreError> {
        let fail = |e| StoreError::new(Operation::Open, &*self.path, 0, 0, e);
        Ok(Self {
            path: self.path.clone(),
            file: self.file.try_clone().map_err(fail)?,
            direct: self.direct.as_ref().map(Direct::try_clone).transpose().map_err(fail)?,
            elsewhere: self.elsewhere.clone(),
            lost_writes: self.lost_writes.clone(),
            ..*self
        })
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
        self.direct.as_ref().is_some_and(Direct::works)
    }

    fn error(&self, op: Operation, offset: u64, len: usize, e: io::Error) -> StoreError {
        StoreError::new(op, &*self.path, offset, len, e)
    }

    fn check(&self, op: Operation, offset: u64, len: usize) -> Result<(), StoreError> {
        match offset.checked_add(len as u64) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(StoreError::past_end(op, &*self.path, offset, len, self.size)),
        }
    }

    /// Moves `len` bytes in as many calls as it takes: `step(file, done)` moves some of those from
    /// `done` on, whose first is at `address(done)` in memory, and 0 at the end of the file.
    fn transfer(
        &self,
        offset: u64,
        memory: usize,
        len: usize,
        mut step: impl FnMut(&File, usize, u64) -> io::Result<usize>,
    ) -> io::Result<()> {
        let mut done = 0;
        while done < len {
            let at = offset + done as u64;
            let direct = self.direct.as_ref().filter(|d| d.takes(memory + done, len - done, at));
            match step(direct.map_or(&self.file, Direct::file), done, at) {
                Ok(0) => return Err(StoreError::shorter(self.size)),
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                // The alignment is not what we were told, or the file system only says so now.
                Err(e) if e.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => match direct {
                    Some(direct) => direct.give_up(),
                    None => return Err(e),
                },
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()?;
        // Writes past the end of a file that was cut under us grow it again and look well.
        if !self.block_device && self.file.metadata()?.len() < self.size {
            return Err(StoreError::shorter(self.size));
        }
        Ok(())
    }
}

fn options(mode: OpenMode) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(mode == OpenMode::ReadWrite);
    options
}

impl Store for FileStore {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.check(Operation::Read, offset, buf.len())?;
        let (memory, len) = (buf.as_ptr().addr(), buf.len());
        self.transfer(offset, memory, len, |file, done, at| {
            file.read_at(buf.get_mut(done..).unwrap_or_default(), at)
        })
        .map_err(|e| self.error(Operation::Read, offset, len, e))
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.check(Operation::Write, offset, buf.len())?;
        self.transfer(offset, buf.as_ptr().addr(), buf.len(), |file, done, at| {
            file.write_at(buf.get(done..).unwrap_or_default(), at)
        })
        .map_err(|e| self.error(Operation::Write, offset, buf.len(), e))
    }

    /// After a flush has failed the kernel may have thrown the pages away and call the next flush a
    /// success; so once one has failed, all later ones do.
    fn flush(&self) -> Result<(), StoreError> {
        if self.mode == OpenMode::ReadOnly {
            return Ok(());
        }
        let done = if self.lost_writes.load(Ordering::Acquire) {
            Err(io::Error::other("an earlier flush failed, and what was written before it may be lost"))
        } else {
            self.sync()
        };
        done.map_err(|e| {
            self.lost_writes.store(true, Ordering::Release);
            self.error(Operation::Flush, 0, 0, e)
        })
    }

    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        let refuse = |e: io::Error| self.error(Operation::Discard, offset, len as usize, e);
        if self.mode == OpenMode::ReadOnly {
            return Err(refuse(io::ErrorKind::ReadOnlyFilesystem.into()));
        }
        self.check(Operation::Discard, offset, len as usize)?;
        let sector = u64::from(self.sector_bytes);
        let from = offset.div_ceil(sector).saturating_mul(sector);
        let len = ((offset + len) / sector * sector).saturating_sub(from);
        if len == 0 {
            return Ok(());
        }
        let done = if self.block_device {
            keyway_sys::discard_blocks(&self.file, from, len)
        } else {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(&self.file, flags, from, len).map_err(io::Error::from)
        };
        match done.as_ref().map_err(io::Error::raw_os_error).err().flatten().map(Errno::from_raw_os_error) {
            // What can't be done need not be done.
            Some(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOTTY) => Ok(()),
            _ => done.map_err(refuse),
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

    fn is_claimed(&self) -> bool {
        self.claimed
    }

    fn queueable(&self) -> Option<DirectFile<'_>> {
        self.direct.as_ref().and_then(|direct| direct.queueable(&self.file))
    }
}
