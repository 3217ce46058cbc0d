//! What lies on the medium while its volume goes from one format to the other: a marker in front and in the last
//! page, which names the file where everything else is.
//!
//! ```text
//! the marker's payload (super::super::marker::frame); integers little-endian
//! offset size
//!      0   16  "KEYWAY-BETWEEN" 0 1
//!     16    1  1: from VeraCrypt to BitLocker, 2: from BitLocker to VeraCrypt
//!     17    1  0
//!     18    2  bytes of the file's path
//!     20    4  0
//!     24    8  bytes of the medium
//!     32    8  bytes of a segment of the journal
//!     40 1024  the file's path: a hint for people, that nothing is opened by
//!   1064    8  where the heads of the journal's records begin; 0 where there are none
//! ```

use crate::journal::{RECORD_BYTES, SLOTS, SlotTable, is_segment};
use crate::marker::{MARKER_BYTES, frame, has_touched, size_said, tail, unframe};
use crate::veracrypt::end_group;
use keyway_error::enum_table;
use keyway_store::{AlignedBuf, Store, StoreError};
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

const MAGIC: [u8; 16] = *b"KEYWAY-BETWEEN\x00\x01";
const PATH_AT: usize = 40;
const LONGEST_PATH: usize = 1024;
const HEADS_AT: usize = PATH_AT + LONGEST_PATH;

/// Bytes of the heads.
pub(super) const HEADS_BYTES: u64 = (SLOTS * RECORD_BYTES) as u64;

/// Bytes of the sheet at the beginning of the file: whole pages.
pub(super) const SHEET_BYTES: usize = 11 * MARKER_BYTES;

enum_table! {
    /// From which format to which.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Direction {
        /// From VeraCrypt to BitLocker.
        ToBitLocker(1, ["veracrypt", "bitlocker"]),
        /// From BitLocker to VeraCrypt.
        ToVeraCrypt(2, ["bitlocker", "veracrypt"]),
    }
    /// The byte in a marker.
    code: u8,
    /// The old format and the new one, as the command line calls them.
    pub formats: [&'static str; 2],
}

/// What the marker says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrossFormatMarker {
    /// Which conversion this is: random.
    pub id: [u8; 16],
    /// From which format to which.
    pub direction: Direction,
    /// Bytes of the medium.
    pub size: u64,
    /// Bytes of a segment of the journal.
    pub segment_bytes: u64,
    /// The file with the journal, and the keys of both volumes, sealed as ever.
    pub file: PathBuf,
    /// Where the heads of the journal's records are on the medium; 0 where there are none.
    pub heads: u64,
}

/// A conversion that was found.
pub struct FoundCrossFormat {
    /// What its marker says.
    pub mark: CrossFormatMarker,
    /// Whether it is in front, whole or in part.
    pub in_front: bool,
}

impl CrossFormatMarker {
    /// Where the journal is in its file.
    pub fn place(&self) -> SlotTable {
        let records = SHEET_BYTES as u64;
        let place = SlotTable::in_a_row(records, records + (SLOTS * RECORD_BYTES) as u64, self.segment_bytes);
        let place = SlotTable { whole: true, ..place };
        if self.heads == 0 { place } else { place.with_heads(self.heads) }
    }

    /// The heads on the medium; empty where there are none.
    pub(super) fn heads(&self) -> Range<u64> {
        let len = if self.heads == 0 { 0 } else { HEADS_BYTES };
        self.heads..self.heads.saturating_add(len)
    }

