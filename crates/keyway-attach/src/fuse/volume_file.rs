//! The file system: one folder, one file, and what each FUSE request does to them.
//!
//! It knows nothing of how requests arrive. A transport hands over the request's parts and one
//! buffer; data that was written lies in that buffer, data that is read goes into it.

use super::abi::{self, op};
use super::request::{Answer, FileSystem, Request, VALID_SECONDS, agree, parse, reply};
use keyway_engine::{Device, DeviceError, Transfer};
use keyway_store::DirectFile;
use keyway_sys::Direction;
use rustix::io::Errno;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use zerocopy::{FromZeros, IntoBytes};

/// Name of the only file.
pub(crate) const FILE_NAME: &str = "volume";
/// A read or write whose bytes are on their way.
pub(crate) struct Underway<'a> {
    file: &'a VolumeFile,
    transfer: Transfer<'a>,
    pub(crate) unique: u64,
    opcode: u32,
    pub(crate) len: usize,
}

impl Underway<'_> {
    pub(crate) fn direction(&self) -> Direction {
        if self.opcode == op::READ { Direction::FromFile } else { Direction::ToFile }
    }

    /// Where in the store's file.
    pub(crate) fn store_offset(&self) -> u64 {
        self.transfer.store_offset()
    }

    /// So many bytes were moved, or it went wrong.
    pub(crate) fn finish(self, buffer: &mut [u8], moved: Option<usize>) -> Answer {
        let (opcode, len) = (self.opcode, self.len);
        let Some(data) = buffer.get_mut(..len) else { return Answer::Error(Errno::INVAL) };
        if let Err(e) = self.transfer.finish(data, moved == Some(len)) {
            return Answer::Error(self.file.failed(opcode, e));
        }
        if opcode == op::READ {
            return Answer::Bytes(len);
        }
        written(buffer, len).unwrap_or_else(Answer::Error)
    }
}

/// What becomes of a hole that is punched in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Holes {
    /// It is refused. Everybody can write zeros instead, and a loop device then knows that it has no
    /// discards to offer: `mkfs` would have them all written as encrypted zeros.
    Refused,
    /// The same, for the moment in which a loop device is to learn that ranges can't be zeroed: that is
    /// refused, and zeros that are written instead are taken no notice of.
    Tried,
    /// The medium is told that it is not needed: only a loop device's discards make holes. What they read
    /// as afterwards is undefined.
    Discards,
}

/// A device as a file in a folder.
pub(crate) struct VolumeFile {
    device: Arc<Device>,
    /// A [`Holes`].
    holes: AtomicU8,
    /// What is written has waited in a page cache, and who wrote it was told that it was taken.
    cached: bool,
    uid: u32,
    gid: u32,
    opened: u64,
}

impl VolumeFile {
    /// `cached`: what is written has waited in the page cache of a loop device on the file.
    pub(crate) fn new(device: Arc<Device>, cached: bool) -> Self {
        let opened = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        Self {
            device,
            holes: AtomicU8::new(Holes::Refused as u8),
            cached,
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
            opened,
        }
    }

    /// From now on that becomes of holes.
    pub(crate) fn make_holes(&self, holes: Holes) {
        self.holes.store(holes as u8, Ordering::Release);
    }

    fn holes_are(&self, holes: Holes) -> bool {
        self.holes.load(Ordering::Acquire) == holes as u8
    }

