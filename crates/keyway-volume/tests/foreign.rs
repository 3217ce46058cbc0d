//! Volumes that TrueCrypt, VeraCrypt and others made: every one opens and holds what it should.
#![allow(clippy::panic, clippy::expect_used, reason = "helpers of tests fail as tests do")]

use keyway_engine::{Access, Device};
use keyway_error::{Explain, Fault};
use keyway_fs::{FileSystemKind, Superblock};
use keyway_secret::SecretBytes;
use keyway_store::{Caching, FileStore, OpenMode};
use keyway_testkit::{Row, Table, sha256_of, unpack_xz, volumes};
use keyway_volume::veracrypt::{Format, HashName, HeaderChoice, HeaderLocation};
use keyway_volume::{Secrets, UnlockRequest, Unlocked, VolumeError, Warning, unlock};
use std::path::{Path, PathBuf};

fn secrets(folder: &Path, row: &Row, password: &str) -> Secrets {
    Secrets {
        password: SecretBytes::copy_of(password.as_bytes()),
        keyfiles: row.list("keyfiles").iter().map(|name| folder.join(name)).collect(),
        pim: row.number("pim").and_then(|n| u32::try_from(n).ok()),
    }
}

fn store(path: &Path) -> FileStore {
    FileStore::open(path, OpenMode::ReadOnly, Caching::Buffered).expect("the volume's file opens")
}

fn open(path: &Path, request: &UnlockRequest<'_>) -> Result<Unlocked, VolumeError> {
    unlock(&store(path), request)
}

fn device(path: &Path, unlocked: Unlocked) -> Device {
    Device::new(Box::new(store(path)), unlocked.layout, Access::ReadOnly).expect("the layout fits")
}

fn fat_uuid(path: &Path, unlocked: Unlocked) -> Option<String> {
    let found = Superblock::read(&device(path, unlocked)).expect("readable");
    found.filter(|fs| fs.kind == FileSystemKind::Fat)?.uuid
}

/// `vck_1_pw72-sha512-xts-aes-hidden.xz` says: sha512, xts, aes.
struct Named {
    hash: HashName,
    mode: String,
    cipher: String,
    format: Format,
    automatic: bool,
}

impl Named {
    fn is_header_only(&self) -> bool {
        self.mode == "cbc" && (self.cipher.contains('-') || self.cipher == "blowfish")
    }
}

fn named(file: &str) -> Named {
    let stem = file.trim_end_matches(".xz").trim_end_matches("-hidden");
    let mut words = stem.splitn(4, '-');
    let kind = words.next().expect("kind");
    let hash = words.next().expect("hash");
    // vc_1-argon2id-xts-aes and so on: a mode always follows.
    let mode = words.next().expect("mode").to_owned();
    let cipher = words.next().expect("cipher").to_owned();
    let format =
        if kind.trim_start_matches("sys_").starts_with("tc") { Format::TrueCrypt } else { Format::VeraCrypt };
    // Finding everything out costs seconds for the slow hashes; the quick ones always do it.
    let slow = std::env::var_os("KEYWAY_SLOW").is_some_and(|v| v == "1");
    let automatic = slow || format == Format::TrueCrypt || hash == "sha512";
    Named { hash: hash.parse().expect("hash"), mode, cipher, format, automatic }
}

fn check_tcrypt(folder: &Path, row: &Row) -> Vec<String> {
    let file = row.get("file");
    let Some(image) = unpack_xz(&folder.join(file)) else { return Vec::new() };
    let path = image.path();
    let expected = named(file);
    let mut wrong = Vec::new();
    let mut check = |what: &str, password: &str, hidden: bool| {
        let secrets = secrets(folder, row, password);
        let mut request = UnlockRequest::new(&secrets);
        if !expected.automatic {
            request.hash = Some(expected.hash);
        }
        let unlocked = match open(path, &request) {
            Ok(unlocked) => unlocked,
            Err(e) => return wrong.push(format!("{file} ({what}): {e}")),
        };
        let info = unlocked.info.clone();
        let mode = if info.mode == "inner-cbc" { "cbc" } else { info.mode };
        let as_named = info.hash == expected.hash
            && mode == expected.mode
            && info.cipher == expected.cipher
            && info.format == expected.format
            && info.hidden == hidden
            && info.system == (row.get("system_encryption") == "yes");
        if !as_named {
            wrong.push(format!("{file} ({what}): {info:?}"));
        }
        if unlocked.warnings.contains(&Warning::TrueCrypt) != (expected.format == Format::TrueCrypt) {
            wrong.push(format!("{file} ({what}): {:?}", unlocked.warnings));
        }
        let uuid = if hidden { "CAFE-BABE" } else { "DEAD-BABE" };
        match fat_uuid(path, unlocked) {
            // The suite kept no data of volumes whose mode the Linux kernel does not have.
            None if expected.is_header_only() => {}
            Some(found) if found == uuid => {}
            other => wrong.push(format!("{file} ({what}): the file system is {other:?}; {info:?}")),
        }
    };
    check("main", row.get("password"), false);
    if !row.get("hidden_password").is_empty() {
        check("hidden", row.get("hidden_password"), true);
    }
    wrong
}

