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
//! 118784  2 * 4096  the journal's records
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
//! The very last step wipes the journal's records and then the second marker. They lie in the last 128 KiB,
//! which a volume in use does not write to.

use crate::journal::{Journal, Place, RECORD_BYTES};
use crate::marker::{Found, JournalPlace, Kind, MARKER_BYTES, Marker, tail};
use crate::step::{Keyed, Move, Side, Step, Wipe};
use crate::{Conversion, ConvertError};
use keyway_engine::{Layout, Mapping};
use keyway_store::{AlignedBuf, Store, StoreError};
use keyway_volume::Secrets;
use keyway_volume::veracrypt::{
    BACKUP_GROUP_BYTES, HEADER_BYTES, HEADERS_BYTES, NewVolume, Noise, SealedHeader, UnlockRequest, Unlocked,
    fresh_headers, unlock,
};
use std::ops::Range;
use std::path::PathBuf;

/// A page: what records, markers and parked pages have.
const PAGE: u64 = MARKER_BYTES as u64;

/// The largest segment: so many bytes are read, ciphered and written at a time, four times over.
pub const LARGEST_SEGMENT: u64 = 32 << 20;

/// The smallest segment that a new journal gets.
const SMALLEST_SEGMENT: u64 = 64 << 10;

/// A file system may lend this part of a medium to each segment of the journal.
const PART: u64 = 64;

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
}

/// Bytes of a journal's segment on a medium of that size, or in a file of its own.
pub fn segment_bytes(store_bytes: u64) -> u64 {
    (store_bytes / PART / SMALLEST_SEGMENT * SMALLEST_SEGMENT).clamp(SMALLEST_SEGMENT, LARGEST_SEGMENT)
}

/// How large a file system may be that is to be encrypted on a medium of that size.
pub fn room(store_bytes: u64, on_medium: bool) -> u64 {
    let journal = if on_medium { 2 * segment_bytes(store_bytes) } else { 0 };
    (store_bytes.saturating_sub(BACKUP_GROUP_BYTES + HEADERS_BYTES + HEAD + journal)) / PAGE * PAGE
}

fn random_id() -> Result<[u8; 16], ConvertError> {
    loop {
        let mut id = [0; 16];
        getrandom::fill(&mut id)?;
        if id != [0; 16] {
            return Ok(id);
        }
    }
}

fn none() -> SealedHeader {
    SealedHeader::from_bytes([0; HEADER_BYTES])
}

/// Where the last 128 KiB begin.
fn end_group(size: u64) -> u64 {
    size.saturating_sub(BACKUP_GROUP_BYTES)
}

/// Where the records lie on the medium.
fn records(size: u64) -> [u64; 2] {
    let end = tail(size);
    [end.saturating_sub(2 * RECORD_BYTES as u64), end.saturating_sub(RECORD_BYTES as u64)]
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
        let first = end - 2 * segment_bytes;
        let segments = [first, first + segment_bytes];
        (Place { records: records(size), segments, segment_bytes }, first - HEAD)
    };
    let keys = Keys { old: None, new: Some(key_of(&headers.layout)?) };
    let marker = Marker {
        id: random_id()?,
        kind: Kind::Encryption,
        journal: journal_place(file),
        size,
        moved,
        park,
        place,
        old: none(),
        new: headers.sealed,
    };
    Ok(Plan { marker, keys })
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
            let segment_bytes = (tail(size) - 2 * PAGE - first) / 2 / PAGE * PAGE;
            Place { records: records(size), segments: [first, first + segment_bytes], segment_bytes }
        }
    };
    let marker = Marker {
        id: random_id()?,
        kind: Kind::Decryption,
        journal: journal_place(file),
        size,
        moved,
        park: end + PAGE,
        place,
        old: header_of(store, opened)?,
        new: [none(), none()],
    };
    Ok(Plan { marker, keys: Keys { old: Some(key_of(&opened.layout)?), new: None } })
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
            let segment_bytes = tail(size) - 2 * PAGE - second;
            Place { records: records(size), segments: [PAGE, second], segment_bytes }
        }
    };
    let marker = Marker {
        id: random_id()?,
        kind: Kind::Reencryption,
        journal: journal_place(file),
        size,
        moved,
        park: 0,
        place,
        old: header_of(store, opened)?,
        new: headers.sealed,
    };
    let keys = Keys { old: Some(key_of(&opened.layout)?), new: Some(key_of(&headers.layout)?) };
    Ok(Plan { marker, keys })
}

