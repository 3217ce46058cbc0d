//! A run that has been planned.

use super::bad_clusters::Kept;
use super::extents::{on_medium, open_map, used_of};
use super::marker::{BitLockerMarker, MOST_RANGES, PAGE, POINTER_AT, POINTER_BYTES, Work, page};
use super::metadata_space::{content_capacity, is_too_full, map, within};
use super::steps::{Beginnings, Ciphers};
use crate::careful::CarefulStore;
use crate::free_space::FreeSpace;
use crate::journal::{Journal, SlotTable, segment_bytes};
use crate::marker::{ConversionKind, JournalLocation, random_id};
use crate::mover::Progress;
use crate::ranges::without;
use crate::step::{Small, carry_out};
use crate::{Conversion, ConvertError, Stopped};
use keyway_error::Advice;
use keyway_store::{AlignedBuf, Store};
use keyway_volume::bitlocker::{
    self, BOOT_BYTES, Block, ConversionReached, Converting, EncryptionState, InPlace, MetadataLocations,
    Method, UnlockRequest, unlock_behind,
};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// A run that has been planned.
pub struct BitLockerPlan {
    pub(super) mark: BitLockerMarker,
    pub(super) work: Work,
    pub(super) volume: Converting,
    pub(super) beginnings: Beginnings,
    /// The volume's own first page.
    pub(super) first_page: AlignedBuf,
    /// For a run that was found: whether its marker is in front.
    pub(super) found: bool,
    /// Why clusters were not given back.
    pub(super) kept: Kept,
}

/// What a file system shall become, and how.
pub struct EncryptionRequest<'a> {
    /// The volume.
    pub volume: InPlace<'a>,
    /// Bytes that the file system reaches to; what is behind it is free.
    pub file_system_bytes: u64,
    /// The journal's file, where it has one.
    pub journal: Option<PathBuf>,
    /// The volume is to be used while it is encrypted: free clusters are not the journal's.
    pub in_use: bool,
}

impl BitLockerPlan {
    /// Plans the encryption of a file system. Nothing is written.
    ///
    /// # Errors
    /// There is no room for the metadata; the file system is damaged; the wishes can't be granted.
    pub fn encryption(store: &dyn Store, wanted: &EncryptionRequest<'_>) -> Result<Self, ConvertError> {
        let size = store.size();
        let mut map = map(store)?;
        if wanted.volume.used_space_only && map.is_none() {
            return Err(ConvertError::Unsupported(
                "the map of this file system can't be read here, so its free space can't be told",
                Advice::ConvertAllSpace,
            ));
        }
        let behind = wanted.file_system_bytes <= content_capacity(size);
        let (places, patched) =
            match map.as_mut().filter(|map| map.can_reserve()).map(|map| within(store, map)) {
                Some(Ok(found)) => found,
                Some(Err(e)) if !behind || !is_too_full(&e) => return Err(e),
                tried if behind => {
                    if tried.is_some() {
                        // As it lies on the medium: what was tried has taken clusters.
                        map = super::metadata_space::map(store)?;
                    }
                    (MetadataLocations::at_the_end(size, BOOT_BYTES), vec![])
                }
                _ => {
                    return Err(ConvertError::NoRoom {
                        missing: wanted.file_system_bytes - content_capacity(size),
                    });
                }
            };
        let volume = Converting::fresh(size, store.sector_bytes(), places, &wanted.volume)?;
        let boot = volume.first_sectors();
        let moved = |at: u64| if at < BOOT_BYTES { boot.start + at } else { at };
        let (targets, pages) = patched.into_iter().map(|(at, page)| (moved(at), page)).unzip();
        let place = match &wanted.journal {
            Some(_) => in_a_file(size, &volume),
            None if wanted.in_use => BitLockerMarker::small_journal(volume.copies()),
            None => on_medium(&volume, map.as_ref(), wanted.file_system_bytes.max(BOOT_BYTES)..places.start),
        };
        let mut ranges = volume.data(false);
        if let Some(map) = map.filter(|_| wanted.volume.used_space_only) {
            ranges = used_of(&ranges, &map, size, &boot);
        }
        if wanted.journal.is_none() {
            for segment in place.segments() {
                ranges = without(&ranges, std::slice::from_ref(&segment));
            }
        }
        let front = page(store, 0)?;
        let mut first_page = AlignedBuf::zeroed(PAGE as usize);
        keyway_volume::veracrypt::Noise::new()?.fill(&mut first_page);
        let sector = volume.new_first_sector();
        first_page.iter_mut().zip(sector).for_each(|(to, from)| *to = from);
        let head = volume.metadata(ConversionReached::Encrypting(BOOT_BYTES))?.to_vec();
        let mark = BitLockerMarker {
            id: random_id()?,
            kind: ConversionKind::Encryption,
            fresh: true,
            journal: place_of(wanted.journal.clone()),
            size,
            copies: volume.copies(),
            boot,
            spare: places.spare,
            place,
            under: under(&front),
            new_key: None,
            free: FreeSpace::Leave,
            free_is_new: false,
        };
        let work = Work { pages: targets, ranges };
        Ok(Self {
            mark,
            work,
            volume,
            beginnings: Beginnings { head, pages },
            first_page,
            found: false,
            kept: Kept::default(),
        })
    }

