//! The volumes that Windows encrypted: every secret opens them to what they hold, and their
//! metadata reads and writes back to the same bytes.
#![allow(clippy::panic, clippy::expect_used, reason = "helpers of tests fail as tests do")]

use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_error::{Explain, Fault};
use keyway_secret::SecretBytes;
use keyway_store::{Caching, FileStore, OpenMode, Store};
use keyway_testkit::{Row, Table, sha256_of, unpack_xz, volumes};
use keyway_volume::bitlocker::{
    BOOT_SECTOR_BYTES, BitLockerError, Block, BootKind, BootSector, Conversion, CopyState, Entries,
    Protection, REGION_BYTES, ReadOnly, RecoveryPassword, Repaired, Secret, StartupKey, UnlockRequest,
    Unlocked, Value, Warning, look, unlock,
};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The volumes whose hash the index does not know, with the SHA-256 of what dissect.fve 4.6 makes
/// of them: `BDE(f)`, `unlock_with_passphrase("anaconda")`, `open().read()`.
const HASHES_OF_DISSECT: [(&str, &str); 2] = [
    ("bitlk-aes-xts-128-eow.img.xz", "709896849b49ffe4d5dfa4d8ee842cf54becb0a90ecba4f5eefec16ffb755665"),
    (
        "bitlk-partially-encrypted-aes-cbc-128.img.xz",
        "33aa91a1945d19ac2a72e2dcbf2eac413a316c675d78c191ee311089bfc020b3",
    ),
];

fn folder() -> Option<PathBuf> {
    Some(volumes()?.join("bitlocker"))
}

/// Every volume of the index, unpacked one after the other.
fn each(mut work: impl FnMut(&Row, &NamedTempFile, &FileStore)) {
    let Some(folder) = folder() else { return };
    for row in Table::read(&folder.join("INDEX.tsv")).rows() {
        let Some(file) = unpack_xz(&folder.join(row.get("file"))) else { return };
        let store = open_store(file.path());
        work(row, &file, &store);
    }
}

fn open_store(path: &Path) -> FileStore {
    FileStore::open(path, OpenMode::ReadOnly, Caching::Buffered).expect("it opens")
}

fn region(store: &FileStore, offset: u64) -> Vec<u8> {
    let mut bytes = vec![0; REGION_BYTES];
    store.read_at(&mut bytes, offset).expect("inside the volume");
    bytes
}

/// Everything in the volume, one piece after the other.
struct All(Device, u64);

impl Read for All {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = (self.0.size() - self.1).min(buf.len() as u64) as usize;
        self.0.read_at(&mut buf[..n], self.1).map_err(std::io::Error::other)?;
        self.1 += n as u64;
        Ok(n)
    }
}

fn decrypted(path: &Path, layout: Layout) -> String {
    sha256_of(All(Device::new(Box::new(open_store(path)), layout, Access::ReadOnly).expect("it fits"), 0))
}

fn password(text: &str) -> Secret {
    Secret::Password(SecretBytes::copy_of(text.as_bytes()))
}

fn startup_key(name: &str) -> StartupKey {
    let file = std::fs::read(folder().expect("asked before").join(name)).expect("the startup key's file");
    StartupKey::parse(&SecretBytes::copy_of(&file)).expect("a startup key")
}

/// The secrets of a volume, with the name that its index has for the protector of each.
fn secrets(row: &Row) -> Vec<(&'static str, Option<Secret>)> {
    let mut secrets = Vec::new();
    if !row.get("password").is_empty() {
        secrets.push(("pw", Some(password(row.get("password")))));
    }
    for (column, name) in [("recovery_password", "rp"), ("recovery_password_2", "rp2")] {
        if !row.get(column).is_empty() {
            let password = RecoveryPassword::parse(row.get(column)).expect("a recovery password");
            secrets.push((name, Some(Secret::RecoveryPassword(password))));
        }
    }
    if !row.get("startup_key_file").is_empty() {
        secrets.push(("sk", Some(Secret::StartupKey(startup_key(row.get("startup_key_file"))))));
    }
    if row.get("clear_key") == "yes" {
        secrets.push(("clearkey", None));
    }
    secrets
}

