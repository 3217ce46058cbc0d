//! The data plane: one queue of a device, served by the thread that made it.
//!
//! Every request has a tag, and every tag a buffer of its own. It belongs to the kernel until
//! [`UblkQueue::ready`] hands the request out, to a transfer between [`UblkQueue::transfer`] and
//! [`UblkEvent::Moved`], and to the queue's thread otherwise.

use super::{READ_WRITE, command};
use io_uring::{IoUring, opcode, squeue};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use std::ffi::c_void;
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::{NonNull, null_mut};

use crate::served_ring::{self, FILE, KERNEL};
use crate::{Direction, IoMemory};

/// Bytes of `struct ublksrv_io_cmd`.
const IO_CMD: usize = 16;
const FETCH_REQ: u32 = command(READ_WRITE, IO_CMD, 0x20);
const COMMIT_AND_FETCH_REQ: u32 = command(READ_WRITE, IO_CMD, 0x21);
/// `UBLK_MAX_QUEUE_DEPTH`: so many descriptors are between one queue's and the next's.
const MAX_DEPTH: usize = 4096;
/// A page, in bytes; mappings are whole pages.
const PAGE: usize = 4096;
/// What `nr_sectors` and `start_sector` count in.
const SECTOR: u64 = 512;
/// `UBLK_IO_F_FUA`.
const FUA: u32 = 1 << 13;

/// Marks what completes as a transfer; a command of the driver is its tag alone.
const TRANSFER: u64 = 1 << 32;

/// `struct ublksrv_io_desc`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Descriptor {
    op_flags: u32,
    sectors: u32,
    start_sector: u64,
    addr: u64,
}

/// What a request wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UblkOperation {
    /// Bytes into the tag's buffer.
    Read,
    /// The bytes in the tag's buffer.
    Write,
    /// What was written on the medium.
    Flush,
    /// A range that nobody needs.
    Discard,
    /// Zeros.
    WriteZeroes,
    /// Something that was not offered.
    Unknown,
}

/// A request.
#[derive(Debug, Clone, Copy)]
pub struct UblkRequest {
    /// Names it until it is answered.
    pub tag: u16,
    /// What is wanted.
    pub operation: UblkOperation,
    /// Whether it must be on the medium before it is answered.
    pub fua: bool,
    /// Its first byte's place in the device.
    pub offset: u64,
    /// Its length in bytes. What is read or written fits into the buffer.
    pub len: u64,
}

/// What has happened.
#[derive(Debug)]
pub enum UblkEvent {
    /// A request has come.
    Request(UblkRequest),
    /// The tag's transfer is over: so many bytes were moved.
    Moved(u16, io::Result<usize>),
}

/// Whose a tag's buffer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Kernel,
    Thread,
    Transfer,
}

/// Memory that is unmapped at the end.
struct Mapped {
    start: *mut c_void,
    len: usize,
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: mapped with this length by whoever made the value, and unmapped only here.
        let _ = unsafe { munmap(self.start, self.len) };
    }
}

/// One queue. Stays in the thread that made it: the kernel takes answers from no other.
pub struct UblkQueue {
    // Dropped before the memory.
    ring: IoUring,
    /// There until the end.
    buffers: Option<IoMemory>,
    first_buffer: NonNull<u8>,
    descriptors: Mapped,
    buffer_bytes: usize,
    queue: u16,
    owners: Vec<Owner>,
    transfers: usize,
    /// Tags that the kernel will not use again.
    ended: usize,
    has_file: bool,
}

