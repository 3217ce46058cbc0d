//! A conversion of a small volume: what it begins with, and how its end is judged.

use super::{Damage, Medium, Part};
use keyway_convert::FreeSpace;
use keyway_convert::veracrypt::{self, VeraCryptPlan};
use keyway_convert::{
    ConversionKind, ConvertError, Journal, JournalLocation, LostSectors, Slot, SlotTable, Stopped,
    VeraCryptMarker, find,
};
use keyway_engine::{Access, Device};
use keyway_secret::SecretBytes;
use keyway_store::{MemStore, Store};
use keyway_testkit::Rng;
use keyway_volume::veracrypt::{
    Fill, HEADERS_BYTES, HashName, HeaderLocation as HeaderPlace, NewVolume, UnlockRequest, Unlocked, create,
    unlock,
};
use keyway_volume::{Format, Secrets};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) const SIZE: usize = 1 << 20;
pub(crate) const OLD: &str = "the old password of the volume";
pub(crate) const NEW: &str = "the new password of the volume";

pub(crate) fn secrets(password: &str) -> Secrets {
    Secrets { password: SecretBytes::copy_of(password.as_bytes()), keyfiles: vec![], pim: Some(1) }
}

pub(crate) fn wish<'a>(secrets: &'a Secrets, cipher: &str) -> NewVolume<'a> {
    let cipher = cipher.parse().expect("a cipher");
    NewVolume { secrets, cipher, hash: HashName::Sha512, fill: Fill::Quick }
}

pub(crate) fn opened(store: &dyn Store, password: &str) -> Unlocked {
    let secrets = secrets(password);
    let (format, hash) = (Some(Format::VeraCrypt), Some(HashName::Sha512));
    unlock(store, &UnlockRequest { format, hash, ..UnlockRequest::new(&secrets) }).expect("opens")
}

/// A conversion, what it begins with, and what its content is.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) plan: VeraCryptPlan,
    /// The parts of the content that count: those in use.
    pub(crate) used: Vec<Range<usize>>,
    pub(crate) image: Vec<u8>,
    pub(crate) plain: Vec<u8>,
}

impl Case {
    pub(crate) fn new(kind: ConversionKind) -> Self {
        Self::of_kind(kind, None)
    }

    fn of_kind(kind: ConversionKind, file: Option<PathBuf>) -> Self {
        let mut case = match kind {
            ConversionKind::Encryption => Self::encryption(file.clone(), SIZE, 0),
            ConversionKind::Decryption => {
                Self::of_a_volume(SIZE, |store, opened| veracrypt::decryption(store, opened, file.clone()))
            }
            ConversionKind::Reencryption => Self::of_a_volume(SIZE, |store, opened| {
                let new = secrets(NEW);
                veracrypt::reencryption(store, opened, &wish(&new, "serpent"), file.clone())
            }),
        };
        // Small segments, so that there are many of them.
        if file.is_some() {
            case.plan.marker.place = SlotTable { heads: case.heads(), ..SlotTable::in_a_file(48 << 10) };
        }
        case.plan.marker.place.segment_bytes = 48 << 10;
        case.name = format!("{kind:?}");
        case
    }

    /// An encryption of used space only: stretches with large, small and no gaps, which begin and end in the first
    /// 128 KiB, after them and at the end.
    pub(crate) fn used_only(free: FreeSpace) -> Self {
        let Self { plan, image, plain, .. } = Self::new(ConversionKind::Encryption);
        let end = plan.marker.moved;
        let used: Vec<Range<u64>> = [0..8, 25..45, 46..50, 52..53]
            .map(|pages| pages.start << 12..pages.end << 12)
            .into_iter()
            .chain(std::iter::once(end - 8192..end))
            .collect();
        let inside = used.iter().map(|range| range.start as usize..range.end as usize).collect();
        let plan = plan.of_used(used, free).expect("possible");
        Self { name: format!("used space only, {}", free.name()), plan, used: inside, image, plain }
    }

