//! What lies on a BitLocker volume for as long as a conversion of it runs: the marker in front, the same in
//! the rest of a copy of the metadata, and a pointer from the first to the second.
//!
//! The 64 KiB of each copy of the metadata read as zeros, and their second half is empty:
//!
//! ```text
//! copy 1, copy 2   offset 32768: the journal's segments, where there is no better place for them; where there is, in copy 1
//!                  the heads of the journal's four records
//! copy 3           offset size
//!                   32768 4096  the second marker
//!                   36864 16384 the journal's records: four, two and their heads, or the heads of a journal in a file
//!                   53248 4096  the volume's own first page
//!                   57344 8192  what is moved: the work
//! ```
//!
//! ```text
//! the marker's payload (super::super::marker::frame); integers little-endian
//! offset size
//!      0   16  "KEYWAY-BITLOCK" 0 1
//!     16    1  kind: 1 encryption, 2 decryption, 3 re-encryption
//!     17    1  1: a file system lay open before
//!     18    1  journal: 0 on the medium, 1 in a file
//!     19    1  free space: 0 it stays or is converted, 2 filled with noise first, 3 discarded first
//!     20    2  bytes of the file's path
//!     22    1  1: free space, where it is left out, is under the new cipher from the beginning on
//!     23    1  0
//!     24    8  bytes of the medium
//!     32   24  the copies of the metadata
//!     56   16  the moved first sectors: offset, bytes
//!     72    8  where pages wait that are put into the file system
//!     80   36  first run: the file system's own bytes where the pointer stands
//!    200   36  the pointer
//!    240   32  the journal's records
//!    272   32  the journal's segments
//!    304    8  bytes of a segment
//!    312    8  slots of the journal: 2 or 4
//!    320 1024  the file's path: a hint for people, that nothing is opened by
//!   1344    2  re-encryption: the new data key's method
//!   1346    2  re-encryption: bytes of its entry
//!   1348  112  re-encryption: the new data key, sealed with the volume master key, as the metadata will hold it
//!   1460   32  the heads of the journal's records; zeros where there are none
//!
//! the pointer, at byte 216 of the first sector
//!      0    8  "KEYWAYPT"
//!      8    8  offset of the second marker
//!     16   16  its identifier
//!     32    4  CRC-32 of the 32 bytes before
//! ```
//!
//! Byte 216 lies in a boot loader's code, of NTFS, FAT and exFAT as of BitLocker's own first sector, and
//! ext4's and Btrfs' first sectors are free. The pointer is written before anything else of the first page
//! changes and taken away after, so it is there whole, however a sector in between was torn.

use crate::free_space::FreeSpace;
use crate::journal::{RECORD_BYTES, SLOTS, Slot, SlotTable};
use crate::marker::{ConversionKind, JournalLocation, MARKER_BYTES, frame, has_touched, size_said, unframe};
use crate::ranges::without;
use keyway_store::{AlignedBuf, Store, StoreError};
use keyway_volume::bitlocker::{Block, HEAD_BYTES, Method, NewDataKey, SEALED_KEY_BYTES};
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// A page: what markers, records and first pages have.
pub(super) const PAGE: u64 = MARKER_BYTES as u64;

const MAGIC: [u8; 16] = *b"KEYWAY-BITLOCK\x00\x01";
const POINTER: [u8; 8] = *b"KEYWAYPT";
const WORK: [u8; 8] = *b"KEYWAYWK";

/// Where the pointer is in the first sector, and in the marker's payload, which begins 16 bytes later.
pub(super) const POINTER_AT: u64 = 216;
const POINTER_IN_PAYLOAD: usize = 200;
pub(super) const POINTER_BYTES: usize = 36;

const UNDER_AT: usize = 80;
const JOURNAL_AT: usize = 240;
const PATH_AT: usize = 320;
const LONGEST_PATH: usize = 1024;
const METHOD_AT: usize = PATH_AT + LONGEST_PATH;
const KEY_AT: usize = METHOD_AT + 4;
const HEADS_AT: usize = KEY_AT + SEALED_KEY_BYTES;

/// Bytes of the work.
pub(super) const WORK_BYTES: usize = 8 << 10;
const WORK_HEADER: usize = 32;

