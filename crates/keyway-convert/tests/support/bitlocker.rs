//! Conversions of BitLocker volumes: what they begin with, and what is right in the end.

use keyway_convert::FreeSpace;
use keyway_convert::bitlocker::{BitLockerMedium, BitLockerPlan, EncryptionRequest, Next, find, next};
use keyway_convert::{ConversionKind, ConvertError, MARKER_BYTES, Progress, Stopped};
use keyway_engine::{Access, Device};
use keyway_fs::allocation::Allocation;
use keyway_secret::SecretBytes;
use keyway_store::{MemStore, Store};
use keyway_testkit::{Rng, require_tool};
use keyway_volume::bitlocker::{
    BOOT_BYTES, HEAD_BYTES, InPlace, Method, NewProtectors, Secret, StartupKey, UnlockRequest, Unlocked,
    Warning, is_volume, unlock,
};
use std::ops::ControlFlow;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a re-encryption makes of [`Method::Xts128`].
pub(crate) const NEW_METHOD: Method = Method::Cbc256;

/// Where the pointer stands in the first sector: in a boot loader's code. The write that puts it there, and
/// the one that takes it away, are the only ones after which a torn sector is not mended.
pub(crate) const POINTER: std::ops::Range<usize> = 216..252;

/// A conversion, and what it begins and ends with.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) image: Vec<u8>,
    pub(crate) key: Vec<u8>,
    pub(crate) kind: ConversionKind,
    /// Paused after so many segments, and then gone on with.
    pub(crate) pause: bool,
    pub(crate) used_only: bool,
    pub(crate) file_system_bytes: u64,
    /// What is in it, before or after.
    pub(crate) plain: Vec<u8>,
    /// Where the second marker was: a page that a cut in the very last write may leave on a file system,
    /// among bytes that were the metadata's.
    pub(crate) marker: std::ops::Range<usize>,
    /// Where the first sectors lay: their page goes just before that one.
    pub(crate) copy: std::ops::Range<usize>,
    /// Where the first sectors are kept in a volume: what a torn pointer leaves in the first one is there, too.
    pub(crate) boot: usize,
    /// It is to be in use meanwhile.
    pub(crate) in_use: bool,
    /// Bytes of a sector of the medium when it was encrypted, and so of the volume.
    pub(crate) sector_bytes: u32,
    /// What becomes of the space that is left out.
    pub(crate) free: FreeSpace,
    /// The journal keeps every segment whole.
    pub(crate) whole: bool,
}

pub(crate) fn key(bytes: &[u8]) -> [Secret; 1] {
    [Secret::StartupKey(startup_key(bytes))]
}

pub(crate) fn startup_key(bytes: &[u8]) -> StartupKey {
    StartupKey::parse(&SecretBytes::copy_of(bytes)).expect("a startup key")
}

pub(crate) fn opened(store: &dyn Store, bytes: &[u8]) -> Unlocked {
    unlock(store, &UnlockRequest::new(&key(bytes))).expect("opens")
}

pub(crate) fn content(store: &Arc<dyn Store>, bytes: &[u8]) -> Vec<u8> {
    let device = Device::new(Box::new(store.clone()), opened(store, bytes).layout, Access::ReadOnly);
    let device = device.expect("fits");
    let mut content = vec![0; device.size() as usize];
    device.read_at(&mut content, 0).expect("read");
    content
}

/// A random file system of nobody's that leaves room at the end, or a FAT that does not.
pub(crate) fn file_system(fat: bool) -> Option<(Vec<u8>, u64)> {
    if !fat {
        let room = keyway_convert::bitlocker::content_capacity(1 << 20);
        return Some((Rng::new(1).bytes(1 << 20), room - (96 << 10)));
    }
    let mkfs = require_tool("mkfs.fat")?;
    let file = tempfile::NamedTempFile::new().expect("temp");
    file.as_file().set_len(4 << 20).expect("sized");
    let done = Command::new(mkfs).args(["-F", "16", "-s", "1"]).arg(file.path()).output().expect("runs");
    assert!(done.status.success());
    let mut image = std::fs::read(file.path()).expect("read");
    // Free clusters hold what used to be there; the first ones are used by nobody's chain.
    let noise = Rng::new(9).bytes(1 << 20);
    let at = 2 << 20;
    image[at..at + noise.len()].copy_from_slice(&noise);
    Some((image, 4 << 20))
}

pub(crate) fn used_of_fat(image: &[u8]) -> Vec<std::ops::Range<u64>> {
    let map = Allocation::read(&MemStore::from_vec(image.to_vec())).expect("a FAT");
    map.used(image.len() as u64, 1)
}

