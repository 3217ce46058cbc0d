//! How one turn is run.

use crate::workload::Data;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How one turn is run.
#[derive(Clone, Copy)]
pub struct Turn<'a> {
    /// How long requests are counted.
    pub time: Duration,
    /// Requests are made for so long before any is counted.
    pub ramp: Duration,
    /// What is written.
    pub data: Data,
    /// Turns with the same seed touch the same blocks in the same order.
    pub seed: u64,
    /// Whether what was written is read back and compared once the turn is over.
    pub verify: bool,
    /// Set from outside to end it early.
    pub stop: &'a AtomicBool,
}
