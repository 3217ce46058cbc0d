//! The power fails before every single write and flush of everything that touches headers: the
//! volume opens with the old or the new secret, and its data is as it was.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod filled_support;

use filled_support::fill;
use keyway_engine::{Access, Device};
use keyway_secret::SecretBytes;
use keyway_store::{FaultPlan, FaultStore, MemStore, Operation, Store, StoreError};
use keyway_testkit::Rng;
use keyway_volume::veracrypt::{
    Fill, KeysGuard, NewVolume, RestoreFrom, UnlockRequest, change, create, create_hidden, header_backup,
    header_restore, unlock,
};
use keyway_volume::{Format, HashName, Secrets};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const SIZE: usize = 512 * 1024;
const OLD: &str = "the old password of the volume";
const NEW: &str = "the new password of the volume";
const HIDDEN: &str = "the password of the hidden volume";

/// With this seed the first two unflushed sectors survive.
const KEEPS: u64 = 3;

/// Sector sizes, with what a lost cache leaves: nothing of it, or the sectors that a seed chooses.
fn media() -> Vec<(u32, Option<u64>)> {
    let few = vec![(512, None), (512, Some(KEEPS)), (4096, Some(KEEPS))];
    if std::env::var_os("KEYWAY_SLOW").is_none() {
        return few;
    }
    let seeds = (0..8).map(|seed| (4096, Some(seed)));
    few.into_iter().chain([(4096, None)]).chain(seeds).collect()
}

fn secrets(password: &str) -> Secrets {
    Secrets { password: SecretBytes::copy_of(password.as_bytes()), keyfiles: vec![], pim: Some(1) }
}

fn quick(secrets: &Secrets) -> NewVolume<'_> {
    let cipher = "aes".parse().expect("a cipher");
    NewVolume { secrets, cipher, hash: HashName::Sha512, fill: Fill::Quick }
}

fn request(secrets: &Secrets) -> UnlockRequest<'_> {
    let (format, hash) = (Some(Format::VeraCrypt), Some(HashName::Sha512));
    UnlockRequest { format, hash, ..UnlockRequest::new(secrets) }
}

/// An outer and a hidden volume, and their image.
fn pair() -> Vec<u8> {
    let store = Arc::new(MemStore::from_vec(Rng::new(3).bytes(SIZE)));
    create(&store, &quick(&secrets(OLD)), &()).expect("created");
    create_hidden(&store, 128 << 10, &quick(&secrets(HIDDEN)), None, &()).expect("created");
    [OLD, HIDDEN].into_iter().for_each(|password| fill(&store, &request(&secrets(password))));
    store.snapshot()
}

/// All of the data, if the password opens the volume.
fn data(store: &Arc<MemStore>, password: &str) -> Option<Vec<u8>> {
    let unlocked = unlock(store, &request(&secrets(password))).ok()?;
    let device = Device::new(Box::new(store.clone()), unlocked.layout, Access::ReadOnly).expect("fits");
    let mut data = vec![0; device.size() as usize];
    device.read_at(&mut data, 0).expect("read");
    Some(data)
}

/// What must hold after a cut: one of the passwords opens the volume, and this is its data.
struct Promise<'a> {
    passwords: &'a [&'a str],
    data: Vec<u8>,
}

impl Promise<'_> {
    fn holds(&self, medium: &Arc<MemStore>, when: &str) {
        let found = self.passwords.iter().find_map(|password| data(medium, password));
        assert!(found.is_some(), "{when}: none of {:?} opens it", self.passwords);
        assert!(found.as_ref() == Some(&self.data), "{when}: the data is lost");
    }
}

