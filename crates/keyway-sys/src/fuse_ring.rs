//! FUSE over io_uring: entries of one of the connection's queues, in a ring of their own.
//!
//! The kernel keeps a queue per CPU and puts a request into the first free entry of the queue of
//! the CPU that asks. An entry is a pair of buffers (headers and payload) that belong to the kernel
//! until [`FuseRing::ready`] hands it out, and to whoever has it until [`FuseRing::commit`] gives
//! them back together with the answer. What is begun is told to the kernel by the next
//! [`FuseRing::wait`]: one system call for all of it, and for the next requests as well.
//!
//! A queue's payloads lie side by side in huge pages. When no request has come for a while their memory goes back to the
//! system, and what was in it with it.
//! Structures: `include/uapi/linux/fuse.h`, protocol 7.42.

use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::alloc::Layout;
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::IoMemory;
use crate::served_ring::{self, FILE, KERNEL};

/// `FUSE_IO_URING_CMD_REGISTER`.
const REGISTER: u32 = 1;
/// `FUSE_IO_URING_CMD_COMMIT_AND_FETCH`.
const COMMIT_AND_FETCH: u32 = 2;
/// Where `len` lies in `struct io_uring_sqe`; the crate's builder for 80-byte commands does not
/// set it, and the kernel wants the number of buffers there.
const SQE_LEN_OFFSET: usize = 24;
/// Headers and payload (`FUSE_URING_IOV_SEGS`).
const SEGMENTS: u32 = 2;
/// ENOTCONN and ECONNABORTED of `asm-generic/errno.h`: the file system is unmounted.
const UNMOUNTED: [i32; 2] = [107, 103];

/// What completes is told by a number: the entry's times this plus one of the kinds.
const PER_ENTRY: u64 = 4;
/// The kinds' bits.
const KINDS: u64 = PER_ENTRY - 1;
/// A transfer; a FUSE command is 0.
const TRANSFER: u64 = 1;
/// The bell, which has no entry,
const BELL: u64 = 2;
/// nor has the clock.
const CLOCK: u64 = 3;

/// A queue that had nothing to do for so long, and for twice that at most, keeps no memory.
static REST: types::Timespec = types::Timespec::new().sec(15);

/// Bytes of answers that are not held back for the sake of fewer system calls: to copy them takes
/// many times as long as a call.
const MANY: usize = 64 << 10;

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
    /// Where the payload lies, and those of the queue's other entries.
    _memory: Arc<Mutex<IoMemory>>,
}

/// The start of a page, so that payloads can go to direct I/O as they are.
const PAYLOAD_ALIGN: usize = 4096;

impl Buffers {
    /// The payload is the `number`th `payload_len` bytes of `memory`.
    fn new(memory: &Arc<Mutex<IoMemory>>, number: usize, payload_len: usize) -> io::Result<Self> {
        let out_of_memory = || io::Error::from(io::ErrorKind::OutOfMemory);
        let payload = {
            let memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
            let at = number.checked_mul(payload_len).ok_or_else(out_of_memory)?;
            let end = at.checked_add(payload_len).filter(|end| *end <= memory.len());
            end.ok_or_else(out_of_memory)?;
            // SAFETY: it ends inside the memory, as was just seen.
            unsafe { memory.start().add(at) }
        };
        // SAFETY: `Headers` is not of size 0.
        let headers = unsafe { std::alloc::alloc_zeroed(Layout::new::<Headers>()) };
        let headers = NonNull::new(headers.cast::<Headers>()).ok_or_else(out_of_memory)?;
        let segments = Box::new([
            Segment { base: headers.as_ptr().cast(), len: size_of::<Headers>() },
            Segment { base: payload.as_ptr(), len: payload_len },
        ]);
        Ok(Self { headers, payload, payload_len, segments, _memory: Arc::clone(memory) })
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout and freed only here; the kernel writes to it
        // only inside this thread's own system calls on the ring, which is closed before (field
        // order of `FuseRing`).
        unsafe { std::alloc::dealloc(self.headers.as_ptr().cast(), Layout::new::<Headers>()) };
    }
}