/// Stretches that the work has room for.
pub(super) const MOST_RANGES: usize = 480;

/// Noise comes in units of so many bytes.
const SMALLEST_SECTOR: u64 = 512;

const HEAD: u64 = HEAD_BYTES as u64;

/// What a resumed conversion needs to know, the work excepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitLockerMarker {
    /// Which conversion this is: random.
    pub id: [u8; 16],
    /// What is done.
    pub kind: ConversionKind,
    /// A file system lay open before: this is the first run.
    pub fresh: bool,
    /// Where the journal is.
    pub journal: JournalLocation,
    /// Bytes of the medium.
    pub size: u64,
    /// The copies of the metadata.
    pub copies: [u64; 3],
    /// The moved first sectors.
    pub boot: Range<u64>,
    /// Where pages wait that are put into the file system.
    pub spare: u64,
    /// Where the journal's slots are.
    pub place: SlotTable,
    /// The file system's own bytes where the pointer stands: of the first run.
    pub under: [u8; POINTER_BYTES],
    /// The data key that a re-encryption gives the volume.
    pub new_key: Option<NewDataKey>,
    /// What becomes of the space that is left out, before anything is converted.
    pub free: FreeSpace,
    /// The space that is left out counts as converted from the beginning on: the volume is in use, and what is
    /// written there is under the new cipher.
    pub free_is_new: bool,
}

/// What is moved in a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Work {
    /// Places of the pages that are put into the file system, to keep it off the metadata.
    pub pages: Vec<u64>,
    /// Stretches of the medium that are converted, in the order of their places.
    pub ranges: Vec<Range<u64>>,
}

/// A conversion that was found.
pub struct FoundBitLocker {
    /// What its marker says.
    pub mark: BitLockerMarker,
    /// Whether the marker is in front, or was begun to be put there or taken away: nobody else's is there.
    pub in_front: bool,
}

impl BitLockerMarker {
    fn third(&self) -> u64 {
        let [_, _, third] = self.copies;
        third
    }

    /// Where the second marker is.
    pub(super) fn tail(&self) -> u64 {
        self.third() + HEAD
    }

    /// Where the journal's records are.
    pub(super) fn records(&self) -> Range<u64> {
        self.tail() + PAGE..self.tail() + PAGE + (SLOTS * RECORD_BYTES) as u64
    }

    /// Where the volume's own first page waits.
    pub(super) fn park(&self) -> u64 {
        self.records().end
    }

    /// Where the work is.
    pub(super) fn work(&self) -> Range<u64> {
        let at = self.park() + PAGE;
        at..at + WORK_BYTES as u64
    }

    /// What nobody changes but a run's small steps: the metadata, the second marker, the volume's own first page and the work.
    pub(super) fn anchors(&self) -> Vec<Range<u64>> {
        let copies = self.copies.iter().map(|at| *at..*at + HEAD);
        copies.chain([self.tail()..self.tail() + PAGE, self.park()..self.work().end]).collect()
    }

    /// The journal in the copies of the metadata, where it has no better place.
    pub(super) fn small_journal(copies: [u64; 3]) -> SlotTable {
        let [first, second, third] = copies;
        let records = (1..).map(|n| third + HEAD + n * PAGE);
        let slots =
            records.zip([first + HEAD, second + HEAD]).map(|(record, segment)| Slot { record, segment });
        let place = SlotTable { slots: slots.collect(), segment_bytes: HEAD, whole: false, heads: vec![] };
        place.with_heads(third + HEAD + 3 * PAGE)
    }

    /// The journal's heads where its records are in the third copy of the metadata, all four.
    pub(super) fn heads_of_four([first, ..]: [u64; 3]) -> u64 {
        first + HEAD
    }

    /// And where it is in a file.
    pub(super) fn heads_of_file([_, _, third]: [u64; 3]) -> u64 {
        third + HEAD + PAGE
    }

    /// The pointer to the second marker.
    pub(super) fn pointer(&self) -> Vec<u8> {
        let mut bytes = [&POINTER[..], &self.tail().to_le_bytes(), &self.id].concat();
        let crc = crc32fast::hash(&bytes);
        bytes.extend(crc.to_le_bytes());
        bytes
    }

