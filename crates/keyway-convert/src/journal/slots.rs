//! Where a journal's slots are in its store.

use std::ops::Range;

/// Bytes of a record: a page.
pub const RECORD_BYTES: usize = 4096;

/// The most slots a journal has.
pub const SLOTS: usize = 4;

/// The largest segment that a journal keeps: so many bytes are read, ciphered and written at a time, six times over. Larger
/// ones are slower, because they fall out of the processor's cache between the steps.
pub const LARGEST_SEGMENT: u64 = 8 << 20;

/// The smallest segment that a new journal gets.
const SMALLEST_SEGMENT: u64 = 64 << 10;

/// A file system may lend this part of a medium to each segment of the journal.
const PART: u64 = 128;

/// Bytes of a journal's segment on a medium of that size, or in a file of its own.
pub fn segment_bytes(store_bytes: u64) -> u64 {
    (store_bytes / PART / SMALLEST_SEGMENT * SMALLEST_SEGMENT).clamp(SMALLEST_SEGMENT, LARGEST_SEGMENT)
}

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
pub struct SlotTable {
    /// Two or four of them.
    pub slots: Vec<Slot>,
    /// Bytes of a segment that each has room for.
    pub segment_bytes: u64,
    /// Every segment is kept whole, also where less would do ([`Redundancy`]).
    pub whole: bool,
    /// Where the heads are on the medium that is converted, as many as slots; none of what was begun before there were any.
    pub heads: Vec<u64>,
}

/// Whether a segment that a marker names can have so many bytes: whole sectors. (They were not always whole pages.
/// Whether they are whole units of a cipher is seen when the conversion begins.)
pub(crate) fn is_segment(bytes: u64) -> bool {
    const SECTOR: u64 = 512;
    (1..=LARGEST_SEGMENT).contains(&bytes) && bytes.is_multiple_of(SECTOR)
}

impl SlotTable {
    /// Whether a marker may name it.
    pub(crate) fn is_possible(&self) -> bool {
        is_segment(self.segment_bytes) && (self.heads.is_empty() || self.heads.len() == self.slots.len())
    }

    /// The same with heads: pages of the medium in a row, from one byte on.
    pub fn with_heads(self, first: u64) -> Self {
        let page = |n: usize| first.saturating_add((n * RECORD_BYTES) as u64);
        Self { heads: (0..self.slots.len()).map(page).collect(), ..self }
    }

    /// Whether the heads lie in that range of the medium.
    pub(crate) fn heads_are_in(&self, range: &Range<u64>) -> bool {
        let page = RECORD_BYTES as u64;
        self.heads
            .iter()
            .all(|at| *at >= range.start && at.checked_add(page).is_some_and(|end| end <= range.end))
    }

    /// The heads as a marker has them: no page of a medium's first is one.
    pub(crate) fn heads_in_marker(&self) -> [u64; SLOTS] {
        let mut heads = [0; SLOTS];
        heads.iter_mut().zip(&self.heads).for_each(|(to, from)| *to = *from);
        heads
    }

    /// And back.
    pub(crate) fn heads_of_marker(heads: [u64; SLOTS]) -> Vec<u64> {
        heads.into_iter().take_while(|at| *at != 0).collect()
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
        Self { slots: (0..SLOTS as u64).map(slot).collect(), segment_bytes, whole: false, heads: vec![] }
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
    pub(super) fn slot(&self, sequence: u64) -> Slot {
        let turn = sequence.checked_rem(self.slots.len() as u64).unwrap_or_default();
        self.slots.get(turn as usize).copied().unwrap_or_default()
    }

    /// Where the head of the record of that number is, if there are heads.
    pub(super) fn head(&self, sequence: u64) -> Option<u64> {
        let turn = sequence.checked_rem(self.heads.len() as u64)?;
        self.heads.get(turn as usize).copied()
    }
}
