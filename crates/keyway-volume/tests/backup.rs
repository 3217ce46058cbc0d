//! Header backups: written, read back, restored to damaged volumes; foreign volumes too.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod filled_support;

use filled_support::fill;
use keyway_engine::{Access, Device};
use keyway_error::{Advice, Explain, Fault};
use keyway_secret::SecretBytes;
use keyway_store::{MemStore, Store};
use keyway_testkit::{Rng, unpack_xz, volumes};
use keyway_volume::veracrypt::{
    ChangeError, CreateError, Fill, HeaderChoice, HeaderFault, HeaderLocation, KeysGuard, NewVolume,
    RestoreFrom, UnlockRequest, change, check, create, create_hidden, header_backup, header_restore, unlock,
};
use keyway_volume::{Format, HashName, Secrets, VolumeError};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

const SIZE: usize = 640 * 1024;
const OUTER: &str = "the password of the outer volume";
const HIDDEN: &str = "the password of the hidden volume";

fn secrets(password: &str) -> Secrets {
    Secrets { password: SecretBytes::copy_of(password.as_bytes()), keyfiles: vec![], pim: Some(1) }
}

fn quick(secrets: &Secrets) -> NewVolume<'_> {
    let cipher = "aes".parse().expect("a cipher");
    NewVolume { secrets, cipher, hash: HashName::Sha512, fill: Fill::Quick }
}

fn pair() -> Arc<MemStore> {
    let store = Arc::new(MemStore::from_vec(Rng::new(3).bytes(SIZE)));
    create(&store, &quick(&secrets(OUTER)), &()).expect("created");
    create_hidden(&store, 128 << 10, &quick(&secrets(HIDDEN)), None, &()).expect("created");
    [OUTER, HIDDEN].into_iter().for_each(|password| fill(&store, &request(&secrets(password))));
    store
}

fn request(secrets: &Secrets) -> UnlockRequest<'_> {
    let (format, hash) = (Some(Format::VeraCrypt), Some(HashName::Sha512));
    UnlockRequest { format, hash, ..UnlockRequest::new(secrets) }
}

fn data(store: &Arc<MemStore>, secrets: &Secrets, header: HeaderChoice) -> Vec<u8> {
    let unlocked = unlock(store, &UnlockRequest { header, ..request(secrets) }).expect("opens");
    let device = Device::new(Box::new(store.clone()), unlocked.layout, Access::ReadOnly).expect("fits");
    let mut data = vec![0; device.size() as usize];
    device.read_at(&mut data, 0).expect("read");
    data
}

fn destroy_headers(store: &MemStore) {
    store.write_at(&Rng::new(1).bytes(131_072), 0).expect("written");
    store.write_at(&Rng::new(2).bytes(131_072), store.size() - 131_072).expect("written");
}

