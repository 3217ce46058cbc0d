//! Reads and writes of one file through an io_uring, each from or into a buffer of its own that is
//! registered with the kernel.
//!
//! A slot is a buffer and at most one request. While the request is in flight the buffer belongs to
//! the kernel, and [`IoRing::buffer_mut`] does not give it out.

use io_uring::{IoUring, opcode, squeue, types};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{NonNull, null_mut};

/// Buffers start on pages, as direct I/O wants it.
const ALIGN: usize = 4096;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// From the file into the slot's buffer.
    Read,
    /// From the slot's buffer to the file.
    Write,
}

/// `IORING_ENTER_GETEVENTS` of `io_uring(7)`: completions are posted before the call returns.
const GET_EVENTS: u32 = 1;

/// A huge page of most architectures, in bytes (`Documentation/admin-guide/mm/transhuge.rst`).
const HUGE: usize = 2 << 20;

/// The slots' memory, in one piece, in huge pages where the kernel has them. In ordinary pages it would
/// be chance which of them lie side by side, and with that into how many pieces a request is cut: one
/// ring would be twice as fast as the next on the same device.
struct Memory {
    /// The mapping and its length.
    mapped: (NonNull<c_void>, usize),
    /// The first byte in it that begins a huge page.
    start: NonNull<u8>,
}

impl Memory {
    fn zeroed(bytes: usize) -> io::Result<Self> {
        let none = || io::Error::from(io::ErrorKind::OutOfMemory);
        let bytes = bytes.max(1).checked_next_multiple_of(HUGE).ok_or_else(none)?;
        let len = bytes.checked_add(HUGE).ok_or_else(none)?;
        // SAFETY: a new mapping at a place of the kernel's choice; its length is not 0.
        let mapped = unsafe {
            mmap_anonymous(null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }?;
        let start = mapped.cast::<u8>().wrapping_add(mapped.cast::<u8>().align_offset(HUGE));
        // SAFETY: the range lies in the mapping: at most HUGE - 1 bytes were left out before it. The
        // advice changes no byte; a kernel without huge pages refuses it, and nothing is lost.
        let _ = unsafe { madvise(start.cast(), bytes, Advice::LinuxHugepage) };
        // SAFETY: as above; nobody else knows of the mapping. Touched here and not in the first requests.
        unsafe { start.write_bytes(0, bytes) };
        let (mapped, start) = (NonNull::new(mapped), NonNull::new(start));
        let (mapped, start) = mapped.zip(start).ok_or_else(none)?;
        Ok(Self { mapped: (mapped, len), start })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: mapped in `zeroed` with this length and unmapped only here; no request is in
        // flight any more (`IoRing`'s drop waits for them).
        let _ = unsafe { munmap(self.mapped.0.as_ptr(), self.mapped.1) };
    }
}

/// A ring on one file. Stays in the thread that made it, whose requests alone the kernel takes.
pub struct IoRing {
    // Dropped before the memory.
    ring: IoUring,
    memory: Memory,
    slot_bytes: usize,
    busy: Vec<bool>,
    in_flight: usize,
    registered: bool,
    file: OwnedFd,
}

impl IoRing {
    /// A ring with so many slots, each with a buffer of `slot_bytes` (rounded up to whole pages).
    ///
    /// # Errors
    /// The kernel has no io_uring or forbids it; there is not enough memory.
    pub fn new(file: OwnedFd, slots: u16, slot_bytes: usize) -> io::Result<Self> {
        let slot_bytes = slot_bytes.max(1).next_multiple_of(ALIGN);
        let entries = u32::from(slots.max(1)).next_power_of_two();
        let ring = IoUring::builder()
            .dontfork()
            .setup_coop_taskrun()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(entries)
            // Kernels before 6.1 do not know these settings.
            .or_else(|_| IoUring::builder().dontfork().build(entries))?;
        let slots = usize::from(slots.max(1));
        let total = slot_bytes.checked_mul(slots).ok_or(io::ErrorKind::OutOfMemory)?;
        let memory = Memory::zeroed(total)?;
        let vectors: Vec<libc::iovec> = (0..slots)
            .map(|slot| libc::iovec {
                iov_base: memory.start.as_ptr().wrapping_add(slot * slot_bytes).cast(),
                iov_len: slot_bytes,
            })
            .collect();
        // SAFETY: the vectors describe `memory`, which outlives the ring (field order and `drop`).
        // A refusal (the limit of locked memory) costs a little speed and nothing else.
        let registered = unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        Ok(Self { ring, memory, slot_bytes, busy: vec![false; slots], in_flight: 0, registered, file })
    }

    /// Whether the kernel keeps the buffers mapped, so that a request need not map them.
    pub fn has_registered_buffers(&self) -> bool {
        self.registered
    }

    /// A slot's buffer; `None` while it is the kernel's or where there is no such slot.
    #[inline]
    pub fn buffer_mut(&mut self, slot: u16) -> Option<&mut [u8]> {
        let slot = usize::from(slot);
        if *self.busy.get(slot)? {
            return None;
        }
        // SAFETY: inside the memory, initialised, not in flight, and borrowed from `self` alone.
        Some(unsafe {
            std::slice::from_raw_parts_mut(
                self.memory.start.as_ptr().add(slot * self.slot_bytes),
                self.slot_bytes,
            )
        })
    }

