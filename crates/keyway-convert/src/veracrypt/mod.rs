//! Plans the conversions of VeraCrypt volumes: what lies where, and in which order it is done.
//!
//! A volume has 128 KiB of headers in front and 128 KiB of backups at the end
//! ([`keyway_volume::veracrypt`]). Both ends lie outside the data area, so they hold what belongs to a
//! conversion:
//!
//! ```text
//! the last 128 KiB, from their beginning
//! offset     size
//!      0     4096  the backup header
//!   4096           decryption: the parked page, then the journal's segments
//!                  re-encryption: a segment (the other is in front, behind the marker)
//! 110592  4 * 4096  the journal's records
//! 126976     4096  the second marker
//! ```
//!
//! - **Encryption.** The file system was made smaller, so there is room between its end and the last
//!   128 KiB: for the journal's segments and for its first 128 KiB, which are parked there, encrypted.
//!   Then the marker takes their place, everything else moves 128 KiB up, from the end on, and the
//!   parked bytes follow. What is behind the file system is overwritten with noise before the primary
//!   header takes the marker's place; with that the volume is there.
//! - **Decryption.** The first page of the data area is parked as it is, the marker takes the place of
//!   the primary header, everything else moves 128 KiB down, from the beginning on, and the parked page,
//!   decrypted, takes the place of the marker; with that the file system is there.
//! - **Re-encryption.** The marker takes the place of the primary header, everything stays where it is,
//!   and the new primary header takes the place of the marker. A hidden volume inside is lost.
//!
//! An encryption of used space only ([`used_stretches`]) moves these alone, and has their list before the
//! journal's records.
//!
//! The very last step wipes the journal's records and then the second marker. They lie in the last 128 KiB,
//! which a volume in use does not write to.

mod in_use;
mod resume;
mod steps;
mod used;

pub use in_use::room_in_use;
pub(crate) use resume::open_header;
pub use resume::{ResumeSecrets, how_far};
pub(crate) use steps::{header_page, noise, wiping};
pub use used::{FreeSpace, MOST_STRETCHES, used_stretches};

use crate::journal::{Place, RECORD_BYTES, SLOTS, Slot};
use crate::marker::{JournalPlace, Kind, MARKER_BYTES, Marker, tail};
use crate::step::Keyed;
use crate::{Conversion, ConvertError, Journal};
use keyway_engine::{Layout, Mapping};
use keyway_store::{AlignedBuf, Store};
use keyway_volume::veracrypt::{
    BACKUP_GROUP_BYTES, HEADER_BYTES, HEADERS_BYTES, NewVolume, SealedHeader, Unlocked, fresh_headers,
};
use std::ops::Range;
use std::path::PathBuf;

/// A page: what records, markers and parked pages have.
const PAGE: u64 = MARKER_BYTES as u64;

/// The largest segment: so many bytes are read, ciphered and written at a time, six times over. Larger ones
/// are slower, because they fall out of the processor's cache between the steps.
pub const LARGEST_SEGMENT: u64 = 8 << 20;

/// The smallest segment that a new journal gets.
const SMALLEST_SEGMENT: u64 = 64 << 10;

/// A file system may lend this part of a medium to each segment of the journal.
const PART: u64 = 128;

/// What keeps the first bytes of a file system while the marker is there, and what is moved up: as much
/// as the headers need.
const HEAD: u64 = HEADERS_BYTES;

/// The ciphers of a conversion: before and after; `None` is plain.
#[derive(Clone)]
pub struct Keys {
    /// Of the data area as it was, from its first byte on.
    pub old: Option<Keyed>,
    /// Of the data area as it shall be, from its first byte on.
    pub new: Option<Keyed>,
}

/// A conversion that has been planned: what its marker says, and its keys.
pub struct Plan {
    /// What is on the medium while it goes on.
    pub marker: Marker,
    /// The ciphers.
    pub keys: Keys,
    /// What is moved where not everything is; `None` where everything is, or the list is not whole.
    stretches: Option<Vec<Range<u64>>>,
}

/// Bytes of a journal's segment on a medium of that size, or in a file of its own.
pub fn segment_bytes(store_bytes: u64) -> u64 {
    (store_bytes / PART / SMALLEST_SEGMENT * SMALLEST_SEGMENT).clamp(SMALLEST_SEGMENT, LARGEST_SEGMENT)
}

/// How large a file system may be that is to be encrypted on a medium of that size.
pub fn room(store_bytes: u64, on_medium: bool) -> u64 {
    let journal = if on_medium { SLOTS as u64 * segment_bytes(store_bytes) } else { 0 };
    (store_bytes.saturating_sub(BACKUP_GROUP_BYTES + HEADERS_BYTES + HEAD + journal)) / PAGE * PAGE
}

