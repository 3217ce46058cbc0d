//! The journal: the segment in flight, kept in two slots that are written in turn.
//!
//! ```text
//! a slot: a page with the record, and elsewhere the segment as it shall lie at its target
//!
//! offset size
//!      0   16  "KEYWAY-JOURNAL" 0 1
//!     16   16  the conversion's identifier
//!     32    8  sequence: one more than the record before it
//!     40    4  the step it belongs to
//!     44    4  0
//!     48    8  bytes of that step that were done before
//!     56    8  the segment's target
//!     64    8  bytes of the segment; 0: the step begins
//!     72   16  checksum of the segment: two sums over its 64-bit words
//!     88    4  CRC-32 of the 88 bytes before
//! ```
//!
//! A record counts if its CRC-32 and its segment's checksum are right. A torn slot does not count, and
//! then nothing of its segment has been written yet (see [`crate::Conversion`]).

use crate::ConvertError;
use keyway_store::{AlignedBuf, Store};

/// Bytes of a record: a page.
pub const RECORD_BYTES: usize = 4096;

/// What a record starts with.
const MAGIC: [u8; 16] = *b"KEYWAY-JOURNAL\x00\x01";

/// Where the CRC-32 is.
const CRC_AT: usize = 88;

/// Where a journal's two slots are in its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// First bytes of the records.
    pub records: [u64; 2],
    /// First bytes of the segments.
    pub segments: [u64; 2],
    /// Bytes of a segment that each has room for.
    pub segment_bytes: u64,
}

impl Place {
    /// In a file of its own.
    pub fn in_a_file(segment_bytes: u64) -> Self {
        let page = RECORD_BYTES as u64;
        Self { records: [0, page], segments: [2 * page, 2 * page + segment_bytes], segment_bytes }
    }

    /// Bytes of a file of its own.
    pub fn file_bytes(&self) -> u64 {
        2 * RECORD_BYTES as u64 + 2 * self.segment_bytes
    }

    /// Where the record and the segment of that number are.
    fn slot(&self, sequence: u64) -> (u64, u64) {
        let ([even, odd], [first, second]) = (self.records, self.segments);
        if sequence.is_multiple_of(2) { (even, first) } else { (odd, second) }
    }
}

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Its number.
    pub sequence: u64,
    /// The step it belongs to.
    pub step: u32,
    /// Bytes of that step that were done before.
    pub done: u64,
    /// Where its segment shall lie.
    pub target: u64,
    /// Bytes of its segment.
    pub len: u64,
}

/// A journal in a store: the converted one, or another.
pub struct Journal<'a> {
    store: &'a dyn Store,
    place: Place,
    id: [u8; 16],
}

/// The checksum of a segment: the sum of its 64-bit words, and the sum of those sums. A sector that is
/// missing, old, torn or in another's place changes at least one of them but for chance, 1 in 2^64 or
/// less; nobody who could forge it gains anything, since they could as well forge the segment.
pub(crate) fn checksum(segment: &[u8]) -> [u64; 2] {
    let (words, rest) = segment.as_chunks::<8>();
    let (mut sum, mut sums) = (!0u64, 0u64);
    for word in words {
        sum = sum.wrapping_add(u64::from_le_bytes(*word));
        sums = sums.wrapping_add(sum);
    }
    for byte in rest {
        sum = sum.wrapping_add(u64::from(*byte));
        sums = sums.wrapping_add(sum);
    }
    [sum, sums]
}

impl<'a> Journal<'a> {
    /// The journal of the conversion `id` at that place.
    pub fn new(store: &'a dyn Store, place: Place, id: [u8; 16]) -> Self {
        Self { store, place, id }
    }

    /// Bytes of a segment that there is room for.
    pub fn segment_bytes(&self) -> u64 {
        self.place.segment_bytes
    }

