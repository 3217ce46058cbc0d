//! Other programs read what is converted and what is paused half-way, in both directions; and what Windows
//! made becomes a file system with the content that is known.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

use keyway_convert::bitlocker::{BitLockerPlan, EncryptionRequest, find};
use keyway_convert::{ConversionKind, JournalLocation, Stopped};
use keyway_engine::{Access, Device};
use keyway_secret::SecretBytes;
use keyway_store::{Caching, FileStore, MemStore, OpenMode, Store};
use keyway_testkit::{
    BitLockerSecret, NtfsMount, Rng, Row, Table, dislocker_sha256, dissect_sha256, libbde_sha256,
    require_tool, sha256_of, sha256_of_file, unpack_xz, volumes,
};
use keyway_volume::bitlocker::{
    Conversion, InPlace, Method, NewProtectors, RecoveryPassword, Secret, StartupKey, UnlockRequest,
    Unlocked, unlock,
};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const PASSWORD: &str = "judged in the middle";

/// The volumes whose hash the index does not know, with the SHA-256 of what dissect.fve 4.6 makes of them.
const HASHES_OF_DISSECT: [(&str, &str); 2] = [
    ("bitlk-aes-xts-128-eow.img.xz", "709896849b49ffe4d5dfa4d8ee842cf54becb0a90ecba4f5eefec16ffb755665"),
    (
        "bitlk-partially-encrypted-aes-cbc-128.img.xz",
        "33aa91a1945d19ac2a72e2dcbf2eac413a316c675d78c191ee311089bfc020b3",
    ),
];

fn store(path: &Path) -> Arc<dyn Store> {
    Arc::new(FileStore::open(path, OpenMode::ReadWrite, Caching::Buffered).expect("opens"))
}

fn password() -> [Secret; 1] {
    [Secret::Password(SecretBytes::copy_of(PASSWORD.as_bytes()))]
}

fn content(store: &Arc<dyn Store>, unlocked: Unlocked) -> Vec<u8> {
    let device = Device::new(Box::new(store.clone()), unlocked.layout, Access::ReadOnly).expect("fits");
    let mut content = vec![0; device.size() as usize];
    device.read_at(&mut content, 0).expect("read");
    content
}

