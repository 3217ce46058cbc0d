//! The wish to stop, told once to every thread that serves a volume.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that threads can look at and also wait for with `poll`: its descriptor becomes readable
/// when the stop is requested and stays so.
pub struct Stop {
    requested: AtomicBool,
    event: OwnedFd,
}

impl Stop {
    /// Nothing requested yet. Fails only when the process has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { requested: AtomicBool::new(false), event })
    }

    /// Requests the stop; from any thread, any number of times.
    pub fn request(&self) {
        self.requested.store(true, Ordering::Release);
        // Fails only when the counter is full: then it is readable already.
        let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
    }

    /// Whether it has been requested.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Acquire)
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}
