//! The sheet at the beginning of the journal's file: what lies where in both volumes, and what opens them, sealed
//! under their own secrets as it was, or will be, on the medium.
//!
//! ```text
//! offset size; integers little-endian
//!      0   16  "KEYWAY-BETWEEN-S"
//!     16   16  the conversion's identifier
//!     32    8  bytes of the medium
//!     40    8  bytes of content that are carried over
//!     48    8  where its first bytes are parked; 0 where they need not be
//!     56   24  the copies of BitLocker's metadata
//!     80   16  where BitLocker's first sectors lie: offset, bytes
//!    512  512  VeraCrypt's header: the old one, or the new primary one
//!   1024  512  the new backup header
//!   4096 4096  BitLocker's first page
//!   8192 32768 BitLocker's metadata
//!  45052    4  CRC-32 of the 45052 bytes before
//! ```
//!
//! It is written once, before the marker, and does not change.

use super::marker::{CrossFormatMarker, Direction, HEADS_BYTES, SHEET_BYTES};
use crate::ConvertError;
use crate::marker::{MARKER_BYTES, tail};
use crate::veracrypt::end_group;
use keyway_store::{AlignedBuf, Store};
use keyway_volume::bitlocker::{HEAD_BYTES, REGION_BYTES};
use keyway_volume::overlay::Overlay;
use keyway_volume::veracrypt::{BACKUP_GROUP_BYTES, HEADER_BYTES, HEADERS_BYTES, SealedHeader};
use std::ops::Range;

const MAGIC: [u8; 16] = *b"KEYWAY-BETWEEN-S";
const HEADERS_AT: usize = 512;
const FIRST_PAGE_AT: usize = 4096;
const HEAD_AT: usize = 8192;
const CRC_AT: usize = SHEET_BYTES - 4;

pub(super) const PAGE: u64 = MARKER_BYTES as u64;
pub(super) const REGION: u64 = REGION_BYTES as u64;

/// First sectors that may have to be parked, in bytes. Windows' and ours have 8 KiB.
pub(super) const MOST_FIRST_SECTORS: u64 = 48 << 10;

/// What a conversion between the formats needs to know, all keys excepted.
#[derive(Clone)]
pub(super) struct Sheet {
    /// Bytes of the medium.
    pub(super) size: u64,
    /// Bytes of content that are carried over.
    pub(super) content: u64,
    /// Where its first bytes are parked.
    pub(super) park: u64,
    /// The copies of BitLocker's metadata.
    pub(super) copies: [u64; 3],
    /// BitLocker's first sectors.
    pub(super) boot: Range<u64>,
    /// VeraCrypt's headers.
    pub(super) headers: [SealedHeader; 2],
    /// BitLocker's first page.
    pub(super) first_page: Vec<u8>,
    /// BitLocker's metadata: the first half of each copy.
    pub(super) head: Vec<u8>,
}

impl Sheet {
    /// As it lies in the file.
    pub(super) fn to_bytes(&self, id: &[u8; 16]) -> Vec<u8> {
        let mut bytes = [MAGIC, *id].concat();
        let [first, second, third] = self.copies;
        let boot = [self.boot.start, self.boot_bytes()];
        for field in [self.size, self.content, self.park, first, second, third].into_iter().chain(boot) {
            bytes.extend(field.to_le_bytes());
        }
        bytes.resize(HEADERS_AT, 0);
        self.headers.iter().for_each(|header| bytes.extend(header.bytes()));
        bytes.resize(FIRST_PAGE_AT, 0);
        bytes.extend(&self.first_page);
        bytes.resize(HEAD_AT, 0);
        bytes.extend(&self.head);
        bytes.resize(CRC_AT, 0);
        let crc = crc32fast::hash(&bytes);
        bytes.extend(crc.to_le_bytes());
        bytes
    }

