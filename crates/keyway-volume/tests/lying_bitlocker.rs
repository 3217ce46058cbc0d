//! A medium lies at every operation of everything that writes a BitLocker volume's metadata. Whatever was said holds
//! afterwards: done, then all three copies are right and the first sector is; failed, then the volume opens, with the
//! protectors that were promised.
//!
//! How many lies each verb was told, `lying_veracrypt` says how to print.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test fails by panicking")]

mod bitlocker_support;
mod lying_support;

use bitlocker_support::{Made, Shape};
use keyway_engine::{Access, Device};
use keyway_secret::SecretBytes;
use keyway_store::{MemStore, Store};
use keyway_testkit::Rng;
use keyway_volume::bitlocker::{
    BackupError, ChangeError, CopyState, Fill, HeaderBackup, LastProtector, Metadata, Method, NewProtector,
    NewProtectors, NewVolume, OpenedKeys, RewriteError, SMALLEST_VOLUME, Secret, StartupKey, UnlockRequest,
    create, erase, look, unlock,
};
use lying_support::{LyingStore, Said, Verb};
use std::sync::Arc;

fn secret(file: &SecretBytes) -> Secret {
    Secret::StartupKey(StartupKey::parse(file).expect("a startup key"))
}

fn new_key() -> (StartupKey, SecretBytes) {
    let key = StartupKey::random().expect("random");
    let file = key.to_bytes();
    (key, file)
}

fn key(file: &SecretBytes) -> StartupKey {
    StartupKey::parse(file).expect("a startup key")
}

/// A volume with two startup keys, and what it reads as.
struct Volume {
    image: Vec<u8>,
    plain: Vec<u8>,
    first: SecretBytes,
    second: SecretBytes,
}

impl Volume {
    fn new() -> Self {
        let Made { image, plain, .. } = Shape::default().make(7);
        let store = MemStore::from_vec(image);
        let mut keys = unlock(&store, &UnlockRequest::new(&[])).expect("opens").opened;
        let [first, second] = [(); 2].map(|()| {
            let (key, file) = new_key();
            keys.add_protector(&store, key.id, &NewProtector::StartupKey(&key)).expect("added");
            file
        });
        keys.resume(&store).expect("resumed");
        Self { image: store.snapshot(), plain, first, second }
    }

    fn is_opened(&self, store: &Arc<LyingStore>, file: &SecretBytes) -> bool {
        let secrets = [secret(file)];
        // Also by its metadata alone, where the first sector is lost.
        let request = UnlockRequest { search: true, ..UnlockRequest::new(&secrets) };
        let Ok(unlocked) = unlock(store.as_ref(), &request) else { return false };
        let device = Device::new(Box::new(store.clone()), unlocked.layout, Access::ReadOnly).expect("fits");
        let mut data = vec![0; self.plain.len()];
        device.read_at(&mut data, 0).expect("reads");
        let strayed = store.strayed();
        data[strayed.clone()].copy_from_slice(&self.plain[strayed]);
        data == self.plain
    }

    /// Writes that go elsewhere go to the other copies and to the first sector.
    fn verb(
        &self,
        name: &str,
        run: impl Fn(&Arc<LyingStore>, OpenedKeys) -> Said,
        judge: impl Fn(&Arc<LyingStore>, &Said) -> Result<(), String>,
    ) {
        let [first, second, third] = Shape::default().copies;
        let verb = Verb {
            name,
            image: Arc::new(self.image.clone()),
            elsewhere: &[first, second, third],
            run: &|store| match unlock(store.as_ref(), &UnlockRequest::new(&[secret(&self.first)])) {
                Ok(unlocked) => run(store, unlocked.opened),
                Err(e) => Said::AsBefore(e.to_string()),
            },
            judge: &|store, said| {
                if *said == Said::Done {
                    whole(store)?;
                }
                judge(store, said)
            },
        };
        verb.lie_everywhere();
    }
}

/// Whether all copies are as new as the one that counts, and the first sector is right.
fn whole(store: &Arc<LyingStore>) -> Result<(), String> {
    let metadata = Metadata::read(store.as_ref()).map_err(|e| e.to_string())?;
    let states = metadata.states();
    must(states.iter().all(|state| *state == CopyState::Good), || format!("the copies are {states:?}"))?;
    must(metadata.first_sector_is_good(store.as_ref()), || "the first sector is not right".to_owned())
}

