//! What a conversion consists of: bytes that move, small writes, ranges that are wiped.

use keyway_cipher::SectorCipher;
use std::ops::Range;
use std::sync::Arc;

/// A cipher with the number of the unit at the beginning of a [`Side`].
#[derive(Clone)]
pub struct Keyed {
    /// The cipher.
    pub cipher: Arc<SectorCipher>,
    /// The number of the first unit.
    pub first_unit: u64,
}

/// Where bytes lie, and under what.
#[derive(Clone)]
pub struct Side {
    /// First byte in the store.
    pub offset: u64,
    /// What they are encrypted with; `None`: they are taken, or put, as they are.
    pub key: Option<Keyed>,
}

/// Bytes that are read from one mapping and written to another. Both sides say what the bytes are under,
/// also where that is the same: so it can be told at any moment where the content is.
#[derive(Clone)]
pub struct Move {
    /// Which bytes of the content they are: the first one's place in the file system.
    pub logical: u64,
    /// Where they are.
    pub from: Side,
    /// Where they shall be.
    pub to: Side,
    /// How many: whole units of both ciphers.
    pub len: u64,
}

/// Ranges of the store that are overwritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wipe {
    /// The ranges, in order; each is on the medium before the next begins.
    pub ranges: Vec<Range<u64>>,
    /// With bytes that nobody can tell from cipher text, or with zeros.
    pub noise: bool,
}

/// A part of a conversion. A step begins when everything before it is on the medium.
#[derive(Clone)]
pub enum Step {
    /// Through the journal. Counts as progress.
    Move(Move),
    /// Overwritten, some of it perhaps twice. Counts as progress.
    Wipe(Wipe),
    /// Small writes, each on the medium before the next. May be repeated.
    Put(Vec<(u64, Vec<u8>)>),
}

impl Move {
    /// The segment of `n` bytes that comes after `done` of them: its first byte, counted from the
    /// beginning of the move. What moves to a higher place moves from its end on, all else from its
    /// beginning, so that no segment overwrites what has not been read.
    pub(crate) fn segment(&self, done: u64, n: u64) -> u64 {
        if self.to.offset > self.from.offset { self.len.saturating_sub(done).saturating_sub(n) } else { done }
    }
}

impl Step {
    /// Bytes of work.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Move(m) => m.len,
            Self::Wipe(wipe) => wipe.ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum(),
            Self::Put(_) => 0,
        }
    }
}

impl Side {
    /// Decrypts what was read at `at` bytes from the beginning.
    pub(crate) fn decrypt(&self, buf: &mut [u8], at: u64) {
        if let Some(key) = &self.key {
            key.cipher.decrypt_sectors(buf, key.unit(at));
        }
    }

    /// Encrypts what shall lie at `at` bytes from the beginning.
    pub(crate) fn encrypt(&self, buf: &mut [u8], at: u64) {
        if let Some(key) = &self.key {
            key.cipher.encrypt_sectors(buf, key.unit(at));
        }
    }
}

impl Keyed {
    fn unit(&self, at: u64) -> u64 {
        self.first_unit + at / u64::from(self.cipher.unit_bytes())
    }
}