#[test]
fn both_headers_come_back_from_a_file_after_all_four_are_lost() {
    let dir = tempfile::tempdir().expect("temp");
    let file = dir.path().join("headers.vc");
    let store = pair();
    let (outer, hidden) = (secrets(OUTER), secrets(HIDDEN));
    let before = [data(&store, &outer, HeaderChoice::Auto), data(&store, &hidden, HeaderChoice::Auto)];
    let made = header_backup(&store, &request(&outer), Some(&hidden), &file).expect("backed up");
    assert!(made.hidden);
    let bytes = std::fs::read(&file).expect("read");
    assert_eq!(bytes.len(), 131_072);
    assert_eq!(file.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    let image = store.snapshot();
    assert!(bytes[..64] != image[..64], "the salt is fresh");

    destroy_headers(&store);
    for (secrets, before, places) in [
        (&outer, &before[0], [HeaderLocation::Primary, HeaderLocation::BackupPrimary]),
        (&hidden, &before[1], [HeaderLocation::Hidden, HeaderLocation::BackupHidden]),
    ] {
        let restored = header_restore(&store, RestoreFrom::File(&file), &request(secrets), KeysGuard::Same);
        assert_eq!(restored.expect("restored").places, places);
        for header in [HeaderChoice::Primary, HeaderChoice::Backup] {
            assert!(data(&store, secrets, header) == *before);
        }
    }
    let image = store.snapshot();
    let salts = [&bytes[..64], &image[..64], &image[SIZE - 131_072..][..64]];
    assert!(salts[0] != salts[1] && salts[1] != salts[2] && salts[0] != salts[2]);
}

#[test]
fn a_backup_without_the_hidden_volume_shows_nothing_of_it() {
    let dir = tempfile::tempdir().expect("temp");
    let file = dir.path().join("headers.vc");
    let store = pair();
    let (outer, hidden) = (secrets(OUTER), secrets(HIDDEN));
    let made = header_backup(&store, &request(&outer), None, &file).expect("backed up");
    assert!(!made.hidden);
    let bytes = std::fs::read(&file).expect("read");
    let mut blocks: Vec<&[u8]> = bytes.chunks(16).collect();
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!(blocks.len(), 131_072 / 16, "every block is different, as in noise");
    let restored = header_restore(&store, RestoreFrom::File(&file), &request(&hidden), KeysGuard::Same);
    assert!(matches!(restored, Err(ChangeError::NotInBackup(_))), "{restored:?}");
}

#[test]
fn it_is_told_which_of_two_secrets_is_wrong() {
    let dir = tempfile::tempdir().expect("temp");
    let (store, file) = (pair(), dir.path().join("headers.vc"));
    let (outer, hidden, none) = (secrets(OUTER), secrets(HIDDEN), secrets("neither of them"));
    let made = header_backup(&store, &request(&outer), Some(&none), &file);
    let Err(wrong @ ChangeError::HiddenSecret(_)) = made else { panic!("{made:?}") };
    assert_eq!((wrong.fault(), wrong.advice()), (Fault::Secret, vec![Advice::CheckHiddenOptions]));
    let made = header_backup(&store, &request(&none), Some(&hidden), &file);
    assert!(matches!(made, Err(ChangeError::Open(VolumeError::WrongSecret { .. }))), "{made:?}");
    assert!(!file.exists());
}

/// The header in front tells whether it is the secret or the copy that is at fault.
#[test]
fn a_copy_that_does_not_open_is_not_blamed_on_the_secret() {
    let (outer, hidden, none) = (secrets(OUTER), secrets(HIDDEN), secrets("neither of them"));
    let restore = |store: &MemStore, secrets: &Secrets| {
        let restored = header_restore(store, RestoreFrom::Embedded, &request(secrets), KeysGuard::Same);
        restored.expect_err("no copy")
    };
    let store = pair();
    store.write_at(&Rng::new(2).bytes(131_072), store.size() - 131_072).expect("written");
    for secrets in [&outer, &hidden] {
        let told = restore(&store, secrets);
        assert!(matches!(told, ChangeError::DamagedCopy), "{told:?}");
    }
    let told = restore(&store, &none);
    assert!(matches!(told, ChangeError::NeitherOpens(_)), "{told:?}");
    assert_eq!(told.fault(), Fault::Secret);
    assert!(told.advice().contains(&Advice::ElseRestoreFromFile));
    let image = store.snapshot();
    // The copies' room is cut off, and then some of the data.
    let told = restore(&MemStore::from_vec(image[..SIZE - 65_536].to_vec()), &outer);
    assert!(matches!(told, ChangeError::CopyCutOff), "{told:?}");
    let told = restore(&MemStore::from_vec(image[..SIZE - 200_704].to_vec()), &outer);
    let cut = |fault: &HeaderFault| matches!(fault, HeaderFault::BeyondEnd { .. });
    assert!(
        matches!(&told, ChangeError::Open(VolumeError::DamagedHeader { fault, .. }) if cut(fault)),
        "{told:?}"
    );
}

#[test]
fn the_embedded_copy_restores_the_main_header_and_stays() {
    let store = pair();
    let outer = secrets(OUTER);
    let before = data(&store, &outer, HeaderChoice::Primary);
    store.write_at(&[0; 512], 0).expect("written");
    let image = store.snapshot();
    let restored = header_restore(&store, RestoreFrom::Embedded, &request(&outer), KeysGuard::Same);
    assert_eq!(restored.expect("restored").places, [HeaderLocation::Primary]);
    assert!(data(&store, &outer, HeaderChoice::Primary) == before);
    assert!(store.snapshot()[512..] == image[512..]);
    let states = check(&store, &request(&outer)).expect("opens");
    assert!(states.iter().all(|c| matches!(c.state, keyway_volume::veracrypt::HeaderState::Good)));
}

#[test]
fn an_old_backup_brings_the_old_password_back() {
    let dir = tempfile::tempdir().expect("temp");
    let file = dir.path().join("headers.vc");
    let store = pair();
    let (old, new) = (secrets(OUTER), secrets("another password for it"));
    let before = data(&store, &old, HeaderChoice::Auto);
    header_backup(&store, &request(&old), None, &file).expect("backed up");
    change(&store, &request(&old), &new, None).expect("changed");
    header_restore(&store, RestoreFrom::File(&file), &request(&old), KeysGuard::Same).expect("restored");
    assert!(data(&store, &old, HeaderChoice::Primary) == before);
    assert!(data(&store, &old, HeaderChoice::Backup) == before);
    assert!(unlock(&store, &request(&new)).is_err());
}

#[test]
fn what_would_lose_the_data_is_refused() {
    let dir = tempfile::tempdir().expect("temp");
    let file = dir.path().join("headers.vc");
    let (outer, hidden) = (secrets(OUTER), secrets(HIDDEN));
    let store = pair();
    header_backup(&store, &request(&outer), Some(&hidden), &file).expect("backed up");
    let backup = |r: &UnlockRequest<'_>, inner| header_backup(&store, r, inner, &file).expect_err("refused");
    assert!(matches!(backup(&request(&outer), None), ChangeError::Make(CreateError::Exists(_))));
    assert!(matches!(backup(&request(&hidden), None), ChangeError::IsHidden));
    assert!(matches!(backup(&request(&outer), Some(&outer)), ChangeError::NotHidden));

    let restore = |store: &MemStore, path: &std::path::Path, guard| {
        header_restore(store, RestoreFrom::File(path), &request(&outer), guard)
    };
    // The same password, other master keys.
    let other = pair();
    let image = other.snapshot();
    assert!(matches!(restore(&other, &file, KeysGuard::Same), Err(ChangeError::OtherMasterKeys)));
    assert!(other.snapshot() == image);
    restore(&other, &file, KeysGuard::Any).expect("asked for");
    // A volume that the backup's does not fit into.
    let small = MemStore::from_vec(Rng::new(8).bytes(SIZE - 131_072 - 512));
    let outcome = restore(&small, &file, KeysGuard::Same);
    let sizes = ChangeError::OtherVolumesSize { backup: SIZE as u64, present: (SIZE - 131_072 - 512) as u64 };
    assert_eq!(format!("{outcome:?}"), format!("Err({sizes:?})"));
    // Files that are no backups.
    let short = dir.path().join("short");
    std::fs::write(&short, [7; 1000]).expect("written");
    assert!(matches!(
        restore(&store, &short, KeysGuard::Same),
        Err(ChangeError::NotABackup { bytes: 1000, .. })
    ));
    let missing = restore(&store, &dir.path().join("missing"), KeysGuard::Same);
    assert!(matches!(missing, Err(ChangeError::BackupFile { .. })));
}

fn truecrypt(secrets: &Secrets) -> UnlockRequest<'_> {
    UnlockRequest { format: Some(Format::TrueCrypt), ..UnlockRequest::new(secrets) }
}

