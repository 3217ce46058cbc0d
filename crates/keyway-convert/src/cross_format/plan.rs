//! A conversion from one format to the other that has been planned, or was found.

use super::marker::{CrossFormatMarker, Direction, page};
use super::sheet::{MOST_FIRST_SECTORS, PAGE, REGION, Sheet, joined};
use super::steps::{CrossFormatKeys, MARKING};
use crate::careful::CarefulStore;
use crate::front::Front;
use crate::journal::{Journal, segment_bytes};
use crate::marker::{is_torn, random_id, tail};
use crate::mover::Progress;
use crate::veracrypt::{end_group, header_of, key_of, noise, none, open_header, whole_volume};
use crate::{Conversion, ConvertError, Stopped};
use keyway_engine::{Layout, Mapping};
use keyway_error::Advice;
use keyway_store::{AlignedBuf, Store};
use keyway_volume::bitlocker::{
    self, Block, ConversionReached, Converting, EncryptionState, InPlace, Locked, MetadataLocations,
    UnlockRequest,
};
use keyway_volume::veracrypt::{self, BACKUP_GROUP_BYTES, HEADER_BYTES, HEADERS_BYTES, NewVolume};
use keyway_volume::{ReadBack, Secrets};
use std::ops::Range;
use std::path::PathBuf;

/// What opens both volumes.
pub struct BothSecrets<'a> {
    /// The VeraCrypt volume's secret.
    pub veracrypt: &'a Secrets,
    /// The BitLocker volume's secrets.
    pub bitlocker: &'a UnlockRequest<'a>,
}

/// A conversion that has been planned, or was found.
pub struct CrossFormatPlan {
    mark: CrossFormatMarker,
    sheet: Sheet,
    keys: CrossFormatKeys,
    /// Of a new BitLocker volume: its metadata.
    block: Option<Block>,
    /// It was found, and has not to be begun.
    found: bool,
}

/// What is left of a conversion whose marker is not in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrossFormatMedium {
    /// Half of one, though the marker is hard to see: it goes on as any other.
    HalfConverted,
    /// The volume as it was: the conversion had not begun, and nothing is left of it.
    Untouched,
    /// The new volume: the conversion is through, and nothing is left of it.
    Done,
}

/// How many bytes of content a VeraCrypt volume on a medium of that size has.
pub fn content_capacity(store_bytes: u64) -> u64 {
    store_bytes.saturating_sub(HEADERS_BYTES + BACKUP_GROUP_BYTES)
}

impl CrossFormatPlan {
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
        let places = MetadataLocations::in_place_of_headers(content);
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
            head: volume.metadata(ConversionReached::Encrypted)?.to_vec(),
        };
        let keys = CrossFormatKeys {
            veracrypt: Some(key_of(&opened.layout)?),
            bitlocker: Some(volume.cipher().clone()),
        };
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
        let room = content_capacity(size);
        if content > room {
            return Err(ConvertError::NoRoom { missing: content - room });
        }
        let volume = Converting::of(unlocked)?;
        if volume.block().state != EncryptionState::Encrypted {
            return Err(ConvertError::Unsupported(
                "only a volume that is encrypted throughout can get another format",
                Advice::FinishConversion,
            ));
        }
        let headers = veracrypt::fresh_headers(new, size, volume.sector_bytes())?;
        let (boot, copies) = (volume.first_sectors(), volume.copies());
        if boot.end - boot.start > MOST_FIRST_SECTORS {
            return Err(ConvertError::Unsupported(SHAPE, Advice::CopyReadOnly));
        }
        let last = tail(size);
        if copies.iter().any(|at| at.saturating_add(REGION) > last) || boot.end > last {
            return Err(ConvertError::Unsupported(
                "BitLocker's metadata reaches to the end of the medium, where the conversion needs a page",
                Advice::GrowFile,
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
            head: volume.metadata(ConversionReached::Encrypted)?.to_vec(),
        };
        if !lies_as_expected(volume.layout(), &sheet) {
            return Err(ConvertError::Unsupported(SHAPE, Advice::CopyReadOnly));
        }
        let keys = CrossFormatKeys {
            veracrypt: Some(key_of(&headers.layout)?),
            bitlocker: Some(volume.cipher().clone()),
        };
        Self::new(Direction::ToVeraCrypt, sheet, keys, file, None)
    }

    fn new(
        direction: Direction,
        sheet: Sheet,
        keys: CrossFormatKeys,
        file: PathBuf,
        block: Option<Block>,
    ) -> Result<Self, ConvertError> {
        let size = sheet.size;
        let heads = sheet.room_for_heads(direction).ok_or(ConvertError::Unsupported(
            "BitLocker's metadata fills the end of the medium, where the conversion needs four pages",
            Advice::GrowFile,
        ))?;
        let mark = CrossFormatMarker {
            id: random_id()?,
            direction,
            size,
            segment_bytes: segment_bytes(size),
            file,
            heads,
        };
        if !mark.has_room() {
            return Err(ConvertError::Unsupported(
                "the path of the journal's file is too long",
                Advice::NameJournalElsewhere,
            ));
        }
        if !sheet.is_possible(direction) || !keys.divide(&sheet) {
            return Err(ConvertError::Unsupported(SHAPE, Advice::CopyReadOnly));
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
        mark: CrossFormatMarker,
        secrets: &BothSecrets<'_>,
    ) -> Result<Self, ConvertError> {
        let sheet = Sheet::read(file, &mark)?;
        let volume = Converting::of(bitlocker::unlock(&sheet.over(store), secrets.bitlocker)?)?;
        if volume.copies() != sheet.copies || volume.first_sectors() != sheet.boot {
            return Err(ConvertError::ImpossibleRecord);
        }
        let [header, _] = &sheet.headers;
        let veracrypt = open_header(header, secrets.veracrypt, sheet.size)?;
        let keys = CrossFormatKeys { veracrypt: Some(veracrypt), bitlocker: Some(volume.cipher().clone()) };
        if !keys.divide(&sheet) {
            return Err(ConvertError::ImpossibleRecord);
        }
        Ok(Self { mark, sheet, keys, block: None, found: true })
    }

    /// What the marker says.
    pub fn mark(&self) -> &CrossFormatMarker {
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
        let (file, sheet) = (conversion.journal.store(), aligned(&self.sheet.to_bytes(&self.mark.id)));
        let careful = CarefulStore::new(conversion.store, &[]);
        file.write_at(&sheet, 0)?;
        // It flushes both.
        careful.held(&conversion.journal, conversion.begin())?;
        ReadBack::new(file).compare(0, &sheet)?;
        careful.write_at(&aligned(&self.mark.to_bytes()), tail(self.mark.size))?;
        Ok(careful.flush()?)
    }
}

const SHAPE: &str = "its sectors, first sectors or metadata have sizes or places that are not supported";

impl CrossFormatKeys {
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
    mark: &CrossFormatMarker,
    sheet: &Sheet,
    keys: &CrossFormatKeys,
) -> Result<Conversion<'a>, ConvertError> {
    let key = keys.veracrypt.as_ref().map(|key| &*key.cipher);
    let journal = Journal::new(file, store, mark.place(), mark.id).of_volume(key);
    let front = match mark.direction {
        Direction::ToBitLocker => sheet.first_page.get(..HEADER_BYTES),
        Direction::ToVeraCrypt => sheet.headers.first().map(|header| header.bytes().as_slice()),
    };
    let front = front.map(|bytes| Front::After(bytes.to_vec()));
    let (steps, anchors) = (sheet.steps(mark, keys)?, std::iter::once(tail(mark.size)..mark.size).collect());
    Ok(Conversion { store, journal, steps, marking: MARKING, front, anchors, lost: None })
}

