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
use keyway_store::{AlignedBuf, Store};
use keyway_volume::ReadBack;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    /// The newest page at each place that was written.
    written: Mutex<Vec<WrittenPage>>,
}

/// A page that was written.
struct WrittenPage {
    /// The number of its record; 0 where it has none.
    sequence: u64,
    is_head: bool,
    at: u64,
    bytes: AlignedBuf,
    /// It was compared with what is there.
    is_sure: bool,
}

impl<'a> Journal<'a> {
    /// The journal of the conversion `id` of `medium`, in a store at that place.
    pub fn new(store: &'a dyn Store, medium: &'a dyn Store, place: SlotTable, id: [u8; 16]) -> Self {
        Self { store, medium, place, id, key: None, written: Mutex::default() }
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
        if let Some(head) = self.place.head(record.sequence) {
            let mut copy = AlignedBuf::zeroed(page.len());
            copy.copy_from_slice(&page);
            self.put(page, false, slot.record, record.sequence)?;
            return self.put(copy, true, head, record.sequence);
        }
        self.put(page, false, slot.record, record.sequence)
    }

    /// Writes a page, which is compared when it is flushed.
    fn put(&self, bytes: AlignedBuf, is_head: bool, at: u64, sequence: u64) -> Result<(), ConvertError> {
        self.store_of(is_head).write_at(&bytes, at)?;
        let mut written = self.lock();
        written.retain(|page| (page.is_head, page.at) != (is_head, at));
        written.push(WrittenPage { sequence, is_head, at, bytes, is_sure: false });
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<WrittenPage>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn store_of(&self, is_head: bool) -> &'a dyn Store {
        if is_head { self.medium } else { self.store }
    }

    /// Compares pages that were flushed with what is there: those of slots, of heads, of records below that number. What is
    /// kept of segments is not read back: its checksum is in the record, and recovery believes it no further.
    ///
    /// # Errors
    /// The medium has something else there, or failed.
    pub(crate) fn compare(&self, slots: bool, heads: bool, below: u64) -> Result<(), ConvertError> {
        let is_due = |page: &WrittenPage| {
            !page.is_sure && page.sequence < below && if page.is_head { heads } else { slots }
        };
        // Nobody waits for this one while it reads.
        let mut due: Vec<WrittenPage> = self.lock().extract_if(.., |page| is_due(page)).collect();
        let compared = due.iter_mut().try_for_each(|page| {
            ReadBack::new(self.store_of(page.is_head)).compare(page.at, &page.bytes)?;
            page.is_sure = true;
            Ok(())
        });
        self.lock().append(&mut due);
        compared
    }

    /// What was read back otherwise has ended a run: the pages that it has written are put there again, as well as that goes.
    /// A write may have hit one of them that was to go elsewhere.
    pub(crate) fn hold(&self) {
        for page in self.lock().iter() {
            let store = self.store_of(page.is_head);
            if ReadBack::new(store).compare(page.at, &page.bytes).is_err()
                && store.write_at(&page.bytes, page.at).is_ok()
            {
                // The run has its error.
                let _ = store.flush();
            }
        }
    }

    /// Nothing of it is in that range of the medium any more.
    pub(crate) fn let_go(&self, range: &Range<u64>) {
        let is_on_medium = |page: &WrittenPage| page.is_head || std::ptr::addr_eq(self.store, self.medium);
        self.lock().retain(|page| !(is_on_medium(page) && range.contains(&page.at)));
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