/// Runs until that part of the work, in percent, is done, or to the end; the journal is in memory.
fn run(plan: &BitLockerPlan, store: &dyn Store, until: Option<u64>) -> Stopped {
    let journal = MemStore::new(plan.mark().place.file_bytes() as usize);
    let stop = |done: u64, total: u64| match until {
        Some(percent) if done * 100 >= total * percent => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let in_memory = plan.mark().journal != JournalLocation::OnMedium;
    let conversion = plan.conversion(store, in_memory.then_some(&journal as &dyn Store)).expect("planned");
    plan.run(&conversion, &stop).expect("runs")
}

/// All judges give the same as we do. Of a volume that is not encrypted throughout dislocker gives the encrypted
/// part only, rounded up to 8 KiB, and libbde what the file system reaches to.
fn judged(path: &Path, plain: &[u8], encrypted: u64, when: &str) {
    let secret = BitLockerSecret::Password(PASSWORD);
    let whole = encrypted == plain.len() as u64;
    let file_system = if whole { plain.len() } else { plain.len() - 512 };
    for (name, theirs, upto) in [
        ("dislocker", dislocker_sha256(path, secret), (encrypted as usize).next_multiple_of(8192)),
        ("libbde", libbde_sha256(path, secret), file_system),
    ] {
        if let Some(theirs) = theirs {
            assert_eq!(theirs, sha256_of(&plain[..upto]), "{name}, {when}");
        }
    }
    // What it decrypts takes it seconds: around each place where something changes.
    let edge = encrypted.clamp(1 << 20, 95 << 20) / 4096 * 4096;
    let stretches = [0, 33 << 20, edge - 65_536, (96 << 20) - 131_072].map(|at| at..at + 131_072);
    let parts: Vec<u8> = stretches
        .iter()
        .flat_map(|range| &plain[range.start as usize..range.end as usize])
        .copied()
        .collect();
    if let Some(theirs) = dissect_sha256(path, secret, &stretches) {
        assert_eq!(theirs, sha256_of(parts.as_slice()), "dissect.fve, {when}");
    }
}

#[test]
fn others_read_what_is_paused_and_what_is_finished() {
    let Some(mkfs) = require_tool("mkfs.ntfs") else { return };
    let file = tempfile::NamedTempFile::new().expect("temp");
    file.as_file().set_len(96 << 20).expect("sized");
    let done = Command::new(mkfs).args(["-q", "-F", "-f"]).arg(file.path()).output().expect("runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let big = Rng::new(31).bytes(20 << 20);
    let Some(mounted) = NtfsMount::open(file.path()) else { return };
    std::fs::write(mounted.path("big"), &big).expect("written");
    drop(mounted);

    let protectors = NewProtectors {
        password: Some(SecretBytes::copy_of(PASSWORD.as_bytes())),
        recovery: Some(RecoveryPassword::random().expect("random")),
        ..NewProtectors::default()
    };
    let medium = store(file.path());
    let volume = InPlace {
        protectors: &protectors,
        method: Method::Xts128,
        used_space_only: false,
        description: "judged",
    };
    let wanted = EncryptionRequest { volume, file_system_bytes: 96 << 20, journal: None, in_use: false };
    let mut plan = BitLockerPlan::encryption(&medium, &wanted).expect("planned");
    let secret = password();
    let request = UnlockRequest::new(&secret);
    let mut kind = ConversionKind::Encryption;
    // Before and after the boundary has passed the moved first sectors; and back.
    for (pause, status) in [
        (Some(15), Conversion::Encrypting),
        (Some(60), Conversion::Encrypting),
        (None, Conversion::FullyEncrypted),
        (Some(30), Conversion::Decrypting),
        (Some(70), Conversion::Decrypting),
    ] {
        let when = format!("{kind:?} until {pause:?} %");
        let stopped = run(&plan, &medium, pause);
        assert_eq!(stopped == Stopped::Done, pause.is_none(), "{when}");
        let unlocked = unlock(&medium, &request).expect("opens");
        assert!(unlocked.read_only.is_none());
        assert_eq!(unlocked.info.conversion_status, status, "{when}");
        let (block, percent) = (unlocked.opened.metadata.block().clone(), unlocked.info.percentage_encrypted);
        let plain = content(&medium, unlocked);
        judged(file.path(), &plain, block.encrypted_bytes, &format!("{when}, {percent} %"));
        if status == Conversion::FullyEncrypted {
            kind = ConversionKind::Decryption;
        }
        let again = unlock(&medium, &request).expect("opens");
        plan = BitLockerPlan::of_volume(&medium, again, kind, None).expect("planned");
    }
    assert_eq!(run(&plan, &medium, None), Stopped::Done);
    assert!(plan.kept_bad().is_none());
    drop(medium);
    let check = Command::new(require_tool("ntfsresize").expect("with mkfs.ntfs"))
        .args(["--info", "--no-progress-bar"])
        .arg(file.path())
        .output()
        .expect("runs");
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
    let mounted = NtfsMount::open(file.path()).expect("as before");
    assert!(std::fs::read(mounted.path("big")).expect("there") == big);
}

fn secret_of(row: &Row) -> Vec<Secret> {
    if !row.get("password").is_empty() {
        return vec![Secret::Password(SecretBytes::copy_of(row.get("password").as_bytes()))];
    }
    if !row.get("startup_key_file").is_empty() {
        let folder = volumes().expect("asked before").join("bitlocker");
        let file = std::fs::read(folder.join(row.get("startup_key_file"))).expect("the startup key's file");
        return vec![Secret::StartupKey(
            StartupKey::parse(&SecretBytes::copy_of(&file)).expect("a startup key"),
        )];
    }
    vec![]
}

/// All of them in the long run; a few methods and layouts always. One is paused half-way.
#[test]
fn what_windows_encrypted_is_decrypted_in_place() {
    let Some(folder) = volumes() else { return };
    let folder = folder.join("bitlocker");
    let all = std::env::var_os("KEYWAY_SLOW").is_some();
    let few = ["cbc-elephant", "togo", "xts-128-4k", "partially"];
    for row in Table::read(&folder.join("INDEX.tsv")).rows() {
        let name = row.get("file");
        if !all && !few.iter().any(|part| name.contains(part)) {
            continue;
        }
        let Some(file) = unpack_xz(&folder.join(name)) else { return };
        let known = HASHES_OF_DISSECT.iter().find(|(file, _)| *file == name);
        let expected = known.map_or(row.get("sha256_of_decrypted_volume"), |(_, hash)| hash);
        let medium = store(file.path());
        let secret = secret_of(row);
        let request = UnlockRequest::new(&secret);
        let plan = |kind| {
            let unlocked = unlock(&medium, &request).unwrap_or_else(|e| panic!("{name}: {e}"));
            BitLockerPlan::of_volume(&medium, unlocked, kind, Some("in memory".into()))
                .unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        assert_eq!(run(&plan(ConversionKind::Decryption), &medium, Some(50)), Stopped::Paused, "{name}");
        let unlocked = unlock(&medium, &request).expect("opens");
        assert_eq!(unlocked.info.conversion_status, Conversion::Decrypting, "{name}");
        assert_eq!(sha256_of(content(&medium, unlocked).as_slice()), expected, "{name}, half-way");
        let last = plan(ConversionKind::Decryption);
        assert_eq!(run(&last, &medium, None), Stopped::Done, "{name}");
        // Windows' own files stay: nothing is given back, and nothing else changes.
        drop(medium);
        let size = file.path().metadata().expect("there").len();
        assert_eq!(size % 4096, 0);
        assert_eq!(sha256_of_file(file.path()), expected, "{name}");
    }
}

/// What Windows encrypted gets another method; in the middle of it nobody opens it.
#[test]
fn what_windows_encrypted_gets_another_method_and_others_open_it() {
    let Some(folder) = volumes() else { return };
    let folder = folder.join("bitlocker");
    let all = std::env::var_os("KEYWAY_SLOW").is_some();
    for (name, method, quick) in [
        ("bitlk-aes-cbc-elephant-128.img.xz", Method::Xts128, true),
        ("bitlk-aes-cbc-128.img.xz", Method::Xts128, false),
        ("bitlk-togo-aes-xts-128.img.xz", Method::Cbc256, false),
        ("bitlk-aes-xts-128-4k.img.xz", Method::Xts256, true),
        ("bitlk-aes-xts-128-two-recovery.img.xz", Method::Xts128, false),
    ] {
        if !all && !quick {
            continue;
        }
        let Some(file) = unpack_xz(&folder.join(name)) else { return };
        let table = Table::read(&folder.join("INDEX.tsv"));
        let row = table.rows().iter().find(|row| row.get("file") == name).expect("in the index");
        let expected = row.get("sha256_of_decrypted_volume");
        let medium = store(file.path());
        let secret = secret_of(row);
        let request = UnlockRequest::new(&secret);
        let unlocked = unlock(&medium, &request).expect("opens");
        let before = unlocked.opened.metadata.block().dataset.entries.protectors().count();
        let plan = BitLockerPlan::reencryption(&medium, unlocked, method, false, Some("in memory".into()))
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let journal = MemStore::new(plan.mark().place.file_bytes() as usize);
        let conversion = plan.conversion(&medium, Some(&journal)).expect("planned");
        let half = |done: u64, total: u64| match done * 2 >= total {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        assert_eq!(plan.run(&conversion, &half).expect("runs"), Stopped::Paused, "{name}");
        drop(conversion);
        assert!(unlock(&medium, &request).is_err(), "{name}: half of it is under another key");
        is_refused(file.path(), row.get("password"));
        let found = find(&medium).expect("read").expect("under way");
        assert!(found.in_front && found.mark.kind == ConversionKind::Reencryption);
        let plan = BitLockerPlan::resume(&medium, found.mark, &request).expect("goes on");
        let conversion = plan.conversion(&medium, Some(&journal)).expect("planned");
        assert_eq!(plan.run(&conversion, &()).expect("runs"), Stopped::Done, "{name}");
        drop(conversion);
        let unlocked = unlock(&medium, &request).expect("opens");
        assert_eq!((unlocked.info.cipher, unlocked.warnings.len()), (method, 0), "{name}");
        let protectors = unlocked.opened.metadata.block().dataset.entries.protectors().count();
        assert_eq!(protectors, before, "{name}");
        let plain = content(&medium, unlocked);
        assert_eq!(sha256_of(plain.as_slice()), expected, "{name}");
        drop(medium);
        for secret in [
            BitLockerSecret::Password(row.get("password")),
            BitLockerSecret::Recovery(row.get("recovery_password")),
        ] {
            if let Some(theirs) = dislocker_sha256(file.path(), secret) {
                assert_eq!(theirs, expected, "dislocker, {name}");
            }
            // libbde 20190102 takes no key of XTS with 256 bits.
            if method != Method::Xts256
                && let Some(theirs) = libbde_sha256(file.path(), secret)
            {
                assert_eq!(theirs, expected, "libbde, {name}");
            }
        }
        let stretches = [0..131_072, 32 << 20..(32 << 20) + 131_072];
        let parts: Vec<u8> =
            stretches.iter().flat_map(|r| &plain[r.start as usize..r.end as usize]).copied().collect();
        let secret = BitLockerSecret::Password(row.get("password"));
        if let Some(theirs) = dissect_sha256(file.path(), secret, &stretches) {
            assert_eq!(theirs, sha256_of(parts.as_slice()), "dissect.fve, {name}");
        }
    }
}

/// dislocker and libbde don't take it for a volume.
fn is_refused(path: &Path, password: &str) {
    if let Some(dislocker) = require_tool("dislocker-file") {
        let out = tempfile::tempdir().expect("temp");
        let done = Command::new(dislocker)
            .args(["-q", "-V"])
            .arg(path)
            .arg(format!("-u{password}"))
            .arg("--")
            .arg(out.path().join("plain"))
            .output();
        assert!(!done.expect("runs").status.success(), "dislocker opens what is half converted");
    }
    if let Some(bdeinfo) = require_tool("bdeinfo") {
        let done = Command::new(bdeinfo).args(["-p", password]).arg(path).output();
        assert!(!done.expect("runs").status.success(), "libbde opens what is half converted");
    }
}
