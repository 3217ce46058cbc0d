//! FUSE over io_uring: one entry of one of the connection's queues, with a ring of its own.
//!
//! The kernel keeps a queue per CPU and puts a request into the first free entry of the queue of
//! the CPU that asks. An entry is a pair of buffers (headers and payload) that belong to the
//! kernel until [`FuseRing::wait`] returns, and to us until [`RingRequest::commit`] gives them
//! back together with the answer. Structures: `include/uapi/linux/fuse.h`, protocol 7.42.

use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::alloc::Layout;
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;

/// `FUSE_IO_URING_CMD_REGISTER`.
const REGISTER: u32 = 1;
/// `FUSE_IO_URING_CMD_COMMIT_AND_FETCH`.
const COMMIT_AND_FETCH: u32 = 2;
/// Where `len` lies in `struct io_uring_sqe`; the crate's builder for 80-byte commands does not
/// set it, and the kernel wants the number of buffers there.
const SQE_LEN_OFFSET: usize = 24;
/// Headers and payload (`FUSE_URING_IOV_SEGS`).
const SEGMENTS: u32 = 2;
/// errno ENOTCONN of `asm-generic/errno.h`: the file system is unmounted.
const NOT_CONNECTED: i32 = 107;

/// `struct fuse_uring_req_header`.
#[repr(C)]
struct Headers {
    /// `fuse_in_header` on the way in, `fuse_out_header` on the way out.
    in_out: [u8; 128],
    /// The operation's fixed structure.
    fixed: [u8; 128],
    entry: EntryInOut,
}

/// `struct fuse_uring_ent_in_out`.
#[repr(C)]
struct EntryInOut {
    flags: u64,
    commit_id: u64,
    payload_len: u32,
    padding: u32,
    reserved: u64,
}

/// `struct fuse_uring_cmd_req`, at the start of the 80 bytes of a command.
#[repr(C)]
struct Command {
    flags: u64,
    commit_id: u64,
    queue: u16,
    padding: [u8; 6],
}

/// `struct iovec`.
#[repr(C)]
struct Segment {
    base: *mut u8,
    len: usize,
}

/// Memory that the kernel reads and writes; freed after the ring that names it is closed.
struct Buffers {
    headers: NonNull<Headers>,
    payload: NonNull<u8>,
    payload_len: usize,
    segments: Box<[Segment; SEGMENTS as usize]>,
}

/// The start of a page, so that payloads can go to direct I/O as they are.
const PAYLOAD_ALIGN: usize = 4096;

impl Buffers {
    fn new(payload_len: usize) -> io::Result<Self> {
        let out_of_memory = || io::Error::from(io::ErrorKind::OutOfMemory);
        let layout = Layout::from_size_align(payload_len.max(PAYLOAD_ALIGN), PAYLOAD_ALIGN)
            .map_err(|_| out_of_memory())?;
        // SAFETY: the layout's size is not 0.
        let payload = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).ok_or_else(out_of_memory)?;
        // SAFETY: `Headers` is not of size 0.
        let headers = unsafe { std::alloc::alloc_zeroed(Layout::new::<Headers>()) };
        let Some(headers) = NonNull::new(headers.cast::<Headers>()) else {
            // SAFETY: allocated above with this layout, and nobody else knows of it.
            unsafe { std::alloc::dealloc(payload.as_ptr(), layout) };
            return Err(out_of_memory());
        };
        let segments = Box::new([
            Segment { base: headers.as_ptr().cast(), len: size_of::<Headers>() },
            Segment { base: payload.as_ptr(), len: layout.size() },
        ]);
        Ok(Self { headers, payload, payload_len: layout.size(), segments })
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: both were allocated in `new` with these layouts and are freed only here; the
        // kernel writes to them only inside this thread's own system calls on the ring, which is
        // closed before (field order of `FuseRing`).
        unsafe {
            let layout = Layout::from_size_align_unchecked(self.payload_len, PAYLOAD_ALIGN);
            std::alloc::dealloc(self.payload.as_ptr(), layout);
            std::alloc::dealloc(self.headers.as_ptr().cast(), Layout::new::<Headers>());
        }
    }
}

/// Who may touch the buffers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Kernel,
    Us,
}

/// One entry of a FUSE connection's queue. Belongs to the thread that made it.
pub struct FuseRing {
    // Dropped before the buffers.
    ring: IoUring<squeue::Entry128, cqueue::Entry>,
    buffers: Buffers,
    fuse: OwnedFd,
    queue: u16,
    owner: Owner,
}