/// An entry of a FUSE connection's queue: a request with its buffers. Whoever has it may touch them;
/// while the kernel or a transfer has them, it lies in its [`FuseRing`].
pub struct FuseEntry {
    buffers: Buffers,
    number: usize,
}

// SAFETY: the headers and its part of the payloads' memory belong to the entry alone, and nothing in it is tied to a
// thread.
unsafe impl Send for FuseEntry {}

impl FuseEntry {
    /// Its number in its ring, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The header, the operation's fixed structure, the payload's buffer (it starts on a page), and
    /// how many bytes of it belong to the request.
    pub fn parts(&mut self) -> (&[u8], &[u8], &mut [u8], usize) {
        let buffers = &mut self.buffers;
        // SAFETY: an entry that is not in its ring is ours, so nobody else writes to the buffers; the
        // borrow of `self` keeps it so. Headers are plain bytes and integers.
        let (headers, payload) = unsafe {
            (
                buffers.headers.as_ref(),
                std::slice::from_raw_parts_mut(buffers.payload.as_ptr(), buffers.payload_len),
            )
        };
        let len = (headers.entry.payload_len as usize).min(payload.len());
        (&headers.in_out, &headers.fixed, payload, len)
    }
}

/// What a [`FuseRing`] has for its thread.
pub enum RingEvent {
    /// A request.
    Request(FuseEntry),
    /// A transfer is over: so many bytes were moved, perhaps fewer than were to be, or none.
    Moved(FuseEntry, io::Result<usize>),
    /// Somebody has written to the bell. It is quiet again.
    Bell,
}

/// Which way a transfer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the file into the payload.
    FromFile,
    /// From the payload to the file.
    ToFile,
}

/// Some entries of one of a FUSE connection's queues, and transfers between their payloads and a
/// file. Belongs to the thread that made it.
pub struct FuseRing {
    // Dropped before the entries.
    ring: IoUring<squeue::Entry128, cqueue::Entry>,
    /// Those that the kernel has.
    entries: Vec<Option<FuseEntry>>,
    queue: u16,
    bell: OwnedFd,
    has_file: bool,
    /// Transfers that the kernel may be at.
    transfers: usize,
    /// Bytes of answers that the kernel does not know of yet.
    unsent: usize,
    unmounted: bool,
    memory: Arc<Mutex<IoMemory>>,
    /// There may be something in the payloads.
    touched: bool,
    /// Something has come since the clock was wound up.
    awake: bool,
    /// The clock runs.
    wound: bool,
}

