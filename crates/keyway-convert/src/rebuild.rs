//! Puts a segment together again from what the journal has kept of it ([`Redundancy`]) and what is on the medium.

use crate::ConvertError;
use crate::journal::{Record, checksum};
use crate::redundancy::{
    LONGEST_RUN, PAGE, PIECE, ROUNDS, RUNS, Redundancy, SECTOR, parity_at, pieces_at, run,
};
use crate::step::Move;
use keyway_store::{AlignedBuf, Store};
use std::collections::BTreeSet;
use std::ops::Range;

/// A segment as it shall lie at its target, and what of it is written in which round.
pub(crate) struct Rebuilt {
    bytes: AlignedBuf,
    rounds: Rounds,
}

/// Ranges of a segment, each round on the medium before the next begins.
pub(crate) type Rounds = Vec<Vec<Range<usize>>>;

impl Redundancy {
    /// Takes a segment from one side to the other; what is kept of it goes to `kept`.
    pub(crate) fn transform(self, m: &Move, done: u64, segment: &mut [u8], kept: &mut AlignedBuf) {
        let len = segment.len() as u64;
        kept.resize(usize::try_from(self.kept_bytes(len)).unwrap_or_default());
        kept.fill(0);
        match self {
            Self::Whole => {
                m.transform(segment, done);
                kept.copy_from_slice(segment);
            }
            Self::InPlace => {
                let (run, at) = (run(len), m.segment(done, len));
                let (sums, parity) = kept.split_at_mut(parity_at(len) as usize);
                let mut sums = sums.as_chunks_mut::<8>().0.iter_mut();
                let groups = segment.chunks_mut((RUNS * run) as usize);
                let parity = parity.chunks_mut(run.next_multiple_of(PAGE) as usize);
                // A group at a time, so that it stays in the processor's cache.
                for ((group, parity), n) in groups.zip(parity).zip(0..) {
                    let at = at + n * RUNS * run;
                    m.from.decrypt(group, at);
                    m.to.encrypt(group, at);
                    for (sector, slot) in group.chunks(SECTOR as usize).zip(&mut sums) {
                        *slot = sum(sector).to_le_bytes();
                    }
                    group.chunks(run as usize).for_each(|row| xor(parity, row));
                }
            }
            Self::Shifted => {
                let (sums, whole) = kept.split_at_mut(pieces_at(len) as usize);
                let mut whole = whole.chunks_mut(PIECE as usize);
                let sums = sums.as_chunks_mut::<16>().0.iter_mut();
                for ((n, (range, done)), slot) in (0..).zip(pieces(m, done, len)).zip(sums) {
                    let piece = segment.get_mut(range).unwrap_or_default();
                    *slot = packed(m.transform(piece, done));
                    if n % ROUNDS == 0
                        && let Some(to) = whole.next().and_then(|to| to.get_mut(..piece.len()))
                    {
                        to.copy_from_slice(piece);
                    }
                }
            }
        }
    }

    /// What of a segment is written when.
    pub(crate) fn rounds(self, m: &Move, done: u64, len: u64) -> Rounds {
        match self {
            Self::Whole | Self::InPlace => vec![vec![0..len as usize]],
            Self::Shifted => in_rounds((0..).zip(pieces(m, done, len)).map(|(n, (range, _))| (n, range))),
        }
    }

    /// Puts a segment together again from what the journal has kept and what is on the medium. Nothing is written.
    pub(crate) fn rebuild(
        self,
        store: &dyn Store,
        m: &Move,
        record: &Record,
        kept: AlignedBuf,
    ) -> Result<Rebuilt, ConvertError> {
        match self {
            Self::Whole => {
                let whole = std::iter::once(0..kept.len()).collect();
                Ok(Rebuilt { bytes: kept, rounds: vec![whole] })
            }
            Self::InPlace => in_place(store, m, record, &kept),
            Self::Shifted => shifted(store, m, record, &kept),
        }
    }
}

