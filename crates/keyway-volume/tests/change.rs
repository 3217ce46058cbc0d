//! Changing what opens a volume: every kind of secret, both copies, what is refused.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

use keyway_engine::{Access, Device};
use keyway_secret::SecretBytes;
use keyway_store::{FaultPlan, FaultStore, MemStore, Store};
use keyway_testkit::Rng;
use keyway_volume::veracrypt::{
    ChangeError, CreateError, Fill, HeaderChoice, HeaderLocation, HeaderState, NewVolume, UnlockRequest,
    change, check, create, create_hidden, unlock,
};
use keyway_volume::{HashName, Secrets, VolumeError};
use std::path::PathBuf;
use std::sync::Arc;

const SIZE: usize = 640 * 1024;
const OLD: &str = "the old password of the volume";
const NEW: &str = "the new password of the volume";
const HIDDEN: &str = "the hidden volume's password";

fn secrets(password: &str) -> Secrets {
    Secrets { password: SecretBytes::copy_of(password.as_bytes()), keyfiles: vec![], pim: Some(1) }
}

fn with_keyfile(password: &str, keyfile: PathBuf, pim: u32) -> Secrets {
    Secrets { password: SecretBytes::copy_of(password.as_bytes()), keyfiles: vec![keyfile], pim: Some(pim) }
}

fn quick<'a>(secrets: &'a Secrets, cipher: &str) -> NewVolume<'a> {
    NewVolume {
        secrets,
        cipher: cipher.parse().expect("a cipher"),
        hash: HashName::Sha512,
        fill: Fill::Quick,
    }
}

/// An outer and a hidden volume, the data of both random.
fn volumes(cipher: &str) -> Arc<MemStore> {
    let store = Arc::new(MemStore::from_vec(Rng::new(3).bytes(SIZE)));
    create(&store, &quick(&secrets(OLD), cipher), &()).expect("created");
    create_hidden(&store, 128 << 10, &quick(&secrets(HIDDEN), "serpent"), None, &()).expect("created");
    store
}

/// The data, if the secret opens it by these headers with this hash.
fn data_with(
    store: &Arc<MemStore>,
    secrets: &Secrets,
    hash: HashName,
    header: HeaderChoice,
) -> Option<Vec<u8>> {
    let request = UnlockRequest { hash: Some(hash), header, ..UnlockRequest::new(secrets) };
    let unlocked = match unlock(store, &request) {
        Ok(unlocked) => unlocked,
        Err(VolumeError::WrongSecret { .. }) => return None,
        Err(other) => panic!("{other}"),
    };
    let device = Device::new(Box::new(store.clone()), unlocked.layout, Access::ReadOnly).expect("fits");
    let mut data = vec![0; device.size() as usize];
    device.read_at(&mut data, 0).expect("read");
    Some(data)
}

/// The data, which both copies of the header must give.
fn data(store: &Arc<MemStore>, secrets: &Secrets, hash: HashName) -> Option<Vec<u8>> {
    let [one, other] =
        [HeaderChoice::Primary, HeaderChoice::Backup].map(|header| data_with(store, secrets, hash, header));
    assert!(one == other, "the two copies differ");
    one
}

#[test]
fn password_keyfiles_pim_and_hash_change_and_the_data_stays() {
    let dir = tempfile::tempdir().expect("temp");
    let keyfile = dir.path().join("key");
    std::fs::write(&keyfile, b"a keyfile").expect("written");
    let store = volumes("twofish-serpent");
    let before = data(&store, &secrets(OLD), HashName::Sha512).expect("opens");
    let untouched = data(&store, &secrets(HIDDEN), HashName::Sha512).expect("opens");

    let steps = [
        (secrets(OLD), secrets(NEW), None, HashName::Sha512),
        (secrets(NEW), with_keyfile(NEW, keyfile.clone(), 1), None, HashName::Sha512),
        (with_keyfile(NEW, keyfile.clone(), 1), with_keyfile("", keyfile.clone(), 2), None, HashName::Sha512),
        (with_keyfile("", keyfile, 2), secrets(OLD), Some(HashName::Sha256), HashName::Sha256),
    ];
    let mut hash = HashName::Sha512;
    for (old, new, wanted, after) in steps {
        let salts = |image: Vec<u8>| (image[..64].to_vec(), image[SIZE - 131_072..][..64].to_vec());
        let old_salts = salts(store.snapshot());
        let request = UnlockRequest { hash: Some(hash), ..UnlockRequest::new(&old) };
        let changed = change(&store, &request, &new, wanted).expect("changed");
        assert_eq!((changed.hidden, changed.hash, changed.copies), (false, after, 2));
        assert_eq!(data(&store, &old, hash), None, "the old secret opens nothing");
        assert!(data(&store, &new, after).as_ref() == Some(&before));
        let new_salts = salts(store.snapshot());
        assert!(new_salts.0 != old_salts.0 && new_salts.1 != old_salts.1 && new_salts.0 != new_salts.1);
        hash = after;
    }
    assert!(data(&store, &secrets(HIDDEN), HashName::Sha512).as_ref() == Some(&untouched));
}