    /// The page as it is put on the medium.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let path = self.file.as_os_str().as_bytes();
        let path = path.get(..LONGEST_PATH).unwrap_or(path);
        let mut payload = MAGIC.to_vec();
        payload.extend([self.direction.code(), 0]);
        payload.extend((path.len() as u16).to_le_bytes());
        payload.extend([0; 4]);
        payload.extend(self.size.to_le_bytes());
        payload.extend(self.segment_bytes.to_le_bytes());
        payload.extend(path);
        payload.resize(HEADS_AT, 0);
        payload.extend(self.heads.to_le_bytes());
        frame(&self.id, payload)
    }

    /// Whether the path is one that the marker has room for.
    pub(super) fn has_room(&self) -> bool {
        self.file.as_os_str().len() <= LONGEST_PATH
    }

    /// The size of the medium on which this page is a marker.
    pub(crate) fn size_in(page: &[u8]) -> Option<u64> {
        Self::parse(page, size_said(page, &MAGIC)?).map(|mark| mark.size)
    }

    fn parse(page: &[u8], store_bytes: u64) -> Option<Self> {
        let (id, body) = unframe(page, &MAGIC)?;
        let number = |at: usize| Some(u64::from_le_bytes(*body.get(at..)?.first_chunk()?));
        let len = usize::from(u16::from_le_bytes(*body.get(18..)?.first_chunk()?));
        let path = body.get(PATH_AT..PATH_AT.checked_add(len)?).filter(|_| len <= LONGEST_PATH)?;
        let mark = Self {
            id,
            direction: Direction::from_code(*body.get(16)?)?,
            size: number(24)?,
            segment_bytes: number(32)?,
            file: std::ffi::OsString::from_vec(path.to_vec()).into(),
            heads: number(HEADS_AT)?,
        };
        let heads = mark.heads();
        // A range that would end past the last number there is looks as if it were none.
        let possible = mark.heads == 0
            || !heads.is_empty() && heads.start >= end_group(store_bytes) && heads.end <= tail(store_bytes);
        (mark.size == store_bytes && is_segment(mark.segment_bytes) && possible).then_some(mark)
    }
}

impl Direction {
    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|direction| direction.code() == code)
    }
}

/// Looks for a conversion from one format to the other that is under way. Nothing is written.
///
/// # Errors
/// The medium failed.
pub fn find(store: &dyn Store) -> Result<Option<FoundCrossFormat>, StoreError> {
    let size = store.size();
    if size < 4 * MARKER_BYTES as u64 {
        return Ok(None);
    }
    let front = page(store, 0)?;
    if let Some(mark) = CrossFormatMarker::parse(&front, size) {
        return Ok(Some(FoundCrossFormat { mark, in_front: true }));
    }
    let Some(mark) = CrossFormatMarker::parse(&page(store, tail(size))?, size) else { return Ok(None) };
    let in_front = has_touched(&mark.id, &front);
    Ok(Some(FoundCrossFormat { mark, in_front }))
}

/// A page of the medium.
pub(super) fn page(store: &dyn Store, at: u64) -> Result<AlignedBuf, StoreError> {
    let mut page = AlignedBuf::zeroed(MARKER_BYTES);
    store.read_at(&mut page, at)?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;

    fn parsed(page: &[u8]) -> CrossFormatMarker {
        CrossFormatMarker::parse(page, 1 << 20).expect("whole")
    }

    #[test]
    fn a_marker_is_found_whole_torn_or_at_the_end_and_no_byte_of_it_may_differ() {
        let mark = CrossFormatMarker {
            id: [7; 16],
            direction: Direction::ToBitLocker,
            size: 1 << 20,
            segment_bytes: 65_536,
            file: "/somewhere/else".into(),
            heads: (1 << 20) - (64 << 10),
        };
        let page = mark.to_bytes();
        assert_eq!(CrossFormatMarker::parse(&page, 1 << 20), Some(mark));
        assert_eq!(CrossFormatMarker::parse(&page, 1 << 21), None);
        for at in 0..MARKER_BYTES {
            let mut bad = page.clone();
            bad[at] ^= 4;
            assert!(CrossFormatMarker::parse(&bad, 1 << 20).is_none(), "byte {at}");
        }
        for heads in [1, 4096, (1 << 20) - 4096, 1 << 20, u64::MAX - 4096, u64::MAX - 1, u64::MAX] {
            let elsewhere = CrossFormatMarker { heads, ..parsed(&page) };
            assert!(CrossFormatMarker::parse(&elsewhere.to_bytes(), 1 << 20).is_none(), "heads at {heads}");
        }
        let found = |front: &[u8], end: &[u8]| {
            let mut bytes = vec![1; 1 << 20];
            bytes[..front.len()].copy_from_slice(front);
            let at = bytes.len() - MARKER_BYTES;
            bytes[at..at + end.len()].copy_from_slice(end);
            find(&MemStore::from_vec(bytes)).expect("read").map(|found| found.in_front)
        };
        assert_eq!(found(&[], &[]), None);
        assert_eq!(found(&page, &[]), Some(true));
        assert_eq!(found(&[], &page), Some(false));
        assert_eq!(found(&page[..100], &page), Some(true));
        assert_eq!(found(&page[..100], &[]), None);
    }
}