    /// Where the slots are.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The store it lies in.
    pub fn store(&self) -> &'a dyn Store {
        self.store
    }

    /// Writes a record and its segment. Does not flush.
    ///
    /// # Errors
    /// The medium failed.
    pub fn write(&self, record: &Record, segment: &[u8]) -> Result<(), ConvertError> {
        self.write_summed(record, segment, checksum(segment))
    }

    /// The same with the checksum that somebody else has computed.
    pub(crate) fn write_summed(
        &self,
        record: &Record,
        segment: &[u8],
        [sum, sums]: [u64; 2],
    ) -> Result<(), ConvertError> {
        let mut page = AlignedBuf::zeroed(RECORD_BYTES);
        let fields = [
            &MAGIC[..],
            &self.id,
            &record.sequence.to_le_bytes(),
            &record.step.to_le_bytes(),
            &[0; 4],
            &record.done.to_le_bytes(),
            &record.target.to_le_bytes(),
            &record.len.to_le_bytes(),
            &sum.to_le_bytes(),
            &sums.to_le_bytes(),
        ];
        let head = fields.concat();
        let crc = crc32fast::hash(&head).to_le_bytes();
        for (to, from) in page.iter_mut().zip(head.iter().chain(&crc)) {
            *to = *from;
        }
        let (record_at, segment_at) = self.place.slot(record.sequence);
        if !segment.is_empty() {
            self.store.write_at(segment, segment_at)?;
        }
        Ok(self.store.write_at(&page, record_at)?)
    }

    /// Writes a record that says how far a step is, without a segment.
    ///
    /// # Errors
    /// The medium failed.
    pub fn note(&self, sequence: u64, step: u32, done: u64) -> Result<(), ConvertError> {
        self.write(&Record { sequence, step, done, target: 0, len: 0 }, &[])
    }

    /// The records that count, the older one first, each with its segment.
    ///
    /// # Errors
    /// The medium failed.
    pub fn read(&self) -> Result<Vec<(Record, AlignedBuf)>, ConvertError> {
        let mut found: Vec<(Record, AlignedBuf)> = Vec::new();
        for (at, segment_at) in self.place.records.into_iter().zip(self.place.segments) {
            let mut page = AlignedBuf::zeroed(RECORD_BYTES);
            self.store.read_at(&mut page, at)?;
            let Some((record, sums)) = self.parse(&page) else { continue };
            let mut segment = AlignedBuf::zeroed(usize::try_from(record.len).unwrap_or_default());
            if !segment.is_empty() {
                self.store.read_at(&mut segment, segment_at)?;
            }
            if checksum(&segment) == sums {
                found.push((record, segment));
            }
        }
        found.sort_by_key(|(record, _)| record.sequence);
        // Both are of one run of numbers, or the older one is not worth anything any more.
        if let [(first, _), (second, _)] = found.as_slice()
            && second.sequence != first.sequence + 1
        {
            found.remove(0);
        }
        Ok(found)
    }

    fn parse(&self, page: &[u8]) -> Option<(Record, [u64; 2])> {
        let head = page.get(..CRC_AT)?;
        let crc = page.get(CRC_AT..)?.first_chunk()?;
        (crc32fast::hash(head) == u32::from_le_bytes(*crc)).then_some(())?;
        (head.get(..16)? == MAGIC && head.get(16..32)? == self.id).then_some(())?;
        let u64_at = |at: usize| Some(u64::from_le_bytes(*head.get(at..)?.first_chunk()?));
        let record = Record {
            sequence: u64_at(32)?,
            step: u32::from_le_bytes(*head.get(40..)?.first_chunk()?),
            done: u64_at(48)?,
            target: u64_at(56)?,
            len: u64_at(64)?,
        };
        (record.len <= self.place.segment_bytes).then_some((record, [u64_at(72)?, u64_at(80)?]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;
    use keyway_testkit::Rng;

    const PLACE: Place = Place { records: [0, 4096], segments: [8192, 16_384], segment_bytes: 8192 };

    fn write(journal: &Journal<'_>, sequence: u64, len: usize) {
        let record = Record { sequence, step: 3, done: 5, target: 7, len: len as u64 };
        journal.write(&record, &Rng::new(sequence).bytes(len)).expect("written");
    }

    fn numbers(store: &MemStore) -> Vec<u64> {
        let found = Journal::new(store, PLACE, [9; 16]).read().expect("read");
        found.iter().map(|(record, _)| record.sequence).collect()
    }

    #[test]
    fn the_last_two_records_come_back_in_order() {
        let store = MemStore::new(24_576);
        let journal = Journal::new(&store, PLACE, [9; 16]);
        assert_eq!(PLACE, Place::in_a_file(8192));
        assert_eq!(PLACE.file_bytes(), store.size());
        assert_eq!(numbers(&store), Vec::<u64>::new());
        for sequence in 0..5 {
            write(&journal, sequence, 8192);
        }
        assert_eq!(numbers(&store), [3, 4]);
        let found = journal.read().expect("read");
        assert_eq!(found[1].0, Record { sequence: 4, step: 3, done: 5, target: 7, len: 8192 });
        assert_eq!(found[1].1[..], Rng::new(4).bytes(8192));
        assert!(
            Journal::new(&store, PLACE, [8; 16]).read().expect("read").is_empty(),
            "another conversion's"
        );
    }

    #[test]
    fn every_changed_byte_makes_a_record_worthless() {
        let store = MemStore::new(24_576);
        write(&Journal::new(&store, PLACE, [9; 16]), 0, 1024);
        let good = store.snapshot();
        for at in (0..92).chain(8192..8192 + 1024) {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            assert!(numbers(&MemStore::from_vec(bad)).is_empty(), "byte {at}");
        }
        // Sectors that changed places.
        let mut bad = good.clone();
        let (first, second) = bad[8192..8192 + 1024].split_at_mut(512);
        first.swap_with_slice(second);
        assert!(numbers(&MemStore::from_vec(bad)).is_empty());
    }
}