    /// Where the bytes can be moved while nobody waits: what of it, and the alignment it takes.
    pub(crate) fn queueable(&self) -> Option<DirectFile<'_>> {
        self.device.queueable()
    }

    /// Begins a read or write of data whose bytes the caller moves, with memory and offsets aligned to
    /// `align`; what it cannot begin so is for [`VolumeFile::answer`].
    pub(crate) fn begin(
        &self,
        request: &Request<'_>,
        buffer: &mut [u8],
        align: usize,
    ) -> Result<Option<Underway<'_>>, Errno> {
        let opcode = request.header.opcode;
        if opcode != op::READ && opcode != op::WRITE {
            return Ok(None);
        }
        let wanted: abi::TransferIn = parse(request.fixed)?;
        let left = self.device.size().saturating_sub(wanted.offset);
        let len = left.min(u64::from(wanted.size));
        if len == 0 {
            return Ok(None);
        }
        let transfer = if opcode == op::READ {
            self.device.begin_read(wanted.offset, len, align)
        } else if wanted.is_durable() || self.holes_are(Holes::Tried) || len > request.payload_len as u64 {
            return Ok(None);
        } else {
            let data = buffer.get_mut(..len as usize).ok_or(Errno::INVAL)?;
            self.device.begin_write(data, wanted.offset, align)
        };
        let unique = request.header.unique;
        let begun = transfer.map_err(|e| self.failed(opcode, e))?;
        let (file, len) = (self, len as usize);
        Ok(begun.map(|transfer| Underway { file, transfer, unique, opcode, len }))
    }

    fn read(&self, fixed: &[u8], buffer: &mut [u8]) -> Result<Answer, Errno> {
        let wanted: abi::TransferIn = parse(fixed)?;
        let left = self.device.size().saturating_sub(wanted.offset);
        let len = left.min(u64::from(wanted.size)) as usize;
        if len == 0 {
            return Ok(Answer::Bytes(0));
        }
        let into = buffer.get_mut(..len).ok_or(Errno::INVAL)?;
        self.device.read_at(into, wanted.offset).map_err(errno)?;
        Ok(Answer::Bytes(len))
    }

    fn write(&self, request: &Request<'_>, buffer: &mut [u8]) -> Result<Answer, Errno> {
        let wanted: abi::TransferIn = parse(request.fixed)?;
        let left = self.device.size().saturating_sub(wanted.offset);
        if left == 0 {
            return Err(Errno::NOSPC);
        }
        let len = left.min(u64::from(wanted.size)) as usize;
        if len > request.payload_len {
            return Err(Errno::INVAL);
        }
        let data = buffer.get_mut(..len).ok_or(Errno::INVAL)?;
        if self.holes_are(Holes::Tried) {
            return if data.iter().all(|byte| *byte == 0) { written(buffer, len) } else { Err(Errno::BUSY) };
        }
        self.device.write_and_spoil(data, wanted.offset).map_err(|e| self.failed(op::WRITE, e))?;
        if wanted.is_durable() {
            self.device.flush().map_err(errno)?;
        }
        written(buffer, len)
    }

    /// The number of an error. The kernel tells of a write that had waited once, if at all, and calls the next flush
    /// a success: the device takes note.
    fn failed(&self, opcode: u32, e: DeviceError) -> Errno {
        if self.cached && opcode == op::WRITE {
            self.device.lose_writes();
        }
        errno(e)
    }

    /// A zeroed range is encrypted zeros, and costs as much as writing them. A hole is a discard or nothing.
    fn fallocate(&self, fixed: &[u8]) -> Result<Answer, Errno> {
        let wanted: abi::FallocateIn = parse(fixed)?;
        let zeroes = wanted.mode & !abi::FALLOC_KEEP_SIZE;
        if zeroes != abi::FALLOC_PUNCH_HOLE && zeroes != abi::FALLOC_ZERO_RANGE {
            return Err(Errno::OPNOTSUPP);
        }
        let size = self.device.size();
        let end = wanted.offset.checked_add(wanted.length).ok_or(Errno::INVAL)?;
        if end > size && wanted.mode & abi::FALLOC_KEEP_SIZE == 0 {
            return Err(Errno::NOSPC);
        }
        let len = end.min(size).saturating_sub(wanted.offset);
        let hole = zeroes == abi::FALLOC_PUNCH_HOLE;
        let done = match len {
            _ if hole && !self.holes_are(Holes::Discards) => return Err(Errno::OPNOTSUPP),
            _ if !hole && self.holes_are(Holes::Tried) => return Err(Errno::OPNOTSUPP),
            0 => Ok(()),
            _ if hole => self.device.discard(wanted.offset, len),
            _ => self.device.write_zeroes(wanted.offset, len),
        };
        done.map_err(errno).map(|()| Answer::Bytes(0))
    }

    fn lookup(&self, request: &Request<'_>, buffer: &mut [u8]) -> Result<Answer, Errno> {
        let name = buffer.get(..request.payload_len).ok_or(Errno::INVAL)?;
        let name = name.split(|b| *b == 0).next().unwrap_or_default();
        if request.header.node != abi::ROOT_NODE || name != FILE_NAME.as_bytes() {
            return Err(Errno::NOENT);
        }
        let entry = abi::EntryOut {
            node: abi::FILE_NODE,
            entry_valid: VALID_SECONDS,
            attr_valid: VALID_SECONDS,
            attr: self.attr(abi::FILE_NODE),
            ..abi::EntryOut::default()
        };
        reply(buffer, &entry)
    }

    fn getattr(&self, node: u64, buffer: &mut [u8]) -> Result<Answer, Errno> {
        let out =
            abi::AttrOut { attr_valid: VALID_SECONDS, attr: self.attr(node), ..abi::AttrOut::default() };
        reply(buffer, &out)
    }

    /// The size can't change, nor the owner or the mode; times are nobody's business here and
    /// are left as they are.
    fn setattr(&self, request: &Request<'_>, buffer: &mut [u8]) -> Result<Answer, Errno> {
        let wanted: abi::SetattrIn = parse(request.fixed)?;
        if wanted.valid & abi::SETATTR_OWNERSHIP != 0
            || (wanted.valid & abi::SETATTR_SIZE != 0 && wanted.size != self.device.size())
        {
            return Err(Errno::PERM);
        }
        self.getattr(request.header.node, buffer)
    }

    fn open(&self, request: &Request<'_>, buffer: &mut [u8]) -> Result<Answer, Errno> {
        let wanted: abi::OpenIn = parse(request.fixed)?;
        if wanted.flags & abi::OPEN_ACCESS != abi::OPEN_READ_ONLY && self.device.is_read_only() {
            return Err(Errno::ROFS);
        }
        let open_flags = abi::OPEN_DIRECT_IO | abi::OPEN_NOFLUSH | abi::OPEN_PARALLEL_DIRECT_WRITES;
        reply(buffer, &abi::OpenOut { open_flags, ..abi::OpenOut::default() })
    }

    fn statfs(&self) -> abi::StatfsOut {
        abi::StatfsOut {
            blocks: self.device.size() / 512,
            files: 2,
            bsize: 512,
            frsize: 512,
            namelen: 255,
            ..abi::StatfsOut::default()
        }
    }

    fn readdir(&self, fixed: &[u8], buffer: &mut [u8]) -> Result<Answer, Errno> {
        let wanted: abi::TransferIn = parse(fixed)?;
        // DT_DIR and DT_REG of dirent.h.
        let entries = [(abi::ROOT_NODE, 4, "."), (abi::ROOT_NODE, 4, ".."), (abi::FILE_NODE, 8, FILE_NAME)];
        let mut at = 0usize;
        let room = buffer.len().min(wanted.size as usize);
        for (number, (ino, kind, name)) in (1u64..).zip(entries) {
            let fixed = abi::Dirent { ino, off: number, namelen: name.len() as u32, kind };
            let len = (size_of_val(&fixed) + name.len()).next_multiple_of(8);
            if number <= wanted.offset {
                continue;
            }
            let Some(into) = buffer.get_mut(at..at + len).filter(|_| at + len <= room) else { break };
            into.zero();
            let (head, tail) = into.split_at_mut(size_of_val(&fixed));
            head.copy_from_slice(fixed.as_bytes());
            tail[..name.len()].copy_from_slice(name.as_bytes());
            at += len;
        }
        Ok(Answer::Bytes(at))
    }

    fn attr(&self, node: u64) -> abi::Attr {
        // S_IFDIR and S_IFREG of stat.h, for the owner only.
        let (mode, size, nlink) = match node {
            abi::FILE_NODE if self.device.is_read_only() => (0o100_400, self.device.size(), 1),
            abi::FILE_NODE => (0o100_600, self.device.size(), 1),
            _ => (0o040_500, 0, 2),
        };
        abi::Attr {
            ino: node,
            size,
            blocks: size.div_ceil(512),
            atime: self.opened,
            mtime: self.opened,
            ctime: self.opened,
            mode,
            nlink,
            uid: self.uid,
            gid: self.gid,
            blksize: 4096,
            ..abi::Attr::default()
        }
    }
}