    /// The page as it is put on the medium, in front and in the copy of the metadata.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let (in_file, path) = match &self.journal {
            JournalLocation::OnMedium => (0, &[][..]),
            JournalLocation::File(path) => (1, path.as_os_str().as_bytes()),
        };
        let path = path.get(..LONGEST_PATH).unwrap_or(path);
        let mut payload = MAGIC.to_vec();
        let free = if self.free == FreeSpace::Leave { 0 } else { self.free.code() };
        payload.extend([self.kind.code(), u8::from(self.fresh), in_file, free]);
        payload.extend((path.len() as u16).to_le_bytes());
        payload.extend([u8::from(self.free_is_new), u8::from(self.place.whole)]);
        let [first, second, third] = self.copies;
        let boot = [self.boot.start, self.boot.end.saturating_sub(self.boot.start)];
        for field in [self.size, first, second, third].into_iter().chain(boot).chain([self.spare]) {
            payload.extend(field.to_le_bytes());
        }
        payload.extend(self.under);
        payload.resize(POINTER_IN_PAYLOAD, 0);
        payload.extend(self.pointer());
        payload.resize(JOURNAL_AT, 0);
        let slots = &self.place.slots;
        let slot = |n: usize| slots.get(n).copied().unwrap_or_default();
        let places = (0..SLOTS).map(|n| slot(n).record).chain((0..SLOTS).map(|n| slot(n).segment));
        for field in places.chain([self.place.segment_bytes, slots.len() as u64]) {
            payload.extend(field.to_le_bytes());
        }
        payload.extend(path);
        if let Some(key) = &self.new_key {
            // A key of a known method is never too long.
            let entry = key.to_bytes().unwrap_or_default();
            payload.resize(METHOD_AT, 0);
            payload.extend(key.method().code().to_le_bytes());
            payload.extend((entry.len() as u16).to_le_bytes());
            payload.extend(entry);
        }
        payload.resize(HEADS_AT, 0);
        self.place.heads_in_marker().iter().for_each(|at| payload.extend(at.to_le_bytes()));
        frame(&self.id, payload)
    }

    /// The size of the medium on which this page is a marker.
    pub(crate) fn size_in(page: &[u8]) -> Option<u64> {
        Self::parse(page, size_said(page, &MAGIC)?).map(|mark| mark.size)
    }

    fn parse(page: &[u8], store_bytes: u64) -> Option<Self> {
        let (id, body) = unframe(page, &MAGIC)?;
        let number = |at: usize| Some(u64::from_le_bytes(*body.get(at..)?.first_chunk()?));
        let journal = match body.get(18)? {
            0 => JournalLocation::OnMedium,
            1 => {
                let len = usize::from(u16::from_le_bytes(*body.get(20..)?.first_chunk()?));
                let path = body.get(PATH_AT..PATH_AT.checked_add(len)?).filter(|_| len <= LONGEST_PATH)?;
                JournalLocation::File(std::ffi::OsString::from_vec(path.to_vec()).into())
            }
            _ => return None,
        };
        let kind = ConversionKind::from_code(*body.get(16)?)?;
        let heads = [0, 1, 2, 3].map(|n| number(HEADS_AT + 8 * n));
        let short = |at: usize| Some(u16::from_le_bytes(*body.get(at..)?.first_chunk()?));
        let new_key = match kind {
            ConversionKind::Reencryption => {
                let len = usize::from(short(METHOD_AT + 2)?);
                let entry = body.get(KEY_AT..KEY_AT.checked_add(len)?).filter(|_| len <= SEALED_KEY_BYTES)?;
                Some(NewDataKey::parse(Method::from_code(short(METHOD_AT)?)?, entry)?)
            }
            ConversionKind::Encryption | ConversionKind::Decryption => None,
        };
        let mark = Self {
            id,
            kind,
            fresh: *body.get(17)? == 1,
            journal,
            size: number(24)?,
            copies: [number(32)?, number(40)?, number(48)?],
            boot: number(56)?..number(56)?.checked_add(number(64)?)?,
            spare: number(72)?,
            place: SlotTable {
                slots: (0..usize::try_from(number(312)?).ok().filter(|n| matches!(*n, 2 | SLOTS))?)
                    .map(|n| Some(Slot { record: number(240 + 8 * n)?, segment: number(272 + 8 * n)? }))
                    .collect::<Option<_>>()?,
                segment_bytes: number(304)?,
                whole: *body.get(23)? == 1,
                heads: SlotTable::heads_of_marker(heads.map(Option::unwrap_or_default)),
            },
            under: *body.get(UNDER_AT..)?.first_chunk()?,
            new_key,
            free: match *body.get(19)? {
                0 => FreeSpace::Leave,
                code => FreeSpace::from_code(code)?,
            },
            free_is_new: *body.get(22)? == 1,
        };
        mark.fits(store_bytes).then_some(mark)
    }

    /// What is neither converted nor the metadata's, nor the journal's: free space, where that is left out.
    pub(super) fn free_ranges(&self, work: &Work) -> Vec<Range<u64>> {
        let region = |at: &u64| *at..at.saturating_add(2 * HEAD);
        let segments = match self.journal {
            JournalLocation::OnMedium => self.place.segments(),
            JournalLocation::File(_) => vec![],
        };
        let mut taken: Vec<_> = self.copies.iter().map(region).chain(segments).collect();
        taken.push(self.boot.clone());
        taken.extend(work.ranges.iter().cloned());
        taken.sort_by_key(|range| range.start);
        let first = self.boot.end.saturating_sub(self.boot.start);
        let all = first..self.size / SMALLEST_SECTOR * SMALLEST_SECTOR;
        without(std::slice::from_ref(&all), &taken)
    }

    /// Whether a volume with that metadata has the data key that this re-encryption gives it.
    pub(super) fn is_given_to(&self, block: &Block) -> bool {
        self.new_key.as_ref().is_some_and(|key| key.is_in(block))
    }

    /// Whether it can be this medium's.
    fn fits(&self, store_bytes: u64) -> bool {
        let inside = |at: u64, len: u64| at.checked_add(len).is_some_and(|end| end <= store_bytes);
        let place = &self.place;
        self.size == store_bytes
            && self.copies.iter().all(|at| inside(*at, 2 * HEAD))
            && inside(self.boot.start, self.boot.end.saturating_sub(self.boot.start))
            && self.boot.end >= self.boot.start.saturating_add(PAGE)
            && inside(self.spare, 0)
            && place.is_possible()
            && place.heads_are_in(&(PAGE..store_bytes))
            && (self.journal != JournalLocation::OnMedium || place.file_bytes() <= store_bytes)
    }
}