/// The data area's size, of a normal volume that fills its file or device.
fn whole_volume(opened: &Unlocked, size: u64) -> Result<u64, ConvertError> {
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
fn header_of(store: &dyn Store, opened: &Unlocked) -> Result<SealedHeader, ConvertError> {
    let at = opened.info.header_used.offset(store.size()).unwrap_or_default();
    let mut bytes = [0; HEADER_BYTES];
    store.read_at(&mut bytes, at)?;
    Ok(SealedHeader::from_bytes(bytes))
}

/// The one cipher of a volume's one segment.
fn key_of(layout: &Layout) -> Result<Keyed, ConvertError> {
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
    /// The plan of a conversion that was found: the secrets open the headers that its marker keeps.
    ///
    /// # Errors
    /// A secret is wrong, or the medium has another size.
    pub fn resume(
        found: Marker,
        store: &dyn Store,
        secrets: &ResumeSecrets<'_>,
    ) -> Result<Self, ConvertError> {
        let size = store.size();
        if size != found.size {
            return Err(ConvertError::Size { expected: found.size, present: size });
        }
        let open = |header: &SealedHeader, secrets: &Secrets| -> Result<Keyed, ConvertError> {
            let sealed = HeaderAlone { header: header.clone(), size, sector_bytes: store.sector_bytes() };
            key_of(&unlock(&sealed, &UnlockRequest::new(secrets))?.layout)
        };
        let [primary, _] = &found.new;
        let new = secrets.new.unwrap_or(secrets.old);
        let keys = match found.kind {
            Kind::Encryption => Keys { old: None, new: Some(open(primary, secrets.old)?) },
            Kind::Decryption => Keys { old: Some(open(&found.old, secrets.old)?), new: None },
            Kind::Reencryption => {
                Keys { old: Some(open(&found.old, secrets.old)?), new: Some(open(primary, new)?) }
            }
        };
        Ok(Self { marker: found, keys })
    }

    /// The conversion; `journal` is the file's store where the journal is in a file.
    ///
    /// # Errors
    /// Random bytes can't be had.
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
        let journal = Journal::new(journal.unwrap_or(store), self.marker.place, self.marker.id);
        Ok(Conversion { store, journal, steps, marking })
    }

    /// Begins: the journal's first record, then the second marker. Once that is on the medium, the
    /// conversion is found and can be resumed; nothing else has been changed by then.
    ///
    /// # Errors
    /// The medium failed.
    pub fn begin(&self, conversion: &Conversion<'_>) -> Result<(), ConvertError> {
        conversion.begin()?;
        let mut page = AlignedBuf::zeroed(MARKER_BYTES);
        page.copy_from_slice(&self.marker.to_bytes());
        conversion.store.write_at(&page, tail(self.marker.size))?;
        Ok(conversion.store.flush()?)
    }

    fn encrypt(&self) -> Result<Vec<Step>, ConvertError> {
        let m = &self.marker;
        let moved_to = HEADERS_BYTES;
        Ok(vec![
            moving((0, None), (m.park, self.new_key(0)), HEAD),
            Step::Put(vec![(0, m.to_bytes()), (PAGE, noise(HEAD - PAGE)?)]),
            moving((HEAD, None), (HEAD + moved_to, self.new_key(HEAD)), m.moved - HEAD),
            moving((m.park, None), (moved_to, None), HEAD),
            wiping(Some(moved_to + m.moved..end_group(m.size)), true),
            self.new_headers()?,
            self.last(true),
        ])
    }

    fn decrypt(&self) -> Result<Vec<Step>, ConvertError> {
        let m = &self.marker;
        let end = end_group(m.size);
        Ok(vec![
            moving((HEADERS_BYTES, None), (m.park, None), PAGE),
            Step::Put(vec![(0, m.to_bytes()), (end, noise(PAGE)?)]),
            moving((HEADERS_BYTES + PAGE, self.old_key(PAGE)), (PAGE, None), m.moved - PAGE),
            wiping(Some(m.moved..end), false),
            moving((m.park, self.old_key(0)), (0, None), PAGE),
            self.last(false),
        ])
    }

    fn reencrypt(&self) -> Result<Vec<Step>, ConvertError> {
        let m = &self.marker;
        let end = end_group(m.size);
        let area = HEADERS_BYTES;
        let [first_record, _] = records(m.size);
        Ok(vec![
            Step::Put(vec![(0, m.to_bytes()), (end, noise(PAGE)?)]),
            moving((area, self.old_key(0)), (area, self.new_key(0)), m.moved),
            wiping([PAGE..area, end + PAGE..first_record], true),
            self.new_headers()?,
            self.last(true),
        ])
    }

    /// The backup header, and last the primary one in the place of the marker.
    fn new_headers(&self) -> Result<Step, ConvertError> {
        let [primary, backup] = &self.marker.new;
        let with = |header: &SealedHeader, len: u64| -> Result<Vec<u8>, ConvertError> {
            let mut page = noise(len)?;
            for (to, from) in page.iter_mut().zip(header.bytes()) {
                *to = *from;
            }
            Ok(page)
        };
        let end = end_group(self.marker.size);
        let [first_record, _] = records(self.marker.size);
        let group = with(backup, first_record - end)?;
        Ok(Step::Put(vec![(end, group), (0, with(primary, PAGE)?)]))
    }

    /// What is left of the conversion, and last the marker by which it is found.
    fn last(&self, noise: bool) -> Step {
        let size = self.marker.size;
        let [first_record, _] = records(size);
        let end = if self.marker.kind == Kind::Decryption { end_group(size) } else { first_record };
        wiping([end..tail(size), tail(size)..size], noise)
    }

    fn old_key(&self, at: u64) -> Option<Keyed> {
        self.keys.old.as_ref().map(|key| key.from(at))
    }

    fn new_key(&self, at: u64) -> Option<Keyed> {
        self.keys.new.as_ref().map(|key| key.from(at))
    }
}