/// Volumes of every generation, changed, backed up and restored.
#[test]
fn truecrypt_volumes_keep_their_format() {
    let Some(folder) = volumes() else { return };
    let dir = tempfile::tempdir().expect("temp");
    for (name, copies, backup_bytes) in [
        ("tc_1-ripemd160-cbc-aes", 1, 1024),
        ("tc_2-ripemd160-lrw-aes-twofish-serpent", 1, 1024),
        ("tc_3-sha512-xts-aes", 1, 1024),
        ("tc_4-sha512-xts-serpent-aes", 2, 131_072),
        ("tc_5-sha512-xts-aes-twofish", 2, 131_072),
    ] {
        let Some(unpacked) = unpack_xz(&folder.join(format!("tcrypt/{name}.xz"))) else { return };
        let store = Arc::new(MemStore::from_vec(std::fs::read(unpacked.path()).expect("read")));
        let old = Secrets { password: SecretBytes::copy_of(b"aaaaaaaaaaaa"), keyfiles: vec![], pim: None };
        let new = Secrets { password: SecretBytes::copy_of(b"bbbbbbbbbbbb"), keyfiles: vec![], pim: None };
        let read = |secrets: &Secrets, header| {
            let request = UnlockRequest { header, ..truecrypt(secrets) };
            let unlocked = unlock(&store, &request).expect("opens");
            let device =
                Device::new(Box::new(store.clone()), unlocked.layout, Access::ReadOnly).expect("fits");
            let mut data = vec![0; device.size() as usize];
            device.read_at(&mut data, 0).expect("read");
            (unlocked.info.cipher, unlocked.info.mode, unlocked.info.hash, data)
        };
        let before = read(&old, HeaderChoice::Auto);
        let backup = dir.path().join(format!("{name}.backup"));
        let made = header_backup(&store, &truecrypt(&old), None, &backup).expect("backed up");
        assert_eq!(made.bytes, backup_bytes, "{name}");
        let changed = change(&store, &truecrypt(&old), &new, None).expect("changed");
        assert_eq!(changed.copies, copies, "{name}");
        assert!(read(&new, HeaderChoice::Primary) == before, "{name}");
        if copies == 2 {
            assert!(read(&new, HeaderChoice::Backup) == before, "{name}");
        }
        store.write_at(&[0; 512], 0).expect("written");
        header_restore(&store, RestoreFrom::File(&backup), &truecrypt(&old), KeysGuard::Same)
            .expect("restored");
        assert!(read(&old, HeaderChoice::Primary) == before, "{name}");
    }
}
