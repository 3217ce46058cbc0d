//! The marker: what lies in front of a medium, and once more at its end, while it is being converted.
//!
//! Where it stands a file system's superblock or a volume's header would be, so nobody opens or mounts
//! what is half converted. It holds what a resumed conversion needs to know, the old and the new
//! header among it, which are encrypted as ever.
//!
//! ```text
//! eight sectors of 512 bytes, each: the conversion's identifier (16), 480 bytes, the identifier (16)
//!
//! the 480 bytes of all, joined; integers little-endian
//! offset size
//!      0   16  "KEYWAY-CONVERTS" 2
//!     16    1  kind: 1 encryption, 2 decryption, 3 re-encryption
//!     17    1  journal: 0 on the medium, 1 in a file
//!     18    2  bytes of the file's path
//!     20    1  0: everything is moved; used space only: 1 free space is left, 2 filled, 3 trimmed, 4 left, and counts as
//!              moved from the beginning on
//!     21    1  1: every segment is kept whole in the journal
//!     22    2  0
//!     24    8  bytes of the medium
//!     32    8  bytes that are moved
//!     40    8  where the moved first bytes are parked
//!     48   32  the journal's records
//!     80   32  the journal's segments
//!    112    8  bytes of a segment
//!    120    8  slots of the journal: 2 or 4
//!    128  512  the old header
//!    640  512  the new primary header
//!   1152  512  the new backup header
//!   1664 1024  the file's path: a hint for people, that nothing is opened by
//!   2688   32  the heads of the journal's records; zeros where there are none
//!   3836    4  CRC-32 of the 3836 bytes before
//! ```
//!
//! The identifiers at the ends of each sector tell a marker that was torn from a sector that
//! somebody else has written.

use crate::ConvertError;
use crate::free_space::FreeSpace;
use crate::journal::{SLOTS, Slot, SlotTable};
use keyway_error::enum_table;
use keyway_store::{AlignedBuf, Store, StoreError};
use keyway_volume::veracrypt::{BACKUP_GROUP_BYTES, HEADER_BYTES, HEADERS_BYTES, SealedHeader};
use serde::Serialize;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Bytes of a marker: a page.
pub const MARKER_BYTES: usize = 4096;

const MAGIC: [u8; 16] = *b"KEYWAY-CONVERTS\x02";
const SECTOR: usize = 512;
const FRAME: usize = 16;
const PAYLOAD: usize = (SECTOR - 2 * FRAME) * (MARKER_BYTES / SECTOR);
const CRC_AT: usize = PAYLOAD - 4;
const OLD_AT: usize = 128;
const PATH_AT: usize = OLD_AT + 3 * HEADER_BYTES;
const LONGEST_PATH: usize = 1024;
const HEADS_AT: usize = PATH_AT + LONGEST_PATH;
/// Of used space only, in use: what free space is then.
const FREE_IS_NEW: u8 = 4;

enum_table! {
    /// Which conversion.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ConversionKind {
        /// A file system becomes a volume.
        Encryption(1, "encryption"),
        /// A volume becomes a file system.
        Decryption(2, "decryption"),
        /// A volume gets another cipher and other keys.
        Reencryption(3, "re-encryption"),
    }
    /// The byte in a marker.
    pub(crate) code: u8,
    /// The word for people.
    pub name: &'static str,
}

/// Where a conversion's journal is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalLocation {
    /// On the medium that is converted.
    OnMedium,
    /// In a file.
    File(PathBuf),
}

/// What a resumed conversion needs to know.
#[derive(Clone)]
pub struct VeraCryptMarker {
    /// Which conversion this is: random.
    pub id: [u8; 16],
    /// What is done.
    pub kind: ConversionKind,
    /// Where the journal is.
    pub journal: JournalLocation,
    /// Bytes of the medium.
    pub size: u64,
    /// Bytes that are moved.
    pub moved: u64,
    /// Where the moved first bytes are parked; 0 where there is nothing to park.
    pub park: u64,
    /// Only what the file system uses is moved, and this becomes of the rest; `None`: everything is.
    pub used: Option<FreeSpace>,
    /// Somebody may use the volume meanwhile: free space that is left counts as moved from the beginning on.
    pub free_is_new: bool,
    /// Where the journal's slots are.
    pub place: SlotTable,
    /// The header of the volume as it was; zeros where there was none.
    pub old: SealedHeader,
    /// The headers of the volume as it shall be, primary and backup; zeros where there is to be none.
    pub new: [SealedHeader; 2],
}

/// A marker that was found.
pub struct FoundVeraCrypt {
    /// What it says.
    pub marker: VeraCryptMarker,
    /// Whether it is in front, or was begun to be put there. If it is not, the medium is whole: the
    /// conversion has not touched it yet, or is through but for its own traces.
    pub in_front: bool,
}

