//! Conversions of BitLocker volumes: a file system becomes one, and one becomes a file system again.
//!
//! BitLocker leaves nearly everything where it is. Its first sectors move, its metadata lies in clusters
//! that the file system is kept off, or behind the file system; the rest is encrypted in place, from the
//! beginning on, up to a boundary that the metadata names. Decryption goes from the end on, and the boundary
//! falls. A volume with a boundary is a state of the format's own: it opens, here and elsewhere.
//!
//! So a conversion is one or more *runs*. A run begins with a file system or with a whole volume (encrypted
//! throughout, or paused) and ends with a whole volume or a file system. In between the marker stands in
//! front, nobody opens it, and the journal knows the state. The steps of a run:
//!
//! | | encryption | decryption |
//! |---|---|---|
//! | 0 | first run: the copy of the first sectors and the metadata, in bytes that nobody uses | |
//! | 1 | the marker in front; from here on there is no way but forward | same |
//! | | first run: pages of the file system that keep it off the metadata | |
//! | | each stretch, from the first to the last | each stretch, from the last to the first |
//! | | the metadata says "encrypted"; the volume's first page in front | the first sectors back in their place |
//! | last | what the conversion left goes | same, and the metadata |
//!
//! A pause writes the metadata with the boundary where the journal says it is, then the volume's first page,
//! then the last step. See [`mark`] for what lies where, and how it is found however a sector was torn.

mod mark;
mod steps;

pub use mark::{Found, Mark, Work, find};

use crate::journal::{Journal, Place, SLOTS};
use crate::marker::{JournalPlace, Kind};
use crate::mover::Progress;
use crate::step::Small;
use crate::veracrypt::{random_id, segment_bytes};
use crate::{Conversion, ConvertError, Stopped};
use keyway_engine::{Access, Device};
use keyway_store::{AlignedBuf, Store, StoreError};
use keyway_volume::allocation::{Allocation, AllocationError};
use keyway_volume::bitlocker::{
    self, BOOT_BYTES, Block, Converting, InPlace, Places, Reached, SPARE_BYTES, Seen, State, UnlockRequest,
    look_behind, unlock_behind,
};
use mark::{MOST_RANGES, PAGE, POINTER_AT, POINTER_BYTES, page};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use steps::Beginnings;

/// The smallest segment worth a place of its own.
const SMALLEST_SEGMENT: u64 = 64 << 10;

/// Free bytes between two used ones that are converted rather than told apart, where there are not too many.
const SMALLEST_GAP: u64 = 64 << 10;

/// A run that has been planned.
pub struct Plan {
    mark: Mark,
    work: Work,
    volume: Converting,
    beginnings: Beginnings,
    /// The volume's own first page.
    first_page: AlignedBuf,
    /// For a run that was found: whether its marker is in front.
    found: bool,
}

/// What a file system shall become, and how.
pub struct Wish<'a> {
    /// The volume.
    pub volume: InPlace<'a>,
    /// Bytes that the file system reaches to; what is behind it is free.
    pub file_system_bytes: u64,
    /// The journal's file, where it has one.
    pub journal: Option<PathBuf>,
}

/// How far a file system without clusters to spare may reach on a medium of that size.
pub fn room(store_bytes: u64) -> u64 {
    Places::at_the_end(store_bytes, BOOT_BYTES).start
}