impl FileSystem for VolumeFile {
    fn init(&self, fixed: &[u8], want_uring: bool) -> Result<(abi::InitOut, bool), Errno> {
        let wanted = abi::INIT_ASYNC_READ
            | abi::INIT_BIG_WRITES
            | abi::INIT_ASYNC_DIO
            | abi::INIT_PARALLEL_DIROPS
            | if want_uring { abi::INIT_OVER_IO_URING } else { 0 };
        let (answer, flags) = agree(fixed, wanted)?;
        Ok((answer, flags & abi::INIT_OVER_IO_URING != 0))
    }

    fn answer(&self, request: &Request<'_>, buffer: &mut [u8]) -> Answer {
        let done = match request.header.opcode {
            op::READ => self.read(request.fixed, buffer),
            op::WRITE => self.write(request, buffer),
            op::FSYNC => self.device.flush().map_err(errno).map(|()| Answer::Bytes(0)),
            op::FALLOCATE => self.fallocate(request.fixed),
            op::LOOKUP => self.lookup(request, buffer),
            op::GETATTR => self.getattr(request.header.node, buffer),
            op::SETATTR => self.setattr(request, buffer),
            op::OPEN => self.open(request, buffer),
            op::STATFS => reply(buffer, &self.statfs()),
            op::OPENDIR => reply(buffer, &abi::OpenOut::default()),
            op::READDIR => self.readdir(request.fixed, buffer),
            op::RELEASE | op::RELEASEDIR | op::FSYNCDIR | op::DESTROY => Ok(Answer::Bytes(0)),
            op::FORGET | op::BATCH_FORGET | op::INTERRUPT => Ok(Answer::Silence),
            // For most of these the kernel then knows not to ask again.
            _ => Err(Errno::NOSYS),
        };
        done.unwrap_or_else(Answer::Error)
    }
}

fn written(buffer: &mut [u8], len: usize) -> Result<Answer, Errno> {
    reply(buffer, &abi::WriteOut { size: len as u32, padding: 0 })
}

fn errno(e: DeviceError) -> Errno {
    Errno::from_raw_os_error(e.errno())
}
