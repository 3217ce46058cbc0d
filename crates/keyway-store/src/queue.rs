//! Many requests in flight at once, from one thread: how a drive's queue is filled without a thread
//! for each request.
//!
//! One thread owns a queue. It submits until as many requests are in flight as it wants, then waits
//! for some to complete, and submits again. Several threads take a queue each.

use crate::{AlignedBuf, StoreError};

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Fills the buffer from the store.
    Read,
    /// Writes the buffer to the store.
    Write,
    /// Puts everything that completed before on the medium; the buffer may be empty.
    Flush,
}

/// A request: the buffer travels with it and comes back in the [`Completion`].
pub struct Request {
    /// The submitter's own name for it.
    pub tag: u64,
    /// What to do.
    pub action: Action,
    /// First byte in the store.
    pub offset: u64,
    /// As many bytes as are to be moved. What a write's buffer holds when it comes back is
    /// unspecified: a queue that encrypts does so where the bytes lie.
    pub buf: AlignedBuf,
}

/// A request that is done.
pub struct Completion {
    /// As in the request.
    pub tag: u64,
    /// As in the request.
    pub action: Action,
    /// As in the request.
    pub offset: u64,
    /// The request's buffer; filled, if it was a read that went well.
    pub buf: AlignedBuf,
    /// How it went.
    pub result: Result<(), StoreError>,
}

/// Requests in flight at once.
pub trait Queue {
    /// Hands a request to the store and returns at once. What is wrong with the request itself is
    /// told in its completion.
    fn submit(&mut self, request: Request) -> Result<(), StoreError>;

    /// Waits until at least `at_least` requests (or all, where fewer are in flight) are done, and
    /// adds all that are done to `done`. With 0 it only looks.
    fn complete(&mut self, at_least: usize, done: &mut Vec<Completion>) -> Result<(), StoreError>;

    /// Waits until [`Queue::now`] is `until`, or a request is done, whichever comes first; adds all
    /// that are done to `done`.
    fn complete_before(&mut self, until: u64, done: &mut Vec<Completion>) -> Result<(), StoreError>;

    /// Requests submitted and not yet handed back.
    fn in_flight(&self) -> usize;

    /// Nanoseconds since some fixed moment, on the clock by which the store's requests complete:
    /// the machine's, or a simulated one. All figures of a run are differences of it.
    fn now(&self) -> u64;
}

impl<Q: Queue + ?Sized> Queue for Box<Q> {
    fn submit(&mut self, request: Request) -> Result<(), StoreError> {
        (**self).submit(request)
    }
    fn complete(&mut self, at_least: usize, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        (**self).complete(at_least, done)
    }
    fn complete_before(&mut self, until: u64, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        (**self).complete_before(until, done)
    }
    fn in_flight(&self) -> usize {
        (**self).in_flight()
    }
    fn now(&self) -> u64 {
        (**self).now()
    }
}