/// The map of the file system on a medium, where it is one that can be read.
///
/// # Errors
/// The medium failed, or the file system is damaged or was not left in order.
pub fn map(store: &dyn Store) -> Result<Option<Allocation>, ConvertError> {
    match Allocation::read(store) {
        Ok(map) => Ok(Some(map)),
        Err(AllocationError::Unknown | AllocationError::Unsupported(_)) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

impl Plan {
    /// Plans the encryption of a file system. Nothing is written.
    ///
    /// # Errors
    /// There is no room for the metadata; the file system is damaged; the wishes can't be granted.
    pub fn encryption(store: &dyn Store, wish: &Wish<'_>) -> Result<Self, ConvertError> {
        let size = store.size();
        let mut map = map(store)?;
        if wish.volume.used_space_only && map.is_none() {
            return Err(ConvertError::Unsupported(
                "the map of this file system can't be read here, so its free space can't be told; leave \
                 --used-space-only out",
            ));
        }
        let (places, patched) = match map.as_mut().filter(|map| map.can_reserve()) {
            Some(map) => {
                let places = Places::inside(map, size, BOOT_BYTES)?;
                let patched = Patches::over(store);
                map.mark(&patched)?;
                (places, patched.into_pages())
            }
            None => {
                let room = room(size);
                if wish.file_system_bytes > room {
                    return Err(ConvertError::NoRoom { missing: wish.file_system_bytes - room });
                }
                (Places::at_the_end(size, BOOT_BYTES), BTreeMap::new())
            }
        };
        let volume = Converting::fresh(size, store.sector_bytes(), places, &wish.volume)?;
        let whole = patched.values().all(|page| page.len() as u64 == PAGE);
        if patched.len() as u64 * PAGE > SPARE_BYTES || !whole {
            return Err(ConvertError::Unsupported("the file system's map is too scattered"));
        }
        let boot = volume.first_sectors();
        let moved = |at: u64| if at < BOOT_BYTES { boot.start + at } else { at };
        let (targets, pages) = patched.into_iter().map(|(at, page)| (moved(at), page)).unzip();
        let place = match &wish.journal {
            Some(_) => Place::in_a_file(segment_bytes(size)),
            None => on_medium(&volume, map.as_ref(), wish.file_system_bytes.max(BOOT_BYTES)..places.start),
        };
        let mut ranges = volume.data(false);
        if let Some(map) = map.filter(|_| wish.volume.used_space_only) {
            ranges = used_of(&ranges, &map, size);
        }
        if wish.journal.is_none() {
            for segment in place.segments() {
                ranges = without(ranges, &segment);
            }
        }
        let front = page(store, 0)?;
        let mut first_page = AlignedBuf::zeroed(PAGE as usize);
        keyway_volume::veracrypt::Noise::new()?.fill(&mut first_page);
        let sector = volume.new_first_sector();
        first_page.iter_mut().zip(sector).for_each(|(to, from)| *to = from);
        let head = volume.metadata(Reached::Encrypting(BOOT_BYTES))?.to_vec();
        let mark = Mark {
            id: random_id()?,
            kind: Kind::Encryption,
            fresh: true,
            journal: place_of(wish.journal.clone()),
            size,
            copies: volume.copies(),
            boot,
            spare: places.spare,
            place,
            under: under(&front),
        };
        let work = Work { pages: targets, ranges };
        Ok(Self { mark, work, volume, beginnings: Beginnings { head, pages }, first_page, found: false })
    }

    /// Plans a run that begins with a whole volume: to "decrypted", or, where it is on its way there, to
    /// "encrypted". Nothing is written.
    ///
    /// # Errors
    /// The volume is in a state that only Windows can go on from, or the medium failed.
    pub fn of_volume(
        store: &Arc<dyn Store>,
        unlocked: bitlocker::Unlocked,
        kind: Kind,
        journal: Option<PathBuf>,
    ) -> Result<Self, ConvertError> {
        let size = store.size();
        let volume = Converting::of(unlocked)?;
        let ranges = match kind {
            Kind::Encryption => {
                let plain = volume.data(false);
                // Which of the free space is left out, the file system says now.
                match volume.is_used_space_only().then(|| open_map(store, &volume)).transpose()?.flatten() {
                    Some(map) => used_of(&plain, &map, size),
                    None => plain,
                }
            }
            Kind::Decryption => volume.data(true),
            Kind::Reencryption => {
                return Err(ConvertError::Unsupported(
                    "the re-encryption of a BitLocker volume is not built",
                ));
            }
        };
        if ranges.len() > MOST_RANGES {
            return Err(ConvertError::Unsupported("the volume is encrypted in too many pieces"));
        }
        let mut plain_front = AlignedBuf::zeroed(PAGE as usize);
        device(store, &volume)?.read_at(&mut plain_front, 0).map_err(ConvertError::from)?;
        let place = match &journal {
            Some(_) => Place::in_a_file(segment_bytes(size)),
            None => on_medium(&volume, None, 0..0),
        };
        let mark = Mark {
            id: random_id()?,
            kind,
            fresh: false,
            journal: place_of(journal),
            size,
            copies: volume.copies(),
            boot: volume.first_sectors(),
            spare: 0,
            place,
            under: under(&plain_front),
        };
        let work = Work { pages: vec![], ranges };
        let first_page = page(store.as_ref(), 0)?;
        Ok(Self { mark, work, volume, beginnings: Beginnings::default(), first_page, found: false })
    }

    /// The plan of a run that was found with its marker in front.
    ///
    /// # Errors
    /// The secret is wrong, the marks are damaged, or the medium failed.
    pub fn resume(store: &dyn Store, mark: Mark, request: &UnlockRequest<'_>) -> Result<Self, ConvertError> {
        let first_page = page(store, mark.park())?;
        let unlocked = unlock_behind(store, &first_page, request)?;
        let volume = Converting::of(unlocked)?;
        if volume.copies() != mark.copies || volume.first_sectors() != mark.boot {
            return Err(ConvertError::ImpossibleRecord);
        }
        let work = Work::read(store, &mark)?.ok_or(ConvertError::NoJournal)?;
        Ok(Self { mark, work, volume, beginnings: Beginnings::default(), first_page, found: true })
    }

    /// What the marker says.
    pub fn mark(&self) -> &Mark {
        &self.mark
    }

    /// The metadata of the volume.
    pub fn block(&self) -> &Block {
        self.volume.block()
    }

    /// Whether the run was found, and has not to be begun.
    pub fn is_begun(&self) -> bool {
        self.found
    }

    /// Bytes that are converted in this run.
    pub fn bytes(&self) -> u64 {
        self.work.ranges.iter().map(|range| range.end - range.start).sum()
    }

    /// The run; `journal` is the file's store where the journal is in a file.
    ///
    /// # Errors
    /// The metadata is too long.
    pub fn conversion<'a>(
        &self,
        store: &'a dyn Store,
        journal: Option<&'a dyn Store>,
    ) -> Result<Conversion<'a>, ConvertError> {
        let head = self.volume.metadata(Reached::Encrypted)?;
        let cipher = Some(self.volume.cipher());
        let steps = self.mark.steps(&self.work, &self.beginnings, cipher, Some(&head));
        let journal = Journal::new(journal.unwrap_or(store), self.mark.place.clone(), self.mark.id);
        Ok(Conversion { store, journal, steps, marking: Mark::marking(&self.work) })
    }

    /// Carries the run out until it ends or is paused, in which case the volume is made whole with the
    /// boundary where it is. Nothing is left of the run then.
    ///
    /// # Errors
    /// See [`ConvertError`].
    pub fn run(&self, conversion: &Conversion<'_>, progress: &dyn Progress) -> Result<Stopped, ConvertError> {
        if !self.found {
            self.begin(conversion)?;
        }
        let stopped = conversion.run(self.found, progress)?;
        if stopped == Stopped::Paused {
            let head = self.volume.metadata(self.reached(conversion)?)?;
            carry_out(conversion.store, self.mark.volume(Some(&head)))?;
            carry_out(conversion.store, self.mark.leave())?;
        }
        Ok(stopped)
    }

    /// Everything that a resumed run needs, then the pointer in the first sector. Once that is on the
    /// medium, the run is found; nothing else that counts has been changed by then.
    fn begin(&self, conversion: &Conversion<'_>) -> Result<(), ConvertError> {
        let (store, mark) = (conversion.store, &self.mark);
        conversion.begin()?;
        let put = |at, bytes| Small::Put { at, bytes };
        put(mark.work().start, self.work.to_bytes(&mark.id)).carry_out(store)?;
        put(mark.park(), self.first_page.to_vec()).carry_out(store)?;
        put(mark.tail(), mark.to_bytes()).carry_out(store)?;
        store.flush()?;
        let patch = Some((POINTER_AT, mark.pointer()));
        carry_out(store, vec![Small::Copy { from: 0, to: 0, len: PAGE, patch }])
    }

    /// Where the boundary is, by the journal.
    fn reached(&self, conversion: &Conversion<'_>) -> Result<Reached, ConvertError> {
        let newest = conversion.journal.read()?.ok_or(ConvertError::NoJournal)?.newest;
        let done = newest.done.saturating_add(newest.len);
        let stretch = self.mark.stretch(&self.work, newest.step);
        Ok(match (self.mark.kind, stretch) {
            (Kind::Decryption, Some(range)) => {
                Reached::Decrypting(range.end.saturating_sub(done).max(range.start))
            }
            (Kind::Decryption, None) => Reached::Decrypting(self.mark.boot.end - self.mark.boot.start),
            (_, Some(range)) => Reached::Encrypting(range.start.saturating_add(done).min(range.end)),
            (_, None) => Reached::Encrypting(self.volume.volume_bytes()),
        })
    }
}