impl UblkQueue {
    /// Offers all tags of a queue of the device that is open as `device` (`/dev/ublkcN`). Transfers go from and
    /// to the first of `files`; all of them stay open until the last one is over, also when this process is
    /// killed.
    ///
    /// # Errors
    /// The kernel's reason; there is not enough memory.
    pub fn serve(
        device: BorrowedFd<'_>,
        queue: u16,
        depth: u16,
        buffer_bytes: u32,
        files: &[BorrowedFd<'_>],
    ) -> io::Result<Self> {
        let (tags, buffer_bytes) = (usize::from(depth), (buffer_bytes as usize).next_multiple_of(PAGE));
        let distance = (MAX_DEPTH * size_of::<Descriptor>()).next_multiple_of(PAGE);
        let len = (tags * size_of::<Descriptor>()).next_multiple_of(PAGE);
        // SAFETY: a new mapping at a place of the kernel's choice; its length is not 0.
        let start = unsafe {
            let at = (usize::from(queue) * distance) as u64;
            mmap(null_mut(), len, ProtFlags::READ, MapFlags::SHARED | MapFlags::POPULATE, device, at)
        }?;
        let descriptors = Mapped { start, len };
        let len = tags.checked_mul(buffer_bytes).filter(|len| *len > 0).ok_or(io::ErrorKind::InvalidInput)?;
        let buffers = IoMemory::apart(len)?;
        // A place for each tag, which has one command or one transfer at a time: it is never full.
        let ring = IoUring::builder()
            .dontfork()
            .setup_coop_taskrun()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(u32::from(depth).next_power_of_two())?;
        served_ring::register(&ring, device, files)?;
        let owners = vec![Owner::Thread; tags];
        let mut served = Self {
            ring,
            first_buffer: buffers.start(),
            buffers: Some(buffers),
            descriptors,
            buffer_bytes,
            queue,
            owners,
            transfers: 0,
            ended: 0,
            has_file: !files.is_empty(),
        };
        for tag in 0..depth {
            served.push_command(FETCH_REQ, tag, 0)?;
        }
        without_rights(|| served.submit(0))??;
        served_ring::refuse_answers(&mut served.ring)?;
        Ok(served)
    }

    /// What is there already; does not wait and asks nobody.
    ///
    /// # Errors
    /// The driver's reason for refusing an answer.
    pub fn ready(&mut self) -> io::Result<Option<UblkEvent>> {
        loop {
            let Some(done) = self.ring.completion().next() else { return Ok(None) };
            let (tag, result) = (done.user_data() as u16, done.result());
            let owner = self.owners.get_mut(usize::from(tag)).ok_or(io::ErrorKind::InvalidData)?;
            *owner = Owner::Thread;
            if done.user_data() & TRANSFER != 0 {
                self.transfers = self.transfers.saturating_sub(1);
                let moved = usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result));
                return Ok(Some(UblkEvent::Moved(tag, moved)));
            }
            match result {
                0 => return Ok(Some(UblkEvent::Request(self.request(tag)?))),
                // `UBLK_IO_RES_ABORT`: the device is stopped, or the request is no more.
                e if e == -libc::ENODEV => self.ended += 1,
                e => return Err(io::Error::from_raw_os_error(-e)),
            }
        }
    }

    /// The request that the driver described under that tag.
    fn request(&self, tag: u16) -> io::Result<UblkRequest> {
        let at = self.descriptors.start.cast::<Descriptor>().wrapping_add(tag.into());
        // SAFETY: the mapping has a descriptor for each of `owners`, and `ready` found the tag there. The driver
        // writes it before the command completes and not again before the tag is answered.
        let found = unsafe { at.read_volatile() };
        let operation = match found.op_flags & 0xff {
            0 => UblkOperation::Read,
            1 => UblkOperation::Write,
            2 => UblkOperation::Flush,
            3 => UblkOperation::Discard,
            5 => UblkOperation::WriteZeroes,
            _ => UblkOperation::Unknown,
        };
        // A flush is nowhere. What lies behind every end is for whoever serves to refuse.
        let offset = found.start_sector.saturating_mul(SECTOR);
        let len = u64::from(found.sectors) * SECTOR;
        let has_data = matches!(operation, UblkOperation::Read | UblkOperation::Write);
        if has_data && len > self.buffer_bytes as u64 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(UblkRequest { tag, operation, fua: found.op_flags & FUA != 0, offset, len })
    }

    /// A tag's buffer; `None` while it is the kernel's or a transfer's, or where there is no such tag.
    pub fn buffer_mut(&mut self, tag: u16) -> Option<&mut [u8]> {
        if *self.owners.get(usize::from(tag))? != Owner::Thread {
            return None;
        }
        let at = self.buffer_at(tag);
        // SAFETY: inside the memory, initialised with zeros, not lent to anybody, and borrowed from `self` alone.
        Some(unsafe { std::slice::from_raw_parts_mut(at, self.buffer_bytes) })
    }

    fn buffer_at(&self, tag: u16) -> *mut u8 {
        self.first_buffer.as_ptr().wrapping_add(usize::from(tag) * self.buffer_bytes)
    }

    /// Answers a request with how many bytes were read or written, or with minus an errno, and offers the tag
    /// again. The kernel learns of it in the next [`UblkQueue::wait`].
    ///
    /// # Errors
    /// The tag is not the thread's.
    pub fn answer(&mut self, tag: u16, result: i32) -> io::Result<()> {
        self.push_command(COMMIT_AND_FETCH_REQ, tag, result)
    }

    /// Begins to move the first `len` bytes of the tag's buffer from or to the file at `offset`.
    ///
    /// # Errors
    /// There is no file, the buffer is too small, or it is not the thread's.
    pub fn transfer(&mut self, tag: u16, direction: Direction, len: usize, offset: u64) -> io::Result<()> {
        if !self.has_file || len > self.buffer_bytes {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (memory, len) = (self.buffer_at(tag), len as u32);
        let entry = match direction {
            Direction::FromFile => opcode::Read::new(FILE, memory, len).offset(offset).build(),
            Direction::ToFile => opcode::Write::new(FILE, memory, len).offset(offset).build(),
        };
        self.push(tag, Owner::Transfer, entry.user_data(TRANSFER | u64::from(tag)))?;
        self.transfers += 1;
        Ok(())
    }

    /// Transfers that have begun and not been handed back.
    pub fn transfers(&self) -> usize {
        self.transfers
    }

    /// Tells the kernel of everything that was begun, and waits for the next event. `false`: the device is
    /// stopped and no transfer is under way.
    ///
    /// # Errors
    /// The kernel's reason; a signal is not one.
    pub fn wait(&mut self) -> io::Result<bool> {
        if self.ended >= self.owners.len() && self.transfers == 0 {
            return Ok(false);
        }
        self.submit(1)?;
        Ok(true)
    }

    fn submit(&mut self, wait_for: usize) -> io::Result<()> {
        served_ring::submit(&self.ring, wait_for)
    }

    fn push_command(&mut self, operation: u32, tag: u16, result: i32) -> io::Result<()> {
        let mut bytes = [0u8; IO_CMD];
        // `struct ublksrv_io_cmd`: queue, tag, result, the buffer's address.
        let buffer = self.buffer_at(tag) as u64;
        let fields: [&[u8]; 4] =
            [&self.queue.to_ne_bytes(), &tag.to_ne_bytes(), &result.to_ne_bytes(), &buffer.to_ne_bytes()];
        for (to, from) in bytes.iter_mut().zip(fields.into_iter().flatten()) {
            *to = *from;
        }
        let entry = opcode::UringCmd16::new(KERNEL, operation).cmd(bytes).build().user_data(tag.into());
        self.push(tag, Owner::Kernel, entry)
    }

    /// Puts a command into the ring, and gives the tag's buffer to whom it names.
    fn push(&mut self, tag: u16, to: Owner, entry: squeue::Entry) -> io::Result<()> {
        let owner = self.owners.get_mut(usize::from(tag)).filter(|owner| **owner == Owner::Thread);
        let owner = owner.ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: the buffer lies in `buffers`, is given out by nobody until the command has completed (`owners`),
        // and outlives it (`drop`); the descriptors are registered.
        unsafe { self.ring.submission().push(&entry) }
            .map_err(|_| io::Error::new(io::ErrorKind::WouldBlock, "the submission queue is full"))?;
        *owner = to;
        Ok(())
    }
}

