//! The journal: the segments in flight, kept in two or four slots that are written in turn.
//!
//! ```text
//! a slot: a page with the record, and elsewhere what is kept of the segment as it shall lie at its target
//!
//! offset size
//!      0   16  "KEYWAY-JOURNAL" 0 3; 0 2 where all segments are kept whole
//!     16   16  the conversion's identifier
//!     32    8  sequence: one more than that of the record before it
//!     40    4  the step it belongs to
//!     44    4  what is kept: 0 the whole segment, 1 sums and parity, 2 sums and some of it ([`Form`])
//!     48    8  bytes of that step that were done before
//!     56    8  the segment's target
//!     64    8  bytes of the segment; 0: it only says how far the step is
//!     72   16  checksum of what is kept: two sums over its 64-bit words
//!     88    8  sure: every record before this number was on the medium when this one was written
//!     96    8  floor: the target of every record before this number was
//!    104    4  CRC-32 of the 104 bytes before
//! ```
//!
//! A record is whole if its CRC-32 and the checksum of what is kept are right. It counts if all those from its
//! *sure* on are whole: what was written before a flush may arrive in any order, and behind a record that
//! is missing none is worth anything, and recovery wipes it. Recovery writes the segments from the newest counting record's *floor*
//! up to itself to their targets again, and nothing else: what lies below the floor may have been changed
//! since by whoever uses the volume.

use crate::ConvertError;
use crate::manifest::Form;
use keyway_store::{AlignedBuf, Store};
use std::ops::Range;

/// Bytes of a record: a page.
pub const RECORD_BYTES: usize = 4096;

/// The most slots a journal has.
pub const SLOTS: usize = 4;

/// What a record starts with.
const MAGIC: [u8; 16] = *b"KEYWAY-JOURNAL\x00\x03";

/// What it started with when every segment was kept whole.
const BEFORE: [u8; 16] = *b"KEYWAY-JOURNAL\x00\x02";

/// A segment of which not everything is kept is no larger than this part of the medium, so that a pause and the end of a
/// small one are no matter of a single segment.
const WINDOW_PART: u64 = 64;

/// Where the CRC-32 is.
const CRC_AT: usize = 104;

/// Where a slot's two parts are in the journal's store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Slot {
    /// First byte of the record.
    pub record: u64,
    /// First byte of the segment.
    pub segment: u64,
}

/// Where a journal's slots are in its store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Two or four of them.
    pub slots: Vec<Slot>,
    /// Bytes of a segment that each has room for.
    pub segment_bytes: u64,
    /// Every segment is kept whole, also where less would do ([`Form`]).
    pub whole: bool,
}

/// Whether a segment that a marker names can have so many bytes: whole sectors. (They were not always whole pages.
/// Whether they are whole units of a cipher is seen when the conversion begins.)
pub(crate) fn is_segment(bytes: u64) -> bool {
    const LARGEST: u64 = 1 << 30;
    const SECTOR: u64 = 512;
    (1..=LARGEST).contains(&bytes) && bytes.is_multiple_of(SECTOR)
}

impl Place {
    /// Whether a marker may name it.
    pub(crate) fn is_possible(&self) -> bool {
        is_segment(self.segment_bytes)
    }

    /// In a file of its own.
    pub fn in_a_file(segment_bytes: u64) -> Self {
        let page = RECORD_BYTES as u64;
        Self::in_a_row(0, SLOTS as u64 * page, segment_bytes)
    }

    /// Four records from one byte on, four segments from another.
    pub fn in_a_row(records: u64, segments: u64, segment_bytes: u64) -> Self {
        let slot = |n: u64| Slot {
            record: records + n * RECORD_BYTES as u64,
            segment: segments.saturating_add(n.saturating_mul(segment_bytes)),
        };
        Self { slots: (0..SLOTS as u64).map(slot).collect(), segment_bytes, whole: false }
    }

    /// Bytes that its store needs.
    pub fn file_bytes(&self) -> u64 {
        let ends = |slot: &Slot| {
            let segment = slot.segment.saturating_add(self.segment_bytes);
            segment.max(slot.record.saturating_add(RECORD_BYTES as u64))
        };
        self.slots.iter().map(ends).max().unwrap_or_default()
    }