    /// Reads it from the journal's file.
    ///
    /// # Errors
    /// It is not this conversion's, or the medium failed.
    pub(super) fn read(file: &dyn Store, mark: &CrossFormatMarker) -> Result<Self, ConvertError> {
        if file.size() < mark.place().file_bytes() {
            return Err(ConvertError::NoJournal);
        }
        let mut bytes = AlignedBuf::zeroed(SHEET_BYTES);
        file.read_at(&mut bytes, 0)?;
        Self::parse(&bytes, mark).ok_or(ConvertError::NoJournal)
    }

    fn parse(bytes: &[u8], mark: &CrossFormatMarker) -> Option<Self> {
        let (body, crc) = bytes.split_at_checked(CRC_AT)?;
        (crc32fast::hash(body).to_le_bytes() == *crc).then_some(())?;
        (body.get(..16)? == MAGIC && body.get(16..32)? == mark.id).then_some(())?;
        let number = |at: usize| Some(u64::from_le_bytes(*body.get(at..)?.first_chunk()?));
        let header = |at: usize| Some(SealedHeader::from_bytes(*body.get(at..)?.first_chunk()?));
        let sheet = Self {
            size: number(32)?,
            content: number(40)?,
            park: number(48)?,
            copies: [number(56)?, number(64)?, number(72)?],
            boot: number(80)?..number(80)?.checked_add(number(88)?)?,
            headers: [header(HEADERS_AT)?, header(HEADERS_AT + HEADER_BYTES)?],
            first_page: body.get(FIRST_PAGE_AT..HEAD_AT)?.to_vec(),
            head: body.get(HEAD_AT..HEAD_AT + HEAD_BYTES)?.to_vec(),
        };
        (sheet.size == mark.size && sheet.is_possible(mark.direction)).then_some(sheet)
    }

    /// Whether everything lies where nothing overwrites what is still needed.
    pub(super) fn is_possible(&self, direction: Direction) -> bool {
        let Some(area) = self.size.checked_sub(HEADERS_BYTES + BACKUP_GROUP_BYTES) else { return false };
        let last = tail(self.size);
        let first_sectors = (PAGE..=MOST_FIRST_SECTORS).contains(&self.boot_bytes());
        let metadata =
            self.copies.iter().all(|at| at.saturating_add(REGION) <= last) && self.boot.end <= last;
        let free = match direction {
            // Nothing is written to the first half of what is behind the content before that is moved.
            Direction::ToBitLocker => {
                self.content == area
                    && self.park == 0
                    && self.copies.iter().all(|at| *at >= area)
                    && self.boot.start >= end_group(self.size).saturating_add(PAGE)
            }
            Direction::ToVeraCrypt => {
                let park = self.park..self.park.saturating_add(self.boot_bytes());
                let apart = park.end <= self.boot.start || self.boot.end <= park.start;
                self.content <= area && park.start >= end_group(self.size) && park.end <= last && apart
            }
        };
        first_sectors && metadata && free && self.content > self.boot_bytes().saturating_add(PAGE)
    }

    /// Where the heads of the journal's records can be: in the last 128 KiB, between a header and the second marker, where
    /// neither volume has anything that counts.
    pub(super) fn room_for_heads(&self, direction: Direction) -> Option<u64> {
        let park = self.park..self.park.saturating_add(self.boot_bytes());
        let bytes = match direction {
            Direction::ToBitLocker => REGION,
            // The second half of what was a copy is nobody's.
            Direction::ToVeraCrypt => HEAD_BYTES as u64,
        };
        let copies = self.copies.iter().map(|at| *at..at.saturating_add(bytes));
        let taken: Vec<_> = copies.chain([self.boot.clone(), park]).collect();
        let (first, last) =
            (end_group(self.size).next_multiple_of(PAGE) + PAGE, tail(self.size) / PAGE * PAGE);
        let free = |at: &u64| taken.iter().all(|range| range.end <= *at || at + HEADS_BYTES <= range.start);
        (first..=last.checked_sub(HEADS_BYTES)?).step_by(PAGE as usize).find(free)
    }

    /// How many bytes BitLocker's first sectors have.
    pub(super) fn boot_bytes(&self) -> u64 {
        self.boot.end.saturating_sub(self.boot.start)
    }

