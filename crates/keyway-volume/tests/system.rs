//! Encrypted systems: the drive, one partition of it, the header from elsewhere; its password
//! changed and its header saved in ways that its boot loader can follow.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

use keyway_engine::{Access, Device};
use keyway_error::{Explain, Fault};
use keyway_secret::SecretBytes;
use keyway_store::{FaultPlan, FaultStore, MemStore, Store};
use keyway_testkit::Rng;
use keyway_volume::veracrypt::{
    ChangeError, Derivation, Flags, Format, HEADER_BYTES, HashName, Header, HeaderLocation, HeaderState,
    KeysGuard, RestoreFrom, SealedHeader, Suite, SystemFault, change, check, derive_header_key,
    header_backup, header_restore,
};
use keyway_volume::{
    Secrets, SystemHeader, UnlockRequest, Unlocked, Unsupported, VolumeError, Warning, unlock,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const MIB: u64 = 1 << 20;
const DRIVE: u64 = 4 * MIB;
const PASSWORD: &str = "typed before the system starts";
const NEW: &str = "another one for that keyboard";
const PIM: u32 = 1;

fn secrets(password: &str) -> Secrets {
    Secrets { password: SecretBytes::copy_of(password.as_bytes()), keyfiles: vec![], pim: Some(PIM) }
}

fn request(secrets: &Secrets) -> UnlockRequest<'_> {
    UnlockRequest { hash: Some(HashName::Sha256), ..UnlockRequest::new(secrets) }
}

fn header(start: u64, bytes: u64) -> Header {
    Header {
        format: Format::VeraCrypt,
        version: 5,
        required_program_version: 0x010b,
        created: [0, 0],
        hidden_bytes: 0,
        volume_bytes: bytes,
        encrypted_start: start,
        encrypted_bytes: bytes,
        flags: Flags(1),
        sector_bytes: 512,
        key_area: SecretBytes::copy_of(&Rng::new(7).bytes(256)),
    }
}

fn sealed(header: &Header, password: &str, system: bool) -> [u8; HEADER_BYTES] {
    let salt = *Rng::new(11).bytes(64).first_chunk::<64>().expect("64 bytes");
    let cost = Derivation::of(Format::VeraCrypt, HashName::Sha256, Some(PIM), system).expect("exists");
    let stop = AtomicBool::new(false);
    let key = derive_header_key(HashName::Sha256, cost, password.as_bytes(), &salt, 192, &stop);
    let key = key.expect("no memory needed").expect("not stopped");
    *SealedHeader::seal(header, &salt, Suite::xts("aes".parse().expect("a cipher")), &key)
        .expect("seals")
        .bytes()
}

/// A drive of noise with two partitions of a MiB, at 1 and 2 MiB, and this header.
fn drive(header: &Header) -> Vec<u8> {
    let mut bytes = Rng::new(3).bytes(DRIVE as usize);
    bytes[..512].fill(0);
    bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
    for (entry, first) in [(446, 2048u32), (462, 4096)] {
        bytes[entry + 4] = 7;
        bytes[entry + 8..entry + 12].copy_from_slice(&first.to_le_bytes());
        bytes[entry + 12..entry + 16].copy_from_slice(&2048u32.to_le_bytes());
    }
    let at = HeaderLocation::System.offset(DRIVE).expect("fits") as usize;
    bytes[at..at + HEADER_BYTES].copy_from_slice(&sealed(header, PASSWORD, true));
    bytes
}

fn mem(bytes: &[u8]) -> Arc<MemStore> {
    Arc::new(MemStore::from_vec(bytes.to_vec()))
}

fn plain(store: &Arc<MemStore>, unlocked: Unlocked) -> Vec<u8> {
    let device = Device::new(Box::new(store.clone()), unlocked.layout, Access::ReadOnly).expect("fits");
    let mut data = vec![0; device.size() as usize];
    device.read_at(&mut data, 0).expect("read");
    data
}