    /// Plans a run that begins with a whole volume: to "decrypted", or, where it is on its way there, to
    /// "encrypted". Nothing is written.
    ///
    /// # Errors
    /// The volume is in a state that only Windows can go on from, or the medium failed.
    pub fn of_volume(
        store: &Arc<dyn Store>,
        unlocked: bitlocker::Unlocked,
        kind: ConversionKind,
        journal: Option<PathBuf>,
    ) -> Result<Self, ConvertError> {
        let size = store.size();
        let volume = Converting::of(unlocked)?;
        let ranges = match kind {
            ConversionKind::Encryption => {
                let plain = volume.data(false);
                // Which of the free space is left out, the file system says now.
                match volume.is_used_space_only().then(|| open_map(store, &volume)).transpose()?.flatten() {
                    Some(map) => used_of(&plain, &map, size, &volume.first_sectors()),
                    None => plain,
                }
            }
            ConversionKind::Decryption => volume.data(true),
            ConversionKind::Reencryption => {
                return Err(ConvertError::Unsupported(
                    "a re-encryption needs a cipher to come out with",
                    Advice::ListCiphers,
                ));
            }
        };
        let mark = whole_volume(store.as_ref(), &volume, kind, journal)?;
        Self::of_mark(store, mark, volume, ranges)
    }

    /// Plans the re-encryption of a volume that is encrypted throughout: it gets a new data key, of that method;
    /// its protectors stay. With `used_space_only` the free space of its file system stays as it is, and is
    /// noise afterwards. Nothing is written.
    ///
    /// # Errors
    /// The volume is not encrypted throughout; the method can't be used; the medium failed.
    pub fn reencryption(
        store: &Arc<dyn Store>,
        unlocked: bitlocker::Unlocked,
        method: Method,
        used_space_only: bool,
        journal: Option<PathBuf>,
    ) -> Result<Self, ConvertError> {
        let mut volume = Converting::of(unlocked)?;
        if volume.block().state != EncryptionState::Encrypted || !volume.data(false).is_empty() {
            return Err(ConvertError::Unsupported(
                "only a volume that is encrypted throughout can be re-encrypted",
                Advice::FinishConversion,
            ));
        }
        let mut ranges = volume.data(true);
        if used_space_only {
            let map = open_map(store, &volume)?.ok_or(ConvertError::Unsupported(
                "the map of the file system in the volume can't be read here, so its free space can't be told", Advice::ConvertAllSpace,
            ))?;
            ranges = used_of(&ranges, &map, store.size(), &volume.first_sectors());
        }
        let key = volume.new_data_key(method)?;
        volume.give_data_key(&key)?;
        let mark = whole_volume(store.as_ref(), &volume, ConversionKind::Reencryption, journal)?;
        Self::of_mark(store, BitLockerMarker { new_key: Some(key), ..mark }, volume, ranges)
    }

    pub(super) fn of_mark(
        store: &Arc<dyn Store>,
        mark: BitLockerMarker,
        volume: Converting,
        ranges: Vec<Range<u64>>,
    ) -> Result<Self, ConvertError> {
        if ranges.len() > MOST_RANGES {
            return Err(ConvertError::Unsupported(
                "the volume is encrypted in too many pieces",
                Advice::LetWindowsFinish,
            ));
        }
        let work = Work { pages: vec![], ranges };
        let first_page = page(store.as_ref(), 0)?;
        Ok(Self {
            mark,
            work,
            volume,
            beginnings: Beginnings::default(),
            first_page,
            found: false,
            kept: Kept::default(),
        })
    }

