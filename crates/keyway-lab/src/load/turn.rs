//! How one turn is run.

use crate::workload::Data;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

/// How one turn is run.
#[derive(Clone, Copy)]
pub struct Turn<'a> {
    /// How long requests are counted.
    pub time: Duration,
    /// It ends earlier where so many bytes have been moved.
    pub bytes: Option<u64>,
    /// Requests are made for so long before any is counted.
    pub ramp: Duration,
    /// What is written.
    pub data: Data,
    /// Random blocks and random bytes follow from it.
    pub seed: u64,
    /// The block at which a sequence goes on; the turn moves it behind the last one that it touched.
    pub place: &'a AtomicU64,
    /// Whether what was written is read back and compared once the turn is over.
    pub verify: bool,
    /// Set from outside to end it early.
    pub stop: &'a AtomicBool,
}