/// The partition at `start` opened by itself, with the header from `elsewhere`.
fn partition(
    drive: &[u8],
    start: u64,
    elsewhere: &[u8],
    told: Option<u64>,
) -> Result<(Unlocked, Vec<u8>), VolumeError> {
    let store = mem(&drive[start as usize..(start + MIB) as usize]);
    let there = mem(elsewhere);
    let secrets = secrets(PASSWORD);
    let system_header = Some(SystemHeader { store: &there, start: told });
    // Bare noise has no boot sector, so a lone header is asked for by name.
    let system = elsewhere.len() == HEADER_BYTES;
    let open = || unlock(&store, &UnlockRequest { system, system_header, ..request(&secrets) });
    let data = plain(&store, open()?);
    Ok((open()?, data))
}

#[test]
fn a_partition_alone_is_what_the_drive_shows_of_it() {
    let drive = drive(&header(MIB, MIB));
    let store = mem(&drive);
    let expected = plain(&store, unlock(&store, &request(&secrets(PASSWORD))).expect("opens"));
    assert_eq!(expected.len() as u64, MIB);
    let alone = &drive[31_744..32_256];
    for (elsewhere, told) in
        [(&drive[..], Some(MIB)), (&drive, None), (alone, None), (&drive[..32_256], None)]
    {
        let (unlocked, data) = partition(&drive, MIB, elsewhere, told).expect("opens");
        assert!(data == expected);
        assert!(unlocked.info.system);
        assert_eq!((unlocked.info.data_offset, unlocked.info.data_bytes), (0, MIB));
        assert_eq!(unlocked.warnings, []);
    }
    let error = partition(&drive, 2 * MIB, &drive, Some(2 * MIB)).err().expect("refused");
    let outside = Unsupported::OutsideSystem { start: MIB, end: 2 * MIB, partition: 2 * MIB };
    assert!(matches!(&error, VolumeError::Unsupported(why) if *why == outside), "{error}");
}

#[test]
fn each_partition_of_an_encrypted_drive_opens_by_itself() {
    let mut partly = header(512 * 1024, 3 * MIB);
    for (header, encrypted) in [(header(512 * 1024, 3 * MIB), 3 * MIB), {
        partly.encrypted_bytes = MIB;
        (partly, MIB)
    }] {
        let drive = drive(&header);
        let store = mem(&drive);
        let whole = plain(&store, unlock(&store, &request(&secrets(PASSWORD))).expect("opens"));
        assert_eq!(whole.len() as u64, DRIVE);
        for start in [MIB, 2 * MIB] {
            let (unlocked, data) = partition(&drive, start, &drive, Some(start)).expect("opens");
            assert!(data == whole[start as usize..(start + MIB) as usize], "{start}, {encrypted}");
            let partly = unlocked.warnings.iter().any(|w| matches!(w, Warning::PartlyEncrypted { .. }));
            assert_eq!(partly, encrypted < 3 * MIB);
        }
        // Of an image nobody can say where on the drive it was.
        let error = partition(&drive, MIB, &drive, None).err().expect("refused");
        assert!(matches!(error, VolumeError::Unsupported(Unsupported::SystemDrive { .. })), "{error}");
        assert_eq!(error.fault(), Fault::Contents);
    }
}

#[test]
fn an_ordinary_volume_on_a_partition_is_not_disturbed_by_its_drive() {
    let mut ordinary = header(131_072, MIB - 262_144);
    ordinary.flags = Flags(0);
    let mut bytes = Rng::new(5).bytes(MIB as usize);
    bytes[..HEADER_BYTES].copy_from_slice(&sealed(&ordinary, PASSWORD, false));
    let (store, around) = (mem(&bytes), mem(&drive(&header(2 * MIB, MIB))));
    let secrets = secrets(PASSWORD);
    let system_header = Some(SystemHeader { store: &around, start: Some(MIB) });
    let found = unlock(&store, &UnlockRequest { system_header, ..request(&secrets) }).expect("opens");
    assert_eq!((found.info.system, found.info.header_used), (false, HeaderLocation::Primary));
}