#[test]
fn a_hidden_volume_changes_and_the_outer_one_does_not() {
    let store = volumes("aes");
    let inside = data(&store, &secrets(HIDDEN), HashName::Sha512).expect("opens");
    let before = store.snapshot();
    let old = secrets(HIDDEN);
    let request = UnlockRequest { hash: Some(HashName::Sha512), ..UnlockRequest::new(&old) };
    let changed = change(&store, &request, &secrets(NEW), None).expect("changed");
    assert!(changed.hidden);
    assert!(data(&store, &secrets(NEW), HashName::Sha512) == Some(inside));
    let after = store.snapshot();
    let differing: Vec<usize> =
        (0..SIZE / 512).filter(|i| before[i * 512..][..512] != after[i * 512..][..512]).collect();
    assert_eq!(differing, [65_536 / 512, (SIZE - 65_536) / 512]);
}

#[test]
fn a_damaged_header_is_cured_by_a_change() {
    for (damaged, place) in [(0, HeaderLocation::Primary), (SIZE - 131_072, HeaderLocation::BackupPrimary)] {
        let store = volumes("aes");
        let inside = data(&store, &secrets(OLD), HashName::Sha512).expect("opens");
        store.write_at(&Rng::new(9).bytes(512), damaged as u64).expect("written");
        let old = secrets(OLD);
        let request = UnlockRequest { hash: Some(HashName::Sha512), ..UnlockRequest::new(&old) };
        let states = check(&store, &request).expect("opens");
        assert_eq!(
            states.iter().map(|c| c.place).collect::<Vec<_>>(),
            [HeaderLocation::Primary, HeaderLocation::BackupPrimary]
        );
        for state in states {
            let good = matches!(state.state, HeaderState::Good);
            assert_eq!(good, state.place != place, "{state:?}");
            assert!(good || matches!(state.state, HeaderState::DoesNotOpen));
        }
        change(&store, &request, &secrets(NEW), None).expect("changed");
        assert!(data(&store, &secrets(NEW), HashName::Sha512) == Some(inside));
    }
}

#[test]
fn the_secret_of_the_other_volume_is_refused() {
    let store = volumes("aes");
    let before = store.snapshot();
    for (mine, others) in [(OLD, HIDDEN), (HIDDEN, OLD)] {
        let old = secrets(mine);
        let request = UnlockRequest { hash: Some(HashName::Sha512), ..UnlockRequest::new(&old) };
        let refused = change(&store, &request, &secrets(others), None);
        assert!(matches!(refused, Err(ChangeError::Make(CreateError::SameSecret))), "{refused:?}");
        // With another hash one of them would open by its name alone.
        let refused = change(&store, &request, &secrets(others), Some(HashName::Sha256));
        assert!(matches!(refused, Err(ChangeError::Make(CreateError::SameSecret))), "{refused:?}");
    }
    assert!(store.snapshot() == before);
}

#[test]
fn wishes_that_cannot_be_granted_are_refused_before_anything_is_written() {
    let store = volumes("aes");
    let before = store.snapshot();
    let old = secrets(OLD);
    let request = UnlockRequest { hash: Some(HashName::Sha512), ..UnlockRequest::new(&old) };
    let try_it = |new: Secrets, hash| change(&store, &request, &new, hash).expect_err("refused");
    assert!(matches!(
        try_it(secrets(NEW), Some(HashName::Ripemd160)),
        ChangeError::Make(CreateError::HashNotOffered(HashName::Ripemd160))
    ));
    let large = Secrets { pim: Some(u32::MAX), ..secrets(NEW) };
    assert!(matches!(try_it(large, None), ChangeError::Make(CreateError::PimTooLarge(_))));
    assert!(matches!(try_it(secrets(""), None), ChangeError::Open(VolumeError::NoSecret)));
    let missing = with_keyfile(NEW, "/nowhere/key".into(), 1);
    assert!(matches!(try_it(missing, None), ChangeError::Open(VolumeError::Keyfile { .. })));
    assert!(store.snapshot() == before);
}

