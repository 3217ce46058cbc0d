//! What a conversion consists of: bytes that move, small writes, ranges that are wiped.

use crate::ConvertError;
use keyway_cipher::SectorCipher;
use keyway_store::{AlignedBuf, Store};
use keyway_volume::veracrypt::Noise;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that a [`Small`] write takes at a time.
const PIECE: u64 = 1 << 20;

/// Bytes of a page, in which a [`Small::Part`] is.
const PAGE: usize = 4096;

/// Bytes of a medium's smallest sector, of which everything is whole ones.
const SECTOR: u64 = 512;

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
    /// From the end on. What moves to a higher place has to; what stays where it is may.
    pub from_end: bool,
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
    /// Discarded: what is there is nobody's any more.
    Trim(Vec<Range<u64>>),
    /// Small writes, each on the medium before the next. May be repeated.
    Put(Vec<(u64, Vec<u8>)>),
    /// The same, with copies of what is on the medium among them.
    Small(Vec<Small>),
    /// What depends on what is on the medium by then. May be repeated.
    Act(Act),
}

/// What a step does to the store; on the medium before the next begins.
pub(crate) type Act = Arc<dyn Fn(&dyn Store) -> Result<(), ConvertError> + Send + Sync>;

/// A write that may be repeated.
#[derive(Clone)]
pub enum Small {
    /// These bytes.
    Put {
        /// Where.
        at: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// Bytes of the medium, which lie where nothing of the same step is written before.
    Copy {
        /// Where they are.
        from: u64,
        /// Where they shall be.
        to: u64,
        /// How many.
        len: u64,
        /// What stands in the copy at some byte of it instead.
        patch: Option<(u64, Vec<u8>)>,
    },
    /// A few bytes of a page, from the same place in another page; the rest of it stays.
    Part {
        /// The page they are in.
        from: u64,
        /// The page that gets them.
        to: u64,
        /// Which bytes of the page.
        bytes: Range<usize>,
    },
    /// Zeros, or noise.
    Fill {
        /// Where.
        range: Range<u64>,
        /// With bytes that nobody can tell from cipher text.
        noise: bool,
    },
}

impl Move {
    /// The segment of `n` bytes that comes after `done` of them: its first byte, counted from the
    /// beginning of the move.
    pub(crate) fn segment(&self, done: u64, n: u64) -> u64 {
        if self.from_end { self.len.saturating_sub(done).saturating_sub(n) } else { done }
    }
}

impl Step {
    /// Bytes of work.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Move(m) => m.len,
            Self::Wipe(wipe) => wipe.ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum(),
            Self::Trim(_) | Self::Put(_) | Self::Small(_) | Self::Act(_) => 0,
        }
    }

    /// Whether it may have come so far: not behind its end, and whole units of whatever ciphers it has.
    pub(crate) fn can_go_on_behind(&self, done: u64) -> bool {
        done <= self.bytes() && self.is_of_whole_units(done)
    }

    /// Whether so many bytes are whole units of whatever ciphers it has.
    pub(crate) fn is_of_whole_units(&self, bytes: u64) -> bool {
        let units = match self {
            Self::Move(m) => {
                [&m.from, &m.to].map(|side| side.key.as_ref().map(|key| key.cipher.unit_bytes()))
            }
            _ => [None, None],
        };
        units.into_iter().all(|unit| bytes.is_multiple_of(unit.map_or(SECTOR, u64::from)))
    }
}