/// How far a conversion is that was found: bytes of work done, and in all. Needs no secret.
///
/// # Errors
/// The file is damaged, or a medium failed.
pub fn how_far(
    mark: &CrossFormatMarker,
    store: &dyn Store,
    file: &dyn Store,
) -> Result<(u64, u64), ConvertError> {
    let sheet = Sheet::read(file, mark)?;
    let conversion = conversion(store, file, mark, &sheet, &CrossFormatKeys::default())?;
    Ok((conversion.done()?, conversion.total()))
}

/// What can be said without a secret of the BitLocker volume that was, or will be.
///
/// # Errors
/// The file is damaged, or a medium failed.
pub fn look(mark: &CrossFormatMarker, store: &dyn Store, file: &dyn Store) -> Result<Locked, ConvertError> {
    Ok(bitlocker::look(&Sheet::read(file, mark)?.over(store))?)
}

/// Finds out what is left of a conversion that was found without its marker in front, and removes what is not half
/// converted. Needs no secret. `file` is the journal's: what is in front says on neither side how far it was.
///
/// # Errors
/// Somebody wrote over the beginning of what is half converted; the file is damaged; a medium failed.
pub fn settle(
    store: &dyn Store,
    file: &dyn Store,
    mark: &CrossFormatMarker,
) -> Result<CrossFormatMedium, ConvertError> {
    let sheet = Sheet::read(file, mark)?;
    let conversion = conversion(store, file, mark, &sheet, &CrossFormatKeys::default())?;
    let step = conversion.journal.read()?.ok_or(ConvertError::NoJournal)?.newest.step;
    if step == MARKING && !conversion.is_through()? {
        let before = match mark.direction {
            Direction::ToBitLocker => sheet.headers.first().map(|header| header.bytes().as_slice()),
            Direction::ToVeraCrypt => sheet.first_page.get(..HEADER_BYTES),
        };
        if is_torn(&mark.id, &page(store, 0)?, before.unwrap_or_default()) {
            return Ok(CrossFormatMedium::HalfConverted);
        }
        // What is in the region of a copy of the metadata was zeros there.
        let heads = mark.heads();
        let mut page = AlignedBuf::zeroed((heads.end - heads.start) as usize);
        if !sheet.copies.iter().any(|at| *at < heads.end && heads.start < at.saturating_add(REGION)) {
            page.copy_from_slice(&noise(heads.end - heads.start)?);
        }
        let careful = CarefulStore::new(store, &[]);
        careful.write_at(&page, heads.start)?;
        wipe_tail(&careful)?;
        return Ok(CrossFormatMedium::Untouched);
    }
    // What is left to be done needs no key, also where the new first page is torn.
    conversion.run(false, &())?;
    Ok(CrossFormatMedium::Done)
}

fn wipe_tail(store: &dyn Store) -> Result<(), ConvertError> {
    let mut page = AlignedBuf::zeroed(PAGE as usize);
    page.copy_from_slice(&noise(PAGE)?);
    store.write_at(&page, tail(store.size()))?;
    Ok(store.flush()?)
}