    /// Where the segments are.
    pub fn segments(&self) -> Vec<Range<u64>> {
        let range = |slot: &Slot| slot.segment..slot.segment.saturating_add(self.segment_bytes);
        self.slots.iter().map(range).collect()
    }

    /// Records that may be on their way to the medium at once. With four slots it takes two records to
    /// tell that the newer one counts, and neither is overwritten by those on their way.
    pub(crate) fn ahead(&self) -> u64 {
        if self.slots.len() >= SLOTS { 2 } else { 1 }
    }

    /// Where the record and the segment of that number are.
    fn slot(&self, sequence: u64) -> Slot {
        let turn = sequence.checked_rem(self.slots.len() as u64).unwrap_or_default();
        self.slots.get(turn as usize).copied().unwrap_or_default()
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
    /// The records before this number were on the medium.
    pub sure: u64,
    /// The targets of the records before this number were on the medium.
    pub floor: u64,
    /// What is kept of its segment.
    pub form: Form,
}

impl Record {
    /// Bytes that are kept of its segment.
    pub fn kept_bytes(&self) -> u64 {
        self.form.kept_bytes(self.len)
    }
}

/// What a journal holds.
pub struct Held {
    /// The newest record that counts.
    pub newest: Record,
    /// The records whose targets may not be on the medium, the oldest first, each with what is kept of its segment.
    pub replay: Vec<(Record, AlignedBuf)>,
    /// Where records are that do not count, though their numbers are higher. They must be wiped, and that
    /// be on the medium, before the next one is written: behind it they would count again.
    pub stale: Vec<u64>,
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

    /// The same, which keeps every segment whole from here on.
    pub(crate) fn kept_whole(self) -> Self {
        Self { place: Place { whole: true, ..self.place }, ..self }
    }

    /// The conversion's identifier.
    pub(crate) fn id(&self) -> &[u8; 16] {
        &self.id
    }

    /// The store it lies in.
    pub fn store(&self) -> &'a dyn Store {
        self.store
    }

    /// Writes a record and what is kept of its segment. Does not flush.
    ///
    /// # Errors
    /// The medium failed.
    pub fn write(&self, record: &Record, kept: &[u8]) -> Result<(), ConvertError> {
        self.write_summed(record, kept, checksum(kept))
    }

    /// The same with the checksum that somebody else has computed.
    pub(crate) fn write_summed(
        &self,
        record: &Record,
        kept: &[u8],
        [sum, sums]: [u64; 2],
    ) -> Result<(), ConvertError> {
        let mut page = AlignedBuf::zeroed(RECORD_BYTES);
        let fields = [
            &MAGIC[..],
            &self.id,
            &record.sequence.to_le_bytes(),
            &record.step.to_le_bytes(),
            &record.form.code().to_le_bytes(),
            &record.done.to_le_bytes(),
            &record.target.to_le_bytes(),
            &record.len.to_le_bytes(),
            &sum.to_le_bytes(),
            &sums.to_le_bytes(),
            &record.sure.to_le_bytes(),
            &record.floor.to_le_bytes(),
        ];
        let head = fields.concat();
        let crc = crc32fast::hash(&head).to_le_bytes();
        for (to, from) in page.iter_mut().zip(head.iter().chain(&crc)) {
            *to = *from;
        }
        let slot = self.place.slot(record.sequence);
        if !kept.is_empty() {
            self.store.write_at(kept, slot.segment)?;
        }
        Ok(self.store.write_at(&page, slot.record)?)
    }

    /// Writes a record that says how far a step is, without a segment. Everything before it, records and
    /// targets, must be on the medium.
    ///
    /// # Errors
    /// The medium failed.
    pub fn note(&self, sequence: u64, step: u32, done: u64) -> Result<(), ConvertError> {
        let (sure, floor) = (sequence, sequence);
        let form = Form::Whole;
        self.write(&Record { sequence, step, done, target: 0, len: 0, sure, floor, form }, &[])
    }