impl Rebuilt {
    /// Writes it. Where there are rounds each is on the medium before the next, and before another segment's.
    pub(crate) fn write(&self, store: &dyn Store, target: u64) -> Result<(), ConvertError> {
        for round in self.rounds.iter().filter(|round| !round.is_empty()) {
            for range in round {
                let piece = self.bytes.get(range.clone()).unwrap_or_default();
                store.write_at(piece, target + range.start as u64)?;
            }
            if self.rounds.len() > 1 {
                store.flush()?;
            }
        }
        Ok(())
    }
}

/// Ranges with the number of their piece, by the round in which that is written.
fn in_rounds(ranges: impl Iterator<Item = (u64, Range<usize>)>) -> Rounds {
    let mut rounds = vec![vec![]; ROUNDS as usize];
    for (n, range) in ranges {
        // The kept ones are the last: until then what is kept of them stands in for the source that is covered first.
        let round = (n + ROUNDS - 1) % ROUNDS;
        if let Some(round) = rounds.get_mut(round as usize) {
            round.push(range);
        }
    }
    rounds
}

/// The pieces of a segment in the order in which each covers the source of the one before: the bytes of it, and the
/// bytes of the move that come before.
fn pieces(m: &Move, done: u64, len: u64) -> impl Iterator<Item = (Range<usize>, u64)> {
    let start = m.segment(done, len);
    (0..len).step_by(PIECE as usize).map(move |before| {
        let piece = PIECE.min(len - before);
        let at = (m.segment(done + before, piece) - start) as usize;
        (at..at + piece as usize, done + before)
    })
}

fn packed([sum, sums]: [u64; 2]) -> [u8; 16] {
    (u128::from(sums) << 64 | u128::from(sum)).to_le_bytes()
}

/// A sector's sum: its words, each times a number of its own that the place gives. Bytes that have nothing to do with
/// the right ones have the right sum once in 2^64.
fn sum(sector: &[u8]) -> u64 {
    // The fractional parts of the square roots of 2 and 3 (FIPS 180-4, SHA-512's first values), the one odd and the other
    // made even: so every word's number is odd, and no bit of a word that changes alone is lost.
    const WORDS: u64 = 0x6a09_e667_f3bc_c909;
    const SUMS: u64 = 0xbb67_ae85_84ca_a73a;
    let [words, sums] = checksum(sector);
    words.wrapping_mul(WORDS).wrapping_add(sums.wrapping_mul(SUMS))
}

fn xor(to: &mut [u8], from: &[u8]) {
    let (to, _) = to.as_chunks_mut::<8>();
    let (from, _) = from.as_chunks::<8>();
    for (to, from) in to.iter_mut().zip(from) {
        *to = (u64::from_le_bytes(*to) ^ u64::from_le_bytes(*from)).to_le_bytes();
    }
}

/// Reads what can be read; of the rest, a sector at a time, where it begins and why not.
fn read_torn(store: &dyn Store, at: u64, buf: &mut [u8]) -> Vec<(Range<usize>, ConvertError)> {
    let sector = (store.sector_bytes() as usize).max(SECTOR as usize);
    let mut failed = Vec::new();
    let mut begins = 0;
    for run in buf.chunks_mut((LONGEST_RUN * RUNS) as usize) {
        let len = run.len();
        if store.read_at(run, at + begins as u64).is_err() {
            for (part, begins) in run.chunks_mut(sector).zip((begins..).step_by(sector)) {
                if let Err(e) = store.read_at(part, at + begins as u64) {
                    part.fill(0);
                    failed.push((begins..begins + part.len(), e.into()));
                }
            }
        }
        begins += len;
    }
    failed
}

