//! From one format to the other: a VeraCrypt volume becomes a BitLocker volume with the same content, and the other
//! way round. Each segment goes from one cipher straight to the other; nothing lies open at any time.
//!
//! A VeraCrypt volume has 128 KiB of headers at either end, and its content begins behind the first. A BitLocker
//! volume's content begins with the medium, but for its first sectors, which lie elsewhere, and the metadata, which
//! reads as zeros.
//!
//! - **To BitLocker.** The first sectors go to their new place in what was the backup header's 128 KiB; everything else
//!   moves 128 KiB down, from the beginning on. The metadata lies behind the content, in the 256 KiB that the headers
//!   had, so every content has room.
//! - **To VeraCrypt.** The file system must leave 256 KiB free behind it. Its first sectors are parked there, under the
//!   new key; everything else moves 128 KiB up, from the end on; the first sectors follow.
//!
//! Neither volume's headers can stay where they are meanwhile, so the journal is always in a file, and with it what
//! opens the two volumes: the old and the new headers and metadata, sealed under their own secrets (`sheet`). On the
//! medium a marker in front and in the last page names that file (`mark`).

mod mark;
mod sheet;
mod steps;

pub use mark::{Found, Mark, find};

use crate::journal::Journal;
use crate::marker::{is_torn, tail};
use crate::mover::Progress;
use crate::step::Keyed;
use crate::veracrypt::{
    end_group, header_of, key_of, noise, none, open_header, random_id, segment_bytes, whole_volume,
};
use crate::{Conversion, ConvertError, Stopped};
use keyway_cipher::SectorCipher;
use keyway_engine::{Layout, Mapping};
use keyway_store::{AlignedBuf, Store};
use keyway_volume::Secrets;
use keyway_volume::bitlocker::{
    self, Block, Converting, InPlace, Places, Reached, Seen, State, UnlockRequest,
};
use keyway_volume::veracrypt::{self, BACKUP_GROUP_BYTES, HEADER_BYTES, HEADERS_BYTES, NewVolume};
use mark::page;
use sheet::{MOST_FIRST_SECTORS, PAGE, Sheet, joined};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use steps::MARKING;

/// From which format to which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From VeraCrypt to BitLocker.
    ToBitLocker,
    /// From BitLocker to VeraCrypt.
    ToVeraCrypt,
}

/// The ciphers of both volumes; of the VeraCrypt one from the first byte of its content on.
#[derive(Clone, Default)]
struct Keys {
    veracrypt: Option<Keyed>,
    bitlocker: Option<Arc<SectorCipher>>,
}

/// What opens both volumes.
pub struct BothSecrets<'a> {
    /// The VeraCrypt volume's secret.
    pub veracrypt: &'a Secrets,
    /// The BitLocker volume's secrets.
    pub bitlocker: &'a UnlockRequest<'a>,
}

/// A conversion that has been planned, or was found.
pub struct Plan {
    mark: Mark,
    sheet: Sheet,
    keys: Keys,
    /// Of a new BitLocker volume: its metadata.
    block: Option<Block>,
    /// It was found, and has not to be begun.
    found: bool,
}

/// What is left of a conversion whose marker is not in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Half of one, though the marker is hard to see: it goes on as any other.
    Half,
    /// The volume as it was: the conversion had not begun, and nothing is left of it.
    Untouched,
    /// The new volume: the conversion is through, and nothing is left of it.
    Done,
}

impl Direction {
    const fn code(self) -> u8 {
        match self {
            Self::ToBitLocker => 1,
            Self::ToVeraCrypt => 2,
        }
    }

    const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::ToBitLocker),
            2 => Some(Self::ToVeraCrypt),
            _ => None,
        }
    }

    /// The old format and the new one, as the command line calls them.
    pub const fn formats(self) -> [&'static str; 2] {
        match self {
            Self::ToBitLocker => ["veracrypt", "bitlocker"],
            Self::ToVeraCrypt => ["bitlocker", "veracrypt"],
        }
    }
}