    /// What it holds; `None` where no record counts. A slot that can't be read counts as torn: it was being written.
    ///
    /// # Errors
    /// The medium failed, and what it does not give may be needed.
    pub fn read(&self) -> Result<Option<Held>, ConvertError> {
        let mut found: Vec<(Record, AlignedBuf)> = Vec::new();
        let (mut failed, mut stale) = (None, Vec::new());
        for slot in &self.place.slots {
            let mut page = AlignedBuf::zeroed(RECORD_BYTES);
            if let Err(e) = self.store.read_at(&mut page, slot.record) {
                failed.get_or_insert(e);
                stale.push(slot.record);
                continue;
            }
            let Some((record, sums)) = self.parse(&page) else { continue };
            if self.place.slot(record.sequence) != *slot {
                continue;
            }
            let mut kept = AlignedBuf::zeroed(usize::try_from(record.kept_bytes()).unwrap_or_default());
            if !kept.is_empty()
                && let Err(e) = self.store.read_at(&mut kept, slot.segment)
            {
                failed.get_or_insert(e);
                stale.push(slot.record);
                continue;
            }
            if checksum(&kept) == sums {
                found.push((record, kept));
            }
        }
        found.sort_by_key(|(record, _)| record.sequence);
        let is_whole = |number: u64| found.iter().any(|(record, _)| record.sequence == number);
        let counts = |record: &Record| {
            record.sequence - record.sure < SLOTS as u64 && (record.sure..record.sequence).all(is_whole)
        };
        let newest = found.iter().rev().map(|(record, _)| *record).find(counts);
        if let Some(e) = failed {
            // Two records at most were on their way behind the newest, into slots of targets that are on the medium.
            let slots = self.place.slots.len() as u64;
            let needed = |newest: Record| {
                (newest.floor..newest.sequence)
                    .any(|number| number + slots > newest.sequence + 2 && !is_whole(number))
            };
            if newest.is_none_or(needed) {
                return Err(e.into());
            }
        }
        Ok(newest.map(|newest| Held {
            newest,
            stale: (found.iter().filter(|(record, _)| record.sequence > newest.sequence))
                .map(|(record, _)| self.place.slot(record.sequence).record)
                .chain(stale)
                .collect(),
            replay: found
                .into_iter()
                .filter(|(r, _)| r.len > 0 && (newest.floor..=newest.sequence).contains(&r.sequence))
                .collect(),
        }))
    }

    /// Bytes of the segments of a move on a medium of that size, if not everything has to be kept of them.
    pub(crate) fn window(&self, form: Form, store_bytes: u64) -> Option<u64> {
        let most = (store_bytes / WINDOW_PART).max(form.smallest_window());
        if self.place.whole { None } else { form.window(self.place.segment_bytes, most) }
    }

    /// Wipes the records that do not count. Does not flush.
    ///
    /// # Errors
    /// The medium failed.
    pub fn wipe_stale(&self, stale: &[u64]) -> Result<(), ConvertError> {
        let nothing = AlignedBuf::zeroed(RECORD_BYTES);
        for at in stale {
            self.store.write_at(&nothing, *at)?;
        }
        Ok(())
    }

