//! The power fails before every single write and flush of everything that changes a BitLocker
//! volume's metadata: the volume opens with an old or a new protector, never with none, and its
//! data is as it was.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod bitlocker_support;

use bitlocker_support::{Made, Shape};
use keyway_engine::{Access, Device};
use keyway_secret::SecretBytes;
use keyway_store::{FaultPlan, FaultStore, MemStore, Store};
use keyway_testkit::Rng;
use keyway_volume::bitlocker::{
    ChangeError, CopyState, Guid, HeaderBackup, LastProtector, Metadata, NewProtector, OpenedKeys,
    RecoveryPassword, RewriteError, Secret, StartupKey, UnlockRequest, look, unlock,
};
use std::sync::Arc;

const OLD: &[u8] = b"the old password";
const NEW: &[u8] = b"the new password";

/// A volume with a password and two startup keys, and what it reads as.
struct Volume {
    image: Vec<u8>,
    plain: Vec<u8>,
    first: SecretBytes,
    second: SecretBytes,
}

fn secret(file: &SecretBytes) -> Secret {
    Secret::StartupKey(StartupKey::parse(file).expect("a startup key"))
}

fn id(file: &SecretBytes) -> Guid {
    StartupKey::parse(file).expect("a startup key").id
}

fn password(text: &[u8]) -> Secret {
    Secret::Password(SecretBytes::copy_of(text))
}

fn opened(store: &dyn Store, secrets: &[Secret]) -> OpenedKeys {
    unlock(store, &UnlockRequest::new(secrets)).expect("opens").opened
}

fn new_key() -> StartupKey {
    StartupKey::random().expect("random")
}

impl Volume {
    fn new() -> Self {
        let Made { image, plain, .. } = Shape::default().make(7);
        let store = MemStore::from_vec(image);
        let mut keys = opened(&store, &[]);
        let files = [(); 2].map(|()| {
            let key = new_key();
            keys.add_protector(&store, key.id, &NewProtector::StartupKey(&key)).expect("added");
            key.to_bytes()
        });
        let old = SecretBytes::copy_of(OLD);
        keys.add_protector(&store, Guid([4; 16]), &NewProtector::Password(&old)).expect("added");
        keys.resume(&store).expect("resumed");
        let [first, second] = files;
        Self { image: store.snapshot(), plain, first, second }
    }

    /// The same with one copy of the metadata destroyed, or two.
    fn damaged(mut self, copies: &[usize]) -> Self {
        for i in copies {
            let at = Shape::default().copies[*i] as usize;
            self.image[at..at + 4096].copy_from_slice(&Rng::new(5).bytes(4096));
        }
        self
    }

    fn first(&self) -> Secret {
        secret(&self.first)
    }

    /// Cuts the power before each step of `work`; afterwards one of the secrets opens the volume.
    fn cut_everywhere(&self, work: impl Fn(&dyn Store) -> bool, any_of: &[&[Secret]]) {
        for (sector_bytes, survivors) in [(512, None), (512, Some(3)), (4096, Some(3))] {
            let medium = || MemStore::from_vec(self.image.clone()).with_sector_bytes(sector_bytes);
            let whole = FaultStore::new(medium(), FaultPlan::default());
            assert!(work(&whole), "it works when nothing fails");
            let steps = whole.steps();
            assert!(steps >= 2);
            self.holds(whole.into_medium().expect("a medium"), any_of, "nothing failed");
            for cut in 0..steps {
                let plan = FaultPlan { power_cut_before: Some(cut), survivors, ..FaultPlan::default() };
                let store = FaultStore::new(medium(), plan);
                work(&store);
                let left = store.into_medium().expect("a medium");
                self.holds(left, any_of, &format!("cut before step {cut} of {steps}, {survivors:?}"));
            }
        }
    }

    fn holds(&self, medium: MemStore, any_of: &[&[Secret]], when: &str) {
        let medium = Arc::new(medium);
        let found = any_of.iter().find_map(|secrets| unlock(&medium, &UnlockRequest::new(secrets)).ok());
        let Some(found) = found else { panic!("{when}: no protector opens it") };
        let device = Device::new(Box::new(medium), found.layout, Access::ReadOnly).expect("fits");
        let mut data = vec![0; self.plain.len()];
        device.read_at(&mut data, 0).expect("reads");
        assert!(data == self.plain, "{when}: the data is lost");
    }
}

