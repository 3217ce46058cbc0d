//! Every bit of the first sector, flipped: it is seen and mended, or nobody looks at it.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_secret::SecretBytes;
use keyway_store::{Caching, FileStore, MemStore, OpenMode, Store, StoreError};
use keyway_testkit::{Table, require_tool, unpack_xz, volumes};
use keyway_volume::bitlocker::{
    self, Fill, Method, NewProtectors, NewVolume, Secret, UnlockRequest, find, look, unlock,
};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const SECTOR: usize = 512;
const SIZE: usize = 64 << 20;

/// Sectors per track, heads and hidden sectors (Microsoft's *FAT32 File System Specification*): what a drive had when
/// the volume was made, and nobody asks.
const GEOMETRY: Range<usize> = 24..32;

/// 92a84d3b-dd80-4d0e-9e4e-b1e3284eaed8: the volume has encrypt-on-write information (libbde's format description).
const EOW_GUID: [u8; 16] = *b"\x3b\x4d\xa8\x92\x80\xdd\x0e\x4d\x9e\x4e\xb1\xe3\x28\x4e\xae\xd8";

/// A volume that opens by its clear key, so that nothing has to be stretched.
fn volume(sector_bytes: u32, to_go: bool) -> Arc<MemStore> {
    // A decoy of sectors of 4096 bytes needs more of them.
    let medium = Arc::new(MemStore::new(SIZE).with_sector_bytes(sector_bytes));
    let store: Arc<dyn Store> = medium.clone();
    let password = SecretBytes::copy_of(b"correct horse battery");
    let protectors = NewProtectors { password: Some(password), recovery: None, startup_key: None };
    let new = NewVolume {
        protectors: &protectors,
        method: Method::Xts128,
        fill: Fill::UsedSpaceOnly,
        filesystem: None,
        to_go,
        description: "HOST INSIDE 2026-11-23",
    };
    bitlocker::create(&store, &new, &()).expect("made");
    let secrets = [Secret::Password(SecretBytes::copy_of(b"correct horse battery"))];
    let mut opened = unlock(&*store, &UnlockRequest::new(&secrets)).expect("it opens").opened;
    opened.suspend(&*store).expect("suspended");
    medium
}

fn first(store: &dyn Store) -> Vec<u8> {
    let mut sector = vec![0; 4096];
    store.read_at(&mut sector, 0).expect("readable");
    sector
}

/// A medium where nothing but what it has may be asked for.
struct Strict<'a>(&'a dyn Store);

impl Store for Strict<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let end = offset.checked_add(buf.len() as u64).expect("a place");
        assert!(end <= self.0.size(), "{} bytes at {offset} are read past the end", buf.len());
        self.0.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.0.write_at(buf, offset)
    }
    fn flush(&self) -> Result<(), StoreError> {
        self.0.flush()
    }
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.0.discard(offset, len)
    }
    fn size(&self) -> u64 {
        self.0.size()
    }
    fn sector_bytes(&self) -> u32 {
        self.0.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        self.0.is_read_only()
    }
}

fn is_good(store: &dyn Store) -> bool {
    let store = &Strict(store);
    find(store).is_ok_and(|seen| seen.metadata.first_sector_is_good(store))
}

fn repair(store: &dyn Store) {
    let store = &Strict(store);
    let request = UnlockRequest { search: true, ..UnlockRequest::new(&[]) };
    let opened = unlock(store, &request).expect("the metadata is found").opened;
    assert!(opened.repair(store).expect("mended").first_sector);
}

#[test]
fn of_a_volume_that_we_made_every_bit_that_counts_is_seen_and_mended() {
    for (sector_bytes, to_go) in [(512, false), (4096, false), (512, true)] {
        let store = volume(sector_bytes, to_go);
        let before = first(&store);
        assert!(is_good(&store));
        for bit in 0..SECTOR * 8 {
            let mut damaged = before.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            store.write_at(&damaged, 0).expect("room");
            let seen = !is_good(&store);
            let what = format!("bit {} of byte {}, {sector_bytes}, To Go: {to_go}", bit % 8, bit / 8);
            assert_eq!(seen, !GEOMETRY.contains(&(bit / 8)), "{what}");
            if seen {
                repair(&store);
                assert!(first(&store) == before, "{what}");
            } else {
                store.write_at(&before, 0).expect("room");
            }
        }
    }
}

