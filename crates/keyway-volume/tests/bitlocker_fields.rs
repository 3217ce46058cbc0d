//! The metadata of new BitLocker volumes beside that of the volumes which Windows made, field by
//! field. Every difference is named here with its reason; any other fails.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_fs::mkfs::FileSystem;
use keyway_secret::SecretBytes;
use keyway_store::{Caching, FileStore, MemStore, OpenMode, Store};
use keyway_testkit::{require_tool, unpack_xz, volumes};
use keyway_volume::bitlocker::{
    self, Entries, Fill, Method, NewProtectors, NewVolume, OpenedKeys, RecoveryPassword, Sealed, Secret,
    SecretKey, StartupKey, UnlockRequest, Value,
};
use std::collections::BTreeMap;
use std::sync::Arc;

const PASSWORD: &[u8] = b"anaconda";

/// Fields that differ between any two volumes that Windows made, too: random numbers, times, names.
/// They are compared by their length and kind only.
const RANDOM: &str = "(anything)";

/// Why a field of ours has another value than Windows' in every volume.
const ALWAYS: [(&str, &str); 3] = [
    ("extension.flags", "ours is made with used space only, bit 0"),
    ("extension.build", "ours names one build, Windows the one that ran"),
    ("boot.hidden_sectors", "ours is an image or a device of its own and does not know its partition"),
];

/// A file of the given volumes, and what is different besides.
struct Case {
    file: &'static str,
    method: Method,
    filesystem: FileSystem,
    to_go: bool,
    sector_bytes: u32,
    startup_key: bool,
    differs: &'static [(&'static str, &'static str)],
}

const SECOND_METHOD: (&str, &str) = (
    "dataset.second_method",
    "0 in half of Windows' volumes; the others have it from a wizard that set the method after it had made a \
     first data key",
);
const NONCE: (&str, &str) =
    ("data_key.nonce", "the wizard's first data key took a number, see dataset.second_method");
const HASH_NONCE: (&str, &str) = ("validation.nonce", "the same");
const NEXT_NONCE: (&str, &str) = ("dataset.next_nonce", "the same");
const FIRST: (&str, &str) =
    ("copies.0", "Windows' mkfs puts its MFT and log around 33 MiB, ours leaves that free");
const BACKUP: (&str, &str) = ("boot_backup", "follows the first copy");
const BACKUP_ENTRY: (&str, &str) = ("boot_backup.offset", "the same");
const SPARE: (&str, &str) = ("extension.spare", "the same");

const CASES: [Case; 6] = [
    Case {
        file: "bitlk-aes-xts-128.img",
        method: Method::Xts128,
        filesystem: FileSystem::Ntfs,
        to_go: false,
        sector_bytes: 512,
        startup_key: false,
        differs: &[SECOND_METHOD, NONCE, HASH_NONCE, NEXT_NONCE, FIRST, BACKUP, BACKUP_ENTRY, SPARE],
    },
    Case {
        file: "bitlk-aes-xts-256.img",
        method: Method::Xts256,
        filesystem: FileSystem::Ntfs,
        to_go: false,
        sector_bytes: 512,
        startup_key: false,
        differs: &[FIRST, BACKUP, BACKUP_ENTRY, SPARE],
    },
    Case {
        file: "bitlk-aes-cbc-128.img",
        method: Method::Cbc128,
        filesystem: FileSystem::Ntfs,
        to_go: false,
        sector_bytes: 512,
        startup_key: false,
        differs: &[SECOND_METHOD, NONCE, HASH_NONCE, NEXT_NONCE, FIRST, BACKUP, BACKUP_ENTRY, SPARE],
    },
    Case {
        file: "bitlk-aes-xts-128-4k.img",
        method: Method::Xts128,
        filesystem: FileSystem::Ntfs,
        to_go: false,
        sector_bytes: 4096,
        startup_key: false,
        differs: &[
            SECOND_METHOD,
            NONCE,
            HASH_NONCE,
            NEXT_NONCE,
            FIRST,
            BACKUP,
            BACKUP_ENTRY,
            SPARE,
            ("recovery.backup_info", "the wizard notes when it saved the recovery password"),
        ],
    },
    Case {
        file: "bitlk-aes-xts-128-startup-key.img",
        method: Method::Xts128,
        filesystem: FileSystem::Ntfs,
        to_go: false,
        sector_bytes: 512,
        startup_key: true,
        differs: &[
            SECOND_METHOD,
            NONCE,
            HASH_NONCE,
            NEXT_NONCE,
            ("recovery.backup_info", "the wizard notes when it saved the recovery password"),
            ("startup.kept.nonce", "Windows added the startup key later, ours has it from the start"),
            ("startup.master.nonce", "the same"),
            ("validation.nonce.high", "that change was made by a program, which does not set the top bit"),
            ("order", "the same: it follows the data key"),
            ("boot.geometry", "sectors per track and heads of that machine's disk"),
        ],
    },
    Case {
        file: "bitlk-togo-aes-xts-128.img",
        method: Method::Xts128,
        filesystem: FileSystem::Fat,
        to_go: true,
        sector_bytes: 512,
        startup_key: false,
        differs: &[
            ("boot_sectors", "Windows' decoy holds its reader program, ours a note"),
            ("boot_backup.bytes", "the same"),
            ("copies.1", "Windows rounds up to clusters, ours to 4 KiB"),
            ("copies.2", "the same"),
            BACKUP,
            BACKUP_ENTRY,
            SPARE,
            ("extension.further", "a place for the decoy of which nothing is known; ours has none"),
            ("extension.further_bytes", "the same"),
        ],
    },
];