/// How many bytes of content a VeraCrypt volume on a medium of that size has.
pub fn room(store_bytes: u64) -> u64 {
    store_bytes.saturating_sub(HEADERS_BYTES + BACKUP_GROUP_BYTES)
}

impl Plan {
    /// Plans that the VeraCrypt volume that opened becomes a BitLocker volume. Nothing is written.
    ///
    /// # Errors
    /// A volume of a kind that can't be converted; the wishes for the new one can't be granted; the medium failed.
    pub fn to_bitlocker(
        store: &dyn Store,
        opened: &veracrypt::Unlocked,
        new: &InPlace<'_>,
        file: PathBuf,
    ) -> Result<Self, ConvertError> {
        let size = store.size();
        let content = whole_volume(opened, size)?;
        let places = Places::in_place_of_headers(content);
        let volume = Converting::fresh(size, opened.info.sector_bytes, places, new)?;
        let mut first_page = noise(PAGE)?;
        first_page.iter_mut().zip(volume.new_first_sector()).for_each(|(to, from)| *to = from);
        let sheet = Sheet {
            size,
            content,
            park: 0,
            copies: volume.copies(),
            boot: volume.first_sectors(),
            headers: [header_of(store, opened)?, none()],
            first_page,
            head: volume.metadata(Reached::Encrypted)?.to_vec(),
        };
        let keys =
            Keys { veracrypt: Some(key_of(&opened.layout)?), bitlocker: Some(volume.cipher().clone()) };
        Self::new(Direction::ToBitLocker, sheet, keys, file, Some(volume.block().clone()))
    }

    /// Plans that the BitLocker volume that opened becomes a VeraCrypt volume with the first `content` bytes of it, which
    /// are whole sectors. Nothing is written.
    ///
    /// # Errors
    /// There is no room for headers; a volume of a kind that can't be converted; the wishes for the new one can't be
    /// granted; the medium failed.
    pub fn to_veracrypt(
        store: &dyn Store,
        unlocked: bitlocker::Unlocked,
        content: u64,
        new: &NewVolume<'_>,
        file: PathBuf,
    ) -> Result<Self, ConvertError> {
        let size = store.size();
        let room = room(size);
        if content > room {
            return Err(ConvertError::NoRoom { missing: content - room });
        }
        let volume = Converting::of(unlocked)?;
        if volume.block().state != State::Encrypted {
            return Err(ConvertError::Unsupported(
                "only a volume that is encrypted throughout can get another format; finish its conversion first",
            ));
        }
        let headers = veracrypt::fresh_headers(new, size, volume.sector_bytes())?;
        let (boot, copies) = (volume.first_sectors(), volume.copies());
        if boot.end - boot.start > MOST_FIRST_SECTORS {
            return Err(ConvertError::Unsupported(SHAPE));
        }
        let last = tail(size);
        if copies.iter().any(|at| at.saturating_add(sheet::REGION) > last) || boot.end > last {
            return Err(ConvertError::Unsupported(
                "BitLocker's metadata reaches to the end of the medium, where the conversion needs a page; \
                 make a file larger with --grow",
            ));
        }
        // Behind the backup header: in front of the first sectors' own place, or behind it.
        let first = end_group(size).next_multiple_of(PAGE) + PAGE;
        let second = first + MOST_FIRST_SECTORS;
        let park = if boot.start < second && first < boot.end { boot.end.max(second) } else { first };
        let sheet = Sheet {
            size,
            content,
            park: park.next_multiple_of(PAGE),
            copies,
            boot,
            headers: headers.sealed,
            first_page: page(store, 0)?.to_vec(),
            head: volume.metadata(Reached::Encrypted)?.to_vec(),
        };
        if !lies_as_expected(volume.layout(), &sheet) {
            return Err(ConvertError::Unsupported(SHAPE));
        }
        let keys =
            Keys { veracrypt: Some(key_of(&headers.layout)?), bitlocker: Some(volume.cipher().clone()) };
        Self::new(Direction::ToVeraCrypt, sheet, keys, file, None)
    }

