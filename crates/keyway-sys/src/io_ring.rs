//! Reads and writes of one file through an io_uring, each from or into a buffer of its own that is
//! registered with the kernel.
//!
//! A slot is a buffer and at most one request. While the request is in flight the buffer belongs to
//! the kernel, and [`IoRing::buffer_mut`] does not give it out.

use io_uring::{IoUring, opcode, squeue, types};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::IoMemory;

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

/// A ring on one file. Stays in the thread that made it, whose requests alone the kernel takes.
pub struct IoRing {
    // Dropped before the memory.
    ring: IoUring,
    /// The slots', side by side.
    memory: IoMemory,
    slot_bytes: usize,
    busy: Vec<bool>,
    in_flight: usize,
    registered: bool,
    file: OwnedFd,
    /// Not for another thread.
    _here: PhantomData<*const ()>,
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
        let mut memory = IoMemory::apart(total)?;
        // Its pages come now and not in the first requests.
        memory.fill(0);
        let vectors: Vec<libc::iovec> = (0..slots)
            .map(|slot| libc::iovec {
                iov_base: memory.start().as_ptr().wrapping_add(slot * slot_bytes).cast(),
                iov_len: slot_bytes,
            })
            .collect();
        // SAFETY: the vectors describe `memory`, which outlives the ring (field order and `drop`).
        // A refusal (the limit of locked memory) costs a little speed and nothing else.
        let registered = unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        let (busy, in_flight, _here) = (vec![false; slots], 0, PhantomData);
        Ok(Self { ring, memory, slot_bytes, busy, in_flight, registered, file, _here })
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
                self.memory.start().as_ptr().add(slot * self.slot_bytes),
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
        let at = self.memory.start().as_ptr().wrapping_add(place * self.slot_bytes);
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