#[test]
fn a_hidden_system_opens_in_its_partition_and_changes_its_password() {
    // The outer volume's header, and the hidden one's with the system flag: a boot loader looks for
    // that in the partition behind the system's. Its key is derived as any volume's.
    let hidden_bytes = 256 * 1024;
    let mut hidden = header(MIB - 131_072 - hidden_bytes, hidden_bytes);
    hidden.hidden_bytes = hidden_bytes;
    let mut bytes = Rng::new(5).bytes(MIB as usize);
    bytes[65_536..65_536 + HEADER_BYTES].copy_from_slice(&sealed(&hidden, PASSWORD, false));
    let store = mem(&bytes);
    let opened = unlock(&store, &request(&secrets(PASSWORD))).expect("opens");
    assert!(opened.info.system && opened.info.hidden);
    let before = plain(&store, opened);
    let old = secrets(PASSWORD);
    let fault = change(&store, &request(&old), &secrets(NEW), Some(HashName::Sha512)).expect_err("refused");
    assert!(matches!(fault, ChangeError::System(SystemFault::Hash)), "{fault}");
    let changed = change(&store, &request(&old), &secrets(NEW), None).expect("changed");
    assert_eq!((changed.hidden, changed.copies), (true, 2));
    let opened = unlock(&store, &request(&secrets(NEW))).expect("opens");
    assert!(opened.info.system && plain(&store, opened) == before);
}