    fn new(
        direction: Direction,
        sheet: Sheet,
        keys: Keys,
        file: PathBuf,
        block: Option<Block>,
    ) -> Result<Self, ConvertError> {
        let size = sheet.size;
        let mark = Mark { id: random_id()?, direction, size, segment_bytes: segment_bytes(size), file };
        if !mark.has_room() {
            return Err(ConvertError::Unsupported("the path of the journal's file is too long"));
        }
        if !sheet.is_possible(direction) || !keys.divide(&sheet) {
            return Err(ConvertError::Unsupported(SHAPE));
        }
        Ok(Self { mark, sheet, keys, block, found: false })
    }

    /// The plan of a conversion that was found and is under way: both secrets open what its file keeps.
    ///
    /// # Errors
    /// A secret is wrong; the file is damaged; the medium failed.
    pub fn resume(
        store: &dyn Store,
        file: &dyn Store,
        mark: Mark,
        secrets: &BothSecrets<'_>,
    ) -> Result<Self, ConvertError> {
        let sheet = Sheet::read(file, &mark)?;
        let volume = Converting::of(bitlocker::unlock(&sheet.over(store), secrets.bitlocker)?)?;
        if volume.copies() != sheet.copies || volume.first_sectors() != sheet.boot {
            return Err(ConvertError::ImpossibleRecord);
        }
        let [header, _] = &sheet.headers;
        let veracrypt = open_header(header, secrets.veracrypt, sheet.size, volume.sector_bytes())?;
        let keys = Keys { veracrypt: Some(veracrypt), bitlocker: Some(volume.cipher().clone()) };
        if !keys.divide(&sheet) {
            return Err(ConvertError::ImpossibleRecord);
        }
        Ok(Self { mark, sheet, keys, block: None, found: true })
    }

    /// What the marker says.
    pub fn mark(&self) -> &Mark {
        &self.mark
    }

    /// The metadata of a BitLocker volume that is to be made.
    pub fn new_block(&self) -> Option<&Block> {
        self.block.as_ref()
    }

    /// The conversion; `file` is the store of the journal's file.
    ///
    /// # Errors
    /// Random bytes can't be had.
    pub fn conversion<'a>(
        &self,
        store: &'a dyn Store,
        file: &'a dyn Store,
    ) -> Result<Conversion<'a>, ConvertError> {
        conversion(store, file, &self.mark, &self.sheet, &self.keys)
    }

    /// Begins, or goes on, until it ends or is paused. Paused it stays half converted: nobody but this opens it.
    ///
    /// # Errors
    /// See [`ConvertError`].
    pub fn run(&self, conversion: &Conversion<'_>, progress: &dyn Progress) -> Result<Stopped, ConvertError> {
        if !self.found {
            self.begin(conversion)?;
        }
        conversion.run(self.found, progress)
    }

    /// The file, then the marker in the last page: once that is on the medium the conversion is found. Nothing that
    /// counts has been changed by then.
    fn begin(&self, conversion: &Conversion<'_>) -> Result<(), ConvertError> {
        let aligned = |bytes: &[u8]| {
            let mut buf = AlignedBuf::zeroed(bytes.len());
            buf.copy_from_slice(bytes);
            buf
        };
        conversion.journal.store().write_at(&aligned(&self.sheet.to_bytes(&self.mark.id)), 0)?;
        conversion.begin()?;
        conversion.store.write_at(&aligned(&self.mark.to_bytes()), tail(self.mark.size))?;
        Ok(conversion.store.flush()?)
    }
}

const SHAPE: &str = "its sectors, first sectors or metadata have sizes or places that are not supported";

impl Keys {
    /// Whether everything that is moved is whole units of both ciphers.
    fn divide(&self, sheet: &Sheet) -> bool {
        let units = [
            self.veracrypt.as_ref().map(|key| key.cipher.unit_bytes()),
            self.bitlocker.as_ref().map(|cipher| cipher.unit_bytes()),
        ];
        let whole = |at: u64| units.iter().flatten().all(|unit| at.is_multiple_of(u64::from(*unit)));
        let all = [sheet.content, sheet.boot.start, sheet.boot.end];
        all.into_iter().chain(sheet.copies.into_iter().filter(|at| *at < sheet.content)).all(whole)
    }
}

