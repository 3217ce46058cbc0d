//! What the journal keeps of a segment: all of it, or what puts it together again from what a loss of power leaves.
//!
//! - **Whole**: the segment's bytes.
//! - **In place**, where the target is the source, and a unit of the ciphers is a sector: a *sum* of each sector as it
//!   shall be, and *parity*. A sector whose sum is right is there; one whose transformation has the right sum is the old
//!   one; what is neither is made from parity, if there is not too much of it. The segment is cut into groups of
//!   32 runs; the parity of a group is one run, the exclusive or of them all. So each group may have lost one stretch
//!   that is as long as a run, a 32nd of the segment, from 4 to 64 KiB, whatever lies there now.
//! - **Shifted** by 128 KiB, where a target covers the source of the piece of 128 KiB in front of it and
//!   nothing else: sums of all pieces, and the bytes of each eighth one. The targets are written in eight *rounds*, each
//!   flushed before the next: the pieces behind the kept ones, those behind these, and so on, last the kept ones. A
//!   piece's source is covered by the next round at the earliest, when its own target is on the medium. So
//!   a piece is kept, or its source is there, or it is at its target.
//!
//! ```text
//! in place: the sums, 8 bytes each, to a whole page; each group's parity
//! shifted:  the sums, 16 bytes each, to a whole page; the kept pieces
//! ```

use crate::step::{Keyed, Move};
use keyway_error::enum_table;

/// The largest segment of which not everything is kept: it is in memory [`BUFFERS`](crate::stripe_window) times.
pub(crate) const LARGEST_WINDOW: u64 = 32 << 20;

/// By how much what is shifted moves, and how much of it is written at a time: VeraCrypt's headers.
pub(crate) const PIECE: u64 = 128 << 10;

/// In how many rounds that is written. One of so many pieces is kept.
pub(crate) const ROUNDS: u64 = 8;

/// A medium's smallest sector, and what a sum is of.
pub(crate) const SECTOR: u64 = 512;

pub(crate) const PAGE: u64 = 4096;

/// Runs of a group.
pub(crate) const RUNS: u64 = 32;

/// Bytes of the longest run.
pub(crate) const LONGEST_RUN: u64 = 64 << 10;

enum_table! {
    /// What the journal keeps of a segment.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Redundancy {
        /// All of it.
        Whole(0),
        /// Sums and parity: its target is its source.
        InPlace(1),
        /// Sums and some of it: its target is 128 KiB beside its source.
        Shifted(2),
    }
    /// The number in a record.
    pub(crate) code: u32,
}

impl Redundancy {
    /// What a move can do with: everything else is kept whole.
    pub(crate) fn of(m: &Move) -> Self {
        let is_sector =
            |key: &Option<Keyed>| key.as_ref().is_none_or(|key| u64::from(key.cipher.unit_bytes()) == SECTOR);
        let up = m.to.offset > m.from.offset;
        match m.to.offset.abs_diff(m.from.offset) {
            0 if is_sector(&m.from.key) && is_sector(&m.to.key) => Self::InPlace,
            PIECE if up == m.from_end => Self::Shifted,
            _ => Self::Whole,
        }
    }

    pub(crate) fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kept| kept.code() == code)
    }

    /// Whether there are such segments of so many bytes.
    pub fn is_possible(self, len: u64) -> bool {
        self == Self::Whole || (1..=LARGEST_WINDOW).contains(&len) && len.is_multiple_of(SECTOR)
    }

    /// Bytes that are kept of a possible segment.
    pub fn kept_bytes(self, len: u64) -> u64 {
        match self {
            Self::Whole => len,
            Self::InPlace => {
                parity_at(len) + len.div_ceil(RUNS * run(len).max(1)) * run(len).next_multiple_of(PAGE)
            }
            Self::Shifted => pieces_at(len) + len.div_ceil(PIECE * ROUNDS) * PIECE,
        }
    }

    /// What a segment has at least, however small the medium is.
    pub(crate) const fn smallest_window(self) -> u64 {
        match self {
            Self::Whole | Self::InPlace => LONGEST_RUN,
            Self::Shifted => ROUNDS * PIECE,
        }
    }

    /// The largest segment, of `most` bytes at most, of which there is room to keep what is needed. `None` where that is no
    /// larger than one that is kept whole.
    pub(crate) fn window(self, room: u64, most: u64) -> Option<u64> {
        let step = match self {
            Self::Whole => return None,
            Self::InPlace => LONGEST_RUN,
            Self::Shifted => PIECE,
        };
        // The largest first.
        let lens = (1..=most.min(LARGEST_WINDOW) / step).rev().map(|n| n * step);
        lens.into_iter().find(|len| self.kept_bytes(*len) <= room).filter(|len| *len > room.min(most / 2))
    }
}

/// Where the kept pieces of a shifted segment begin.
pub(crate) fn pieces_at(len: u64) -> u64 {
    (len.div_ceil(PIECE) * 16).next_multiple_of(PAGE)
}

/// Where the parity of a segment in place begins.
pub(crate) fn parity_at(len: u64) -> u64 {
    (len / SECTOR * 8).next_multiple_of(PAGE)
}

/// Bytes of a run: a page at least, which is what a drive writes at a time.
pub(crate) fn run(len: u64) -> u64 {
    len.div_ceil(RUNS).next_multiple_of(PAGE).clamp(PAGE, LONGEST_RUN).min(len)
}