#[test]
fn a_medium_that_fails_says_what_opens_the_volume_now() {
    let base = volumes("aes");
    let inside = data(&base, &secrets(OLD), HashName::Sha512).expect("opens");
    let old = secrets(OLD);
    let request = UnlockRequest { hash: Some(HashName::Sha512), ..UnlockRequest::new(&old) };
    for errno in [5, 28] {
        for from in 0..3 {
            let plan = FaultPlan { writes_fail_from: Some((from, errno)), ..FaultPlan::default() };
            let faulty = FaultStore::new(MemStore::from_vec(base.snapshot()), plan);
            let outcome = change(&faulty, &request, &secrets(NEW), None);
            let medium = Arc::new(faulty.into_medium().expect("a medium"));
            let opens = |password, header| data_with(&medium, &secrets(password), HashName::Sha512, header);
            match (from, outcome) {
                (0, Err(ChangeError::Unchanged { place: HeaderLocation::BackupPrimary, .. })) => {
                    assert!(opens(OLD, HeaderChoice::Primary).as_ref() == Some(&inside));
                    assert!(opens(OLD, HeaderChoice::Backup).as_ref() == Some(&inside));
                }
                (1, Err(ChangeError::Half { place: HeaderLocation::Primary, .. })) => {
                    assert!(opens(NEW, HeaderChoice::Backup).as_ref() == Some(&inside));
                    assert!(opens(OLD, HeaderChoice::Primary).as_ref() == Some(&inside));
                }
                (2, Ok(_)) => {}
                (from, other) => panic!("write {from}: {other:?}"),
            }
        }
    }
    // A flush that fails says that nobody knows what is on the medium.
    let plan = FaultPlan { flushes_fail_from: Some(0), ..FaultPlan::default() };
    let faulty = FaultStore::new(MemStore::from_vec(base.snapshot()), plan);
    assert!(matches!(change(&faulty, &request, &secrets(NEW), None), Err(ChangeError::Unchanged { .. })));
}

/// A store whose bytes in one range can't be read.
struct Scratched(Arc<MemStore>, std::ops::Range<u64>);

impl Store for Scratched {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), keyway_store::StoreError> {
        let end = offset + buf.len() as u64;
        if offset < self.1.end && end > self.1.start {
            let reason = std::io::Error::from_raw_os_error(5);
            return Err(keyway_store::StoreError::new(
                keyway_store::Operation::Read,
                "it",
                offset,
                buf.len(),
                reason,
            ));
        }
        self.0.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), keyway_store::StoreError> {
        self.0.write_at(buf, offset)
    }
    fn flush(&self) -> Result<(), keyway_store::StoreError> {
        Ok(())
    }
    fn discard(&self, _: u64, _: u64) -> Result<(), keyway_store::StoreError> {
        Ok(())
    }
    fn size(&self) -> u64 {
        self.0.size()
    }
    fn sector_bytes(&self) -> u32 {
        512
    }
    fn is_read_only(&self) -> bool {
        false
    }
}

#[test]
fn an_unreadable_copy_is_reported_and_stops_a_change_before_the_good_one_is_touched() {
    let base = volumes("aes").snapshot();
    let old = secrets(OLD);
    let request = UnlockRequest { hash: Some(HashName::Sha512), ..UnlockRequest::new(&old) };
    let end = SIZE as u64 - 131_072;
    for (scratch, bad) in [(0..512, HeaderLocation::Primary), (end..end + 512, HeaderLocation::BackupPrimary)]
    {
        let scratched = Scratched(Arc::new(MemStore::from_vec(base.clone())), scratch);
        let states = check(&scratched, &request).expect("the other one opens");
        for state in states {
            let unreadable = matches!(state.state, HeaderState::Unreadable(_));
            assert_eq!(unreadable, state.place == bad, "{state:?}");
        }
        match change(&scratched, &request, &secrets(NEW), None) {
            Err(ChangeError::Unchanged { place, .. }) => assert_eq!(place, bad),
            other => panic!("{other:?}"),
        }
        assert!(unlock(&scratched, &request).is_ok(), "the old secret still opens it");
    }
}