    /// The plan of a run that was found with its marker in front.
    ///
    /// # Errors
    /// The secret is wrong, the marks are damaged, or the medium failed.
    pub fn resume(
        store: &dyn Store,
        mark: BitLockerMarker,
        request: &UnlockRequest<'_>,
    ) -> Result<Self, ConvertError> {
        let first_page = page(store, mark.park())?;
        let unlocked = unlock_behind(store, &first_page, request)?;
        let mut volume = Converting::of(unlocked)?;
        if volume.copies() != mark.copies || volume.first_sectors() != mark.boot {
            return Err(ConvertError::ImpossibleRecord);
        }
        if let Some(key) = &mark.new_key {
            volume.give_data_key(key)?;
        }
        let work = Work::read(store, &mark)?.ok_or(ConvertError::NoJournal)?;
        if !work.is_of_whole_units(volume.sector_bytes()) {
            return Err(ConvertError::ImpossibleRecord);
        }
        Ok(Self {
            mark,
            work,
            volume,
            beginnings: Beginnings::default(),
            first_page,
            found: true,
            kept: Kept::default(),
        })
    }

    /// The same first encryption, with that done to the free space that it leaves out, before anything is converted.
    ///
    /// # Errors
    /// It is another kind of run, which has no such space or does not know it.
    pub fn of_free(mut self, free: FreeSpace) -> Result<Self, ConvertError> {
        if free != FreeSpace::Leave && !(self.mark.fresh && self.volume.is_used_space_only()) {
            return Err(ConvertError::Unsupported(
                "only the first encryption of used space can fill or trim the space that is free",
                Advice::LeaveOutFreeSpace,
            ));
        }
        self.mark.free = free;
        Ok(self)
    }

    /// The same with a journal that keeps every segment whole ([`Redundancy`](crate::Redundancy)).
    pub fn kept_whole(mut self) -> Self {
        self.mark.place.whole = true;
        self
    }