    /// Queues a request of the slot's first `len` bytes; [`IoRing::submit`] hands it to the kernel.
    ///
    /// # Errors
    /// The slot is in flight or does not exist; `len` is more than its buffer.
    #[inline]
    pub fn start(&mut self, slot: u16, transfer: Transfer, offset: u64, len: usize) -> io::Result<()> {
        let place = usize::from(slot);
        let wrong = |why: &'static str| io::Error::new(io::ErrorKind::InvalidInput, why);
        let len = u32::try_from(len).ok().filter(|_| len <= self.slot_bytes);
        let len = len.ok_or_else(|| wrong("the request is longer than its buffer"))?;
        match self.busy.get(place) {
            Some(false) => {}
            Some(true) => return Err(wrong("the slot's last request is not finished")),
            None => return Err(wrong("there is no such slot")),
        }
        let fd = types::Fd(self.file.as_raw_fd());
        let at = self.memory.start.as_ptr().wrapping_add(place * self.slot_bytes);
        let entry: squeue::Entry = match (transfer, self.registered) {
            (Transfer::Read, true) => opcode::ReadFixed::new(fd, at, len, slot).offset(offset).build(),
            (Transfer::Read, false) => opcode::Read::new(fd, at, len).offset(offset).build(),
            (Transfer::Write, true) => opcode::WriteFixed::new(fd, at, len, slot).offset(offset).build(),
            (Transfer::Write, false) => opcode::Write::new(fd, at, len).offset(offset).build(),
        };
        let entry = entry.user_data(u64::from(slot));
        // SAFETY: the buffer is the slot's, which is marked as the kernel's until the request is
        // finished, and `drop` waits for that; the descriptor is owned by `self`.
        unsafe { self.ring.submission().push(&entry) }
            .map_err(|_| io::Error::new(io::ErrorKind::WouldBlock, "the submission queue is full"))?;
        if let Some(busy) = self.busy.get_mut(place) {
            *busy = true;
        }
        self.in_flight += 1;
        Ok(())
    }

    /// Hands over what was queued and waits until at least `wait_for` requests are finished. With 0 it
    /// does not wait, and what is finished by then can be had all the same.
    ///
    /// # Errors
    /// The kernel's reason; a signal is not one.
    #[inline]
    pub fn submit(&mut self, wait_for: usize) -> io::Result<()> {
        let wait_for = wait_for.min(self.in_flight) as u32;
        loop {
            let queued = self.ring.submission().len() as u32;
            // SAFETY: no argument is passed, and `start` says why what was queued is sound.
            match unsafe { self.ring.submitter().enter::<()>(queued, wait_for, GET_EVENTS, None) } {
                Ok(_) => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// A finished request's slot and how many bytes it moved.
    #[inline]
    pub fn finished(&mut self) -> Option<(u16, io::Result<usize>)> {
        let done = self.ring.completion().next()?;
        let slot = done.user_data() as u16;
        if let Some(busy) = self.busy.get_mut(usize::from(slot)) {
            *busy = false;
        }
        self.in_flight = self.in_flight.saturating_sub(1);
        let result = done.result();
        Some((slot, usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result))))
    }

    /// Requests that are queued or in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }
}

impl Drop for IoRing {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.submit(1).is_err() {
                // The kernel may still write to the buffers, and nobody can say until when.
                std::process::abort();
            }
            while self.finished().is_some() {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    fn file(name: &str) -> OwnedFd {
        let path = std::env::temp_dir().join(format!("keyway-io-ring-{name}-{}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.expect("a temporary file");
        std::fs::remove_file(path).expect("ours");
        file.into()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut ring = match IoRing::new(file("bytes"), 2, 5000) {
            Ok(ring) => ring,
            Err(e) => {
                keyway_testkit::leave_out(&format!("no io_uring here: {e}"));
                return;
            }
        };
        ring.buffer_mut(0).expect("free").fill(7);
        ring.start(0, Transfer::Write, 100, 5000).expect("queued");
        assert!(ring.buffer_mut(0).is_none(), "it is the kernel's");
        assert!(ring.start(0, Transfer::Read, 0, 1).is_err(), "one request at a time");
        assert!(ring.start(2, Transfer::Read, 0, 1).is_err(), "no such slot");
        assert!(ring.start(1, Transfer::Read, 0, 8193).is_err(), "longer than its buffer");
        ring.submit(1).expect("done");
        let (slot, moved) = ring.finished().expect("one");
        assert_eq!((slot, moved.expect("written")), (0, 5000));
        ring.start(1, Transfer::Read, 99, 8192).expect("queued");
        ring.submit(1).expect("done");
        let (slot, moved) = ring.finished().expect("one");
        assert_eq!((slot, moved.expect("read")), (1, 5001));
        let bytes = ring.buffer_mut(1).expect("free");
        assert_eq!((bytes[0], bytes[1], bytes[5000], bytes[5001]), (0, 7, 7, 0));
    }

    #[test]
    fn it_may_be_dropped_with_requests_in_flight() {
        let Ok(mut ring) = IoRing::new(file("dropped"), 8, 1 << 20) else { return };
        for slot in 0..8 {
            ring.start(slot, Transfer::Write, u64::from(slot) << 20, 1 << 20).expect("queued");
        }
        ring.submit(0).expect("handed over");
        drop(ring);
    }
}