/// Whether the layout of a whole BitLocker volume is what follows from the places of its metadata.
fn lies_as_expected(layout: &Layout, sheet: &Sheet) -> bool {
    let first = sheet.boot_bytes();
    let (mut data, mut boot) = (Vec::new(), Vec::new());
    for segment in layout.segments() {
        let range = segment.start..segment.start + segment.len;
        match &segment.mapping {
            Mapping::Encrypted { store_offset, .. } if range.end <= first => {
                boot.push(*store_offset..store_offset + segment.len);
            }
            Mapping::Encrypted { store_offset, .. } if *store_offset == range.start => data.push(range),
            Mapping::Zero if range.start >= first => {}
            Mapping::Plain { .. } | Mapping::Encrypted { .. } | Mapping::Zero => {
                if range.start < sheet.content {
                    return false;
                }
            }
        }
    }
    let clip = |range: &Range<u64>| range.start..range.end.min(sheet.content);
    let data = joined(data.iter().map(clip).filter(|range| range.start < range.end));
    let expected: Vec<_> =
        sheet.parts().into_iter().filter_map(|(range, is_hole)| (!is_hole).then_some(range)).collect();
    data == expected && joined(boot) == std::slice::from_ref(&sheet.boot)
}

fn conversion<'a>(
    store: &'a dyn Store,
    file: &'a dyn Store,
    mark: &Mark,
    sheet: &Sheet,
    keys: &Keys,
) -> Result<Conversion<'a>, ConvertError> {
    let journal = Journal::new(file, mark.place(), mark.id);
    Ok(Conversion { store, journal, steps: sheet.steps(mark, keys)?, marking: MARKING })
}

/// How far a conversion is that was found: bytes of work done, and in all. Needs no secret.
///
/// # Errors
/// The file is damaged, or a medium failed.
pub fn how_far(mark: &Mark, store: &dyn Store, file: &dyn Store) -> Result<(u64, u64), ConvertError> {
    let sheet = Sheet::read(file, mark)?;
    let conversion = conversion(store, file, mark, &sheet, &Keys::default())?;
    Ok((conversion.done()?, conversion.total()))
}

/// What can be said without a secret of the BitLocker volume that was, or will be.
///
/// # Errors
/// The file is damaged, or a medium failed.
pub fn look(mark: &Mark, store: &dyn Store, file: &dyn Store) -> Result<Seen, ConvertError> {
    Ok(bitlocker::look(&Sheet::read(file, mark)?.over(store))?)
}

/// Finds out what is left of a conversion that was found without its marker in front, and removes what is not half
/// converted. Needs no secret. `file` is the journal's: what is in front says on neither side how far it was.
///
/// # Errors
/// Somebody wrote over the beginning of what is half converted; the file is damaged; a medium failed.
pub fn settle(store: &dyn Store, file: &dyn Store, mark: &Mark) -> Result<Left, ConvertError> {
    let sheet = Sheet::read(file, mark)?;
    let conversion = conversion(store, file, mark, &sheet, &Keys::default())?;
    let step = conversion.journal.read()?.ok_or(ConvertError::NoJournal)?.newest.step;
    if step == MARKING {
        let before = match mark.direction {
            Direction::ToBitLocker => sheet.headers.first().map(|header| header.bytes().as_slice()),
            Direction::ToVeraCrypt => sheet.first_page.get(..HEADER_BYTES),
        };
        if is_torn(&mark.id, &page(store, 0)?, before.unwrap_or_default()) {
            return Ok(Left::Half);
        }
        wipe_tail(store)?;
        return Ok(Left::Untouched);
    }
    // What is left to be done needs no key, also where the new first page is torn.
    conversion.run(false, &())?;
    Ok(Left::Done)
}

fn wipe_tail(store: &dyn Store) -> Result<(), ConvertError> {
    let mut page = AlignedBuf::zeroed(PAGE as usize);
    page.copy_from_slice(&noise(PAGE)?);
    store.write_at(&page, tail(store.size()))?;
    Ok(store.flush()?)
}