/// The first sector and a copy of the metadata may name any place at all.
#[test]
fn nothing_is_read_past_the_end() {
    for (sector_bytes, to_go) in [(512, false), (4096, false), (512, true)] {
        let store = volume(sector_bytes, to_go);
        let before = first(&store);
        let size = store.size();
        for place in [0, size - 4096, size - 512, size, size + 512, i64::MAX as u64 & !511, !511u64] {
            // Those of a volume, of a To Go drive, and of encrypt-on-write information.
            for at in [176, 184, 192, 200, 208, 440, 448, 456] {
                let mut hostile = before.clone();
                // Other bytes say that it has such information.
                hostile[160..176].copy_from_slice(&EOW_GUID);
                hostile[at..at + 8].copy_from_slice(&place.to_le_bytes());
                store.write_at(&hostile, 0).expect("room");
                is_good(&store);
                let _ = look(&Strict(&*store));
            }
        }
    }
}

/// What a program wrote over a part, and a first sector that is another's.
#[test]
fn stretches_are_mended_too() {
    for to_go in [false, true] {
        let store = volume(512, to_go);
        let before = first(&store);
        let guid = if to_go { 424 } else { 160 };
        for range in [0..3, 3..11, 11..13, guid..guid + 16, guid + 16..guid + 24, 510..512, 14..36, 90..106] {
            let mut damaged = before.clone();
            damaged[range.clone()].iter_mut().for_each(|byte| *byte ^= 0xff);
            store.write_at(&damaged, 0).expect("room");
            assert!(!is_good(&store), "{range:?}");
            repair(&store);
            let mut now = first(&store);
            // What nobody knows.
            now[GEOMETRY].copy_from_slice(&before[GEOMETRY]);
            assert!(now == before, "{range:?}, To Go: {to_go}");
        }
        let mut lost = before.clone();
        lost[..SECTOR].fill(0xe5);
        store.write_at(&lost, 0).expect("room");
        repair(&store);
        assert!(first(&store)[..SECTOR] == before[..SECTOR], "lost, To Go: {to_go}");
    }
}

/// What blkid says of it, which is known by the first sector alone.
fn blkid(path: &Path) -> Option<String> {
    let done = Command::new(require_tool("blkid")?).args(["-p", "-o", "export"]).arg(path).output();
    Some(String::from_utf8_lossy(&done.expect("blkid runs").stdout).into_owned())
}

/// Where `header check` calls a first sector good, others know the volume as they did.
#[test]
fn what_is_called_good_others_know() {
    for to_go in [false, true] {
        let store = volume(512, to_go);
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), store.snapshot()).expect("room");
        let Some(known) = blkid(file.path()) else { return };
        assert!(known.contains("BitLocker"), "{known}");
        let before = first(&store);
        let mut unseen = 0;
        for bit in 0..SECTOR * 8 {
            let mut damaged = before[..SECTOR].to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            file.as_file().write_all_at(&damaged, 0).expect("room");
            let store =
                FileStore::open(file.path(), OpenMode::ReadOnly, Caching::Buffered).expect("it opens");
            if is_good(&store) {
                unseen += 1;
                assert_eq!(blkid(file.path()).as_ref(), Some(&known), "bit {bit}");
                assert!(look(&store).is_ok_and(|seen| seen.warnings.len() == 1), "bit {bit}: but suspended");
            }
        }
        assert!(unseen <= 8 * GEOMETRY.len());
    }
}

/// Volumes that Windows made are in order, and are not when a bit of what matters is another.
#[test]
fn windows_first_sectors_are_good_and_their_damage_is_seen() {
    let Some(folder) = volumes().map(|folder| folder.join("bitlocker")) else { return };
    for row in Table::read(&folder.join("INDEX.tsv")).rows() {
        let name = row.get("file");
        let Some(file) = unpack_xz(&folder.join(name)) else { return };
        let store = FileStore::open(file.path(), OpenMode::ReadOnly, Caching::Buffered).expect("it opens");
        let before = first(&store)[..SECTOR].to_vec();
        let seen = look(&store).expect(name);
        assert!(seen.metadata.first_sector_is_good(&store), "{name}");
        for bit in 0..SECTOR * 8 {
            let mut damaged = before.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            file.as_file().write_all_at(&damaged, 0).expect("room");
            // Of these volumes nothing is left of encrypt-on-write, and nobody finds anything by its offsets.
            let over = seen.metadata.boot.eow.is_some() && (200..216).contains(&(bit / 8));
            assert_eq!(is_good(&store), over || GEOMETRY.contains(&(bit / 8)), "{name}: bit {bit}");
        }
        file.as_file().write_all_at(&before, 0).expect("room");
        assert!(is_good(&store), "{name}");
    }
}