fn expected(row: &Row) -> &str {
    let known = HASHES_OF_DISSECT.iter().find(|(file, _)| *file == row.get("file"));
    known.map_or(row.get("sha256_of_decrypted_volume"), |(_, hash)| hash)
}

/// One pass over the volumes, since each has to be unpacked.
#[test]
fn the_volumes_that_windows_made() {
    let mut opened = 0;
    each(|row, file, store| {
        metadata_reads_and_writes_back_to_the_same_bytes(row, store);
        the_validation_that_windows_wrote_is_the_one_we_make(row, store);
        what_is_seen_without_a_secret(row, store);
        without_its_first_sector(row, file, store);
        opened += every_secret_opens_it_to_what_it_holds(row, file, store);
    });
    // Nine passwords, eleven recovery passwords, a startup key and a clear key.
    assert!(opened == 22 || folder().is_none(), "{opened} were tried");
}

/// Each segment's first byte and length, and what is stored where.
fn where_it_lies(layout: &Layout) -> Vec<(u64, u64, Option<u64>, Option<u64>)> {
    let stored = |mapping: &Mapping| match mapping {
        Mapping::Encrypted { store_offset, first_unit, .. } => (Some(*store_offset), Some(*first_unit)),
        Mapping::Plain { store_offset } => (Some(*store_offset), None),
        Mapping::Zero => (None, None),
    };
    let each = |s: &Segment| {
        let (at, unit) = stored(&s.mapping);
        (s.start, s.len, at, unit)
    };
    layout.segments().iter().map(each).collect()
}

/// Its metadata is found, what is in it is the same, and a repair makes a volume of it again.
fn without_its_first_sector(row: &Row, file: &NamedTempFile, store: &FileStore) {
    let name = row.get("file");
    let Some((_, secret)) = secrets(row).pop() else { panic!("{name} has no secret") };
    let secrets: Vec<_> = secret.into_iter().collect();
    let request = UnlockRequest { search: true, ..UnlockRequest::new(&secrets) };
    let before = unlock(store, &request).expect(name);
    let mut first = [0; 4096];
    store.read_at(&mut first, 0).expect(name);
    let damage = |bytes: &[u8]| {
        std::fs::File::options().write(true).open(file.path()).expect(name).write_all_at(bytes, 0)
    };
    for lost in [[0; 4096], [0xa5; 4096]] {
        damage(&lost).expect(name);
        assert!(matches!(look(store), Err(BitLockerError::NotBitLocker(_))), "{name}");
        let found = unlock(store, &request).expect(name);
        assert!(found.opened.data.bytes.same_as(&before.opened.data.bytes), "{name}");
        assert_eq!(where_it_lies(&found.layout), where_it_lies(&before.layout), "{name}");
        assert_eq!(found.read_only, Some(ReadOnly::FirstSector), "{name}");
        let writable = FileStore::open(file.path(), OpenMode::ReadWrite, Caching::Buffered).expect(name);
        let done = found.opened.repair(&writable).expect(name);
        assert_eq!(done, Repaired { first_sector: true, copies: vec![] }, "{name}");
        let again = unlock(store, &UnlockRequest::new(&secrets)).expect(name);
        assert_eq!(again.warnings, before.warnings, "{name}");
        assert_eq!(where_it_lies(&again.layout), where_it_lies(&before.layout), "{name}");
    }
    damage(&first).expect(name);
}

/// How many secrets that were.
fn every_secret_opens_it_to_what_it_holds(row: &Row, file: &NamedTempFile, store: &FileStore) -> usize {
    let name = row.get("file");
    let protectors = row.list("protector_guids");
    let mut first: Option<SecretBytes> = None;
    let mut opened = 0;
    for (kind, secret) in secrets(row) {
        let secrets: Vec<_> = secret.into_iter().collect();
        let Unlocked { info, layout, opened: keys, .. } =
            unlock(store, &UnlockRequest::new(&secrets)).unwrap_or_else(|e| panic!("{name} {kind}: {e}"));
        // All of them lead to one key, so the volume is read once.
        match &first {
            Some(key) => assert!(key.same_as(&keys.data.bytes), "{name} by {kind}"),
            None => {
                assert_eq!(decrypted(file.path(), layout), expected(row), "{name} by {kind}");
                first = Some(keys.data.bytes);
            }
        }
        let id = info.opened_by.expect("a protector opened it").to_string();
        assert!(protectors.contains(&&*format!("{kind}={id}")), "{name} by {kind}: {id}");
        opened += 1;
    }
    opened
}