/// Cuts the power before each step of `work` on a volume with this image.
fn cut_everywhere(image: &[u8], work: impl Fn(&dyn Store) -> bool, promises: &[Promise<'_>]) {
    for (sector_bytes, survivors) in media() {
        let medium = || MemStore::from_vec(image.to_vec()).with_sector_bytes(sector_bytes);
        let whole = FaultStore::new(medium(), FaultPlan::default());
        assert!(work(&whole), "it works when nothing fails");
        let steps = whole.steps();
        assert!(steps >= 2);
        for cut in 0..steps {
            let plan = FaultPlan { power_cut_before: Some(cut), survivors, ..FaultPlan::default() };
            let store = FaultStore::new(medium(), plan);
            assert!(!work(&store), "a cut is an error");
            let left = Arc::new(store.into_medium().expect("a medium"));
            for promise in promises {
                promise.holds(&left, &format!("cut before step {cut} of {steps}, survivors {survivors:?}"));
            }
        }
    }
}

fn promise<'a>(image: &[u8], password: &str, passwords: &'a [&'a str]) -> Promise<'a> {
    let store = Arc::new(MemStore::from_vec(image.to_vec()));
    Promise { passwords, data: data(&store, password).expect("opens") }
}

#[test]
fn changing_the_outer_volume() {
    let image = pair();
    let promises = [promise(&image, OLD, &[OLD, NEW]), promise(&image, HIDDEN, &[HIDDEN])];
    let old = secrets(OLD);
    cut_everywhere(&image, |store| change(store, &request(&old), &secrets(NEW), None).is_ok(), &promises);
}

#[test]
fn changing_the_hidden_volume() {
    let image = pair();
    let promises = [promise(&image, HIDDEN, &[HIDDEN, NEW]), promise(&image, OLD, &[OLD])];
    let old = secrets(HIDDEN);
    cut_everywhere(&image, |store| change(store, &request(&old), &secrets(NEW), None).is_ok(), &promises);
}

#[test]
fn changing_with_one_good_copy_only() {
    for damaged in [0, SIZE - 131_072] {
        let mut image = pair();
        image[damaged..damaged + 512].copy_from_slice(&Rng::new(5).bytes(512));
        let promises = [promise(&image, OLD, &[OLD, NEW])];
        let old = secrets(OLD);
        cut_everywhere(&image, |store| change(store, &request(&old), &secrets(NEW), None).is_ok(), &promises);
    }
}

fn restore(store: &dyn Store, from: RestoreFrom<'_>, password: &str) -> bool {
    header_restore(store, from, &request(&secrets(password)), KeysGuard::Same).is_ok()
}

fn backup_of(image: &[u8], to: &Path) {
    let store = MemStore::from_vec(image.to_vec());
    header_backup(&store, &request(&secrets(OLD)), Some(&secrets(HIDDEN)), to).expect("backed up");
}

#[test]
fn restoring_from_a_file() {
    let dir = tempfile::tempdir().expect("temp");
    let file = dir.path().join("headers");
    let image = pair();
    backup_of(&image, &file);
    // Over a good volume whose password has changed since.
    let store = MemStore::from_vec(image.clone());
    change(&store, &request(&secrets(OLD)), &secrets(NEW), None).expect("changed");
    let changed = store.snapshot();
    let promises = [promise(&image, OLD, &[OLD, NEW]), promise(&image, HIDDEN, &[HIDDEN])];
    cut_everywhere(&changed, |store| restore(store, RestoreFrom::File(&file), OLD), &promises);
    // The hidden one's, over a good one.
    let promises = [promise(&image, HIDDEN, &[HIDDEN]), promise(&image, OLD, &[OLD])];
    cut_everywhere(&image, |store| restore(store, RestoreFrom::File(&file), HIDDEN), &promises);
}

#[test]
fn restoring_from_the_embedded_copy() {
    let mut image = pair();
    let promises = [promise(&image, OLD, &[OLD]), promise(&image, HIDDEN, &[HIDDEN])];
    image[..512].copy_from_slice(&Rng::new(5).bytes(512));
    cut_everywhere(&image, |store| restore(store, RestoreFrom::Embedded, OLD), &promises);
}

#[test]
fn making_a_hidden_volume_leaves_the_outer_header_and_its_files_alone() {
    let image = pair();
    // The outer volume's files lie before the hidden one.
    let files = |store: &Arc<MemStore>| {
        let mut data = data(store, OLD)?;
        data.truncate(96 << 10);
        Some(data)
    };
    let before = files(&Arc::new(MemStore::from_vec(image.clone()))).expect("opens");
    let whole = FaultStore::new(MemStore::from_vec(image.clone()), FaultPlan::default());
    let make = |store: &dyn Store| create_hidden(store, 128 << 10, &quick(&secrets(NEW)), None, &()).is_ok();
    assert!(make(&whole));
    for cut in 0..whole.steps() {
        for (_, survivors) in media() {
            let plan = FaultPlan { power_cut_before: Some(cut), survivors, ..FaultPlan::default() };
            let store = FaultStore::new(MemStore::from_vec(image.clone()), plan);
            assert!(!make(&store));
            let left = Arc::new(store.into_medium().expect("a medium"));
            assert!(files(&left).as_ref() == Some(&before), "cut before {cut}");
        }
    }
}

/// A medium that is not even atomic by the sector: the write at which the power fails leaves half
/// of the sector new and half of it noise.
struct Tearing {
    inner: Arc<MemStore>,
    writes_left: AtomicU64,
}

impl Store for Tearing {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.inner.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let gone = || {
            let reason = std::io::Error::from_raw_os_error(5);
            Err(StoreError::new(Operation::Write, "the torn store", offset, buf.len(), reason))
        };
        match self.writes_left.load(Ordering::SeqCst) {
            0 => gone(),
            1 => {
                self.writes_left.store(0, Ordering::SeqCst);
                let mut torn = Rng::new(offset).bytes(buf.len());
                torn[..buf.len() / 2].copy_from_slice(&buf[..buf.len() / 2]);
                self.inner.write_at(&torn, offset)?;
                gone()
            }
            left => {
                self.writes_left.store(left - 1, Ordering::SeqCst);
                self.inner.write_at(buf, offset)
            }
        }
    }
    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
    fn discard(&self, _: u64, _: u64) -> Result<(), StoreError> {
        Ok(())
    }
    fn size(&self) -> u64 {
        self.inner.size()
    }
    fn sector_bytes(&self) -> u32 {
        self.inner.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        false
    }
}

#[test]
fn a_torn_sector_costs_one_copy_only() {
    let image = pair();
    for (old, other) in [(OLD, HIDDEN), (HIDDEN, OLD)] {
        let passwords = [old, NEW];
        let promises =
            [promise(&image, old, &passwords), promise(&image, other, std::slice::from_ref(&other))];
        for writes in 1..=2 {
            let inner = Arc::new(MemStore::from_vec(image.clone()));
            let torn = Tearing { inner: inner.clone(), writes_left: AtomicU64::new(writes) };
            assert!(change(&torn, &request(&secrets(old)), &secrets(NEW), None).is_err());
            for promise in &promises {
                promise.holds(&inner, &format!("write {writes} torn"));
            }
        }
    }
}

#[test]
fn a_cut_while_a_volume_is_made_leaves_no_volume_or_a_whole_one() {
    let new = secrets(NEW);
    let wish = NewVolume { fill: Fill::Random, ..quick(&new) };
    // Over an old volume: its headers must not come back to life over half its data.
    let image = pair();
    let whole = FaultStore::new(MemStore::from_vec(image.clone()), FaultPlan::default());
    create(&whole, &wish, &()).expect("created");
    let steps = whole.steps();
    for cut in 0..steps {
        for (_, survivors) in media() {
            let plan = FaultPlan { power_cut_before: Some(cut), survivors, ..FaultPlan::default() };
            let store = FaultStore::new(MemStore::from_vec(image.clone()), plan);
            assert!(create(&store, &wish, &()).is_err());
            let left = Arc::new(store.into_medium().expect("a medium"));
            let opens = |password| unlock(&left, &request(&secrets(password))).is_ok();
            // Steps 0 to 2: the header slots at both ends, and their flush.
            if cut > 2 {
                assert!(!opens(OLD) && !opens(HIDDEN), "cut before {cut} of {steps}");
            }
            if cut < steps - 4 {
                assert!(!opens(NEW), "cut before {cut} of {steps}");
            }
        }
    }
}