    fn parse(&self, page: &[u8]) -> Option<(Record, [u64; 2])> {
        let head = page.get(..CRC_AT)?;
        let crc = page.get(CRC_AT..)?.first_chunk()?;
        (crc32fast::hash(head) == u32::from_le_bytes(*crc)).then_some(())?;
        let magic = head.get(..16)?;
        ((magic == MAGIC || magic == BEFORE) && head.get(16..32)? == self.id).then_some(())?;
        let u64_at = |at: usize| Some(u64::from_le_bytes(*head.get(at..)?.first_chunk()?));
        let record = Record {
            sequence: u64_at(32)?,
            step: u32::from_le_bytes(*head.get(40..)?.first_chunk()?),
            done: u64_at(48)?,
            target: u64_at(56)?,
            len: u64_at(64)?,
            sure: u64_at(88)?,
            floor: u64_at(96)?,
            form: Form::from_code(u32::from_le_bytes(*head.get(44..)?.first_chunk()?))?,
        };
        let ordered = record.floor <= record.sure && record.sure <= record.sequence;
        // No conversion has that many segments.
        let possible = ordered
            && record.sequence < 1 << 62
            && record.form.is_possible(record.len)
            && record.kept_bytes() <= self.place.segment_bytes;
        possible.then_some((record, [u64_at(72)?, u64_at(80)?]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;
    use keyway_testkit::Rng;

    const SEGMENT: u64 = 8192;

    fn place() -> Place {
        Place::in_a_file(SEGMENT)
    }

    fn store() -> MemStore {
        MemStore::new(place().file_bytes() as usize)
    }

    fn write(journal: &Journal<'_>, sequence: u64, sure: u64, floor: u64) {
        let form = Form::Whole;
        let record = Record { sequence, step: 3, done: 5, target: 7, len: SEGMENT, sure, floor, form };
        journal.write(&record, &Rng::new(sequence).bytes(SEGMENT as usize)).expect("written");
    }

    /// The newest number, those that are replayed, and whether there are some that do not count.
    fn held(store: &MemStore) -> Option<(u64, Vec<u64>, bool)> {
        let held = Journal::new(store, place(), [9; 16]).read().expect("read")?;
        let replay = held.replay.iter().map(|(record, _)| record.sequence).collect();
        Some((held.newest.sequence, replay, !held.stale.is_empty()))
    }

    #[test]
    fn the_records_above_the_floor_come_back_in_order() {
        let store = store();
        let journal = Journal::new(&store, place(), [9; 16]);
        assert_eq!(held(&store), None);
        journal.note(0, 0, 0).expect("written");
        assert_eq!(held(&store), Some((0, vec![], false)));
        for sequence in 1..8 {
            write(&journal, sequence, sequence.max(2) - 1, sequence.max(3) - 2);
        }
        assert_eq!(held(&store), Some((7, vec![5, 6, 7], false)));
        let found = journal.read().expect("read").expect("held");
        assert_eq!(found.replay[2].1[..], Rng::new(7).bytes(8192));
        journal.note(8, 3, 11).expect("written");
        assert_eq!(held(&store), Some((8, vec![], false)), "everything before a note is on the medium");
        let other = Journal::new(&store, place(), [8; 16]);
        assert!(other.read().expect("read").is_none(), "another conversion's");
    }

    #[test]
    fn behind_a_record_that_is_missing_none_counts_and_it_is_wiped() {
        let store = store();
        let journal = Journal::new(&store, place(), [9; 16]);
        for sequence in 0..4 {
            write(&journal, sequence, sequence.max(1) - 1, sequence.max(2) - 2);
        }
        // 4 was lost, 5 arrived: 3 counts.
        write(&journal, 5, 4, 2);
        assert_eq!(held(&store), Some((3, vec![2, 3], true)));
        journal.wipe_stale(&journal.read().expect("read").expect("held").stale).expect("wiped");
        assert_eq!(held(&store), Some((3, vec![2, 3], false)));
        journal.note(4, 3, 7).expect("written");
        assert_eq!(held(&store), Some((4, vec![], false)));
    }

    #[test]
    fn a_journal_that_was_written_before_there_were_forms_is_read() {
        let store = store();
        let journal = Journal::new(&store, place(), [9; 16]);
        write(&journal, 0, 0, 0);
        write(&journal, 1, 0, 0);
        for slot in &place().slots[..2] {
            let mut page = vec![0; RECORD_BYTES];
            store.read_at(&mut page, slot.record).expect("read");
            page[..16].copy_from_slice(b"KEYWAY-JOURNAL\x00\x02");
            assert_eq!(page[44..48], [0; 4]);
            let crc = crc32fast::hash(&page[..CRC_AT]);
            page[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_le_bytes());
            store.write_at(&page, slot.record).expect("written");
        }
        assert_eq!(held(&store), Some((1, vec![0, 1], false)));
        // And gone on with.
        journal.note(2, 3, 7).expect("written");
        assert_eq!(held(&store), Some((2, vec![], false)));
    }

    #[test]
    fn every_changed_byte_makes_a_record_worthless() {
        let store = store();
        write(&Journal::new(&store, place(), [9; 16]), 0, 0, 0);
        let good = store.snapshot();
        let segment = SLOTS * RECORD_BYTES;
        for at in (0..CRC_AT + 4).chain(segment..segment + 1024) {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            assert!(held(&MemStore::from_vec(bad)).is_none(), "byte {at}");
        }
        // Sectors that changed places.
        let mut bad = good.clone();
        let (first, second) = bad[segment..segment + 1024].split_at_mut(512);
        first.swap_with_slice(second);
        assert!(held(&MemStore::from_vec(bad)).is_none());
    }
}