    /// The same while the volume is in use, with what is free wherever it can be: below stretches that are far apart, near,
    /// and short, and behind the last one. All of the content counts, what is free too: it stays what it was found as.
    pub(crate) fn used_in_use() -> Vec<Self> {
        let near_the_front = vec![0..8, 40..60, 100..104, 140..200, 210..230, 318..320];
        let behind_a_gap = vec![0..4, 70..72, 104..106, 140..250];
        let cases = [near_the_front, behind_a_gap].into_iter().zip(1..).map(|(pages, n)| {
            let size = 2 * SIZE;
            let moved = veracrypt::capacity_in_use(size as u64, true);
            assert_eq!(moved, 320 << 12);
            let (image, new) = (Rng::new(n).bytes(size), secrets(NEW));
            let store = Arc::new(MemStore::from_vec(image.clone()));
            let plan = veracrypt::encryption(&store, moved, &wish(&new, "aes"), None).expect("planned");
            let used: Vec<_> = pages.into_iter().map(|pages| pages.start << 12..pages.end << 12).collect();
            let plan = plan.of_used(used.clone(), FreeSpace::Leave).and_then(VeraCryptPlan::for_use);
            let mut plan = plan.expect("possible");
            plan.marker.place.segment_bytes = 48 << 10;
            let mut plain = vec![0; moved as usize];
            {
                let conversion = plan.conversion(&store, None).expect("planned");
                plan.begin(&conversion).expect("begun");
                let stop = |_: u64, _: u64| std::ops::ControlFlow::Break(());
                assert_eq!(conversion.run(false, &stop).expect("runs"), Stopped::Paused);
                let (live, _) = plan.live(&conversion, store.clone()).expect("can be used");
                live.read_at(&mut plain, 0).expect("read");
            }
            for range in used {
                let range = range.start as usize..range.end as usize;
                assert!(plain[range.clone()] == image[range]);
            }
            let name = format!("used space only in use, {n}");
            Self { name, ..Self::of(plan, image, plain) }
        });
        cases.collect()
    }

    /// What a loss of power does to sectors that are being moved by nobody but the conversion.
    pub(crate) fn damage(&self) -> Damage {
        let VeraCryptMarker { kind, place, moved, .. } = &self.plan.marker;
        let area = match kind {
            // What is moved first, and last, lies with the marker.
            ConversionKind::Encryption => 2 * HEADERS_BYTES..HEADERS_BYTES + moved,
            ConversionKind::Decryption => HEADERS_BYTES..*moved,
            ConversionKind::Reencryption => HEADERS_BYTES..HEADERS_BYTES + moved,
        };
        let area = std::iter::once(area).collect();
        match kind {
            ConversionKind::Reencryption if !place.whole => Damage { in_place: area, garbage: vec![] },
            _ => Damage { in_place: vec![], garbage: area },
        }
    }

    /// With the journal in a file: what is flushed there says nothing of the medium, and the other way round. Both
    /// lose their power at once.
    pub(crate) fn with_a_file(kind: ConversionKind) -> Self {
        let mut case = Self::of_kind(kind, Some("the journal".into()));
        case.name += ", the journal in a file";
        case.image.resize(SIZE + case.plan.marker.place.file_bytes() as usize, 0);
        case
    }

    /// What is shifted, large enough for the journal to keep an eighth of it: the least slots that have room for that.
    pub(crate) fn shifted(kind: ConversionKind, in_a_file: bool) -> Self {
        const SIZE: usize = 3 << 20;
        const SLOT: u64 = 136 << 10;
        let file = || in_a_file.then(|| PathBuf::from("the journal"));
        let mut case = match kind {
            ConversionKind::Encryption => {
                let mut case = Self::encryption(file(), SIZE, 4 * SLOT);
                let marker = &mut case.plan.marker;
                if !in_a_file {
                    let Slot { record, segment } = marker.place.slots[0];
                    let first = segment + 4 * marker.place.segment_bytes - 4 * SLOT;
                    marker.park -= segment - first;
                    let heads = std::mem::take(&mut marker.place.heads);
                    marker.place = SlotTable { heads, ..SlotTable::in_a_row(record, first, SLOT) };
                }
                case
            }
            _ => Self::of_a_volume(SIZE, |store, opened| veracrypt::decryption(store, opened, file())),
        };
        case.name = format!("{kind:?}, an eighth kept");
        if in_a_file {
            case.plan.marker.place = SlotTable { heads: case.heads(), ..SlotTable::in_a_file(SLOT) };
            case.name += ", the journal in a file";
            case.image.resize(SIZE + case.plan.marker.place.file_bytes() as usize, 0);
        }
        case
    }

