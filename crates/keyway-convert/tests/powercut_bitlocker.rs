//! The power of the real code fails before every write and flush of each conversion of a BitLocker volume,
//! over and over; afterwards the conversion is resumed and every byte is right.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod support;

use keyway_convert::bitlocker::{Left, Next, Plan, Wish, find, next, release};
use keyway_convert::{ConvertError, Kind, MARKER_BYTES, Progress, Stopped};
use keyway_engine::{Access, Device};
use keyway_secret::SecretBytes;
use keyway_store::{FaultPlan, FaultStore, MemStore, Store};
use keyway_testkit::{Rng, require_tool};
use keyway_volume::allocation::Allocation;
use keyway_volume::bitlocker::{
    BOOT_BYTES, HEAD_BYTES, InPlace, Method, NewProtectors, Secret, StartupKey, UnlockRequest, Unlocked,
    is_volume, unlock,
};
use std::ops::ControlFlow;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use support::Power;
use support::cuts::{Interrupted, cut_over_and_over};

/// What a re-encryption makes of [`Method::Xts128`].
const NEW_METHOD: Method = Method::Cbc256;

/// Where the pointer stands in the first sector: in a boot loader's code. The write that puts it there, and
/// the one that takes it away, are the only ones after which a torn sector is not mended.
const POINTER: std::ops::Range<usize> = 216..252;

/// A conversion, and what it begins and ends with.
struct Case {
    name: &'static str,
    image: Vec<u8>,
    key: Vec<u8>,
    kind: Kind,
    /// Paused after so many segments, and then gone on with.
    pause: bool,
    used_only: bool,
    file_system_bytes: u64,
    /// What is in it, before or after.
    plain: Vec<u8>,
    /// Where the second marker was: the one page that a cut in the very last write may leave on a file
    /// system, among bytes that were the metadata's.
    marker: std::ops::Range<usize>,
    /// Where the first sectors are kept in a volume: what a torn pointer leaves in the first one is there, too.
    boot: usize,
}

fn key(bytes: &[u8]) -> [Secret; 1] {
    [Secret::StartupKey(startup_key(bytes))]
}

fn startup_key(bytes: &[u8]) -> StartupKey {
    StartupKey::parse(&SecretBytes::copy_of(bytes)).expect("a startup key")
}

fn opened(store: &dyn Store, bytes: &[u8]) -> Unlocked {
    unlock(store, &UnlockRequest::new(&key(bytes))).expect("opens")
}

fn content(store: &Arc<dyn Store>, bytes: &[u8]) -> Vec<u8> {
    let device = Device::new(Box::new(store.clone()), opened(store, bytes).layout, Access::ReadOnly);
    let device = device.expect("fits");
    let mut content = vec![0; device.size() as usize];
    device.read_at(&mut content, 0).expect("read");
    content
}