#[test]
fn only_what_the_boot_loader_follows_is_changed() {
    let image = drive(&header(MIB, MIB));
    let store = mem(&image);
    let old = secrets(PASSWORD);
    let refuse = |new: Secrets, hash| match change(&store, &request(&old), &new, hash) {
        Err(ChangeError::System(fault)) => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(refuse(secrets(NEW), Some(HashName::Blake2s)), SystemFault::Hash);
    assert_eq!(refuse(Secrets { pim: Some(2), ..secrets(NEW) }, None), SystemFault::Pim);
    assert_eq!(refuse(Secrets { keyfiles: vec!["/k".into()], ..secrets(NEW) }, None), SystemFault::Keyfiles);
    for password in ["mit Umlaut: ä", &"x".repeat(65), "tab\there"] {
        assert_eq!(refuse(secrets(password), None), SystemFault::Password);
    }
    assert!(store.snapshot() == image, "nothing was written");

    let before = plain(&store, unlock(&store, &request(&old)).expect("opens"));
    let changed = change(&store, &request(&old), &secrets(NEW), Some(HashName::Sha256)).expect("changed");
    assert_eq!((changed.hidden, changed.copies, changed.hash), (false, 1, HashName::Sha256));
    let opened = unlock(&store, &request(&secrets(NEW))).expect("opens");
    assert_eq!(opened.info.derivation, Derivation::Pbkdf2 { iterations: 2048 });
    assert!(plain(&store, opened) == before);
    assert!(matches!(unlock(&store, &request(&old)), Err(VolumeError::WrongSecret { .. })));
    let now = store.snapshot();
    assert!(now[..31_744] == image[..31_744] && now[32_256..] == image[32_256..], "one sector was written");

    // From the partition the header can be read, and not be written.
    let part = mem(&image[MIB as usize..2 * MIB as usize]);
    let around = mem(&image);
    let system_header = Some(SystemHeader { store: &around, start: Some(MIB) });
    let from_there = UnlockRequest { system_header, ..request(&old) };
    assert!(matches!(change(&part, &from_there, &secrets(NEW), None), Err(ChangeError::SystemElsewhere)));
    assert!(around.snapshot() == image);
}

#[test]
fn a_power_cut_leaves_the_old_password_or_the_new_one() {
    let image = drive(&header(MIB, MIB));
    let old = secrets(PASSWORD);
    let before = plain(&mem(&image), unlock(&mem(&image), &request(&old)).expect("opens"));
    for (sector_bytes, survivors) in [(512, None), (512, Some(3)), (4096, Some(3))] {
        let medium = || MemStore::from_vec(image.clone()).with_sector_bytes(sector_bytes);
        let whole = FaultStore::new(medium(), FaultPlan::default());
        change(&whole, &request(&old), &secrets(NEW), None).expect("it works when nothing fails");
        for cut in 0..whole.steps() {
            let plan = FaultPlan { power_cut_before: Some(cut), survivors, ..FaultPlan::default() };
            let store = FaultStore::new(medium(), plan);
            assert!(change(&store, &request(&old), &secrets(NEW), None).is_err(), "a cut is an error");
            let left = Arc::new(store.into_medium().expect("a medium"));
            let opened = [PASSWORD, NEW].iter().find_map(|p| unlock(&left, &request(&secrets(p))).ok());
            let opened = opened.unwrap_or_else(|| panic!("cut {cut}, {survivors:?}: nothing opens it"));
            assert!(plain(&left, opened) == before, "cut {cut}");
        }
    }
}

#[test]
fn a_system_s_header_comes_back_from_its_backup() {
    let dir = tempfile::tempdir().expect("temp");
    let file = dir.path().join("svh_bak");
    let image = drive(&header(MIB, MIB));
    let store = mem(&image);
    let old = secrets(PASSWORD);
    let before = plain(&store, unlock(&store, &request(&old)).expect("opens"));
    let made = header_backup(&store, &request(&old), None, &file).expect("backed up");
    assert_eq!((made.bytes, made.hidden), (512, false));
    let good = check(&store, &request(&old)).expect("opens");
    assert!(matches!(good.as_slice(), [only] if matches!(only.state, HeaderState::Good)), "{good:?}");

    store.write_at(&Rng::new(9).bytes(512), 31_744).expect("written");
    assert!(matches!(unlock(&store, &request(&old)), Err(VolumeError::WrongSecret { .. })));
    let restored = header_restore(&store, RestoreFrom::File(&file), &request(&old), KeysGuard::Same);
    assert_eq!(restored.expect("restored").places, [HeaderLocation::System]);
    assert!(plain(&store, unlock(&store, &request(&old)).expect("opens")) == before);
    // VeraCrypt's own rescue disk holds the sector as it is.
    std::fs::write(&file, &image[31_744..32_256]).expect("written");
    header_restore(&store, RestoreFrom::File(&file), &request(&old), KeysGuard::Same).expect("restored");
    let named = UnlockRequest { system: true, ..request(&old) };
    let none = header_restore(&store, RestoreFrom::Embedded, &named, KeysGuard::Same);
    assert!(matches!(none, Err(ChangeError::NoCopy)), "{none:?}");
}

#[test]
fn a_backup_from_before_the_encryption_ended_is_not_restored() {
    let dir = tempfile::tempdir().expect("temp");
    let file = dir.path().join("svh_bak");
    let mut half = header(MIB, MIB);
    half.encrypted_bytes = MIB / 2;
    std::fs::write(&file, sealed(&half, PASSWORD, true)).expect("written");
    let store = mem(&drive(&header(MIB, MIB)));
    let old = secrets(PASSWORD);
    let restore = |guard| header_restore(&store, RestoreFrom::File(&file), &request(&old), guard);
    let expect = |drive| match restore(KeysGuard::Same) {
        Err(ChangeError::OtherExtent { backup, drive: there }) => {
            assert_eq!((backup, there), (MIB / 2, drive));
        }
        other => panic!("{other:?}"),
    };
    expect(Some(MIB));
    store.write_at(&Rng::new(9).bytes(512), 31_744).expect("written");
    expect(None);
    restore(KeysGuard::Any).expect("restored when forced");
    let mut other = header(MIB, MIB);
    other.key_area = SecretBytes::copy_of(&[1; 256]);
    std::fs::write(&file, sealed(&other, PASSWORD, true)).expect("written");
    assert!(matches!(restore(KeysGuard::Same), Err(ChangeError::OtherMasterKeys)));
}