impl Case {
    pub(crate) fn encryption(name: &'static str, fat: bool, pause: bool, used_only: bool) -> Option<Self> {
        Self::encryption_of(name, fat, pause, used_only, 512)
    }

    fn encryption_of(
        name: &'static str,
        fat: bool,
        pause: bool,
        used_only: bool,
        sector_bytes: u32,
    ) -> Option<Self> {
        let (image, file_system_bytes) = file_system(fat)?;
        let key = StartupKey::random().expect("random").to_bytes().to_vec();
        let case = Self {
            name,
            image,
            key,
            kind: ConversionKind::Encryption,
            pause: false,
            used_only,
            file_system_bytes,
            plain: vec![],
            marker: 0..0,
            copy: 0..0,
            boot: 0,
            in_use: false,
            sector_bytes,
            free: FreeSpace::Leave,
            whole: false,
        };
        // What comes out without any cut is held against the file system, and then the others against it.
        let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(case.image.clone()));
        let boot = case.plan(&store).expect("planned").mark().boot.start as usize;
        assert_eq!(case.begin(&store).expect("encrypted"), Stopped::Done);
        let plain = content(&store, &case.key);
        case.is_the_file_system(&plain, fat);
        Some(Self { pause, plain, boot, ..case })
    }

    pub(crate) fn decryption(name: &'static str, fat: bool, pause: bool) -> Option<Self> {
        let case = Self::encryption("", fat, false, false)?;
        let image = case.image.clone();
        let case = case.turned_round(name, pause);
        // It gets its clusters back: its map is what it was.
        Some(if fat { Self { plain: image, ..case } } else { case })
    }

    /// A conversion of a volume with sectors of that size.
    pub(crate) fn of_sectors(name: &'static str, kind: ConversionKind, sector_bytes: u32) -> Option<Self> {
        let case = Self::encryption_of(name, false, false, false, sector_bytes)?;
        Some(match kind {
            ConversionKind::Encryption => case,
            ConversionKind::Decryption => case.turned_round(name, false),
            ConversionKind::Reencryption => case.turned_round(name, false).with_another_method(),
        })
    }

    /// The decryption of what an encryption gives.
    fn turned_round(self, name: &'static str, pause: bool) -> Self {
        let case = self;
        let store = Arc::new(MemStore::from_vec(case.image.clone()));
        let shared: Arc<dyn Store> = store.clone();
        case.begin(&shared).expect("encrypted");
        let block = opened(&store, &case.key).opened.metadata.block().clone();
        let [_, _, third] = block.copies;
        let page = |at: usize| at..at + MARKER_BYTES;
        let (marker, copy) = (page(third as usize + HEAD_BYTES), page(block.boot_backup as usize));
        Self { name, image: store.snapshot(), kind: ConversionKind::Decryption, pause, marker, copy, ..case }
    }

    /// A volume with NTFS in it, which is kept off the metadata by bad clusters.
    pub(crate) fn of_ntfs(bytes: u64, cluster: u64) -> Option<Self> {
        let mkfs = require_tool("mkfs.ntfs")?;
        let file = tempfile::NamedTempFile::new().expect("temp");
        file.as_file().set_len(bytes).expect("sized");
        let cluster = cluster.to_string();
        let words = ["-q", "-F", "-Q", "-c", &cluster];
        let done = Command::new(mkfs).args(words).arg(file.path()).output().expect("runs");
        assert!(done.status.success());
        let mut case = Self::encryption("", false, false, false)?;
        case.plain = std::fs::read(file.path()).expect("read");
        case.image = case.plain.clone();
        case.file_system_bytes = bytes;
        let store = Arc::new(MemStore::from_vec(case.image.clone()));
        assert_eq!(case.begin(&(store.clone() as Arc<dyn Store>)).expect("encrypted"), Stopped::Done);
        case.image = store.snapshot();
        case.kind = ConversionKind::Decryption;
        Some(case)
    }

    /// A volume with another method and data key, from what an encryption gives.
    pub(crate) fn reencryption(name: &'static str, fat: bool, pause: bool, used_only: bool) -> Option<Self> {
        let case = Self::encryption("", fat, false, false)?.turned_round(name, pause).with_another_method();
        Some(Self { used_only, ..case })
    }

    fn with_another_method(self) -> Self {
        Self { kind: ConversionKind::Reencryption, marker: 0..0, copy: 0..0, ..self }
    }

    /// The same bytes wherever the file system had any, but for the sectors that say which clusters are bad.
    pub(crate) fn is_the_file_system(&self, plain: &[u8], fat: bool) {
        if !fat {
            let end = self.file_system_bytes as usize;
            return assert!(self.image[..end] == plain[..end]);
        }
        let used = used_of_fat(&self.image);
        let sectors = used.iter().flat_map(|range| (range.start..range.end).step_by(512));
        let differ = sectors.filter(|at| {
            let range = *at as usize..*at as usize + 512;
            self.image[range.clone()] != plain[range]
        });
        // Two tables.
        assert!((2..=8).contains(&differ.count()));
    }

    pub(crate) fn plan(&self, store: &Arc<dyn Store>) -> Result<BitLockerPlan, ConvertError> {
        if self.kind != ConversionKind::Encryption {
            let unlocked = unlock(store, &UnlockRequest::new(&key(&self.key)))?;
            return match self.kind {
                ConversionKind::Decryption => {
                    self.for_use(BitLockerPlan::of_volume(store, unlocked, ConversionKind::Decryption, None)?)
                }
                _ => self.for_use(BitLockerPlan::reencryption(
                    store,
                    unlocked,
                    NEW_METHOD,
                    self.used_only,
                    None,
                )?),
            };
        }
        let protectors =
            NewProtectors { startup_key: Some(startup_key(&self.key)), ..NewProtectors::default() };
        let volume = InPlace {
            protectors: &protectors,
            method: Method::Xts128,
            used_space_only: self.used_only,
            description: "a test",
        };
        let wanted = EncryptionRequest {
            volume,
            file_system_bytes: self.file_system_bytes,
            journal: None,
            in_use: self.in_use,
        };
        // Nothing is written: what it looks at may as well be a copy.
        let mut copy = vec![0; store.size() as usize];
        store.read_at(&mut copy, 0)?;
        let copy = MemStore::from_vec(copy).with_sector_bytes(self.sector_bytes);
        self.for_use(BitLockerPlan::encryption(&copy, &wanted)?.of_free(self.free)?)
    }

    pub(crate) fn kept_whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// What is converted in place, with sums and parity in the journal: all but what the volume's own things have.
    pub(crate) fn in_place(&self) -> Vec<std::ops::Range<u64>> {
        if self.whole {
            return vec![];
        }
        let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(self.image.clone()));
        let plan = self.plan(&store).expect("planned");
        let mark = plan.mark();
        let copy = |at: &u64| *at..*at + 2 * HEAD_BYTES as u64;
        let journal = mark.place.segments();
        let mut others: Vec<_> =
            mark.copies.iter().map(copy).chain(std::iter::once(0..BOOT_BYTES)).chain(journal).collect();
        others.sort_by_key(|range| range.start);
        let mut from = 0;
        let mut left = Vec::new();
        for other in others.into_iter().chain(std::iter::once(self.image.len() as u64..0)) {
            if from < other.start {
                left.push(from..other.start);
            }
            from = from.max(other.end);
        }
        left
    }

    fn for_use(&self, plan: BitLockerPlan) -> Result<BitLockerPlan, ConvertError> {
        let plan = if self.whole { plan.kept_whole() } else { plan };
        if self.in_use { plan.for_use() } else { Ok(plan) }
    }

    pub(crate) fn begin(&self, store: &Arc<dyn Store>) -> Result<Stopped, ConvertError> {
        let stopped = self.run(&self.plan(store)?, store, self.pause)?;
        if stopped == Stopped::Paused { self.resume(store) } else { Ok(stopped) }
    }

    pub(crate) fn run(
        &self,
        plan: &BitLockerPlan,
        store: &dyn Store,
        pause: bool,
    ) -> Result<Stopped, ConvertError> {
        let segments = AtomicU64::new(0);
        // Used space only has few; before the marker is in front nothing is paused.
        let last = if self.used_only { 0 } else { 8 };
        let stop = |_: u64, _: u64| match segments.fetch_add(1, Ordering::Relaxed) {
            n if pause && n >= last => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let progress: &dyn Progress = &stop;
        plan.run(&plan.conversion(store, None)?, progress)
    }

    /// Goes on until nothing is left to do. What had not begun is begun again.
    pub(crate) fn resume(&self, store: &Arc<dyn Store>) -> Result<Stopped, ConvertError> {
        let secret = key(&self.key);
        let request = UnlockRequest::new(&secret);
        if find(store)?.is_none() && !is_volume(store)? {
            return match self.kind {
                ConversionKind::Decryption => Ok(Stopped::Done),
                _ => self.run(&self.plan(store)?, store, false),
            };
        }
        match next(store, &request, None)? {
            Next::Run(plan) => self.run(&plan, store, false),
            Next::Nothing(BitLockerMedium::FileSystem | BitLockerMedium::Untouched) => {
                self.run(&self.plan(store)?, store, false)
            }
            Next::Nothing(BitLockerMedium::Decrypted) => Ok(Stopped::Done),
            // Cut before anything of it was on the medium.
            Next::Nothing(BitLockerMedium::Volume) if !self.has_come_to_its_end(store) => {
                self.run(&self.plan(store)?, store, false)
            }
            Next::Nothing(BitLockerMedium::Volume) => Ok(Stopped::Done),
        }
    }

    /// Whether a volume that is whole is what the conversion gives.
    pub(crate) fn has_come_to_its_end(&self, store: &dyn Store) -> bool {
        match self.kind {
            ConversionKind::Encryption => true,
            ConversionKind::Decryption => false,
            ConversionKind::Reencryption => opened(store, &self.key).info.cipher == NEW_METHOD,
        }
    }

    pub(crate) fn is_done(&self, medium: &[u8]) -> Result<(), String> {
        let check = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(medium.to_vec()));
        check(find(&store).expect("read").is_none(), "the conversion is still found")?;
        if self.kind == ConversionKind::Decryption {
            return self.same(medium, "the file system is wrong");
        }
        let unlocked = opened(&store, &self.key);
        // A pointer that was torn while it was taken away stays in the loader's code, and is told.
        if unlocked.warnings.iter().any(|warning| *warning != Warning::BootSector) {
            return Err(format!("there are warnings: {:?}", unlocked.warnings));
        }
        if !unlocked.warnings.is_empty() {
            let mended = MemStore::from_vec(medium.to_vec());
            unlocked.opened.repair(&mended).expect("mended");
            let differ = medium.iter().zip(mended.snapshot()).map(|(was, is)| *was != is);
            let elsewhere = differ.enumerate().any(|(at, differs)| differs && !POINTER.contains(&at));
            check(!elsewhere, "more than the pointer is damaged")?;
        }
        check(unlocked.info.percentage_encrypted == 100.0, "not all of it is encrypted")?;
        let plain = content(&store, &self.key);
        self.same(&plain, "the content is wrong")?;
        check(self.has_come_to_its_end(&store), "it has another method")?;
        match self.free {
            FreeSpace::Fill => Self::is_hidden(&self.image, medium),
            // What is free stays as it is, and that is what was asked for.
            FreeSpace::Leave | FreeSpace::Trim if self.used_only => Ok(()),
            FreeSpace::Leave | FreeSpace::Trim => self.is_secret(medium),
        }
    }

    /// The content, the pointer's place and the free bytes that the journal had excepted.
    pub(crate) fn same(&self, plain: &[u8], what: &str) -> Result<(), String> {
        let used = match self.file_system_bytes {
            bytes if bytes < 1 << 20 => std::iter::once(0..bytes).collect(),
            _ => used_of_fat(&self.plain),
        };
        let mut differ = used.into_iter().flat_map(|range| range.start as usize..range.end as usize);
        // The first page is there three times: itself, with the first sectors, and, where a FAT begins in it, among the
        // pages that wait behind those.
        let firsts = [0, self.boot, self.boot + BOOT_BYTES as usize];
        let in_pointer = |at: usize| {
            firsts.iter().any(|first| at.checked_sub(*first).is_some_and(|at| POINTER.contains(&at)))
        };
        let excepted = |at: &usize| in_pointer(*at) || self.marker.contains(at) || self.copy.contains(at);
        let wrong = differ.find(|at| !excepted(at) && plain[*at] != self.plain[*at]);
        wrong.map_or(Ok(()), |at| Err(format!("{what} at {at}")))
    }

    /// No sector of the content lies open anywhere.
    pub(crate) fn is_secret(&self, medium: &[u8]) -> Result<(), String> {
        Self::is_hidden(&self.plain, medium)
    }

    pub(crate) fn is_hidden(content: &[u8], medium: &[u8]) -> Result<(), String> {
        let starts: std::collections::HashSet<&[u8]> =
            content.chunks(512).map(|s| &s[..16]).filter(|s| s.iter().any(|byte| *byte != 0)).collect();
        let open = medium.chunks(512).position(|sector| starts.contains(&sector[..16]));
        open.map_or(Ok(()), |at| Err(format!("sector {at} lies open")))
    }
}