impl FuseRing {
    /// Makes `entries` for the queue of CPU number `queue` and offers them to the kernel.
    /// `payload_len` is at least the connection's `max_write` and `max_pages`. Payloads can be moved
    /// from and to the first of `files`; all of them stay open until the last transfer is over, also
    /// when this process is killed. The ring is told when somebody writes to `bell`, an eventfd.
    pub fn register(
        fuse: BorrowedFd<'_>,
        queue: u16,
        entries: u16,
        payload_len: usize,
        files: &[BorrowedFd<'_>],
        bell: BorrowedFd<'_>,
    ) -> io::Result<Self> {
        // A place for every entry, one for the bell and one for the clock: it is never full.
        let ring = IoUring::<squeue::Entry128, cqueue::Entry>::builder()
            .dontfork()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .build(u32::from(entries) + 2)?;
        served_ring::register(&ring, fuse, files)?;
        let payload_len = payload_len.max(1).next_multiple_of(PAYLOAD_ALIGN);
        let all = payload_len.checked_mul(entries.into()).ok_or(io::ErrorKind::OutOfMemory)?;
        let memory = Arc::new(Mutex::new(IoMemory::apart(all)?));
        let made = (0..usize::from(entries)).map(|number| {
            Ok(Some(FuseEntry { buffers: Buffers::new(&memory, number, payload_len)?, number }))
        });
        let mut ring = Self {
            ring,
            entries: made.collect::<io::Result<_>>()?,
            queue,
            bell: bell.try_clone_to_owned()?,
            has_file: !files.is_empty(),
            transfers: 0,
            unsent: 0,
            unmounted: false,
            memory,
            touched: false,
            awake: false,
            wound: false,
        };
        // The kernel takes the one that was offered last first.
        for number in (0..ring.entries.len()).rev() {
            if let Some(entry) = ring.entries.get_mut(number).and_then(Option::take) {
                ring.push_command(REGISTER, 0, entry)?;
            }
        }
        ring.submit(0)?;
        served_ring::refuse_answers(&mut ring.ring)?;
        ring.listen()?;
        Ok(ring)
    }

    /// What is there already; does not wait and asks nobody.
    pub fn ready(&mut self) -> io::Result<Option<RingEvent>> {
        loop {
            let Some(done) = self.ring.completion().next() else { return Ok(None) };
            let (kind, number) = (done.user_data() & KINDS, (done.user_data() / PER_ENTRY) as usize);
            let result = match done.result() {
                n @ 0.. => Ok(n as usize),
                e => Err(io::Error::from_raw_os_error(-e)),
            };
            if kind == BELL {
                let mut rung = [0; 8];
                // Fails only if somebody else has read it.
                let _ = rustix::io::read(&self.bell, &mut rung);
                self.listen()?;
                return Ok(Some(RingEvent::Bell));
            }
            if kind == CLOCK {
                self.wound = false;
                if !std::mem::take(&mut self.awake) {
                    self.rest();
                }
                continue;
            }
            let entry = self.entries.get_mut(number).and_then(Option::take);
            let entry = entry.ok_or(io::ErrorKind::InvalidData)?;
            (self.touched, self.awake) = (true, true);
            if kind == TRANSFER {
                self.transfers -= 1;
                return Ok(Some(RingEvent::Moved(entry, result)));
            }
            match result {
                Ok(_) => return Ok(Some(RingEvent::Request(entry))),
                Err(e) if e.raw_os_error().is_some_and(|e| UNMOUNTED.contains(&e)) => self.unmounted = true,
                Err(e) => return Err(e),
            }
        }
    }

    /// Transfers that have begun and not been handed back.
    pub fn transfers(&self) -> usize {
        self.transfers
    }

    /// Tells the kernel of everything that was begun, and has it tell what is there; does not wait.
    pub fn tell(&mut self) -> io::Result<()> {
        self.submit(0)
    }

    /// Tells the kernel of everything that was begun, and looks for the next event without falling
    /// asleep, for so long at most. Says whether there is one.
    pub fn watch(&mut self, at_most: Duration) -> io::Result<bool> {
        let until = Instant::now() + at_most;
        self.submit(0)?;
        loop {
            if !self.ring.completion().is_empty() {
                return Ok(true);
            }
            if self.ring.submission().taskrun() {
                self.submit(0)?;
            } else if Instant::now() > until {
                return Ok(false);
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// Tells the kernel of everything that was begun, and waits for the next event. `false`: the file
    /// system is unmounted and no transfer is under way.
    pub fn wait(&mut self) -> io::Result<bool> {
        if self.unmounted && self.transfers == 0 {
            return Ok(false);
        }
        // Once for many requests: a limit to each wait would cost each of them something.
        if self.touched && !self.wound {
            let command = opcode::Timeout::new(&raw const REST).build().user_data(CLOCK);
            self.push(&command.into(), None)?;
            self.wound = true;
        }
        self.submit(1)?;
        Ok(true)
    }

    /// Gives the payloads' memory back where nobody has anything in it.
    fn rest(&mut self) {
        let all_offered = self.entries.iter().all(Option::is_some);
        if self.transfers > 0
            || !all_offered
            || !self.ring.completion().is_empty()
            || !self.ring.submission().is_empty()
        {
            return;
        }
        // Every entry is the kernel's and all answers are taken. It puts the next request into a payload inside this
        // thread's own system calls only, and tells of it in the completion queue, which is empty.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).empty();
        self.touched = false;
    }

    /// Answers with `header` (a `fuse_out_header`) and the first `len` bytes of the payload, and
    /// offers the entry again. The kernel learns of it in the next [`FuseRing::wait`], or now if there
    /// is much to take.
    pub fn commit(&mut self, mut entry: FuseEntry, header: &[u8], len: usize) -> io::Result<()> {
        // SAFETY: the entry is ours, as in `parts`; no other reference into the headers is alive.
        let headers = unsafe { entry.buffers.headers.as_mut() };
        let into = headers.in_out.get_mut(..header.len()).ok_or(io::ErrorKind::InvalidInput)?;
        into.copy_from_slice(header);
        headers.entry.payload_len = len as u32;
        let commit_id = headers.entry.commit_id;
        self.push_command(COMMIT_AND_FETCH, commit_id, entry)?;
        self.unsent += len;
        if self.unsent >= MANY {
            self.submit(0)?;
        }
        Ok(())
    }

    /// Begins to move the first `len` bytes of the payload from or to the file at `offset`; the entry
    /// comes back in [`RingEvent::Moved`].
    pub fn transfer(
        &mut self,
        entry: FuseEntry,
        direction: Direction,
        len: usize,
        offset: u64,
    ) -> io::Result<()> {
        let buffers = &entry.buffers;
        if !self.has_file || len > buffers.payload_len {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (memory, len) = (buffers.payload.as_ptr(), len as u32);
        let command = match direction {
            Direction::FromFile => opcode::Read::new(FILE, memory, len).offset(offset).build(),
            Direction::ToFile => opcode::Write::new(FILE, memory, len).offset(offset).build(),
        };
        let command = command.user_data(entry.number as u64 * PER_ENTRY + TRANSFER);
        self.transfers += 1;
        self.push(&command.into(), Some(entry))
    }

    fn submit(&mut self, wait_for: usize) -> io::Result<()> {
        self.unsent = 0;
        served_ring::submit(&self.ring, wait_for)
    }

    /// Asks to be told when the bell is rung.
    fn listen(&mut self) -> io::Result<()> {
        let bell = types::Fd(self.bell.as_raw_fd());
        let command = opcode::PollAdd::new(bell, libc::POLLIN as u32).build().user_data(BELL);
        self.push(&command.into(), None)
    }

    fn push_command(&mut self, operation: u32, commit_id: u64, entry: FuseEntry) -> io::Result<()> {
        let command = Command { flags: 0, commit_id, queue: self.queue, padding: [0; 6] };
        let mut bytes = [0u8; 80];
        bytes[offset_of!(Command, flags)..][..8].copy_from_slice(&command.flags.to_ne_bytes());
        bytes[offset_of!(Command, commit_id)..][..8].copy_from_slice(&command.commit_id.to_ne_bytes());
        bytes[offset_of!(Command, queue)..][..2].copy_from_slice(&command.queue.to_ne_bytes());
        bytes[offset_of!(Command, padding)..][..6].copy_from_slice(&command.padding);
        let segments = entry.buffers.segments.as_ptr() as u64;
        let mut command = opcode::UringCmd80::new(KERNEL, operation)
            .cmd(bytes)
            .addr(Some(segments))
            .build()
            .user_data(entry.number as u64 * PER_ENTRY);
        // SAFETY: `Entry128` is `repr(C)` over the kernel's 128-byte entry, whose `len` is the
        // `u32` at offset 24; the entry is ours alone.
        unsafe {
            let len = (&raw mut command).cast::<u8>().add(SQE_LEN_OFFSET).cast::<u32>();
            len.write(SEGMENTS);
        }
        self.push(&command, Some(entry))
    }

    /// Puts a command into the ring, and the entry whose buffers it names where they stay until the
    /// kernel is done with them.
    fn push(&mut self, command: &squeue::Entry128, entry: Option<FuseEntry>) -> io::Result<()> {
        // Its place is free if it came from here.
        if let Some(entry) = &entry
            && !matches!(self.entries.get(entry.number), Some(None))
        {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: the segments and the buffers that the command names lie in an entry that is kept
        // in `entries` until the command has completed, or is never freed (`drop`); the descriptors
        // are registered or owned by `self`.
        unsafe { self.ring.submission().push(command) }
            .map_err(|_| io::Error::new(io::ErrorKind::WouldBlock, "the submission queue is full"))?;
        if let Some(entry) = entry
            && let Some(place) = self.entries.get_mut(entry.number)
        {
            *place = Some(entry);
        }
        Ok(())
    }
}

impl Drop for FuseRing {
    fn drop(&mut self) {
        // A drive writes to memory when it likes; what it may still write to must stay.
        if self.transfers > 0 {
            self.entries.drain(..).for_each(std::mem::forget);
        }
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