fn in_place(store: &dyn Store, m: &Move, record: &Record, kept: &[u8]) -> Result<Rebuilt, ConvertError> {
    let (len, target) = (record.len, record.target);
    let (sums, parity) = kept.split_at(parity_at(len) as usize);
    let sums = sums.as_chunks::<8>().0.iter().map(|sum| u64::from_le_bytes(*sum));
    let mut bytes = AlignedBuf::zeroed(len as usize);
    let mut failed = read_torn(store, target, &mut bytes);
    let mut old = AlignedBuf::zeroed(len as usize);
    old.copy_from_slice(&bytes);
    m.transform(&mut old, record.done);
    // Whether a sector is there, old or new.
    let mut good = Vec::new();
    for ((sector, old), right) in
        bytes.chunks_mut(SECTOR as usize).zip(old.chunks(SECTOR as usize)).zip(sums.clone())
    {
        let is_new = sum(sector) == right;
        let is_old = !is_new && sum(old) == right;
        if is_old {
            sector.copy_from_slice(old);
        }
        good.push(is_new || is_old);
    }
    let (run, sums) = (run(len), sums.collect::<Vec<_>>());
    let (row, group) = ((run / SECTOR) as usize, (RUNS * run / SECTOR) as usize);
    let sector = |n: usize| n * SECTOR as usize..(n + 1) * SECTOR as usize;
    let lost: Vec<usize> = (0..good.len()).filter(|n| !good.get(*n).is_some_and(|good| *good)).collect();
    for n in lost.iter().copied() {
        let (first, column) = (n / group * group, n % group % row);
        let parity_run = run.next_multiple_of(PAGE) as usize;
        let from = n / group * parity_run + column * SECTOR as usize;
        let mut mended = parity.get(from..from + SECTOR as usize).unwrap_or_default().to_vec();
        let mut alone = true;
        for other in
            (first + column..(first + group).min(good.len())).step_by(row).filter(|other| *other != n)
        {
            alone &= good.get(other).is_some_and(|good| *good);
            xor(&mut mended, bytes.get(sector(other)).unwrap_or_default());
        }
        if !alone || sums.get(n) != Some(&sum(&mended)) {
            let at = failed.iter().position(|(range, _)| range.contains(&sector(n).start));
            return Err(at.map_or(ConvertError::Torn { at: target + sector(n).start as u64 }, |at| {
                failed.swap_remove(at).1
            }));
        }
        if let Some(slot) = bytes.get_mut(sector(n)) {
            slot.copy_from_slice(&mended);
        }
    }
    // What was lost comes first: when others are at stake it is there again. Then all of it, since what was read as new
    // may not be on the medium yet.
    let whole = std::iter::once(0..bytes.len()).collect();
    // What could not be read counts as lost, though it be right: a drive's own sectors may be larger, and are written whole.
    let unread = failed
        .iter()
        .flat_map(|(range, _)| range.clone().step_by(SECTOR as usize))
        .map(|at| at / SECTOR as usize);
    let lost: BTreeSet<usize> = lost.into_iter().chain(unread).collect();
    Ok(Rebuilt { rounds: vec![joined(lost.into_iter().map(sector)), whole], bytes })
}

/// Ranges in order, those that touch each other as one: a drive whose own sectors are larger can't write a part of one that
/// it can't read.
fn joined(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

fn shifted(store: &dyn Store, m: &Move, record: &Record, kept: &[u8]) -> Result<Rebuilt, ConvertError> {
    let (sums, whole) = kept.split_at(pieces_at(record.len) as usize);
    let (sums, mut whole) = (sums.as_chunks::<16>().0.iter(), whole.chunks(PIECE as usize));
    let mut bytes = AlignedBuf::zeroed(record.len as usize);
    let mut written = Vec::new();
    for ((n, (range, done)), right) in (0..).zip(pieces(m, record.done, record.len)).zip(sums) {
        let piece = bytes.get_mut(range.clone()).unwrap_or_default();
        let (len, target) = (piece.len() as u64, record.target + range.start as u64);
        if n % ROUNDS == 0 {
            piece.copy_from_slice(whole.next().and_then(|from| from.get(..piece.len())).unwrap_or_default());
            written.push((n, range));
            continue;
        }
        let source = store.read_at(piece, m.from.offset + m.segment(done, len));
        if source.is_ok() && packed(m.transform(piece, done)) == *right {
            // As long as its source is there it may be written: its target may not be on the medium yet.
            written.push((n, range));
            continue;
        }
        let read = store.read_at(piece, target);
        if read.is_err() || packed(checksum(piece)) != *right {
            source.and(read)?;
            return Err(ConvertError::Torn { at: target });
        }
    }
    Ok(Rebuilt { bytes, rounds: in_rounds(written.into_iter()) })
}

#[cfg(test)]
mod tests;