impl Work {
    /// As it lies on the medium.
    pub(super) fn to_bytes(&self, id: &[u8; 16]) -> Vec<u8> {
        let mut bytes = WORK.to_vec();
        bytes.extend((self.pages.len() as u32).to_le_bytes());
        bytes.extend((self.ranges.len() as u32).to_le_bytes());
        bytes.extend(id);
        for page in &self.pages {
            bytes.extend(page.to_le_bytes());
        }
        for range in &self.ranges {
            bytes.extend(range.start.to_le_bytes());
            bytes.extend(range.end.to_le_bytes());
        }
        bytes.resize(WORK_BYTES - 4, 0);
        let crc = crc32fast::hash(&bytes);
        bytes.extend(crc.to_le_bytes());
        bytes
    }

    /// Reads it back.
    ///
    /// # Errors
    /// The medium failed; `None` where it is damaged.
    pub(super) fn read(store: &dyn Store, mark: &BitLockerMarker) -> Result<Option<Self>, StoreError> {
        let mut bytes = AlignedBuf::zeroed(WORK_BYTES);
        store.read_at(&mut bytes, mark.work().start)?;
        Ok(Self::parse(&bytes, mark))
    }

    /// Whether a cipher whose units have so many bytes can convert it: its checksum is nobody's secret.
    pub(super) fn is_of_whole_units(&self, bytes: u32) -> bool {
        let whole = |at: u64| at.is_multiple_of(u64::from(bytes));
        self.ranges.iter().all(|range| whole(range.start) && whole(range.end))
    }