/// What a run that was found without its marker in front has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// The file system as it was: the run had not begun.
    FileSystem,
    /// A whole volume, which may be paused.
    Volume,
    /// A file system: the decryption is done.
    Decrypted,
}

/// Removes what a run has left that was found without its marker in front. Needs no secret.
///
/// # Errors
/// The medium failed.
pub fn clean(store: &dyn Store, mark: &Mark) -> Result<Left, ConvertError> {
    if bitlocker::is_volume(store)? {
        carry_out(store, mark.leave())?;
        return Ok(Left::Volume);
    }
    if mark.kind == Kind::Decryption {
        carry_out(store, mark.forget())?;
        return Ok(Left::Decrypted);
    }
    carry_out(store, mark.never_begun())?;
    Ok(Left::FileSystem)
}

/// What there is to do on a medium with a conversion of a BitLocker volume.
pub enum Next {
    /// A run, begun or not.
    Run(Box<Plan>),
    /// Nothing: this is what was left.
    Nothing(Left),
}

/// Finds out how a conversion goes on: cleans up what an interrupted run has left, and plans what comes
/// next. A new run gets its journal in that file.
///
/// # Errors
/// There is neither a conversion nor a volume; the secret is wrong; the medium failed.
pub fn next(
    store: &Arc<dyn Store>,
    request: &UnlockRequest<'_>,
    journal: Option<PathBuf>,
) -> Result<Next, ConvertError> {
    if let Some(found) = find(store)? {
        if found.in_front {
            return Ok(Next::Run(Box::new(Plan::resume(store, found.mark, request)?)));
        }
        match clean(store, &found.mark)? {
            Left::Volume => {}
            other => return Ok(Next::Nothing(other)),
        }
    }
    let unlocked = bitlocker::unlock(store, request)?;
    let block = unlocked.opened.metadata.block();
    let kind = match (block.state, block.next_state) {
        (State::Converting, State::Decrypted) => Kind::Decryption,
        (State::Converting, _) => Kind::Encryption,
        _ => return Ok(Next::Nothing(Left::Volume)),
    };
    Ok(Next::Run(Box::new(Plan::of_volume(store, unlocked, kind, journal)?)))
}