pub(crate) fn random_id() -> Result<[u8; 16], ConvertError> {
    loop {
        let mut id = [0; 16];
        getrandom::fill(&mut id)?;
        if id != [0; 16] {
            return Ok(id);
        }
    }
}

pub(crate) fn none() -> SealedHeader {
    SealedHeader::from_bytes([0; HEADER_BYTES])
}

/// Where the last 128 KiB begin.
pub(crate) fn end_group(size: u64) -> u64 {
    size.saturating_sub(BACKUP_GROUP_BYTES)
}

/// Where the first record lies on the medium.
fn first_record(size: u64) -> u64 {
    tail(size).saturating_sub((SLOTS * RECORD_BYTES) as u64)
}

/// Two slots in the little room of the header areas.
fn two_slots(size: u64, segments: [u64; 2], segment_bytes: u64) -> Place {
    let records = [first_record(size), first_record(size) + PAGE];
    let slots = records.into_iter().zip(segments).map(|(record, segment)| Slot { record, segment });
    Place { slots: slots.collect(), segment_bytes, whole: false }
}

fn journal_place(file: Option<PathBuf>) -> JournalPlace {
    file.map_or(JournalPlace::OnMedium, JournalPlace::File)
}

/// Plans the encryption of a file system of `moved` bytes, which are whole pages. With `file` the
/// journal goes there.
///
/// # Errors
/// There is no room behind the file system; the wishes for the new volume can't be granted.
pub fn encryption(
    store: &dyn Store,
    moved: u64,
    new: &NewVolume<'_>,
    file: Option<PathBuf>,
) -> Result<Plan, ConvertError> {
    let size = store.size();
    let room = room(size, file.is_none());
    if moved > room {
        return Err(ConvertError::NoRoom { missing: moved - room });
    }
    if moved < 2 * HEAD || !moved.is_multiple_of(PAGE) {
        return Err(ConvertError::Unsupported("a file system as small as this can't be encrypted in place"));
    }
    let headers = fresh_headers(new, size, store.sector_bytes())?;
    let segment_bytes = segment_bytes(size);
    let end = end_group(size) / PAGE * PAGE;
    let (place, park) = if file.is_some() {
        (Place::in_a_file(segment_bytes), end - HEAD)
    } else {
        let first = end - SLOTS as u64 * segment_bytes;
        (Place::in_a_row(first_record(size), first, segment_bytes), first - HEAD)
    };
    let keys = Keys { old: None, new: Some(key_of(&headers.layout)?) };
    let marker = Marker {
        id: random_id()?,
        kind: Kind::Encryption,
        journal: journal_place(file),
        size,
        moved,
        park,
        used: None,
        free_is_new: false,
        place,
        old: none(),
        new: headers.sealed,
    };
    Ok(Plan { marker, keys, stretches: None })
}

/// Plans the decryption of the volume that opened.
///
/// # Errors
/// A volume of a kind whose conversion is not offered.
pub fn decryption(store: &dyn Store, opened: &Unlocked, file: Option<PathBuf>) -> Result<Plan, ConvertError> {
    let size = store.size();
    let moved = whole_volume(opened, size)?;
    let end = end_group(size);
    let place = match &file {
        Some(_) => Place::in_a_file(segment_bytes(size)),
        None => {
            let first = end + 2 * PAGE;
            let segment_bytes = (first_record(size) - first) / 2 / PAGE * PAGE;
            two_slots(size, [first, first + segment_bytes], segment_bytes)
        }
    };
    let marker = Marker {
        id: random_id()?,
        kind: Kind::Decryption,
        journal: journal_place(file),
        size,
        moved,
        park: end + PAGE,
        used: None,
        free_is_new: false,
        place,
        old: header_of(store, opened)?,
        new: [none(), none()],
    };
    let keys = Keys { old: Some(key_of(&opened.layout)?), new: None };
    Ok(Plan { marker, keys, stretches: None })
}