    fn parse(bytes: &[u8], mark: &BitLockerMarker) -> Option<Self> {
        let (body, crc) = bytes.split_at_checked(WORK_BYTES - 4)?;
        (crc32fast::hash(body).to_le_bytes() == *crc && body.starts_with(&WORK)).then_some(())?;
        (body.get(16..WORK_HEADER)? == mark.id).then_some(())?;
        let count = |at: usize| Some(u32::from_le_bytes(*body.get(at..)?.first_chunk()?) as usize);
        let (pages, ranges) = (count(8)?, count(12)?);
        let (numbers, _) = body.get(WORK_HEADER..)?.as_chunks::<8>();
        let pages = numbers.get(..pages)?;
        let ranges = numbers.get(pages.len()..pages.len().checked_add(ranges.checked_mul(2)?)?)?;
        let work = Self {
            pages: pages.iter().map(|at| u64::from_le_bytes(*at)).collect(),
            ranges: ranges
                .chunks_exact(2)
                .filter_map(|pair| match pair {
                    [start, end] => Some(u64::from_le_bytes(*start)..u64::from_le_bytes(*end)),
                    _ => None,
                })
                .collect(),
        };
        let inside = work.pages.iter().all(|at| at.checked_add(PAGE).is_some_and(|end| end <= mark.size))
            && work.ranges.iter().all(|range| range.start < range.end && range.end <= mark.size)
            && work.ranges.is_sorted_by(|a, b| a.end <= b.start);
        inside.then_some(work)
    }
}

/// Looks for a conversion of a BitLocker volume that is under way. One that was paused in good order is an
/// ordinary volume and not found here. Nothing is written.
///
/// # Errors
/// The medium failed.
pub fn find(store: &dyn Store) -> Result<Option<FoundBitLocker>, StoreError> {
    let size = store.size();
    if size < 4 * PAGE {
        return Ok(None);
    }
    let front = page(store, 0)?;
    if let Some(mark) = BitLockerMarker::parse(&front, size) {
        return Ok(Some(FoundBitLocker { mark, in_front: true }));
    }
    let pointer = front.get(POINTER_AT as usize..POINTER_AT as usize + POINTER_BYTES).unwrap_or_default();
    let (body, crc) = pointer.split_at(32.min(pointer.len()));
    if !body.starts_with(&POINTER) || crc32fast::hash(body).to_le_bytes() != *crc {
        return Ok(None);
    }
    let at = body.get(8..).and_then(|at| at.first_chunk()).map_or(u64::MAX, |at| u64::from_le_bytes(*at));
    if !at.is_multiple_of(512) || at.checked_add(PAGE).is_none_or(|end| end > size) {
        return Ok(None);
    }
    let second = page(store, at)?;
    let Some(mark) = BitLockerMarker::parse(&second, size).filter(|mark| mark.pointer() == pointer) else {
        return Ok(None);
    };
    let in_front = is_in_front(store, &mark, &front, &second)?;
    Ok(Some(FoundBitLocker { mark, in_front }))
}

/// Whether the first page is the marker, in part: its identifier is there, or each byte is the marker's or
/// that of the page that was, or is to be, in its place.
fn is_in_front(
    store: &dyn Store,
    mark: &BitLockerMarker,
    front: &[u8],
    marker: &[u8],
) -> Result<bool, StoreError> {
    if has_touched(&mark.id, front) {
        return Ok(true);
    }
    for at in [mark.park(), mark.boot.start] {
        let mut whole = page(store, at)?;
        if let Some(slot) = whole.get_mut(POINTER_AT as usize..POINTER_AT as usize + POINTER_BYTES) {
            slot.copy_from_slice(&mark.pointer());
        }
        if *front == *whole {
            return Ok(false);
        }
        let mixed = front
            .iter()
            .zip(whole.iter().zip(marker))
            .all(|(is, (whole, marker))| is == whole || is == marker);
        if mixed {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A page of the medium.
pub(super) fn page(store: &dyn Store, at: u64) -> Result<AlignedBuf, StoreError> {
    let mut page = AlignedBuf::zeroed(MARKER_BYTES);
    store.read_at(&mut page, at)?;
    Ok(page)
}