#[test]
fn the_fields_are_windows_fields() {
    let Some(folder) = volumes() else { return };
    for case in &CASES {
        let Some(unpacked) = unpack_xz(&folder.join("bitlocker").join(format!("{}.xz", case.file))) else {
            return;
        };
        if require_tool(case.filesystem.program()).is_none() {
            return;
        }
        let store =
            FileStore::open(unpacked.path(), OpenMode::ReadOnly, Caching::Buffered).expect("it opens");
        let secret = if case.startup_key {
            Secret::RecoveryPassword(
                RecoveryPassword::parse("363770-230505-096371-652674-567006-579150-291038-408111")
                    .expect("right"),
            )
        } else {
            password()
        };
        let theirs = opened(&store, &[secret]);
        let ours = made(case, store.size());
        let (theirs, ours) = (fields(&theirs), fields(&ours));
        let mut unexplained = Vec::new();
        let names: std::collections::BTreeSet<_> = theirs.keys().chain(ours.keys()).collect();
        let told = |name: &str| case.differs.iter().chain(&ALWAYS).any(|(known, _)| *known == name);
        for name in &names {
            let (a, b) = (theirs.get(*name), ours.get(*name));
            if a != b && !told(name) {
                unexplained.push(format!("{name}: Windows {a:?}, ours {b:?}"));
            }
        }
        assert!(unexplained.is_empty(), "{}:\n{}", case.file, unexplained.join("\n"));
        // A reason for what is no difference would hide the next one.
        let stale: Vec<_> =
            case.differs.iter().filter(|(name, _)| theirs.get(*name) == ours.get(*name)).collect();
        assert!(stale.is_empty(), "{}: no difference: {stale:?}", case.file);
        assert!(names.len() > 60, "{}", names.len());
    }
}

fn password() -> Secret {
    Secret::Password(SecretBytes::copy_of(PASSWORD))
}

fn opened(store: &dyn Store, secrets: &[Secret]) -> OpenedKeys {
    bitlocker::unlock(store, &UnlockRequest::new(secrets)).expect("it opens").opened
}

/// One of ours of that size.
fn made(case: &Case, size: u64) -> OpenedKeys {
    let store: Arc<dyn Store> = Arc::new(MemStore::new(size as usize).with_sector_bytes(case.sector_bytes));
    let protectors = NewProtectors {
        password: Some(SecretBytes::copy_of(PASSWORD)),
        recovery: Some(RecoveryPassword::random().expect("random")),
        startup_key: case.startup_key.then(|| StartupKey::random().expect("random")),
    };
    let new = NewVolume {
        protectors: &protectors,
        method: case.method,
        fill: Fill::UsedSpaceOnly,
        filesystem: Some((case.filesystem, None)),
        to_go: case.to_go,
        description: "DESKTOP-NPM7RCA H: 7/4/2019",
    };
    bitlocker::create(&store, &new, &()).expect("made");
    opened(&*store, &[password()])
}