#[test]
fn adding_protectors() {
    let volume = Volume::new();
    let recovery = RecoveryPassword::random().expect("random");
    let add = |store: &dyn Store| {
        let mut keys = opened(store, &[volume.first()]);
        keys.add_protector(store, Guid([5; 16]), &NewProtector::RecoveryPassword(&recovery)).is_ok()
    };
    volume.cut_everywhere(add, &[&[volume.first()]]);
}

#[test]
fn removing_protectors() {
    let volume = Volume::new();
    let remove = |store: &dyn Store| {
        let mut keys = opened(store, &[volume.first()]);
        keys.remove_protector(store, id(&volume.second), LastProtector::Keep).is_ok()
    };
    volume.cut_everywhere(remove, &[&[volume.first()]]);
}

#[test]
fn replacing_a_startup_key_however_few_copies_are_good() {
    for damaged in [&[][..], &[0], &[1, 2], &[0, 1], &[0, 2]] {
        let volume = Volume::new().damaged(damaged);
        let key = new_key();
        let new = key.to_bytes();
        let replace = |store: &dyn Store| {
            let mut keys = opened(store, &[volume.first()]);
            keys.replace_protector(store, id(&volume.first), &NewProtector::StartupKey(&key)).is_ok()
        };
        volume.cut_everywhere(replace, &[&[volume.first()], &[secret(&new)]]);
    }
}

#[test]
fn changing_the_password() {
    let volume = Volume::new();
    let new = SecretBytes::copy_of(NEW);
    let change = |store: &dyn Store| {
        let mut keys = opened(store, &[volume.first()]);
        keys.replace_protector(store, Guid([4; 16]), &NewProtector::Password(&new)).is_ok()
    };
    volume.cut_everywhere(change, &[&[password(NEW)], &[password(OLD)]]);
}

#[test]
fn suspending_and_resuming() {
    let volume = Volume::new();
    let suspend = |store: &dyn Store| opened(store, &[volume.first()]).suspend(store).is_ok();
    volume.cut_everywhere(suspend, &[&[volume.first()]]);
    let store = MemStore::from_vec(volume.image.clone());
    assert!(suspend(&store));
    let suspended = Volume { image: store.snapshot(), ..volume };
    let resume = |store: &dyn Store| opened(store, &[]).resume(store).is_ok();
    suspended.cut_everywhere(resume, &[&[suspended.first()]]);
}

#[test]
fn repairing() {
    for damaged in [&[0][..], &[2], &[1, 2], &[0, 1]] {
        let volume = Volume::new().damaged(damaged);
        let repair = |store: &dyn Store| {
            let done = opened(store, &[volume.first()]).repair(store);
            done.is_ok_and(|written| written.copies.len() == damaged.len())
        };
        volume.cut_everywhere(repair, &[&[volume.first()]]);
        let store = MemStore::from_vec(volume.image.clone());
        assert!(repair(&store));
        assert_eq!(Metadata::read(&store).expect("reads").states(), [const { CopyState::Good }; 3]);
    }
}

#[test]
fn restoring_a_backup() {
    let dir = tempfile::tempdir().expect("temp");
    let file = dir.path().join("backup");
    let volume = Volume::new();
    let store = MemStore::from_vec(volume.image.clone());
    let seen = look(&store).expect("a volume");
    HeaderBackup::take(&store, &seen.metadata).expect("taken").write(&file).expect("written");
    let backup = HeaderBackup::read(&file).expect("reads");
    // The first key goes, so that only the backup opens with it.
    let key = new_key();
    let new = key.to_bytes();
    opened(&store, &[volume.first()])
        .replace_protector(&store, id(&volume.first), &NewProtector::StartupKey(&key))
        .expect("replaced");
    let changed = Volume { image: store.snapshot(), ..volume };
    let restore = |store: &dyn Store| {
        let secrets = [changed.first()];
        backup.restore(store, &UnlockRequest::new(&secrets), false).is_ok()
    };
    changed.cut_everywhere(restore, &[&[changed.first()], &[secret(&new)]]);
    // Where nothing is left, first sector included, all of it comes back.
    let mut image = changed.image.clone();
    image[..512].fill(0);
    let ruin = Volume { image, ..changed }.damaged(&[0, 1, 2]);
    let store = MemStore::from_vec(ruin.image.clone());
    assert!(unlock(&store, &UnlockRequest::new(&[ruin.first()])).is_err());
    backup.restore(&store, &UnlockRequest::new(&[ruin.first()]), false).expect("restored");
    ruin.holds(MemStore::from_vec(store.snapshot()), &[&[ruin.first()]], "restored");
    // A damaged backup restores nothing.
    let mut bytes = std::fs::read(&file).expect("reads");
    bytes[5000] ^= 1;
    std::fs::write(&file, &bytes).expect("written");
    assert!(HeaderBackup::read(&file).is_err());
}