/// What can be said without a secret of the volume that is converted, wherever its first sector is.
///
/// # Errors
/// There is no volume, or it is damaged; the medium failed.
pub fn look(store: &dyn Store) -> Result<Seen, ConvertError> {
    Ok(match find(store)?.filter(|found| found.in_front) {
        Some(found) => look_behind(store, &page(store, found.mark.park())?)?,
        None => bitlocker::look(store)?,
    })
}

/// How far the run is that was found: bytes of work done, and in all. Needs no secret.
///
/// # Errors
/// The journal is damaged, or the medium failed.
pub fn how_far(
    found: &Found,
    store: &dyn Store,
    journal: Option<&dyn Store>,
) -> Result<(u64, u64), ConvertError> {
    let mark = &found.mark;
    let work = Work::read(store, mark)?.ok_or(ConvertError::NoJournal)?;
    let steps = mark.steps(&work, &Beginnings::default(), None, None);
    let journal = Journal::new(journal.unwrap_or(store), mark.place.clone(), mark.id);
    let conversion = Conversion { store, journal, steps, marking: Mark::marking(&work) };
    Ok((conversion.done()?, conversion.total()))
}

/// Gives a decrypted file system the clusters back that were kept from it; says whether there were any.
///
/// # Errors
/// The medium failed, or the file system is not in order.
pub fn release(store: &dyn Store, mark: &Mark) -> Result<bool, ConvertError> {
    let Some(mut map) = map(store)? else { return Ok(false) };
    let spare = mark.boot.end..mark.boot.end + SPARE_BYTES;
    let mut ranges: Vec<_> =
        mark.copies.iter().map(|at| *at..*at + 2 * bitlocker::HEAD_BYTES as u64).collect();
    ranges.extend([mark.boot.clone(), spare]);
    ranges.sort_by_key(|range| range.start);
    let released = map.release(store, &ranges)?;
    store.flush()?;
    Ok(released)
}

fn carry_out(store: &dyn Store, writes: Vec<Small>) -> Result<(), ConvertError> {
    for small in writes {
        small.carry_out(store)?;
        store.flush()?;
    }
    Ok(())
}

fn place_of(file: Option<PathBuf>) -> JournalPlace {
    file.map_or(JournalPlace::OnMedium, JournalPlace::File)
}

/// The bytes that the pointer hides.
fn under(page: &[u8]) -> [u8; POINTER_BYTES] {
    let rest = page.get(POINTER_AT as usize..).unwrap_or_default();
    rest.first_chunk().copied().unwrap_or([0; POINTER_BYTES])
}