fn must(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn rewritten(e: &RewriteError) -> Said {
    let text = e.to_string();
    match e {
        RewriteError::Partly(_) => Said::Changed(text),
        RewriteError::Unsure(_) => Said::Failed(text),
        RewriteError::Nothing(_) | RewriteError::Full(_) => Said::AsBefore(text),
    }
}

fn said<T>(result: Result<T, ChangeError>) -> Said {
    match result {
        Ok(_) => Said::Done,
        Err(ChangeError::Write(e)) => rewritten(&e),
        Err(e) => Said::AsBefore(e.to_string()),
    }
}

fn backed_up<T>(result: Result<T, BackupError>) -> Said {
    match result {
        Ok(_) => Said::Done,
        Err(BackupError::Write(e)) => rewritten(&e),
        Err(e @ BackupError::FirstSector(_)) => Said::Changed(e.to_string()),
        Err(e) => Said::AsBefore(e.to_string()),
    }
}

#[test]
fn adding_a_protector() {
    let (volume, (new, file)) = (Volume::new(), new_key());
    volume.verb(
        "add a protector",
        |store, mut keys| {
            said(keys.add_protector(store.as_ref(), new.id, &NewProtector::StartupKey(&key(&file))))
        },
        |store, said| {
            must(volume.is_opened(store, &volume.first), || "the old protector does not open it".to_owned())?;
            let opens = volume.is_opened(store, &file);
            match said {
                Said::Done | Said::Changed(_) => {
                    must(opens, || "the new protector does not open it".to_owned())
                }
                Said::AsBefore(_) => must(!opens, || "the new protector opens it".to_owned()),
                Said::Failed(_) => Ok(()),
            }
        },
    );
}

#[test]
fn removing_a_protector() {
    let volume = Volume::new();
    let gone = key(&volume.second).id;
    volume.verb(
        "remove a protector",
        |store, mut keys| said(keys.remove_protector(store.as_ref(), gone, LastProtector::Keep)),
        |store, said| {
            must(volume.is_opened(store, &volume.first), || {
                "the one that stays does not open it".to_owned()
            })?;
            let opens = volume.is_opened(store, &volume.second);
            match said {
                Said::Done | Said::Changed(_) => must(!opens, || "the removed one opens it".to_owned()),
                Said::AsBefore(_) => {
                    must(opens, || "the one that was not removed does not open it".to_owned())
                }
                Said::Failed(_) => Ok(()),
            }
        },
    );
}

#[test]
fn changing_a_protector() {
    let (volume, (_, file)) = (Volume::new(), new_key());
    let old = key(&volume.first).id;
    volume.verb(
        "change a protector",
        |store, mut keys| {
            said(keys.replace_protector(store.as_ref(), old, &NewProtector::StartupKey(&key(&file))))
        },
        |store, said| {
            let [before, after] = [&volume.first, &file].map(|file| volume.is_opened(store, file));
            match said {
                Said::Done | Said::Changed(_) => {
                    must(after && !before, || format!("old opens: {before}, new opens: {after}"))
                }
                Said::AsBefore(_) => {
                    must(before && !after, || format!("old opens: {before}, new opens: {after}"))
                }
                Said::Failed(_) => must(before || after, || "neither opens it".to_owned()),
            }
        },
    );
}

#[test]
fn suspending_protection() {
    let volume = Volume::new();
    volume.verb(
        "suspend protection",
        |store, mut keys| said(keys.suspend(store.as_ref())),
        |store, said| {
            must(volume.is_opened(store, &volume.first), || "the protector does not open it".to_owned())?;
            let request = UnlockRequest { search: true, ..UnlockRequest::new(&[]) };
            let suspended = unlock(store.as_ref(), &request).is_ok();
            match said {
                Said::Done | Said::Changed(_) => must(suspended, || "it is not suspended".to_owned()),
                Said::AsBefore(_) => must(!suspended, || "it is suspended".to_owned()),
                Said::Failed(_) => Ok(()),
            }
        },
    );
}

/// Every copy but one is ruined, and in the end every one is whole.
#[test]
fn repairing_the_copies() {
    let mut volume = Volume::new();
    let [_, second, third] = Shape::default().copies;
    for at in [second, third] {
        volume.image[at as usize..][..4096].copy_from_slice(&Rng::new(5).bytes(4096));
    }
    volume.verb(
        "repair the copies",
        |store, keys| backed_up(keys.repair(store.as_ref())),
        |store, _| must(volume.is_opened(store, &volume.first), || "it does not open".to_owned()),
    );
}

#[test]
fn restoring_a_backup() {
    let volume = Volume::new();
    let folder = tempfile::tempdir().expect("temp");
    let path = folder.path().join("backup");
    let store = MemStore::from_vec(volume.image.clone());
    let seen = look(&store).expect("a volume");
    HeaderBackup::take(&store, &seen.metadata).expect("taken").write(&path).expect("written");
    let backup = HeaderBackup::read(&path).expect("reads");
    let mut keys = unlock(&store, &UnlockRequest::new(&[secret(&volume.first)])).expect("opens").opened;
    let (new, file) = new_key();
    keys.replace_protector(&store, key(&volume.first).id, &NewProtector::StartupKey(&new)).expect("replaced");
    let changed = Volume { image: store.snapshot(), ..volume };
    let [first, second, third] = Shape::default().copies;
    let verb = Verb {
        name: "restore a backup",
        image: Arc::new(changed.image.clone()),
        elsewhere: &[first, second, third],
        run: &|store| {
            let secrets = [secret(&changed.first)];
            backed_up(backup.restore(store.as_ref(), &UnlockRequest::new(&secrets), false))
        },
        judge: &|store, said| {
            let [restored, present] = [&changed.first, &file].map(|file| changed.is_opened(store, file));
            match said {
                Said::Done => {
                    whole(store)?;
                    must(restored && !present, || format!("restored: {restored}, the old one: {present}"))
                }
                Said::Changed(_) => must(restored, || "the restored one does not open it".to_owned()),
                Said::AsBefore(_) => must(present, || "the one before does not open it".to_owned()),
                Said::Failed(_) => must(restored || present, || "neither opens it".to_owned()),
            }
        },
    };
    verb.lie_everywhere();
}

#[test]
fn backing_metadata_up() {
    let volume = Volume::new();
    let folder = tempfile::tempdir().expect("temp");
    let path = folder.path().join("backup");
    let verb = Verb {
        name: "back metadata up (reads)",
        image: Arc::new(volume.image.clone()),
        elsewhere: &[],
        run: &|store| {
            let taken = look(store.as_ref()).map_err(BackupError::from);
            let taken = taken.and_then(|seen| HeaderBackup::take(store.as_ref(), &seen.metadata));
            backed_up(taken.and_then(|backup| backup.write(&path)))
        },
        judge: &|_, said| {
            must(path.exists() == (*said == Said::Done), || "the file is not what was said".to_owned())?;
            if path.exists() {
                let backup = HeaderBackup::read(&path).map_err(|e| e.to_string())?;
                let lost = MemStore::from_vec(vec![0; volume.image.len()]);
                let secrets = [secret(&volume.first)];
                backup.restore(&lost, &UnlockRequest::new(&secrets), false).map_err(|e| e.to_string())?;
                std::fs::remove_file(&path).map_err(|e| e.to_string())?;
            }
            Ok(())
        },
    };
    verb.lie_everywhere();
}

#[test]
fn destroying_the_metadata() {
    let volume = Volume::new();
    let [first, second, third] = Shape::default().copies;
    let verb = Verb {
        name: "destroy the metadata",
        image: Arc::new(volume.image.clone()),
        elsewhere: &[first, second, third],
        run: &|store| {
            let read = Metadata::read(store.as_ref()).map_err(|e| e.to_string());
            let erased = read.and_then(|found| erase(store.as_ref(), &found).map_err(|e| e.to_string()));
            erased.map_or_else(Said::Failed, |()| Said::Done)
        },
        judge: &|store, said| {
            let left = *said == Said::Done && Metadata::find(store.as_ref()).is_ok();
            must(!left, || "a copy of the metadata is left".to_owned())
        },
    };
    verb.lie_everywhere();
}

/// Over an old volume's first sector.
#[test]
fn making_a_volume() {
    let (startup_key, file) = new_key();
    let protectors = NewProtectors { startup_key: Some(startup_key), ..NewProtectors::default() };
    let mut image = vec![0; SMALLEST_VOLUME as usize];
    image[..512].copy_from_slice(&Shape::default().boot_sector());
    let new = NewVolume {
        protectors: &protectors,
        method: Method::Xts128,
        fill: Fill::UsedSpaceOnly,
        filesystem: None,
        to_go: false,
        description: "a lying medium's",
    };
    let verb = Verb {
        name: "create",
        image: Arc::new(image),
        elsewhere: &[],
        run: &|store| {
            let store: Arc<dyn Store> = store.clone();
            match create(&store, &new, &()) {
                Ok(_) => Said::Done,
                Err(e) => Said::Failed(e.to_string()),
            }
        },
        judge: &|store, said| {
            if *said != Said::Done {
                return Ok(());
            }
            whole(store)?;
            let opens = unlock(store.as_ref(), &UnlockRequest::new(&[secret(&file)])).is_ok();
            must(opens, || "it does not open".to_owned())
        },
    };
    verb.lie_everywhere();
}