#[test]
fn a_medium_that_takes_no_writes_keeps_the_old_protectors() {
    let volume = Volume::new();
    for from in 0..4 {
        let plan = FaultPlan { writes_fail_from: Some((from, 5)), ..FaultPlan::default() };
        let store = FaultStore::new(MemStore::from_vec(volume.image.clone()), plan);
        let key = new_key();
        let new = key.to_bytes();
        let mut keys = opened(&store, &[volume.first()]);
        let result = keys.replace_protector(&store, id(&volume.first), &NewProtector::StartupKey(&key));
        let medium = store.into_medium().expect("a medium");
        use keyway_volume::bitlocker::ChangeError::Write;
        match (from, result) {
            (0, Err(Write(RewriteError::Nothing(_)))) => {
                volume.holds(medium, &[&[volume.first()]], "nothing written");
            }
            (1 | 2, Err(Write(RewriteError::Partly(_)))) | (3, Ok(_)) => {
                volume.holds(medium, &[&[secret(&new)]], "the newest copy counts");
            }
            (from, result) => panic!("writes fail from {from}: {result:?}"),
        }
    }
}

#[test]
fn the_last_way_in_is_not_taken_away_unasked() {
    let volume = Volume::new();
    let store = MemStore::from_vec(volume.image.clone());
    let mut keys = opened(&store, &[volume.first()]);
    keys.remove_protector(&store, id(&volume.second), LastProtector::Keep).expect("removed");
    keys.remove_protector(&store, Guid([4; 16]), LastProtector::Keep).expect("removed");
    let last = id(&volume.first);
    assert!(keys.remove_protector(&store, last, LastProtector::Keep).is_err());
    volume.holds(MemStore::from_vec(store.snapshot()), &[&[volume.first()]], "refused");
    // A clear key is no way in that counts, but for itself: where it is the only one, it is the last, too.
    let clear = keys.suspend(&store).expect("suspended");
    let refused = keys.remove_protector(&store, last, LastProtector::Keep);
    assert!(matches!(refused, Err(ChangeError::LastSecret(id)) if id == last), "{refused:?}");
    let suspended = store.snapshot();
    keys.remove_protector(&store, last, LastProtector::Remove).expect("asked for");
    let refused = keys.remove_protector(&store, clear, LastProtector::Keep);
    assert!(matches!(refused, Err(ChangeError::LastProtector(id)) if id == clear), "{refused:?}");
    assert!(unlock(&store, &UnlockRequest::new(&[])).is_ok());
    store.write_at(&suspended, 0).expect("room");
    let mut keys = opened(&store, &[volume.first()]);
    keys.resume(&store).expect("resumed");
    keys.remove_protector(&store, last, LastProtector::Remove).expect("asked for");
    assert!(unlock(&store, &UnlockRequest::new(&[volume.first()])).is_err());
    // Nothing of the removed protector's cipher text is left on the medium.
    let image = store.snapshot();
    let removed = &last.0;
    assert!(!image.windows(16).any(|window| window == removed));
}

#[test]
fn every_rewrite_uses_new_nonces() {
    let volume = Volume::new();
    let store = MemStore::from_vec(volume.image.clone());
    let mut keys = opened(&store, &[volume.first()]);
    let before = keys.metadata.block().dataset.next_nonce;
    let key = new_key();
    keys.add_protector(&store, key.id, &NewProtector::StartupKey(&key)).expect("added");
    // The key sealed with the master key, the master key sealed with the key, the validation.
    assert_eq!(keys.metadata.block().dataset.next_nonce, before + 3);
    let read = Metadata::read(&store).expect("reads");
    assert_eq!(read.block(), keys.metadata.block());
    assert!(read.block().is_authentic(&keys.master));
}

#[test]
fn erasing_leaves_nothing_that_opens() {
    let volume = Volume::new();
    let store = MemStore::from_vec(volume.image.clone());
    let metadata = Metadata::read(&store).expect("reads");
    keyway_volume::bitlocker::erase(&store, &metadata).expect("erased");
    assert!(unlock(&store, &UnlockRequest::new(&[volume.first()])).is_err());
    assert!(Metadata::read(&store).is_err());
}