    /// All conversions.
    pub(crate) fn all() -> Vec<Self> {
        let whole =
            [Self::new(ConversionKind::Reencryption), Self::with_a_file(ConversionKind::Reencryption)]
                .map(|case| Self { name: case.name + ", kept whole", plan: case.plan.kept_whole(), ..case });
        let shifted = [
            (ConversionKind::Encryption, false),
            (ConversionKind::Encryption, true),
            (ConversionKind::Decryption, true),
        ];
        let shifted = shifted.map(|(kind, in_a_file)| Self::shifted(kind, in_a_file));
        let free = [FreeSpace::Leave, FreeSpace::Fill, FreeSpace::Trim];
        let on_medium = KINDS.map(Self::new).into_iter().chain(free.map(Self::used_only));
        let all = on_medium.chain(Self::used_in_use()).chain(KINDS.map(Self::with_a_file));
        all.chain(whole).chain(shifted).collect()
    }

    fn heads(&self) -> Vec<u64> {
        self.plan.marker.place.heads.clone()
    }

    fn size(&self) -> u64 {
        self.plan.marker.size
    }

    /// What is converted, and the journal's file.
    fn parts<'a>(&self, medium: &'a dyn Medium) -> (Part<'a>, Option<Part<'a>>) {
        let part = |range| Part { medium, range };
        let file = part(self.size()..medium.size());
        (part(0..self.size()), (self.plan.marker.journal != JournalLocation::OnMedium).then_some(file))
    }

    /// Whether the conversion is found on it.
    pub(crate) fn is_found(&self, medium: &[u8]) -> bool {
        find(&MemStore::from_vec(medium[..self.size() as usize].to_vec())).expect("read").is_some()
    }

    fn encryption(file: Option<PathBuf>, size: usize, spare: u64) -> Self {
        let moved = veracrypt::content_capacity(size as u64, true) - spare;
        let image = Rng::new(1).bytes(size);
        let plain = image[..moved as usize].to_vec();
        let (store, new) = (MemStore::from_vec(image.clone()), secrets(NEW));
        let plan = veracrypt::encryption(&store, moved, &wish(&new, "aes"), file).expect("planned");
        Self::of(plan, image, plain)
    }

    fn of(plan: VeraCryptPlan, image: Vec<u8>, plain: Vec<u8>) -> Self {
        let used = std::iter::once(0..plain.len()).collect();
        Self { name: String::new(), plan, used, image, plain }
    }

    fn of_a_volume(
        size: usize,
        plan: impl Fn(&dyn Store, &Unlocked) -> Result<VeraCryptPlan, ConvertError>,
    ) -> Self {
        let store = Arc::new(MemStore::from_vec(Rng::new(2).bytes(size)));
        create(&store, &wish(&secrets(OLD), "aes"), &()).expect("created");
        let unlocked = opened(&store, OLD);
        let device = Device::new(Box::new(store.clone()), unlocked.layout.clone(), Access::ReadWrite);
        let device = device.expect("fits");
        let plain = Rng::new(3).bytes(device.size() as usize);
        device.write_at(&plain, 0).expect("written");
        let plan = plan(&store, &unlocked).expect("planned");
        Self::of(plan, store.snapshot(), plain)
    }

    /// From the beginning to wherever it ends.
    pub(crate) fn begin(&self, medium: &dyn Medium) -> Result<Stopped, ConvertError> {
        self.begin_giving_up(medium, None)
    }

    /// The same; what can't be read becomes zeros.
    pub(crate) fn begin_giving_up(
        &self,
        medium: &dyn Medium,
        lost: Option<&dyn LostSectors>,
    ) -> Result<Stopped, ConvertError> {
        let (store, file) = self.parts(medium);
        let mut conversion = self.plan.conversion(&store, file.as_ref().map(|file| file as &dyn Store))?;
        conversion.lost = lost;
        self.plan.begin(&conversion)?;
        conversion.run(false, &())
    }

    /// Goes on with what is found; `None` where nothing is.
    pub(crate) fn resume(&self, medium: &dyn Medium) -> Option<Result<Stopped, ConvertError>> {
        self.resume_giving_up(medium, None)
    }

    /// The same; what can't be read becomes zeros.
    pub(crate) fn resume_giving_up(
        &self,
        medium: &dyn Medium,
        lost: Option<&dyn LostSectors>,
    ) -> Option<Result<Stopped, ConvertError>> {
        let (store, file) = self.parts(medium);
        let journal = file.as_ref().map(|file| file as &dyn Store);
        let found = match find(&store) {
            Ok(found) => found?,
            Err(e) => return Some(Err(e.into())),
        };
        assert_eq!(found.marker.to_bytes(), self.plan.marker.to_bytes());
        let place = self.plan.marker.place.clone();
        let records = Journal::new(journal.unwrap_or(&store), &store, place, self.plan.marker.id);
        let is_begun = records.read().map(|held| held.is_some());
        if found.in_front || is_begun.unwrap_or(true) {
            // What tells how far it is tells what is left to be done, too: the list must be there as long as a record.
            if let Err(e) = veracrypt::how_far(&found, &store, journal) {
                return Some(Err(e));
            }
        }
        let mut conversion = self.plan.conversion(&store, journal).expect("random");
        conversion.lost = lost;
        Some(conversion.run(found.in_front, &()))
    }

    /// Whether it is as it was before, data and headers.
    pub(crate) fn is_untouched(&self, medium: &[u8]) -> bool {
        // What the journal is in was nobody's: padding, or behind the file system.
        let kept = match self.plan.marker.kind {
            ConversionKind::Encryption => 0..self.plain.len(),
            ConversionKind::Decryption => 0..self.size() as usize - 131_072 + 512,
            ConversionKind::Reencryption => HEADERS_BYTES as usize..self.size() as usize - 131_072 + 512,
        };
        medium[kept.clone()] == self.image[kept] && medium[..512] == self.image[..512]
    }

    /// Its content when everything is converted.
    pub(crate) fn content(&self, medium: &[u8]) -> Vec<u8> {
        let Some(key) = &self.plan.keys.new else { return medium[..self.plain.len()].to_vec() };
        let mut content = medium[HEADERS_BYTES as usize..][..self.plain.len()].to_vec();
        key.cipher.decrypt_sectors(&mut content, key.first_unit);
        content
    }

    /// Everything is converted, and nothing of the conversion is left.
    pub(crate) fn is_done(&self, medium: &[u8]) -> Result<(), String> {
        let content = self.content(medium);
        if self.used.iter().any(|range| content[range.clone()] != self.plain[range.clone()]) {
            return Err("the content is wrong".to_owned());
        }
        self.is_clean(medium)
    }

    /// Nothing of the conversion is left around the content.
    pub(crate) fn is_clean(&self, medium: &[u8]) -> Result<(), String> {
        let VeraCryptMarker { kind, new, .. } = &self.plan.marker;
        let check = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        if *kind == ConversionKind::Decryption {
            let (_, rest) = medium[..self.size() as usize].split_at(self.plain.len());
            let (rest, last) = rest.split_at(rest.len() - 4096);
            check(rest.iter().all(|byte| *byte == 0), "something is left behind the content")?;
            return check(VeraCryptMarker::parse(last).is_none(), "the conversion is still found");
        }
        for (place, header) in [HeaderPlace::Primary, HeaderPlace::BackupPrimary].into_iter().zip(new) {
            let at = place.offset(self.size()).expect("large enough") as usize;
            check(medium[at..at + 512] == *header.bytes(), &format!("the {place} is wrong"))?;
        }
        // A last page that was torn while it was wiped is found by nobody and tells nothing.
        check(!self.is_found(medium), "the conversion is still found")?;
        let id = &self.plan.marker.id;
        check(medium[..4096].windows(16).all(|w| w != id), "something of the marker is left in front")?;
        self.is_secret(medium)
    }

    /// No sector of the content lies open anywhere; what is free may, where it was to be
    /// left or trimmed.
    fn is_secret(&self, medium: &[u8]) -> Result<(), String> {
        let starts = |bytes: &[u8]| {
            bytes
                .chunks(512)
                .filter_map(|s| s.first_chunk::<16>().copied())
                .collect::<std::collections::HashSet<_>>()
        };
        // A discard is a wish.
        let plain = match self.plan.marker.used {
            Some(FreeSpace::Leave | FreeSpace::Trim) => {
                self.used.iter().flat_map(|range| starts(&self.plain[range.clone()])).collect()
            }
            Some(FreeSpace::Fill) | None => starts(&self.plain),
        };
        let open = medium.chunks(512).position(|s| s.first_chunk::<16>().is_some_and(|s| plain.contains(s)));
        open.map_or(Ok(()), |at| Err(format!("sector {at} lies open")))
    }
}

pub(crate) const KINDS: [ConversionKind; 3] =
    [ConversionKind::Encryption, ConversionKind::Decryption, ConversionKind::Reencryption];