    /// What the marker says.
    pub fn mark(&self) -> &BitLockerMarker {
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

    /// Why a decrypted file system did not get the clusters back that were kept from it: they stay marked as bad.
    pub fn kept_bad(&self) -> Option<&ConvertError> {
        self.kept.get()
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
        let head = self.volume.metadata(ConversionReached::Encrypted)?;
        let steps = self.mark.steps(&self.work, &self.beginnings, &self.ciphers(), Some(&head), &self.kept);
        // Of a re-encryption the one that is there in the end, too.
        let key = match self.mark.kind {
            ConversionKind::Reencryption => self.volume.new_cipher().unwrap_or(self.volume.cipher()),
            ConversionKind::Encryption | ConversionKind::Decryption => self.volume.cipher(),
        };
        let journal = Journal::new(journal.unwrap_or(store), store, self.mark.place.clone(), self.mark.id)
            .of_volume(Some(key));
        Ok(Conversion {
            store,
            journal,
            steps,
            marking: BitLockerMarker::marking(&self.work),
            front: None,
            anchors: self.mark.anchors(),
            lost: None,
        })
    }

    pub(super) fn ciphers(&self) -> Ciphers {
        let own = Some(self.volume.cipher().clone());
        match self.mark.kind {
            ConversionKind::Encryption => Ciphers { from: None, to: own },
            ConversionKind::Decryption => Ciphers { from: own, to: None },
            ConversionKind::Reencryption => match self.volume.new_cipher() {
                Some(new) => Ciphers { from: own, to: Some(new.clone()) },
                // It has its new key: what is left to do needs none.
                None => Ciphers::default(),
            },
        }
    }

    /// Carries the run out until it ends or is paused, in which case the volume is made whole with the
    /// boundary where it is, and nothing is left of the run. A re-encryption that is paused stays as it is:
    /// nobody but this opens it.
    ///
    /// # Errors
    /// See [`ConvertError`].
    pub fn run(&self, conversion: &Conversion<'_>, progress: &dyn Progress) -> Result<Stopped, ConvertError> {
        let stopped = self.begin_or_go_on(conversion, progress)?;
        self.settle(conversion, stopped)
    }

    pub(super) fn begin_or_go_on(
        &self,
        conversion: &Conversion<'_>,
        progress: &dyn Progress,
    ) -> Result<Stopped, ConvertError> {
        if !self.found {
            self.begin(conversion)?;
        } else if self.mark.kind == ConversionKind::Reencryption && self.volume.new_cipher().is_none() {
            let newest = conversion.journal.read()?.ok_or(ConvertError::NoJournal)?.newest;
            if self.mark.is_before_the_end(&self.work, newest.step) {
                return Err(ConvertError::ImpossibleRecord);
            }
        }
        conversion.run(self.found, progress)
    }

    /// Makes the volume whole where the run was paused, if it can be whole there.
    pub(super) fn settle(
        &self,
        conversion: &Conversion<'_>,
        stopped: Stopped,
    ) -> Result<Stopped, ConvertError> {
        if stopped == Stopped::Paused && self.can_be_whole(conversion)? {
            let head = self.volume.metadata(self.reached(conversion)?)?;
            let careful = CarefulStore::new(conversion.store, &conversion.anchors);
            carry_out(&careful, self.mark.volume(Some(&head)))?;
            carry_out(&careful, self.mark.leave())?;
        }
        Ok(stopped)
    }

    /// Whether there is a state of the format for where the run is: not in a re-encryption, nor while free space is
    /// filled or counts as converted, of which nothing but the marker knows.
    fn can_be_whole(&self, conversion: &Conversion<'_>) -> Result<bool, ConvertError> {
        let newest = conversion.journal.read()?.ok_or(ConvertError::NoJournal)?.newest;
        let begun = newest.step as usize >= self.mark.before(&self.work);
        Ok(begun && self.mark.kind != ConversionKind::Reencryption && !self.mark.free_is_new)
    }

    /// Everything that a resumed run needs, then the pointer in the first sector. Once that is on the
    /// medium, the run is found; nothing else that counts has been changed by then.
    fn begin(&self, conversion: &Conversion<'_>) -> Result<(), ConvertError> {
        let (store, mark) = (&CarefulStore::new(conversion.store, &[]), &self.mark);
        store.held(&conversion.journal, conversion.begin())?;
        let put = |at, bytes| Small::Put { at, bytes };
        put(mark.work().start, self.work.to_bytes(&mark.id)).carry_out(store)?;
        put(mark.park(), self.first_page.to_vec()).carry_out(store)?;
        put(mark.tail(), mark.to_bytes()).carry_out(store)?;
        store.flush()?;
        let patch = Some((POINTER_AT, mark.pointer()));
        carry_out(store, vec![Small::Copy { from: 0, to: 0, len: PAGE, patch }])
    }

    /// Where the boundary is, by the journal.
    pub(super) fn reached(&self, conversion: &Conversion<'_>) -> Result<ConversionReached, ConvertError> {
        let newest = conversion.journal.read()?.ok_or(ConvertError::NoJournal)?.newest;
        let done = newest.done.saturating_add(newest.len);
        let stretch = self.mark.stretch(&self.work, newest.step);
        Ok(match (self.mark.kind, stretch) {
            (ConversionKind::Decryption, Some(range)) => {
                ConversionReached::Decrypting(range.end.saturating_sub(done).max(range.start))
            }
            (ConversionKind::Decryption, None) => {
                ConversionReached::Decrypting(self.mark.boot.end - self.mark.boot.start)
            }
            (_, Some(range)) => {
                ConversionReached::Encrypting(range.start.saturating_add(done).min(range.end))
            }
            (_, None) => ConversionReached::Encrypting(self.volume.volume_bytes()),
        })
    }
}

/// The mark of a run that begins with a whole volume.
fn whole_volume(
    store: &dyn Store,
    volume: &Converting,
    kind: ConversionKind,
    journal: Option<PathBuf>,
) -> Result<BitLockerMarker, ConvertError> {
    let place = match &journal {
        Some(_) => in_a_file(store.size(), volume),
        None => on_medium(volume, None, 0..0),
    };
    Ok(BitLockerMarker {
        id: random_id()?,
        kind,
        fresh: false,
        journal: place_of(journal),
        size: store.size(),
        copies: volume.copies(),
        boot: volume.first_sectors(),
        spare: 0,
        place,
        under: [0; POINTER_BYTES],
        new_key: None,
        free: FreeSpace::Leave,
        free_is_new: false,
    })
}

/// A journal in a file; its heads are where the records would be on the medium.
fn in_a_file(size: u64, volume: &Converting) -> SlotTable {
    SlotTable::in_a_file(segment_bytes(size)).with_heads(BitLockerMarker::heads_of_file(volume.copies()))
}

fn place_of(file: Option<PathBuf>) -> JournalLocation {
    file.map_or(JournalLocation::OnMedium, JournalLocation::File)
}

/// The bytes that the pointer hides.
fn under(page: &[u8]) -> [u8; POINTER_BYTES] {
    let rest = page.get(POINTER_AT as usize..).unwrap_or_default();
    rest.first_chunk().copied().unwrap_or([0; POINTER_BYTES])
}
