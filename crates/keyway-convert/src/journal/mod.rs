//! The journal: the segments in flight, kept in two or four slots that are written in turn.
//!
//! ```text
//! a slot: a page with the record (`record`), and elsewhere what is kept of the segment as it shall lie at its target
//! a head: the same page once more, on the medium that is converted, for as many records as there are slots
//! ```
//!
//! A record is whole if one of its two pages and the checksum of what is kept are right. It counts if all those from its
//! *sure* on are whole: what was written before a flush may arrive in any order, and behind a record that
//! is missing none is worth anything, and recovery wipes it. Recovery writes the segments from the newest counting record's *floor*
//! up to itself to their targets again, and nothing else: what lies below the floor may have been changed
//! since by whoever uses the volume. What tells a record that never counted from one that is lost, `held` says.

mod held;
mod record;
mod slots;

pub use held::JournalContents;
pub(crate) use held::checksum_at;
pub use record::Record;
pub(crate) use record::{JournalKey, Sums, checksum};
pub(crate) use slots::is_segment;
pub use slots::{LARGEST_SEGMENT, RECORD_BYTES, SLOTS, Slot, SlotTable, segment_bytes};

use crate::ConvertError;
use crate::redundancy::Redundancy;
use keyway_cipher::SectorCipher;
use keyway_store::Store;

/// A segment of which not everything is kept is no larger than this part of the medium, so that a pause and the end of a
/// small one are no matter of a single segment.
const WINDOW_PART: u64 = 64;

/// A journal in a store: the converted one, or another.
pub struct Journal<'a> {
    store: &'a dyn Store,
    /// What is converted: the heads are there.
    medium: &'a dyn Store,
    place: SlotTable,
    id: [u8; 16],
    key: Option<JournalKey>,
}

impl<'a> Journal<'a> {
    /// The journal of the conversion `id` of `medium`, in a store at that place.
    pub fn new(store: &'a dyn Store, medium: &'a dyn Store, place: SlotTable, id: [u8; 16]) -> Self {
        Self { store, medium, place, id, key: None }
    }

    /// The same with a cipher of the volume, before or after: only records that were written with it count. Without one
    /// everybody's do, which is enough to tell how far something is.
    pub fn of_volume(self, cipher: Option<&SectorCipher>) -> Self {
        let key = cipher.map(|cipher| JournalKey::of(cipher, &self.id));
        Self { key, ..self }
    }

    /// Bytes of a segment that there is room for.
    pub fn segment_bytes(&self) -> u64 {
        self.place.segment_bytes
    }

    /// Where the slots are.
    pub fn place(&self) -> &SlotTable {
        &self.place
    }

    /// The same, which keeps every segment whole from here on.
    pub(crate) fn kept_whole(self) -> Self {
        Self { place: SlotTable { whole: true, ..self.place }, ..self }
    }

    /// The conversion's identifier.
    pub(crate) fn id(&self) -> &[u8; 16] {
        &self.id
    }

    /// The store it lies in.
    pub fn store(&self) -> &'a dyn Store {
        self.store
    }

    /// Writes a record, its head, and what is kept of its segment. Does not flush.
    ///
    /// # Errors
    /// The medium failed.
    pub fn write(&self, record: &Record, kept: &[u8]) -> Result<(), ConvertError> {
        self.write_summed(record, kept, checksum(kept))
    }

    /// The same with the checksum that somebody else has computed.
    pub(crate) fn write_summed(&self, record: &Record, kept: &[u8], sums: Sums) -> Result<(), ConvertError> {
        let page = record.to_page(&self.id, sums, self.key.as_ref());
        let slot = self.place.slot(record.sequence);
        if !kept.is_empty() {
            self.store.write_at(kept, slot.segment)?;
        }
        self.store.write_at(&page, slot.record)?;
        if let Some(head) = self.place.head(record.sequence) {
            self.medium.write_at(&page, head)?;
        }
        Ok(())
    }

    /// Writes a record that says how far a step is, without a segment. Everything before it, records and
    /// targets, must be on the medium.
    ///
    /// # Errors
    /// The medium failed.
    pub fn note(&self, sequence: u64, step: u32, done: u64) -> Result<(), ConvertError> {
        let (sure, floor, redundancy) = (sequence, sequence, Redundancy::Whole);
        let (source, result) = ([0; 2], [0; 2]);
        self.write(
            &Record { sequence, step, done, target: 0, len: 0, sure, floor, redundancy, source, result },
            &[],
        )
    }

    /// Bytes of the segments of a move on a medium of that size, if not everything has to be kept of them.
    pub(crate) fn window(&self, redundancy: Redundancy, store_bytes: u64) -> Option<u64> {
        let most = (store_bytes / WINDOW_PART).max(redundancy.smallest_window());
        if self.place.whole { None } else { redundancy.window(self.place.segment_bytes, most) }
    }
}

#[cfg(test)]
mod tests;