/// The journal on the medium: as large as the free bytes allow, or in the copies of the metadata.
fn on_medium(volume: &Converting, map: Option<&Allocation>, behind: Range<u64>) -> Place {
    let [_, _, third] = volume.copies();
    let records = third + bitlocker::HEAD_BYTES as u64 + PAGE;
    let mut segment = segment_bytes(volume.volume_bytes());
    while segment >= SMALLEST_SEGMENT {
        let all = SLOTS as u64 * segment;
        let inside = map.filter(|map| map.can_reserve()).and_then(|map| map.find(0, all, PAGE).ok());
        let first = behind.start.next_multiple_of(PAGE);
        let found = inside.or((first + all <= behind.end).then_some(first));
        if let Some(first) = found.filter(|at| *at >= BOOT_BYTES) {
            return Place::in_a_row(records, first, segment);
        }
        segment /= 2;
    }
    Mark::small_journal(volume.copies())
}

/// The parts of these ranges that a file system uses: as few pieces as there is room for.
fn used_of(ranges: &[Range<u64>], map: &Allocation, size: u64) -> Vec<Range<u64>> {
    let mut gap = SMALLEST_GAP;
    loop {
        let used = map.used(size, gap);
        let mut parts = Vec::new();
        let mut rest = used.iter().peekable();
        for range in ranges {
            while let Some(next) = rest.peek() {
                let (start, end) = (next.start.max(range.start), next.end.min(range.end));
                if start < end {
                    parts.push(start..end);
                }
                if next.end > range.end {
                    break;
                }
                rest.next();
            }
        }
        // The journal's segments cut a piece in two, at worst.
        if parts.len() + SLOTS <= MOST_RANGES {
            return parts;
        }
        gap *= 2;
    }
}

/// The ranges without that part.
fn without(ranges: Vec<Range<u64>>, out: &Range<u64>) -> Vec<Range<u64>> {
    let cut = |range: Range<u64>| {
        let before = range.start..range.end.min(out.start);
        let after = range.start.max(out.end)..range.end;
        [before, after].into_iter().filter(|part| part.start < part.end)
    };
    ranges.into_iter().flat_map(cut).collect()
}

fn device(store: &Arc<dyn Store>, volume: &Converting) -> Result<Device, ConvertError> {
    Ok(Device::new(Box::new(Arc::clone(store)), volume.layout().clone(), Access::ReadOnly)?)
}

/// The map of the file system in a volume.
fn open_map(store: &Arc<dyn Store>, volume: &Converting) -> Result<Option<Allocation>, ConvertError> {
    map(&Inside(device(store, volume)?))
}

/// What is in a volume, as a store that can only be read.
struct Inside(Device);

impl Store for Inside {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let len = buf.len();
        self.0.read_at(buf, offset).map_err(|e| {
            let reason = std::io::Error::other(e.to_string());
            StoreError::new(keyway_store::Operation::Read, "the volume", offset, len, reason)
        })
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let reason = std::io::ErrorKind::ReadOnlyFilesystem.into();
        Err(StoreError::new(keyway_store::Operation::Write, "the volume", offset, buf.len(), reason))
    }
    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
    fn discard(&self, _offset: u64, _len: u64) -> Result<(), StoreError> {
        Ok(())
    }
    fn size(&self) -> u64 {
        self.0.size()
    }
    fn sector_bytes(&self) -> u32 {
        self.0.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        true
    }
}

/// A store whose writes are kept apart, in pages.
struct Patches<'a> {
    below: &'a dyn Store,
    pages: Mutex<BTreeMap<u64, Vec<u8>>>,
}

impl<'a> Patches<'a> {
    fn over(below: &'a dyn Store) -> Self {
        Self { below, pages: Mutex::default() }
    }

    fn into_pages(self) -> BTreeMap<u64, Vec<u8>> {
        self.pages.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Patches<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.below.read_at(buf, offset)?;
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        for (i, part) in buf.chunks_mut(PAGE as usize).enumerate() {
            if let Some(page) = pages.get(&(offset + i as u64 * PAGE)) {
                part.iter_mut().zip(page).for_each(|(to, from)| *to = *from);
            }
        }
        Ok(())
    }
    /// Whole pages from a page's beginning on, as [`Allocation::mark`] writes.
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        for (i, part) in buf.chunks(PAGE as usize).enumerate() {
            pages.insert(offset + i as u64 * PAGE, part.to_vec());
        }
        Ok(())
    }
    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
    fn discard(&self, _offset: u64, _len: u64) -> Result<(), StoreError> {
        Ok(())
    }
    fn size(&self) -> u64 {
        self.below.size()
    }
    fn sector_bytes(&self) -> u32 {
        self.below.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        false
    }
}