fn metadata_reads_and_writes_back_to_the_same_bytes(row: &Row, store: &FileStore) {
    let name = row.get("file");
    let mut sector = [0; BOOT_SECTOR_BYTES];
    store.read_at(&mut sector, 0).expect("the first sector");
    let boot = BootSector::parse(&sector).expect(name);
    assert_eq!(boot.kind == BootKind::ToGo, name.contains("togo"), "{name}");
    assert_eq!(boot.sector_bytes == 4096, name.contains("4k"), "{name}");
    assert_eq!(boot.eow.is_some(), name.contains("eow") || name.contains("partially"), "{name}");
    for copy in boot.copies {
        let region = region(store, copy);
        let block = Block::parse(&region).expect(name);
        assert_eq!(block.copies, boot.copies, "{name}");
        assert_eq!(block.dataset.volume.to_string(), row.get("volume_guid"), "{name}");
        let written = block.to_bytes().expect(name);
        assert_eq!(written, region[..written.len()], "{name}");
        assert!(region[written.len()..].iter().all(|byte| *byte == 0), "{name}");
        // Nothing of it was left as raw bytes but what Windows means to be so.
        assert!(raw(&block.dataset.entries).iter().all(|kind| *kind == 0x15), "{name}");
        assert!(block.validation.sealed().is_some(), "{name}");
    }
}

/// The kinds of the entries that were kept as raw bytes.
fn raw(entries: &Entries) -> Vec<u16> {
    assert!(entries.rest.is_empty());
    let inside = |value: &Value| match value {
        Value::Raw { kind, .. } => vec![*kind],
        Value::StretchKey(stretch) => raw(&stretch.entries),
        Value::UseKey(used) => raw(&used.entries),
        Value::Protector(protector) => raw(&protector.entries),
        Value::ExternalKey(key) => raw(&key.entries),
        _ => vec![],
    };
    entries.list.iter().flat_map(|entry| inside(&entry.value)).collect()
}

fn the_validation_that_windows_wrote_is_the_one_we_make(row: &Row, store: &FileStore) {
    let name = row.get("file");
    let Some((_, secret)) = secrets(row).pop() else { panic!("{name} has no secret") };
    let secrets: Vec<_> = secret.into_iter().collect();
    let opened = unlock(store, &UnlockRequest::new(&secrets)).expect(name).opened;
    let mut block = opened.metadata.block().clone();
    assert!(block.is_authentic(&opened.master), "{name}");
    // The same nonce again gives the same bytes: nothing but the hash is sealed.
    let nonce = block.validation.sealed().expect("sealed").nonce;
    assert_eq!(nonce.counter + 1, block.dataset.next_nonce, "{name}");
    let before = block.clone();
    block.dataset.next_nonce = nonce.counter;
    block.validate(&opened.master, nonce.time).expect(name);
    assert_eq!(block, before, "{name}");
}

#[test]
fn the_startup_key_that_windows_wrote_writes_back_to_the_same_bytes() {
    let Some(folder) = folder() else { return };
    let name = "4381F759-C4F8-4DE0-BB61-FC33A831BDA5.BEK";
    let key = startup_key(name);
    assert_eq!(key.file_name(), name);
    assert_eq!(key.to_bytes().to_vec(), std::fs::read(folder.join(name)).expect("the file"));
}

