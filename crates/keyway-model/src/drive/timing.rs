//! The timing of a mechanism: when a request that arrives now will be done.

use keyway_store::Action;

/// A drive's mechanism and its state.
pub(super) trait Timing: Send {
    /// When a request that arrives at `now` is done, both in ns. Requests come in the order of
    /// their arrival.
    fn due(&mut self, now: u64, action: Action, offset: u64, len: usize) -> u64;

    /// Nobody needs what is there any more.
    fn discard(&mut self, _offset: u64, _len: u64) {}

    /// Everything was written once, and nothing discarded.
    fn fill(&mut self) {}

    /// Blocks were written at random places of the first `span` bytes until that changed nothing any more.
    fn wear_in(&mut self, _span: u64, _block_bytes: u32) {}
}

/// A finite, positive time in whole ns.
pub(super) fn nanos(ns: f64) -> u64 {
    ns.max(0.0).round() as u64
}

/// The time `len` bytes take at a rate, in ns.
pub(super) fn transfer(len: usize, mb_s: f64) -> u64 {
    nanos(len as f64 * 1e3 / mb_s)
}