impl Small {
    /// Carries it out; nothing is flushed.
    pub(crate) fn carry_out(&self, store: &dyn Store) -> Result<(), ConvertError> {
        match self {
            Self::Put { at, bytes } => {
                let mut aligned = AlignedBuf::zeroed(bytes.len());
                aligned.copy_from_slice(bytes);
                store.write_at(&aligned, *at)?;
            }
            Self::Copy { from, to, len, patch } => {
                let mut piece = AlignedBuf::default();
                for done in (0..*len).step_by(PIECE as usize) {
                    piece.resize((len - done).min(PIECE) as usize);
                    store.read_at(&mut piece, from + done)?;
                    if let Some((at, bytes)) = patch {
                        let slot = at.checked_sub(done).and_then(|at| usize::try_from(at).ok());
                        if let Some(slot) = slot.and_then(|at| piece.get_mut(at..at + bytes.len())) {
                            slot.copy_from_slice(bytes);
                        }
                    }
                    store.write_at(&piece, to + done)?;
                }
            }
            Self::Part { from, to, bytes } => {
                let mut source = AlignedBuf::zeroed(PAGE);
                let mut page = AlignedBuf::zeroed(PAGE);
                store.read_at(&mut source, *from)?;
                store.read_at(&mut page, *to)?;
                if let (Some(slot), Some(part)) = (page.get_mut(bytes.clone()), source.get(bytes.clone())) {
                    slot.copy_from_slice(part);
                }
                store.write_at(&page, *to)?;
            }
            Self::Fill { range, noise } => {
                let mut source = Noise::new()?;
                let mut piece = AlignedBuf::default();
                let mut at = range.start;
                while at < range.end {
                    piece.resize((range.end - at).min(PIECE) as usize);
                    if *noise {
                        source.fill(&mut piece)
                    } else {
                        piece.fill(0)
                    }
                    store.write_at(&piece, at)?;
                    at += piece.len() as u64;
                }
            }
        }
        Ok(())
    }
}

impl From<(u64, Option<Keyed>)> for Side {
    fn from((offset, key): (u64, Option<Keyed>)) -> Self {
        Self { offset, key }
    }
}

impl Side {
    /// Whether it is the same: where bytes lie, and what they are under.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let same_key = match (&self.key, &other.key) {
            (Some(key), Some(other)) => {
                Arc::ptr_eq(&key.cipher, &other.cipher) && key.first_unit == other.first_unit
            }
            (None, None) => true,
            _ => false,
        };
        self.offset == other.offset && same_key
    }

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
    /// For a side that begins that many bytes later.
    pub(crate) fn from(&self, at: u64) -> Self {
        let units = at / u64::from(self.cipher.unit_bytes());
        Self { cipher: self.cipher.clone(), first_unit: self.first_unit + units }
    }

    fn unit(&self, at: u64) -> u64 {
        self.first_unit + at / u64::from(self.cipher.unit_bytes())
    }
}

/// A move from one place to another, each under its cipher. What moves to a higher place begins with its end.
pub(crate) fn moving(logical: u64, from: impl Into<Side>, to: impl Into<Side>, len: u64) -> Step {
    let (from, to) = (from.into(), to.into());
    let from_end = to.offset > from.offset;
    Step::Move(Move { logical, from, to, len, from_end })
}

/// Ranges that are overwritten, with noise or with zeros.
pub(crate) fn wiping(ranges: impl IntoIterator<Item = Range<u64>>, noise: bool) -> Step {
    Step::Wipe(Wipe { ranges: ranges.into_iter().collect(), noise })
}

/// Carries writes out in order, each on the medium before the next.
pub(crate) fn carry_out(store: &dyn Store, writes: Vec<Small>) -> Result<(), ConvertError> {
    for small in writes {
        small.carry_out(store)?;
        store.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_step_goes_on_behind_its_end_or_within_a_sector() {
        let side = Side { offset: 0, key: None };
        let moving = Move { logical: 0, from: side.clone(), to: side, len: 4096, from_end: false };
        let wipe = Wipe { ranges: vec![512..1024, 4096..7680], noise: true };
        for step in [Step::Move(moving), Step::Wipe(wipe)] {
            for done in [0, 512, 4096] {
                assert!(step.can_go_on_behind(done), "{done}");
            }
            for done in [1, 511, 513, 4608, u64::MAX] {
                assert!(!step.can_go_on_behind(done), "{done}");
            }
        }
        for step in [Step::Put(vec![]), Step::Small(vec![]), Step::Trim(vec![])] {
            assert!(step.can_go_on_behind(0) && !step.can_go_on_behind(512));
        }
    }
}