fn what_is_seen_without_a_secret(row: &Row, store: &FileStore) {
    let name = row.get("file");
    let seen = look(store).expect(name);
    let method = if row.get("cipher") == "aes-xts-plain64" { "xts" } else { row.get("cipher") };
    assert!(method.ends_with(seen.info.mode), "{name} {}", seen.info.mode);
    let bits = if name.contains("256") { "256" } else { "128" };
    assert!(seen.info.cipher.name().contains(bits), "{name}");
    assert_eq!(seen.info.volume_id.to_string(), row.get("volume_guid"));
    for known in row.list("protector_guids") {
        let (kind, id) = known.split_once('=').expect("kind and identifier");
        let found = seen.info.key_protectors.iter().find(|p| p.id.to_string() == id).expect(name);
        let expected = match kind {
            "pw" => Protection::Password,
            "rp" | "rp2" => Protection::RecoveryPassword,
            "sk" => Protection::StartupKey,
            _ => Protection::ClearKey,
        };
        assert_eq!(found.kind, expected, "{name}");
    }
    let suspended = name.contains("clearkey") || name.contains("partially");
    assert_eq!(seen.info.protection_suspended, suspended, "{name}");
    assert_eq!(seen.warnings, if suspended { vec![Warning::Suspended] } else { vec![] }, "{name}");
    assert_eq!(seen.info.conversion_status, Conversion::FullyEncrypted, "{name}");
    assert!(seen.info.metadata_copies.iter().all(|copy| copy.state == CopyState::Good), "{name}");
    assert!(seen.info.description.is_some(), "{name}");
}

#[test]
fn each_wrong_secret_has_an_error_of_its_own() {
    let Some(folder) = folder() else { return };
    let unpack = |name: &str| unpack_xz(&folder.join(name));
    let (Some(file), Some(other)) =
        (unpack("bitlk-aes-xts-128-startup-key.img.xz"), unpack("bitlk-aes-xts-256.img.xz"))
    else {
        return;
    };
    let error = |file: &NamedTempFile, secrets: &[Secret]| {
        unlock(&open_store(file.path()), &UnlockRequest::new(secrets)).err().expect("refused")
    };
    let recovery = || {
        let text = "235818-357951-253979-013365-241120-245575-342914-591910";
        Secret::RecoveryPassword(RecoveryPassword::parse(text).expect("of another volume"))
    };
    let key = || startup_key("4381F759-C4F8-4DE0-BB61-FC33A831BDA5.BEK");
    let wrong = error(&file, &[password("Anaconda")]);
    assert!(matches!(wrong, BitLockerError::WrongPassword(..)) && wrong.fault() == Fault::Secret, "{wrong}");
    let wrong = error(&file, &[recovery()]);
    assert!(
        matches!(wrong, BitLockerError::WrongRecoveryPassword(_)) && wrong.fault() == Fault::Secret,
        "{wrong}"
    );
    let wrong = error(&other, &[Secret::StartupKey(key())]);
    assert!(
        matches!(wrong, BitLockerError::NoSuchProtector { .. }) && wrong.fault() == Fault::Secret,
        "{wrong}"
    );
    let wrong = error(&file, &[Secret::StartupKey(StartupKey::random().expect("random"))]);
    assert!(
        matches!(wrong, BitLockerError::OtherStartupKey { .. }) && wrong.fault() == Fault::Secret,
        "{wrong}"
    );
    let mut damaged = key();
    damaged.key.bytes[0] ^= 1;
    let wrong = error(&file, &[Secret::StartupKey(damaged)]);
    assert!(matches!(wrong, BitLockerError::WrongStartupKey(_)) && wrong.fault() == Fault::Secret, "{wrong}");
    let wrong = error(&file, &[Secret::MasterKey(SecretBytes::zeroed(32), None)]);
    assert!(matches!(wrong, BitLockerError::WrongMasterKey) && wrong.fault() == Fault::Secret, "{wrong}");
    let wrong = error(&other, &[]);
    assert!(matches!(wrong, BitLockerError::NoSecret(_)) && wrong.fault() == Fault::Request, "{wrong}");
    assert!(wrong.to_string().contains("password, recovery-password"), "{wrong}");
    // A right one after a wrong one counts.
    let secrets = [recovery(), Secret::StartupKey(key())];
    assert!(unlock(&open_store(file.path()), &UnlockRequest::new(&secrets)).is_ok());
}