#[test]
fn every_generation_of_truecrypt_and_veracrypt_opens() {
    let Some(folder) = volumes().map(|v| v.join("tcrypt")) else { return };
    let table = Table::read(&folder.join("INDEX.tsv"));
    assert!(table.rows().len() >= 59, "the index is cut off");
    let wrong: Vec<String> = table.rows().iter().flat_map(|row| check_tcrypt(&folder, row)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn decrypted(path: &Path, unlocked: Unlocked) -> String {
    let device = device(path, unlocked);
    let mut bytes = vec![0; usize::try_from(device.size()).expect("small")];
    device.read_at(&mut bytes, 0).expect("reads");
    sha256_of(&bytes[..])
}

#[test]
fn veracrypt_1_23_volumes_hold_what_was_put_in() {
    let Some(folder) = volumes().map(|v| v.join("veracrypt-1.23")) else { return };
    for row in Table::read(&folder.join("INDEX.tsv")).rows() {
        let file = row.get("file");
        let path = folder.join(file);
        let secrets = secrets(&folder, row, row.get("password"));
        let unlocked = open(&path, &UnlockRequest::new(&secrets)).unwrap_or_else(|e| panic!("{file}: {e}"));
        let info = unlocked.info.clone();
        assert_eq!(info.cipher, row.get("cipher").to_lowercase(), "{file}");
        assert_eq!(info.hash, row.get("hash").parse().expect("hash"), "{file}");
        assert_eq!(info.hidden, row.get("hidden") == "yes", "{file}");
        assert_eq!(Some(info.data_bytes), row.number("data_size"), "{file}");
        assert_eq!(info.sector_bytes, if file == "dev4096.img" { 4096 } else { 512 }, "{file}");
        let by_backup = file == "headerbak.hc";
        assert_eq!(info.header_used == HeaderLocation::BackupPrimary, by_backup, "{file}");
        assert_eq!(
            unlocked.warnings.contains(&Warning::BackupHeader(HeaderLocation::BackupPrimary)),
            by_backup,
            "{file}: {:?}",
            unlocked.warnings
        );
        assert_eq!(decrypted(&path, unlocked), row.get("sha256_data"), "{file}");
    }
}

fn veracrypt(file: &str) -> Option<PathBuf> {
    Some(volumes()?.join("veracrypt-1.23").join(file))
}

fn password(text: &str, pim: u32) -> Secrets {
    Secrets { password: SecretBytes::copy_of(text.as_bytes()), keyfiles: Vec::new(), pim: Some(pim) }
}

#[test]
fn a_wrong_secret_is_told_as_such() {
    let Some(path) = veracrypt("c-aes-sha512.hc") else { return };
    for (text, pim) in [("mortise-probe-password-0124", 1), ("mortise-probe-password-0123", 2)] {
        let secrets = password(text, pim);
        // Argon2id and the slow hashes are left out here: the search itself is what is tested.
        let mut request = UnlockRequest::new(&secrets);
        request.hash = Some(HashName::Sha512);
        let error = open(&path, &request).err().expect("refused");
        assert!(matches!(error, VolumeError::WrongSecret { argon2id_skipped: None, .. }), "{error}");
        assert_eq!(error.fault(), Fault::Secret);
    }
}

#[test]
fn the_choice_of_headers_is_kept() {
    let Some(path) = veracrypt("c-aes-sha512.hc") else { return };
    let secrets = password("mortise-probe-password-0123", 1);
    let with = |path: &Path, header| {
        let mut request = UnlockRequest::new(&secrets);
        request.header = header;
        request.hash = Some(HashName::Sha512);
        open(path, &request)
    };
    let used = |header| with(&path, header).expect("opens").info.header_used;
    assert_eq!(used(HeaderChoice::Primary), HeaderLocation::Primary);
    assert_eq!(used(HeaderChoice::Backup), HeaderLocation::BackupPrimary);
    let damaged = path.with_file_name("headerbak.hc");
    assert!(matches!(with(&damaged, HeaderChoice::Primary), Err(VolumeError::WrongSecret { .. })));
}

#[test]
fn protection_covers_the_hidden_volume_and_nothing_else() {
    let Some(path) = veracrypt("hidden-same.hc") else { return };
    let outer = password("outer-mortise-probe-password-0123", 1);
    let hidden = password("hidden-mortise-probe-password-0123", 1);
    let protect = |secrets| {
        let mut request = UnlockRequest::new(&outer);
        request.protect_hidden = Some(secrets);
        request.hash = Some(HashName::Sha512);
        open(&path, &request)
    };
    let unlocked = protect(&hidden).expect("opens");
    assert!(!unlocked.info.hidden);
    let guard = unlocked.layout.guard().cloned().expect("guarded");
    // VeraCrypt leaves 4096 bytes free after a small hidden volume.
    assert_eq!(guard, 524_288..524_288 + 258_048);
    assert_eq!(unlocked.info.protected_bytes, 258_048);
    let Err(VolumeError::WrongProtectionSecret { narrowed }) = protect(&outer) else {
        panic!("it is not the hidden one's")
    };
    assert_eq!(narrowed, ["hash"], "the hidden volume may have another");
    // The hidden volume's password does not open it as an outer one.
    let mut request = UnlockRequest::new(&hidden);
    request.protect_hidden = Some(&outer);
    request.hash = Some(HashName::Sha512);
    assert!(matches!(open(&path, &request), Err(VolumeError::IsHidden)));
}