impl VeraCryptMarker {
    /// The page as it is put on the medium.
    ///
    /// The path of the journal's file must not be longer than 1024 bytes; what is longer is cut.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut payload = MAGIC.to_vec();
        let (where_, path) = match &self.journal {
            JournalLocation::OnMedium => (0, &[][..]),
            JournalLocation::File(path) => (1, path.as_os_str().as_bytes()),
        };
        let path = path.get(..LONGEST_PATH).unwrap_or(path);
        payload.extend([self.kind.code(), where_]);
        payload.extend((path.len() as u16).to_le_bytes());
        let used = if self.free_is_new { FREE_IS_NEW } else { self.used.map_or(0, FreeSpace::code) };
        payload.extend([used, u8::from(self.place.whole), 0, 0]);
        let slots = &self.place.slots;
        let slot = |n: usize| slots.get(n).copied().unwrap_or_default();
        let places = (0..SLOTS).map(|n| slot(n).record).chain((0..SLOTS).map(|n| slot(n).segment));
        let sizes = [self.size, self.moved, self.park].into_iter();
        for field in sizes.chain(places).chain([self.place.segment_bytes, slots.len() as u64]) {
            payload.extend(field.to_le_bytes());
        }
        let [primary, backup] = &self.new;
        for header in [&self.old, primary, backup] {
            payload.extend(header.bytes());
        }
        payload.extend(path);
        payload.resize(HEADS_AT, 0);
        self.place.heads_in_marker().iter().for_each(|at| payload.extend(at.to_le_bytes()));
        frame(&self.id, payload)
    }

    /// Reads a page; `None` where it holds no whole marker.
    pub fn parse(page: &[u8]) -> Option<Self> {
        let (id, body) = unframe(page, &MAGIC)?;
        let number = |at: usize| Some(u64::from_le_bytes(*body.get(at..)?.first_chunk()?));
        let header = |at: usize| Some(SealedHeader::from_bytes(*body.get(at..)?.first_chunk()?));
        let heads = [0, 1, 2, 3].map(|n| number(HEADS_AT + 8 * n));
        let journal = match body.get(17)? {
            0 => JournalLocation::OnMedium,
            1 => {
                let len = usize::from(u16::from_le_bytes(*body.get(18..)?.first_chunk()?));
                let path = body.get(PATH_AT..PATH_AT.checked_add(len)?).filter(|_| len <= LONGEST_PATH)?;
                JournalLocation::File(std::ffi::OsString::from_vec(path.to_vec()).into())
            }
            _ => return None,
        };
        Some(Self {
            id,
            kind: ConversionKind::from_code(*body.get(16)?)?,
            journal,
            size: number(24)?,
            moved: number(32)?,
            park: number(40)?,
            used: match body.get(20)? {
                0 => None,
                &FREE_IS_NEW => Some(FreeSpace::Leave),
                code => Some(FreeSpace::from_code(*code)?),
            },
            free_is_new: *body.get(20)? == FREE_IS_NEW,
            place: SlotTable {
                slots: (0..usize::try_from(number(120)?).ok().filter(|n| matches!(*n, 2 | SLOTS))?)
                    .map(|n| Some(Slot { record: number(48 + 8 * n)?, segment: number(80 + 8 * n)? }))
                    .collect::<Option<_>>()?,
                segment_bytes: number(112)?,
                whole: *body.get(21)? == 1,
                heads: SlotTable::heads_of_marker(heads.map(Option::unwrap_or_default)),
            },
            old: header(OLD_AT)?,
            new: [header(OLD_AT + HEADER_BYTES)?, header(OLD_AT + 2 * HEADER_BYTES)?],
        })
    }

    /// The size of the medium on which this page is a marker.
    pub(crate) fn size_in(page: &[u8]) -> Option<u64> {
        Self::parse(page).filter(|marker| marker.fits(marker.size)).map(|marker| marker.size)
    }

    /// Whether it can be this medium's: whatever is computed from it lies inside.
    fn fits(&self, store_bytes: u64) -> bool {
        let page = MARKER_BYTES as u64;
        let headers = HEADERS_BYTES + BACKUP_GROUP_BYTES;
        let end = |at: u64, len: u64| at.saturating_add(len);
        let filled = end(self.moved, headers) == store_bytes;
        let areas = match self.kind {
            ConversionKind::Encryption => {
                let parked = if self.free_is_new { 2 * HEADERS_BYTES } else { HEADERS_BYTES };
                self.moved.is_multiple_of(page)
                    && self.moved >= 2 * HEADERS_BYTES
                    && end(self.moved, parked) <= self.park
                    && end(self.park, headers) <= store_bytes
            }
            ConversionKind::Decryption => {
                filled && self.moved > page && end(self.park, 2 * page) <= store_bytes
            }
            ConversionKind::Reencryption => filled,
        };
        self.size == store_bytes
            && areas
            && (self.used.is_none() || self.kind == ConversionKind::Encryption)
            && self.place.is_possible()
            && self.place.heads_are_in(&(page..tail(store_bytes)))
            && (self.journal != JournalLocation::OnMedium || self.place.file_bytes() <= store_bytes)
    }
}