/// Every field of boot sector and metadata by a name.
fn fields(opened: &OpenedKeys) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let block = opened.metadata.block();
    let mut put = |name: &str, value: String| {
        assert!(out.insert(name.to_owned(), value).is_none(), "{name} twice");
    };
    boot_fields(opened.metadata.boot.bytes(), &mut put);
    put("version", block.version.to_string());
    put("state", format!("{:?}", block.state));
    put("next_state", format!("{:?}", block.next_state));
    put("encrypted_bytes", block.encrypted_bytes.to_string());
    put("log_bytes", block.log_bytes.to_string());
    put("boot_sectors", block.boot_sectors.to_string());
    for (i, copy) in block.copies.iter().enumerate() {
        put(&format!("copies.{i}"), format!("{copy:#x}"));
        assert_eq!(opened.metadata.boot.copies[i], *copy);
        let same = opened.metadata.copies[i].block.as_ref().is_ok_and(|other| other == block);
        put(&format!("copies.{i}.is_the_same"), same.to_string());
    }
    put("boot_backup", format!("{:#x}", block.boot_backup));
    put("padding", format!("{}", block.padding.iter().all(|byte| *byte == 0) && block.padding.len() < 16));
    let dataset = &block.dataset;
    put("dataset.version", dataset.version.to_string());
    put("dataset.next_nonce", dataset.next_nonce.to_string());
    put("dataset.method", format!("{:#x}", dataset.method));
    put("dataset.second_method", format!("{:#x}", dataset.second_method));
    put("dataset.created", RANDOM.into());
    put("dataset.rest", dataset.entries.rest.len().to_string());
    let mut order = Vec::new();
    for entry in &dataset.entries.list {
        let name = match &entry.value {
            Value::Text(_) => "description",
            Value::Protector(protector) => match protector.protection.name() {
                "password" => "password",
                "recovery-password" => "recovery",
                _ => "startup",
            },
            Value::Sealed(_) => "data_key",
            Value::BootBackup(_) => "boot_backup",
            _ => "other",
        };
        order.push(name);
        let head = format!("role {:#x} kind {:#x} flags {}", entry.role, entry.value.kind(), entry.flags);
        // A startup key's volume has the password it was made with besides.
        put(&format!("{name}.entry"), head);
        match &entry.value {
            Value::Text(units) => put("description.ends_in_zero", (units.last() == Some(&0)).to_string()),
            Value::Protector(protector) => {
                put(&format!("{name}.flags"), protector.flags.to_string());
                put(&format!("{name}.protection"), format!("{:#x}", protector.protection.code()));
                put(&format!("{name}.milliseconds"), (protector.changed.0 % 10_000 == 0).to_string());
                parts(name, &protector.entries, opened, &mut put);
            }
            Value::Sealed(sealed) => sealed_fields("data_key", sealed, Some(&opened.master), &mut put),
            Value::BootBackup(backup) => {
                put("boot_backup.offset", format!("{:#x}", backup.offset));
                put("boot_backup.bytes", backup.bytes.to_string());
                extension(&backup.extension, &mut put);
            }
            _ => {}
        }
    }
    put("order", order.join(", "));
    let validation = &block.validation;
    let body = block.body().expect("it fits").len();
    put("validation.reaches_to_the_end", (usize::from(validation.bytes) + body == 65_536).to_string());
    put("validation.version", validation.version.to_string());
    let hash = validation.hash.as_ref().expect("version 2 has one");
    put(
        "validation.entry",
        format!("role {:#x} kind {:#x} flags {}", hash.role, hash.value.kind(), hash.flags),
    );
    let sealed = validation.sealed().expect("it is sealed");
    sealed_fields("validation", sealed, Some(&opened.master), &mut put);
    put("validation.nonce.high", (sealed.nonce.time >> 63).to_string());
    put("validation.authentic", format!("{:?}", block.is_authentic(&opened.master)));
    out
}