    /// The parts of the content that read as zeros in the BitLocker volume, in order.
    pub(super) fn holes(&self) -> Vec<Range<u64>> {
        let copies = self.copies.iter().map(|at| *at..at.saturating_add(REGION));
        let mut all: Vec<_> = copies.chain([self.boot.clone()]).collect();
        all.sort_by_key(|range| range.start);
        let clip = |range: Range<u64>| range.start..range.end.min(self.content);
        joined(all.into_iter().map(clip).filter(|range| range.start < range.end))
    }

    /// One copy of the metadata, with the rest of its region.
    pub(super) fn region(&self) -> Vec<u8> {
        let mut region = self.head.clone();
        region.resize(REGION_BYTES, 0);
        region
    }

    /// The medium as it was, or will be, with the BitLocker volume's first page and metadata in their places.
    pub(super) fn over<'a>(&self, store: &'a dyn Store) -> Overlay<'a> {
        let mut patches = vec![(0, self.first_page.clone())];
        patches.extend(self.copies.iter().map(|at| (*at, self.region())));
        Overlay::new(store, patches)
    }
}

/// Ranges in order, those that meet made one.
pub(super) fn joined(ranges: impl IntoIterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut out: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;

    fn sheet() -> (CrossFormatMarker, Sheet) {
        let (size, header) = (1 << 20, |n| SealedHeader::from_bytes([n; HEADER_BYTES]));
        let mark = CrossFormatMarker {
            id: [7; 16],
            direction: Direction::ToVeraCrypt,
            size,
            segment_bytes: 4096,
            file: "x".into(),
            heads: 0,
        };
        let sheet = Sheet {
            size,
            content: size - (256 << 10),
            park: size - (64 << 10),
            copies: [200 << 10, 300 << 10, 400 << 10],
            boot: 264 << 10..272 << 10,
            headers: [header(1), header(2)],
            first_page: vec![3; 4096],
            head: vec![4; HEAD_BYTES],
        };
        (mark, sheet)
    }

    #[test]
    fn a_sheet_comes_back_and_no_byte_of_it_may_differ() {
        let (mark, sheet) = sheet();
        let mut bytes = sheet.to_bytes(&mark.id);
        assert_eq!(bytes.len(), SHEET_BYTES);
        bytes.resize(mark.place().file_bytes() as usize, 0);
        let read = |bytes: &[u8]| Sheet::read(&MemStore::from_vec(bytes.to_vec()), &mark);
        assert_eq!(read(&bytes).expect("whole").to_bytes(&mark.id), sheet.to_bytes(&mark.id));
        for at in (0..SHEET_BYTES).step_by(13) {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            assert!(read(&bad).is_err(), "byte {at}");
        }
        assert!(read(&bytes[..SHEET_BYTES]).is_err(), "too short");
    }

    #[test]
    fn what_would_be_overwritten_is_no_place() {
        let (_, good) = sheet();
        assert!(good.is_possible(Direction::ToVeraCrypt) && !good.is_possible(Direction::ToBitLocker));
        let wrong = [
            Sheet { park: good.size - (200 << 10), ..good.clone() },
            Sheet { park: good.size - 4096, ..good.clone() },
            Sheet { content: good.content + 1, ..good.clone() },
            Sheet { content: 4096, ..good.clone() },
            Sheet { copies: [0, 0, good.size - (64 << 10)], ..good.clone() },
            Sheet { boot: 0..u64::MAX, ..good.clone() },
            Sheet { boot: good.park - 4096..good.park + 4096, ..good.clone() },
            Sheet { copies: [u64::MAX; 3], ..good.clone() },
            Sheet { size: 0, ..good.clone() },
        ];
        for (n, wrong) in wrong.iter().enumerate() {
            assert!(!wrong.is_possible(Direction::ToVeraCrypt), "{n}");
        }
    }

    #[test]
    fn holes_are_in_order_and_meet_nobody() {
        let (_, sheet) = sheet();
        let holes: Vec<_> = sheet.holes().iter().map(|hole| hole.start >> 10..hole.end >> 10).collect();
        assert_eq!(holes, [200..272, 300..364, 400..464]);
    }
}