/// A page of eight sectors with the identifier at both ends of each; the payload is filled up with zeros
/// and gets its CRC-32.
pub(crate) fn frame(id: &[u8; FRAME], mut payload: Vec<u8>) -> Vec<u8> {
    payload.resize(CRC_AT, 0);
    let crc = crc32fast::hash(&payload);
    payload.extend(crc.to_le_bytes());
    let sectors = payload.chunks(SECTOR - 2 * FRAME);
    sectors.flat_map(|part| [id, part, id].concat()).collect()
}

/// The identifier and the payload of a page that begins with that magic number, if it is whole.
pub(crate) fn unframe(page: &[u8], magic: &[u8; 16]) -> Option<([u8; FRAME], Vec<u8>)> {
    let id: [u8; FRAME] = *page.first_chunk()?;
    let mut payload = Vec::with_capacity(PAYLOAD);
    for sector in page.get(..MARKER_BYTES)?.chunks(SECTOR) {
        (sector.starts_with(&id) && sector.ends_with(&id)).then_some(())?;
        payload.extend(sector.get(FRAME..SECTOR - FRAME)?);
    }
    let crc = payload.split_off(CRC_AT);
    (crc32fast::hash(&payload).to_le_bytes() == *crc && payload.starts_with(magic)).then_some((id, payload))
}

/// The size that a page of that magic number says its medium has: those of BitLocker and of two formats have it in one place.
pub(crate) fn size_said(page: &[u8], magic: &[u8; 16]) -> Option<u64> {
    let (_, body) = unframe(page, magic)?;
    Some(u64::from_le_bytes(*body.get(24..)?.first_chunk()?))
}

/// Whether any part of the marker with that identifier has been written over this page: it is at an end of
/// one of its sectors.
pub(crate) fn has_touched(id: &[u8; FRAME], page: &[u8]) -> bool {
    page.chunks(SECTOR).any(|sector| sector.starts_with(id) || sector.ends_with(id))
}

/// Whether a page is this one but for pieces of the identifier at the outer ends of its sectors: the rest of a
/// marker that came or went, where no end has all of it ([`has_touched`]).
pub(crate) fn is_torn(id: &[u8; FRAME], page: &[u8], whole: &[u8]) -> bool {
    let mut differ = false;
    for (is, was) in page.chunks(SECTOR).zip(whole.chunks(SECTOR)) {
        let (Some(first), Some(last)) = (
            is.iter().zip(was).position(|(is, was)| is != was),
            is.iter().zip(was).rposition(|(is, was)| is != was),
        ) else {
            continue;
        };
        differ = true;
        let begins = id.get(..=last).is_some_and(|piece| is.starts_with(piece));
        let ends = SECTOR.checked_sub(first).and_then(|n| FRAME.checked_sub(n)).and_then(|n| id.get(n..));
        if !begins && !ends.is_some_and(|piece| is.ends_with(piece)) {
            return false;
        }
    }
    differ
}

