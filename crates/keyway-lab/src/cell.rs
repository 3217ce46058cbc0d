//! A cell: one kind of request, kept up at one queue depth.

use keyway_error::enum_table;
use serde::{Deserialize, Serialize};

/// In which order the blocks of the span are touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// One after the other, from the start again at the end.
    Sequential,
    /// Any block, each as likely as the others.
    Random,
}

/// Which way a request moves data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the medium.
    Read,
    /// To it.
    Write,
}

enum_table! {
    /// Reads, writes, or both.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Mix {
        /// Reads only.
        Read(100, "read"),
        /// Writes only.
        Write(0, "write"),
        /// Seven reads to three writes, as CrystalDiskMark mixes.
        Mix70(70, "mix70"),
    }
    /// How many of a hundred requests are reads.
    pub reads_percent: u32,
    /// The word in a cell's name.
    pub name: &'static str,
}

impl Mix {
    /// Whether any request writes.
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// One kind of request, kept up at one queue depth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// What people call it: `RND4K Q32T1 read`.
    pub name: String,
    /// The order of the blocks.
    pub pattern: Pattern,
    /// Reads, writes or both.
    pub mix: Mix,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Requests in flight per thread.
    pub queue_depth: u32,
    /// Threads that keep up a queue each.
    pub threads: u32,
    /// The bytes of the subject that are touched: `0..span_bytes`.
    pub span_bytes: u64,
}

impl Cell {
    /// Requests in flight, all threads together.
    pub fn in_flight(&self) -> u32 {
        self.queue_depth.saturating_mul(self.threads)
    }
}