/// The parts of a protector, with what the master key opens.
fn parts(name: &str, entries: &Entries, opened: &OpenedKeys, put: &mut impl FnMut(&str, String)) {
    for part in &entries.list {
        let head = format!("role {:#x} kind {:#x} flags {}", part.role, part.value.kind(), part.flags);
        match &part.value {
            Value::StretchKey(stretch) => {
                put(&format!("{name}.stretch"), head);
                put(&format!("{name}.stretch.algorithm"), format!("{:#x}", stretch.algorithm));
                put(&format!("{name}.stretch.flags"), stretch.flags.to_string());
                kept(name, &stretch.entries, opened, put);
            }
            Value::UseKey(used) => {
                put(&format!("{name}.use"), head);
                put(&format!("{name}.use.algorithm"), format!("{:#x}", used.algorithm));
                put(&format!("{name}.use.flags"), used.flags.to_string());
                kept(name, &used.entries, opened, put);
            }
            Value::Text(units) => {
                put(&format!("{name}.text"), format!("{head} {:?}", String::from_utf16_lossy(units)));
            }
            Value::Sealed(sealed) => {
                put(&format!("{name}.master"), head);
                sealed_fields(&format!("{name}.master"), sealed, None, put);
            }
            Value::Raw { kind: 0x15, bytes } => put(&format!("{name}.backup_info"), bytes.len().to_string()),
            other => panic!("{name} has a part of kind {:#x}", other.kind()),
        }
    }
}

fn kept(name: &str, entries: &Entries, opened: &OpenedKeys, put: &mut impl FnMut(&str, String)) {
    for entry in &entries.list {
        let Value::Sealed(sealed) = &entry.value else { panic!("kept in the open") };
        let place = if entry.role == 0x12 { ".kept_password" } else { ".kept" };
        let name = format!("{name}{place}");
        put(&name, format!("role {:#x} flags {}", entry.role, entry.flags));
        sealed_fields(&name, sealed, Some(&opened.master), put);
    }
}

fn sealed_fields(name: &str, sealed: &Sealed, key: Option<&SecretKey>, put: &mut impl FnMut(&str, String)) {
    put(&format!("{name}.nonce"), sealed.nonce.counter.to_string());
    put(&format!("{name}.bytes"), sealed.bytes.len().to_string());
    if let Some(key) = key {
        let inside = SecretKey::unseal(&key.bytes, sealed).expect("the master key opens it");
        put(&format!("{name}.algorithm"), format!("{:#x}", inside.algorithm));
        put(&format!("{name}.flags"), inside.flags.to_string());
        put(&format!("{name}.key_bytes"), inside.bytes.len().to_string());
        let plain = bitlocker::unseal(&key.bytes, sealed).expect("the master key opens it");
        put(&format!("{name}.header"), format!("{:02x?}", &plain[..8]));
    }
}

fn extension(bytes: &[u8], put: &mut impl FnMut(&str, String)) {
    assert_eq!(bytes.len(), 76);
    let mut at = 0;
    let mut field = |name: &str, len: usize| {
        let value = bytes[at..at + len].iter().rev().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
        put(&format!("extension.{name}"), format!("{value:#x}"));
        at += len;
    };
    for (name, len) in [
        ("version", 2),
        ("bytes", 2),
        ("zero_1", 4),
        ("flags", 8),
        ("further", 8),
        ("further_bytes", 4),
        ("sector", 4),
        ("physical_sector", 4),
        ("major", 4),
        ("minor", 4),
        ("build", 4),
        ("platform", 4),
        ("service_pack", 4),
        ("suite", 2),
        ("product", 1),
        ("reserved", 1),
        ("spare", 8),
        ("spare_bytes", 4),
        ("zero_2", 4),
    ] {
        field(name, len);
    }
}

/// The boot sector: what may differ by name, all else in one piece.
fn boot_fields(sector: &[u8; 512], put: &mut impl FnMut(&str, String)) {
    let mut rest = sector.to_vec();
    let to_go = &sector[3..11] == b"MSWIN4.1";
    let offsets = if to_go { 0x1b8..0x1d0 } else { 0xb0..0xc8 };
    let mut named = vec![("geometry", 24..28), ("hidden_sectors", 28..32), ("offsets", offsets)];
    if to_go {
        named.push(("serial", 67..71));
    }
    for (name, range) in named {
        let value = match name {
            // Compared with the metadata's own, and random.
            "offsets" | "serial" => RANDOM.into(),
            _ => format!("{:02x?}", &sector[range.clone()]),
        };
        put(&format!("boot.{name}"), value);
        rest[range].fill(0);
    }
    put("boot.all_else", format!("{rest:02x?}"));
}
