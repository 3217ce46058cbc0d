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
//!     40 1024  the file's path
//! ```

use super::Direction;
use super::sheet::SHEET_BYTES;
use crate::journal::{Place, RECORD_BYTES, SLOTS, is_segment};
use crate::marker::{MARKER_BYTES, frame, has_touched, tail, unframe};
use keyway_store::{AlignedBuf, Store, StoreError};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

const MAGIC: [u8; 16] = *b"KEYWAY-BETWEEN\x00\x01";
const PATH_AT: usize = 40;
const LONGEST_PATH: usize = 1024;

/// What the marker says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
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
}

/// A conversion that was found.
pub struct Found {
    /// What its marker says.
    pub mark: Mark,
    /// Whether it is in front, whole or in part.
    pub in_front: bool,
}

impl Mark {
    /// Where the journal is in its file.
    pub fn place(&self) -> Place {
        let records = SHEET_BYTES as u64;
        let place = Place::in_a_row(records, records + (SLOTS * RECORD_BYTES) as u64, self.segment_bytes);
        Place { whole: true, ..place }
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
        frame(&self.id, payload)
    }

    /// Whether the path is one that the marker has room for.
    pub(super) fn has_room(&self) -> bool {
        self.file.as_os_str().len() <= LONGEST_PATH
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
        };
        (mark.size == store_bytes && is_segment(mark.segment_bytes)).then_some(mark)
    }
}

/// Looks for a conversion from one format to the other that is under way. Nothing is written.
///
/// # Errors
/// The medium failed.
pub fn find(store: &dyn Store) -> Result<Option<Found>, StoreError> {
    let size = store.size();
    if size < 4 * MARKER_BYTES as u64 {
        return Ok(None);
    }
    let front = page(store, 0)?;
    if let Some(mark) = Mark::parse(&front, size) {
        return Ok(Some(Found { mark, in_front: true }));
    }
    let Some(mark) = Mark::parse(&page(store, tail(size))?, size) else { return Ok(None) };
    let in_front = has_touched(&mark.id, &front);
    Ok(Some(Found { mark, in_front }))
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

    #[test]
    fn a_marker_is_found_whole_torn_or_at_the_end_and_no_byte_of_it_may_differ() {
        let mark = Mark {
            id: [7; 16],
            direction: Direction::ToBitLocker,
            size: 1 << 20,
            segment_bytes: 65_536,
            file: "/somewhere/else".into(),
        };
        let page = mark.to_bytes();
        assert_eq!(Mark::parse(&page, 1 << 20), Some(mark));
        assert_eq!(Mark::parse(&page, 1 << 21), None);
        for at in 0..MARKER_BYTES {
            let mut bad = page.clone();
            bad[at] ^= 4;
            assert!(Mark::parse(&bad, 1 << 20).is_none(), "byte {at}");
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