/// Does something as a thread that may not administer the system, whatever it may otherwise.
///
/// A device whose queues are offered so is not searched for partitions. The kernel does that while it starts the device,
/// holding its lock: a server killed at that moment (seen on Linux 6.12) leaves a read that nobody answers, itself
/// unable to die, and a device that can't be deleted before the next boot.
fn without_rights<T>(work: impl FnOnce() -> T) -> io::Result<T> {
    let rights = capabilities(None)?;
    let mut fewer = rights;
    fewer.effective.remove(CapabilitySet::SYS_ADMIN);
    set_capabilities(None, fewer)?;
    let done = work();
    set_capabilities(None, rights)?;
    Ok(done)
}

impl Drop for UblkQueue {
    fn drop(&mut self) {
        // A drive writes to memory when it likes.
        while self.transfers > 0 {
            if self.submit(1).is_err() {
                std::process::abort();
            }
            while matches!(self.ready(), Ok(Some(_)) | Err(_)) {}
        }
        if self.ended < self.owners.len() {
            // The driver may still have a request for a tag, and writes its bytes inside a system call of this
            // thread's: they stay.
            std::mem::forget(self.buffers.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_and_commands_are_the_kernels() {
        assert_eq!(size_of::<Descriptor>(), 24);
        // _IOWR('u', 0x20, struct ublksrv_io_cmd) and 0x21.
        assert_eq!(FETCH_REQ, 0xc010_7520);
        assert_eq!(COMMIT_AND_FETCH_REQ, 0xc010_7521);
    }
}