impl ConversionKind {
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// A conversion's identifier: random.
pub(crate) fn random_id() -> Result<[u8; 16], ConvertError> {
    loop {
        let mut id = [0; 16];
        getrandom::fill(&mut id)?;
        if id != [0; 16] {
            return Ok(id);
        }
    }
}

/// Where the second marker is: the last page.
pub(crate) fn tail(store_bytes: u64) -> u64 {
    store_bytes.saturating_sub(MARKER_BYTES as u64)
}

/// Looks for a conversion that is under way. Nothing is written.
///
/// # Errors
/// The medium failed.
pub fn find(store: &dyn Store) -> Result<Option<FoundVeraCrypt>, StoreError> {
    let size = store.size();
    if size < 4 * MARKER_BYTES as u64 {
        return Ok(None);
    }
    let read = |at: u64| {
        let mut page = AlignedBuf::zeroed(MARKER_BYTES);
        store.read_at(&mut page, at).map(|()| page)
    };
    let front = read(0)?;
    if let Some(marker) = VeraCryptMarker::parse(&front).filter(|marker| marker.fits(size)) {
        return Ok(Some(FoundVeraCrypt { marker, in_front: true }));
    }
    let Some(marker) = VeraCryptMarker::parse(&read(tail(size))?).filter(|marker| marker.fits(size)) else {
        return Ok(None);
    };
    let in_front = has_touched(&marker.id, &front);
    Ok(Some(FoundVeraCrypt { marker, in_front }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;

    fn marker(size: u64) -> VeraCryptMarker {
        let header = |n| SealedHeader::from_bytes([n; HEADER_BYTES]);
        VeraCryptMarker {
            id: [7; 16],
            kind: ConversionKind::Decryption,
            journal: JournalLocation::File("/somewhere/else".into()),
            size,
            moved: size - HEADERS_BYTES - BACKUP_GROUP_BYTES,
            park: size - BACKUP_GROUP_BYTES,
            used: None,
            free_is_new: false,
            place: SlotTable::in_a_file(4096),
            old: header(1),
            new: [header(2), header(3)],
        }
    }

    #[test]
    fn a_marker_comes_back_and_no_byte_of_it_may_differ() {
        let bytes = marker(1 << 20).to_bytes();
        assert_eq!(bytes.len(), MARKER_BYTES);
        let back = VeraCryptMarker::parse(&bytes).expect("whole");
        assert_eq!(back.to_bytes(), bytes);
        assert_eq!(back.journal, JournalLocation::File("/somewhere/else".into()));
        for at in 0..MARKER_BYTES {
            let mut bad = bytes.clone();
            bad[at] ^= 4;
            assert!(VeraCryptMarker::parse(&bad).is_none(), "byte {at}");
        }
    }

    #[test]
    fn it_is_found_in_front_torn_or_at_the_end() {
        let page = marker(1 << 20).to_bytes();
        let medium = |front: &[u8], end: &[u8]| {
            let mut bytes = vec![1; 1 << 20];
            bytes[..front.len()].copy_from_slice(front);
            let at = bytes.len() - MARKER_BYTES;
            bytes[at..at + end.len()].copy_from_slice(end);
            find(&MemStore::from_vec(bytes)).expect("read").map(|found| found.in_front)
        };
        assert_eq!(medium(&[], &[]), None);
        assert_eq!(medium(&page, &[]), Some(true));
        assert_eq!(medium(&[], &page), Some(false));
        assert_eq!(medium(&page[..512], &page), Some(true));
        assert_eq!(medium(&page[..100], &page), Some(true));
        assert_eq!(medium(&page[..512], &[]), None);
        // Of another size: somebody's copy of the beginning.
        assert_eq!(medium(&marker(1 << 21).to_bytes(), &[]), None);
    }

    #[test]
    fn a_sector_torn_next_to_its_edge_is_known_by_what_should_be_there() {
        let (id, whole) = ([7; FRAME], [1; MARKER_BYTES]);
        let torn = |at: usize, bytes: &[u8]| {
            let mut page = whole;
            page[at..at + bytes.len()].copy_from_slice(bytes);
            is_torn(&id, &page, &whole)
        };
        for n in 1..FRAME {
            assert!(torn(0, &id[..n]) && torn(1024, &id[..n]), "the first {n}");
            assert!(torn(SECTOR - n, &id[..n]) && torn(MARKER_BYTES - n, &id[..n]), "the last {n}");
            // Somebody else's bytes, or the identifier's in the middle.
            assert!(!torn(0, &vec![8; n]) && !torn(100, &id[..n]) && !torn(SECTOR - n, &vec![8; n]));
        }
        assert!(!torn(0, &[]));
        let mut both = whole;
        both[..3].copy_from_slice(&id[..3]);
        both[600] = 9;
        assert!(!is_torn(&id, &both, &whole), "another sector was changed by somebody");
    }

    #[test]
    fn a_marker_that_can_not_be_true_is_none() {
        let size = 1 << 20;
        let good = VeraCryptMarker { kind: ConversionKind::Encryption, moved: 1 << 19, ..marker(size) };
        let good =
            VeraCryptMarker { park: size - 2 * HEADERS_BYTES, journal: JournalLocation::OnMedium, ..good };
        assert!(good.fits(size));
        for moved in [0, 4096, 1 << 18 | 1, size, u64::MAX, u64::MAX - 4095] {
            for kind in [ConversionKind::Encryption, ConversionKind::Decryption, ConversionKind::Reencryption]
            {
                assert!(!VeraCryptMarker { moved, kind, ..good.clone() }.fits(size), "{kind:?} of {moved}");
            }
        }
        for park in [0, size - BACKUP_GROUP_BYTES, u64::MAX] {
            assert!(!VeraCryptMarker { park, ..good.clone() }.fits(size), "parked at {park}");
        }
        let place = SlotTable::in_a_row(0, u64::MAX - 9, 4096);
        assert!(!VeraCryptMarker { place, ..good.clone() }.fits(size));
        for segment_bytes in [0, 1, 511, 513, 4097, (1 << 30) + 512] {
            let journal = JournalLocation::File("x".into());
            let place = SlotTable::in_a_file(segment_bytes);
            assert!(
                !VeraCryptMarker { place, journal, ..good.clone() }.fits(size),
                "segments of {segment_bytes}"
            );
        }
    }
}