impl FuseRing {
    /// Makes an entry for the queue of CPU number `queue` and offers it to the kernel.
    /// `payload_len` is at least the connection's `max_write` and `max_pages`.
    pub fn register(fuse: BorrowedFd<'_>, queue: u16, payload_len: usize) -> io::Result<Self> {
        let ring = IoUring::<squeue::Entry128, cqueue::Entry>::builder()
            .dontfork()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(4)?;
        let buffers = Buffers::new(payload_len)?;
        let fuse = fuse.try_clone_to_owned()?;
        let mut entry = Self { ring, buffers, fuse, queue, owner: Owner::Kernel };
        entry.push(REGISTER, 0)?;
        entry.ring.submit()?;
        // A refusal is there at once; an accepted entry stays silent until a request comes.
        let refused = entry.ring.completion().next();
        match refused {
            Some(done) if done.result() < 0 => Err(io::Error::from_raw_os_error(-done.result())),
            Some(_) => Err(io::ErrorKind::InvalidData.into()),
            None => Ok(entry),
        }
    }

    /// Waits for a request. `None`: unmounted.
    pub fn wait(&mut self) -> io::Result<Option<RingRequest<'_>>> {
        if self.owner == Owner::Us {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the last request has no answer yet"));
        }
        loop {
            let done = self.ring.completion().next();
            if let Some(done) = done {
                return match done.result() {
                    0.. => {
                        self.owner = Owner::Us;
                        Ok(Some(RingRequest { ring: self }))
                    }
                    e if -e == NOT_CONNECTED => Ok(None),
                    e => Err(io::Error::from_raw_os_error(-e)),
                };
            }
            match self.ring.submit_and_wait(1) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(e),
                _ => {}
            }
        }
    }

    fn push(&mut self, operation: u32, commit_id: u64) -> io::Result<()> {
        let command = Command { flags: 0, commit_id, queue: self.queue, padding: [0; 6] };
        let mut bytes = [0u8; 80];
        bytes[offset_of!(Command, flags)..][..8].copy_from_slice(&command.flags.to_ne_bytes());
        bytes[offset_of!(Command, commit_id)..][..8].copy_from_slice(&command.commit_id.to_ne_bytes());
        bytes[offset_of!(Command, queue)..][..2].copy_from_slice(&command.queue.to_ne_bytes());
        bytes[offset_of!(Command, padding)..][..6].copy_from_slice(&command.padding);
        let segments = self.buffers.segments.as_ptr() as u64;
        let mut entry = opcode::UringCmd80::new(types::Fd(self.fuse.as_raw_fd()), operation)
            .cmd(bytes)
            .addr(Some(segments))
            .build();
        // SAFETY: `Entry128` is `repr(C)` over the kernel's 128-byte entry, whose `len` is the
        // `u32` at offset 24; the entry is ours alone.
        unsafe {
            let len = (&raw mut entry).cast::<u8>().add(SQE_LEN_OFFSET).cast::<u32>();
            len.write(SEGMENTS);
        }
        // SAFETY: the segments and the buffers they name live as long as the ring, and the
        // descriptor is owned by `self`.
        unsafe { self.ring.submission().push(&entry) }
            .map_err(|_| io::Error::new(io::ErrorKind::WouldBlock, "the submission queue is full"))
    }
}

impl AsFd for FuseRing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fuse.as_fd()
    }
}

/// A request in the buffers of its entry.
pub struct RingRequest<'a> {
    ring: &'a mut FuseRing,
}

impl RingRequest<'_> {
    /// The header, the operation's fixed structure, the payload's buffer, and how many bytes of it
    /// belong to the request.
    pub fn parts(&mut self) -> (&[u8], &[u8], &mut [u8], usize) {
        let buffers = &self.ring.buffers;
        // SAFETY: the entry is ours until it is committed (`owner`), so nobody else writes to the
        // buffers; the borrow of `self` keeps it so. Headers are plain bytes and integers.
        let (headers, payload) = unsafe {
            (
                buffers.headers.as_ref(),
                std::slice::from_raw_parts_mut(buffers.payload.as_ptr(), buffers.payload_len),
            )
        };
        let len = (headers.entry.payload_len as usize).min(payload.len());
        (&headers.in_out, &headers.fixed, payload, len)
    }

    /// Answers with `header` (a `fuse_out_header`) and the first `len` bytes of the payload, and
    /// offers the entry again. The kernel learns of it in the next [`FuseRing::wait`].
    pub fn commit(self, header: &[u8], len: usize) -> io::Result<()> {
        let ring = self.ring;
        // SAFETY: as in `parts`; no other reference into the headers is alive.
        let headers = unsafe { ring.buffers.headers.as_mut() };
        let into = headers.in_out.get_mut(..header.len()).ok_or(io::ErrorKind::InvalidInput)?;
        into.copy_from_slice(header);
        headers.entry.payload_len = len as u32;
        let commit_id = headers.entry.commit_id;
        ring.push(COMMIT_AND_FETCH, commit_id)?;
        ring.owner = Owner::Kernel;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes as in the kernel's header.
    #[test]
    fn structures_have_the_kernels_sizes() {
        assert_eq!(size_of::<Headers>(), 288);
        assert_eq!(size_of::<EntryInOut>(), 32);
        assert_eq!(size_of::<Command>(), 24);
        assert_eq!(size_of::<squeue::Entry128>(), 128);
    }
}