/// What opens the headers that a marker keeps.
pub struct ResumeSecrets<'a> {
    /// The volume's secret: of the old volume, or of the new one where there is no old.
    pub old: &'a Secrets,
    /// The new one of a re-encryption, where it is another.
    pub new: Option<&'a Secrets>,
}

impl Keyed {
    fn from(&self, at: u64) -> Self {
        let units = at / u64::from(self.cipher.unit_bytes());
        Self { cipher: self.cipher.clone(), first_unit: self.first_unit + units }
    }
}

fn moving(from: (u64, Option<Keyed>), to: (u64, Option<Keyed>), len: u64) -> Step {
    let side = |(offset, key)| Side { offset, key };
    Step::Move(Move { from: side(from), to: side(to), len })
}

fn wiping(ranges: impl IntoIterator<Item = Range<u64>>, noise: bool) -> Step {
    Step::Wipe(Wipe { ranges: ranges.into_iter().collect(), noise })
}

fn noise(len: u64) -> Result<Vec<u8>, ConvertError> {
    let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
    Noise::new()?.fill(&mut bytes);
    Ok(bytes)
}

/// How far a conversion is that was found: bytes of work done, and in all. Needs no secret. `journal` is
/// the file's store where the journal is in a file.
///
/// # Errors
/// The journal is damaged, or the medium failed.
pub fn how_far(
    found: &Found,
    store: &dyn Store,
    journal: Option<&dyn Store>,
) -> Result<(u64, u64), ConvertError> {
    let plan = Plan { marker: found.marker.clone(), keys: Keys { old: None, new: None } };
    let conversion = plan.conversion(store, journal)?;
    Ok((conversion.done()?, conversion.total()))
}

/// A store of a volume's size that holds nothing but its primary header.
struct HeaderAlone {
    header: SealedHeader,
    size: u64,
    sector_bytes: u32,
}

impl Store for HeaderAlone {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        buf.fill(0);
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        for (to, from) in buf.iter_mut().zip(self.header.bytes().iter().skip(skip)) {
            *to = *from;
        }
        Ok(())
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let reason = std::io::ErrorKind::ReadOnlyFilesystem.into();
        Err(StoreError::new(keyway_store::Operation::Write, "a header alone", offset, buf.len(), reason))
    }
    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
    fn discard(&self, _offset: u64, _len: u64) -> Result<(), StoreError> {
        Ok(())
    }
    fn size(&self) -> u64 {
        self.size
    }
    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }
    fn is_read_only(&self) -> bool {
        true
    }
}