/// Plans the re-encryption of the volume that opened.
///
/// # Errors
/// A volume of a kind whose conversion is not offered; the wishes for the new one can't be granted.
pub fn reencryption(
    store: &dyn Store,
    opened: &Unlocked,
    new: &NewVolume<'_>,
    file: Option<PathBuf>,
) -> Result<Plan, ConvertError> {
    let size = store.size();
    let moved = whole_volume(opened, size)?;
    let headers = fresh_headers(new, size, opened.info.sector_bytes)?;
    if headers.layout.size() != moved {
        return Err(ConvertError::Unsupported(
            "only volumes that fill their file or device can be re-encrypted",
        ));
    }
    let place = match &file {
        Some(_) => Place::in_a_file(segment_bytes(size)),
        None => {
            let second = end_group(size) + PAGE;
            two_slots(size, [PAGE, second], first_record(size) - second)
        }
    };
    let marker = Marker {
        id: random_id()?,
        kind: Kind::Reencryption,
        journal: journal_place(file),
        size,
        moved,
        park: 0,
        used: None,
        free_is_new: false,
        place,
        old: header_of(store, opened)?,
        new: headers.sealed,
    };
    let keys = Keys { old: Some(key_of(&opened.layout)?), new: Some(key_of(&headers.layout)?) };
    Ok(Plan { marker, keys, stretches: None })
}

/// The data area's size, of a normal volume that fills its file or device.
pub(crate) fn whole_volume(opened: &Unlocked, size: u64) -> Result<u64, ConvertError> {
    let info = &opened.info;
    if info.system {
        return Err(ConvertError::Unsupported("an encrypted system can't be converted"));
    }
    if info.hidden {
        return Err(ConvertError::Unsupported(
            "this is a hidden volume; only the outer one can be converted, and that destroys the hidden one",
        ));
    }
    let whole = info.data_offset == HEADERS_BYTES
        && info.data_bytes >= 4 * HEADERS_BYTES
        && info.data_offset.checked_add(info.data_bytes) == Some(end_group(size));
    if whole && info.data_bytes.is_multiple_of(u64::from(info.sector_bytes)) {
        Ok(info.data_bytes)
    } else {
        Err(ConvertError::Unsupported(
            "only volumes that fill their file or device, with headers at both ends, can be converted",
        ))
    }
}

/// The header that opened, as it lies on the medium.
pub(crate) fn header_of(store: &dyn Store, opened: &Unlocked) -> Result<SealedHeader, ConvertError> {
    let at = opened.info.header_used.offset(store.size()).unwrap_or_default();
    let mut bytes = [0; HEADER_BYTES];
    store.read_at(&mut bytes, at)?;
    Ok(SealedHeader::from_bytes(bytes))
}

/// The one cipher of a volume's one segment.
pub(crate) fn key_of(layout: &Layout) -> Result<Keyed, ConvertError> {
    match layout.segments() {
        [segment] => match &segment.mapping {
            Mapping::Encrypted { first_unit, cipher, .. } => {
                Ok(Keyed { cipher: cipher.clone(), first_unit: *first_unit })
            }
            Mapping::Plain { .. } | Mapping::Zero => Err(ConvertError::Unsupported(WHOLE)),
        },
        _ => Err(ConvertError::Unsupported(WHOLE)),
    }
}

const WHOLE: &str = "only volumes that are encrypted throughout can be converted";

impl Plan {
    /// The same with a journal that keeps every segment whole ([`Form`](crate::Form)).
    pub fn kept_whole(mut self) -> Self {
        self.marker.place.whole = true;
        self
    }

    /// The conversion; `journal` is the file's store where the journal is in a file.
    ///
    /// # Errors
    /// Random bytes can't be had; the list of what is moved is damaged, and still needed.
    pub fn conversion<'a>(
        &self,
        store: &'a dyn Store,
        journal: Option<&'a dyn Store>,
    ) -> Result<Conversion<'a>, ConvertError> {
        let (steps, marking) = match self.marker.kind {
            Kind::Encryption => (self.encrypt()?, 1),
            Kind::Decryption => (self.decrypt()?, 1),
            Kind::Reencryption => (self.reencrypt()?, 0),
        };
        let journal = Journal::new(journal.unwrap_or(store), self.marker.place.clone(), self.marker.id);
        // It goes after the records, and before the marker by which all of this is found.
        if self.marker.used.is_some() && self.stretches.is_none() && journal.read()?.is_some() {
            return Err(ConvertError::NoJournal);
        }
        Ok(Conversion { store, journal, steps, marking })
    }

    /// Begins: the journal's first record and what else is needed to go on, then the second marker. Once that is on the medium, the
    /// conversion is found and can be resumed; nothing else has been changed by then.
    ///
    /// # Errors
    /// The medium failed.
    pub fn begin(&self, conversion: &Conversion<'_>) -> Result<(), ConvertError> {
        conversion.begin()?;
        self.write_list(conversion.store)?;
        conversion.store.flush()?;
        let mut page = AlignedBuf::zeroed(MARKER_BYTES);
        page.copy_from_slice(&self.marker.to_bytes());
        conversion.store.write_at(&page, tail(self.marker.size))?;
        Ok(conversion.store.flush()?)
    }
}