/// A random file system of nobody's that leaves room at the end, or a FAT that does not.
fn file_system(fat: bool) -> Option<(Vec<u8>, u64)> {
    if !fat {
        let room = keyway_convert::bitlocker::room(1 << 20);
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

fn used_of_fat(image: &[u8]) -> Vec<std::ops::Range<u64>> {
    let map = Allocation::read(&MemStore::from_vec(image.to_vec())).expect("a FAT");
    map.used(image.len() as u64, 1)
}

impl Case {
    fn encryption(name: &'static str, fat: bool, pause: bool, used_only: bool) -> Option<Self> {
        let (image, file_system_bytes) = file_system(fat)?;
        let key = StartupKey::random().expect("random").to_bytes().to_vec();
        let case = Self {
            name,
            image,
            key,
            kind: Kind::Encryption,
            pause: false,
            used_only,
            file_system_bytes,
            plain: vec![],
            marker: 0..0,
            boot: 0,
        };
        // What comes out without any cut is held against the file system, and then the others against it.
        let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(case.image.clone()));
        let boot = case.plan(&store).expect("planned").mark().boot.start as usize;
        assert_eq!(case.begin(&store).expect("encrypted"), Stopped::Done);
        let plain = content(&store, &case.key);
        case.is_the_file_system(&plain, fat);
        Some(Self { pause, plain, boot, ..case })
    }

    fn decryption(name: &'static str, fat: bool, pause: bool) -> Option<Self> {
        let case = Self::encryption("", fat, false, false)?;
        let store = Arc::new(MemStore::from_vec(case.image.clone()));
        let shared: Arc<dyn Store> = store.clone();
        case.begin(&shared).expect("encrypted");
        let [_, _, third] = opened(&store, &case.key).opened.metadata.block().copies;
        let at = third as usize + HEAD_BYTES;
        let marker = at..at + MARKER_BYTES;
        Some(Self { name, image: store.snapshot(), kind: Kind::Decryption, pause, marker, ..case })
    }

    /// A volume with another method and data key, from what an encryption gives.
    fn reencryption(name: &'static str, fat: bool, pause: bool, used_only: bool) -> Option<Self> {
        let case = Self::decryption(name, fat, pause)?;
        Some(Self { kind: Kind::Reencryption, used_only, marker: 0..0, ..case })
    }

    /// The same bytes wherever the file system had any, but for the sectors that say which clusters are bad.
    fn is_the_file_system(&self, plain: &[u8], fat: bool) {
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

    fn plan(&self, store: &Arc<dyn Store>) -> Result<Plan, ConvertError> {
        if self.kind != Kind::Encryption {
            let unlocked = unlock(store, &UnlockRequest::new(&key(&self.key)))?;
            return match self.kind {
                Kind::Decryption => Plan::of_volume(store, unlocked, Kind::Decryption, None),
                _ => Plan::reencryption(store, unlocked, NEW_METHOD, self.used_only, None),
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
        let wish = Wish { volume, file_system_bytes: self.file_system_bytes, journal: None };
        Plan::encryption(store, &wish)
    }

    fn begin(&self, store: &Arc<dyn Store>) -> Result<Stopped, ConvertError> {
        let stopped = self.run(&self.plan(store)?, store, self.pause)?;
        if stopped == Stopped::Paused { self.resume(store) } else { Ok(stopped) }
    }

    fn run(&self, plan: &Plan, store: &dyn Store, pause: bool) -> Result<Stopped, ConvertError> {
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
    fn resume(&self, store: &Arc<dyn Store>) -> Result<Stopped, ConvertError> {
        let secret = key(&self.key);
        let request = UnlockRequest::new(&secret);
        if find(store)?.is_none() && !is_volume(store)? {
            return match self.kind {
                Kind::Decryption => Ok(Stopped::Done),
                _ => self.run(&self.plan(store)?, store, false),
            };
        }
        match next(store, &request, None)? {
            Next::Run(plan) => self.run(&plan, store, false),
            Next::Nothing(Left::FileSystem | Left::Untouched) => self.run(&self.plan(store)?, store, false),
            Next::Nothing(Left::Decrypted) => Ok(Stopped::Done),
            // Cut before anything of it was on the medium.
            Next::Nothing(Left::Volume) if !self.has_come_to_its_end(store) => {
                self.run(&self.plan(store)?, store, false)
            }
            Next::Nothing(Left::Volume) => Ok(Stopped::Done),
        }
    }

    /// Whether a volume that is whole is what the conversion gives.
    fn has_come_to_its_end(&self, store: &dyn Store) -> bool {
        match self.kind {
            Kind::Encryption => true,
            Kind::Decryption => false,
            Kind::Reencryption => opened(store, &self.key).info.cipher == NEW_METHOD,
        }
    }

    fn is_done(&self, medium: &[u8]) -> Result<(), String> {
        let check = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(medium.to_vec()));
        check(find(&store).expect("read").is_none(), "the conversion is still found")?;
        if self.kind == Kind::Decryption {
            return self.same(medium, "the file system is wrong");
        }
        let unlocked = opened(&store, &self.key);
        check(unlocked.warnings.is_empty(), "there are warnings")?;
        check(unlocked.info.percentage_encrypted == 100.0, "not all of it is encrypted")?;
        let plain = content(&store, &self.key);
        self.same(&plain, "the content is wrong")?;
        check(self.has_come_to_its_end(&store), "it has another method")?;
        // What is free stays as it is, and that is what was asked for.
        if self.used_only { Ok(()) } else { self.is_secret(medium) }
    }

    /// The content, the pointer's place and the free bytes that the journal had excepted.
    fn same(&self, plain: &[u8], what: &str) -> Result<(), String> {
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
        let excepted = |at: &usize| in_pointer(*at) || self.marker.contains(at);
        let wrong = differ.find(|at| !excepted(at) && plain[*at] != self.plain[*at]);
        wrong.map_or(Ok(()), |at| Err(format!("{what} at {at}")))
    }

    /// No sector of the content lies open anywhere.
    fn is_secret(&self, medium: &[u8]) -> Result<(), String> {
        let starts: std::collections::HashSet<&[u8]> =
            self.plain.chunks(512).map(|s| &s[..16]).filter(|s| s.iter().any(|byte| *byte != 0)).collect();
        let open = medium.chunks(512).position(|sector| starts.contains(&sector[..16]));
        open.map_or(Ok(()), |at| Err(format!("sector {at} lies open")))
    }
}

fn cases() -> Vec<Case> {
    let cases = [
        Case::encryption("encryption, metadata at the end", false, false, false),
        Case::encryption("encryption of a FAT", true, false, false),
        Case::encryption("encryption, paused", true, true, false),
        Case::encryption("used space only", true, false, true),
        Case::reencryption("re-encryption", false, false, false),
        Case::reencryption("re-encryption of a FAT, paused", true, true, false),
        Case::reencryption("re-encryption, used space only", true, false, true),
        Case::decryption("decryption", false, false),
        Case::decryption("decryption of a FAT, paused", true, true),
    ];
    cases.into_iter().flatten().collect()
}

/// Cuts that each conversion is put through, at least: of each kind as many.
fn cuts_wanted(cases: &[Case], case: &Case) -> u64 {
    let same = cases.iter().filter(|other| other.kind == case.kind).count() as u64;
    if std::env::var_os("KEYWAY_SLOW").is_some() { 16_800 / same } else { 750 / same }
}

impl Interrupted for Case {
    fn name(&self) -> &str {
        self.name
    }

    fn image(&self) -> &[u8] {
        &self.image
    }

    fn begin(&self, power: &Arc<Power>) -> Result<Stopped, ConvertError> {
        let store: Arc<dyn Store> = power.clone();
        self.begin(&store)
    }

    fn resume(&self, power: &Arc<Power>) -> Option<Result<Stopped, ConvertError>> {
        let store: Arc<dyn Store> = power.clone();
        Some(self.resume(&store))
    }

    fn is_untouched(&self, _medium: &[u8]) -> bool {
        // What had not begun is begun again.
        false
    }

    fn is_done(&self, medium: &[u8]) -> Result<(), String> {
        self.is_done(medium)
    }
}

#[test]
fn every_byte_is_right_after_any_loss_of_power() {
    let cases = cases();
    for case in &cases {
        cut_over_and_over(case, cuts_wanted(&cases, case));
    }
}

#[test]
fn every_single_error_is_an_error_and_resume_goes_on() {
    for case in cases() {
        let whole = Arc::new(FaultStore::new(MemStore::from_vec(case.image.clone()), FaultPlan::default()));
        let shared: Arc<dyn Store> = whole.clone();
        case.begin(&shared).expect("nothing fails");
        let steps = whole.steps();
        for n in (0..steps).step_by(if std::env::var_os("KEYWAY_SLOW").is_some() { 7 } else { 41 }) {
            let plans = [
                FaultPlan { writes_fail_from: Some((n, 5)), survivors: Some(n), ..FaultPlan::default() },
                FaultPlan { flushes_fail_from: Some(n), survivors: Some(n), ..FaultPlan::default() },
                FaultPlan { reads_fail_from: Some(n), survivors: Some(n), ..FaultPlan::default() },
            ];
            for plan in plans {
                let faulty = Arc::new(FaultStore::new(MemStore::from_vec(case.image.clone()), plan.clone()));
                let shared: Arc<dyn Store> = faulty.clone();
                let result = case.begin(&shared);
                drop(shared);
                let faulty = Arc::into_inner(faulty).expect("nobody else");
                let left: Arc<MemStore> = Arc::new(faulty.into_medium().expect("a medium"));
                if let Ok(done) = result {
                    assert_eq!(done, Stopped::Done, "there are fewer of these than steps");
                }
                let shared: Arc<dyn Store> = left.clone();
                let resumed = case.resume(&shared);
                assert_eq!(resumed.expect("goes on"), Stopped::Done, "{}, {plan:?}", case.name);
                let done = case.is_done(&left.snapshot());
                assert!(done.is_ok(), "{}, {plan:?}: {done:?}", case.name);
            }
        }
    }
}

/// A paused volume is an ordinary one: it opens, tells how far it is, can be written, and goes on.
#[test]
fn a_paused_volume_is_whole_and_both_ways_lead_on() {
    for used_only in [false, true] {
        let Some(case) = Case::encryption("paused", true, true, used_only) else { return };
        let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(case.image.clone()));
        let plan = case.plan(&store).expect("planned");
        assert_eq!(case.run(&plan, &store, true).expect("runs"), Stopped::Paused);
        assert!(find(&store).expect("read").is_none(), "nothing of the run is left");
        let unlocked = opened(&store, &case.key);
        assert!(unlocked.read_only.is_none());
        let percent = unlocked.info.percentage_encrypted;
        assert!(percent > 0.5 && percent < 99.0, "{percent}");
        case.same(&content(&store, &case.key), "paused").expect("whole");
        // Back from here.
        let unlocked = opened(&store, &case.key);
        let back = Plan::of_volume(&store, unlocked, Kind::Decryption, None).expect("planned");
        assert_eq!(case.run(&back, &store, false).expect("runs"), Stopped::Done);
        assert!(!is_volume(&store).expect("read"));
        assert!(release(&store, back.mark()).expect("a FAT"));
        assert!(!release(&store, back.mark()).expect("a FAT"));
    }
}
