//! Volumes made by `create`: every cipher and hash, what is refused, what is left behind.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

use keyway_engine::{Access, Device};
use keyway_secret::SecretBytes;
use keyway_store::{FaultPlan, FaultStore, MemStore, Store};
use keyway_testkit::Rng;
use keyway_volume::veracrypt::{
    CreateError, Created, Existing, Fill, HeaderChoice, NewVolume, Note, Space, Suite, Target, UnlockRequest,
    create, unlock,
};
use keyway_volume::{Format, HashName, Secrets, Stage, Weakness};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const SIZE: u64 = 512 * 1024;
const HEADERS: u64 = 131_072;

fn secrets(password: &str, pim: u32) -> Secrets {
    Secrets { password: SecretBytes::copy_of(password.as_bytes()), keyfiles: vec![], pim: Some(pim) }
}

fn new<'a>(secrets: &'a Secrets, cipher: &str, hash: HashName) -> NewVolume<'a> {
    NewVolume { secrets, cipher: cipher.parse().expect("a cipher"), hash, fill: Fill::Random }
}

fn make(store: &dyn Store, cipher: &str, hash: HashName) -> Created {
    create(store, &new(&secrets("correct horse battery staple", 1), cipher, hash), &()).expect("created")
}

/// Pearson's chi-square over byte values, as a distance from its mean in standard deviations.
fn chi_square_sigmas(bytes: &[u8]) -> f64 {
    let mut counts = [0u64; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let expected = bytes.len() as f64 / 256.0;
    let chi: f64 = counts.iter().map(|n| (*n as f64 - expected).powi(2) / expected).sum();
    (chi - 255.0) / (2.0f64 * 255.0).sqrt()
}

/// The share of 16-byte blocks that occur more than once.
fn repeated_blocks(bytes: &[u8]) -> usize {
    let mut blocks: Vec<&[u8]> = bytes.chunks_exact(16).collect();
    let all = blocks.len();
    blocks.sort_unstable();
    blocks.dedup();
    all - blocks.len()
}

#[test]
fn every_region_of_a_filled_volume_looks_random() {
    let store = MemStore::new(8 << 20);
    let created = make(&store, "aes", HashName::Sha512);
    assert_eq!((created.data_offset, created.data_bytes), (HEADERS, (8 << 20) - 2 * HEADERS));
    let image = store.snapshot();
    assert_eq!(repeated_blocks(&image), 0);
    let end = image.len();
    let slot = 65_536;
    let regions = [
        ("header slot", 0..slot),
        ("hidden header slot", slot..2 * slot),
        ("data", 2 * slot..end - 2 * slot),
        ("backup header slot", end - 2 * slot..end - slot),
        ("hidden backup slot", end - slot..end),
    ];
    for (name, region) in regions {
        let sigmas = chi_square_sigmas(&image[region]);
        assert!(sigmas.abs() < 5.0, "{name}: {sigmas}");
    }
    // The headers themselves are too short for one test each; many of them are not.
    let mut headers = Vec::new();
    let short = secrets("x", 1);
    for _ in 0..64 {
        let store = MemStore::new(SIZE as usize);
        let quick = NewVolume { fill: Fill::Quick, ..new(&short, "aes", HashName::Sha512) };
        create(&store, &quick, &()).expect("created");
        let image = store.snapshot();
        headers.extend_from_slice(&image[..512]);
        headers.extend_from_slice(&image[image.len() - 2 * slot..][..512]);
    }
    let sigmas = chi_square_sigmas(&headers);
    assert!(sigmas.abs() < 5.0, "headers: {sigmas}");
    assert_eq!(repeated_blocks(&headers), 0);
}

#[test]
fn quick_leaves_the_data_area_alone_and_says_so() {
    let store = MemStore::from_vec(vec![0x55; SIZE as usize]);
    let secrets = secrets("short", 1);
    let quick = NewVolume { fill: Fill::Quick, ..new(&secrets, "aes", HashName::Sha512) };
    let created = create(&store, &quick, &()).expect("created");
    assert_eq!(created.notes, [Note::Quick, Note::Weak(Weakness::SmallPim)]);
    let image = store.snapshot();
    let data = HEADERS as usize..image.len() - HEADERS as usize;
    assert!(image[data].iter().all(|b| *b == 0x55));
    assert_eq!(repeated_blocks(&image[..HEADERS as usize]), 0);
    assert_eq!(repeated_blocks(&image[image.len() - HEADERS as usize..]), 0);
}

/// The hashes that new volumes may have.
const HASHES: [HashName; 6] = [
    HashName::Sha512,
    HashName::Sha256,
    HashName::Whirlpool,
    HashName::Streebog,
    HashName::Blake2s,
    HashName::Argon2id,
];

/// Makes a volume, writes all of it, and reads it back after opening it by either header.
fn round_trip(cipher: &str, hash: HashName) {
    let store = Arc::new(MemStore::new(SIZE as usize));
    let created = make(&store, cipher, hash);
    let device = Device::new(Box::new(store.clone()), created.layout, Access::ReadWrite).expect("fits");
    let data = Rng::new(1).bytes(device.size() as usize);
    device.write_at(&data, 0).expect("written");
    assert_eq!(repeated_blocks(&store.snapshot()), 0, "{cipher}");
    let secrets = secrets("correct horse battery staple", 1);
    for header in [HeaderChoice::Primary, HeaderChoice::Backup] {
        let request = UnlockRequest { header, hash: Some(hash), ..UnlockRequest::new(&secrets) };
        let unlocked = unlock(&store, &request).expect("opens");
        assert_eq!((unlocked.info.cipher.as_str(), unlocked.info.hash), (cipher, hash));
        assert_eq!(unlocked.info.header_version, 5);
        assert_eq!(unlocked.info.required_program_version, "1.0b");
        let device = Device::new(Box::new(store.clone()), unlocked.layout, Access::ReadOnly).expect("fits");
        let mut read = vec![0; data.len()];
        device.read_at(&mut read, 0).expect("read");
        assert!(read == data, "{cipher} {hash} {header:?}");
    }
}

#[test]
fn every_cipher_is_made_opened_written_and_read() {
    for suite in Suite::all(Format::VeraCrypt) {
        round_trip(&suite.chain.to_string(), HashName::Sha512);
    }
}

#[test]
fn every_hash_is_made_and_opened() {
    for hash in HASHES {
        round_trip("aes", hash);
    }
}

#[test]
fn every_cipher_with_every_hash() {
    if std::env::var_os("KEYWAY_SLOW").is_none() {
        keyway_testkit::leave_out("90 volumes take a while; set KEYWAY_SLOW=1");
        return;
    }
    for suite in Suite::all(Format::VeraCrypt) {
        for hash in HASHES {
            round_trip(&suite.chain.to_string(), hash);
        }
    }
}

#[test]
fn a_device_with_large_sectors_keeps_them() {
    let store = MemStore::new(1 << 20).with_sector_bytes(4096);
    assert_eq!(make(&store, "aes", HashName::Sha512).sector_bytes, 4096);
    let secrets = secrets("correct horse battery staple", 1);
    assert_eq!(unlock(&store, &UnlockRequest::new(&secrets)).expect("opens").info.sector_bytes, 4096);
}

#[test]
fn wishes_that_cannot_be_granted_are_refused_before_anything_is_written() {
    let untouched = |size: u64, sector: u32, new: &NewVolume<'_>| {
        let store = MemStore::new(size as usize).with_sector_bytes(sector);
        let error = create(&store, new, &()).err().expect("refused");
        assert!(store.snapshot().iter().all(|b| *b == 0), "{error}");
        error
    };
    let good = secrets("correct horse battery staple", 1);
    let aes = new(&good, "aes", HashName::Sha512);
    assert!(matches!(untouched(299_007, 512, &aes), CreateError::TooSmall { least: 299_008, .. }));
    assert!(matches!(
        untouched(SIZE + 512, 4096, &aes),
        CreateError::NotWholeSectors { sector_bytes: 4096, .. }
    ));
    assert!(matches!(untouched(SIZE + 1, 512, &aes), CreateError::NotWholeSectors { .. }));
    for hash in [HashName::Ripemd160, HashName::Sha1] {
        assert!(matches!(untouched(SIZE, 512, &new(&good, "aes", hash)), CreateError::HashNotOffered(_)));
    }
    let blowfish = new(&good, "blowfish", HashName::Sha512);
    assert!(matches!(untouched(SIZE, 512, &blowfish), CreateError::CipherNotOffered(_)));
    let large = secrets("x", 2_147_469);
    assert!(matches!(
        untouched(SIZE, 512, &new(&large, "aes", HashName::Sha512)),
        CreateError::PimTooLarge(2_147_469)
    ));
    let nothing = secrets("", 1);
    assert!(matches!(untouched(SIZE, 512, &new(&nothing, "aes", HashName::Sha512)), CreateError::Volume(_)));
}

#[test]
fn stopping_says_so_and_progress_reaches_its_end() {
    let store = MemStore::new(4 << 20);
    let good = secrets("correct horse battery staple", 1);
    let aes = new(&good, "aes", HashName::Sha512);
    let stop = |_: Stage, done: u64, _: u64| match done {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    assert!(matches!(create(&store, &aes, &stop), Err(CreateError::Stopped)));
    let last = AtomicU64::new(0);
    let watch = |_: Stage, done: u64, total: u64| {
        assert!(done >= last.swap(done, Ordering::SeqCst) && done <= total);
        ControlFlow::Continue(())
    };
    create(&store, &aes, &watch).expect("created");
    assert_eq!(last.into_inner(), (4 << 20) - 2 * HEADERS);
}

#[test]
fn a_medium_that_fails_is_an_error_wherever_it_fails() {
    let good = secrets("correct horse battery staple", 1);
    let aes = new(&good, "aes", HashName::Sha512);
    let whole = FaultStore::new(MemStore::new(SIZE as usize), FaultPlan::default());
    create(&whole, &aes, &()).expect("created");
    let eio = 5;
    let enospc = 28;
    for errno in [eio, enospc] {
        for from in 0..whole.steps() {
            let plan = FaultPlan { writes_fail_from: Some((from, errno)), ..FaultPlan::default() };
            match create(&FaultStore::new(MemStore::new(SIZE as usize), plan), &aes, &()) {
                Err(CreateError::Store(e)) => assert_eq!(e.errno(), errno),
                Err(other) => panic!("{other}"),
                // Flushes are steps too, so the last few writes don't exist.
                Ok(_) => assert!(from >= 5, "write {from} failed unnoticed"),
            }
        }
    }
    for from in 0..4 {
        let plan = FaultPlan { flushes_fail_from: Some(from), ..FaultPlan::default() };
        let store = FaultStore::new(MemStore::new(SIZE as usize), plan);
        assert!(matches!(create(&store, &aes, &()), Err(CreateError::Store(_))), "flush {from}");
    }
}

fn volume_file(path: &Path, existing: Existing) -> Result<Target, CreateError> {
    Target::new_file(path, SIZE, existing, Space::Reserved)
}

#[test]
fn a_new_file_is_private_and_stays_only_when_kept() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("v.hc");
    let target = volume_file(&path, Existing::Refuse).expect("made");
    let meta = path.metadata().expect("there");
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    assert_eq!(meta.len(), SIZE);
    assert!(meta.blocks() * 512 >= SIZE, "its room is set aside");
    drop(target);
    assert!(!path.exists());
    let target = volume_file(&path, Existing::Refuse).expect("made");
    make(target.store(), "aes", HashName::Sha512);
    target.keep().expect("kept");
    assert!(path.exists());
    assert_eq!(std::fs::read_dir(dir.path()).expect("read").count(), 1);
}

#[test]
fn an_existing_file_is_refused_or_replaced_as_a_whole() {
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("v.hc");
    std::fs::write(&path, b"precious").expect("written");
    assert!(matches!(volume_file(&path, Existing::Refuse), Err(CreateError::Exists(_))));
    // What a killed one has left goes, and nobody else's: no process has such a number (PID_MAX_LIMIT is 2^22).
    std::fs::write(dir.path().join("v.hc.keyway-4194999"), b"half a volume").expect("written");
    let others =
        ["v.hc.keyway-1", "v.hc.keyway-04194999", "w.hc.keyway-4194999"].map(|name| dir.path().join(name));
    others.iter().for_each(|other| std::fs::write(other, b"precious").expect("written"));
    drop(volume_file(&path, Existing::Replace).expect("made"));
    assert!(!dir.path().join("v.hc.keyway-4194999").exists());
    others.iter().for_each(|other| std::fs::remove_file(other).expect("it stayed"));
    assert_eq!(std::fs::read(&path).expect("read"), b"precious");
    assert_eq!(std::fs::read_dir(dir.path()).expect("read").count(), 1);
    let target = volume_file(&path, Existing::Replace).expect("made");
    make(target.store(), "aes", HashName::Sha512);
    assert_eq!(std::fs::read(&path).expect("read"), b"precious");
    target.keep().expect("kept");
    assert_eq!(path.metadata().expect("there").len(), SIZE);
    assert_eq!(std::fs::read_dir(dir.path()).expect("read").count(), 1);
    assert!(matches!(volume_file(dir.path(), Existing::Replace), Err(CreateError::Exists(_))));
}

#[test]
fn too_little_room_is_said_at_once_and_leaves_nothing() {
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("v.hc");
    let error = Target::new_file(&path, 1 << 50, Existing::Refuse, Space::Reserved).err().expect("refused");
    assert!(
        matches!(error, CreateError::NoSpace { .. } | CreateError::TooLargeForFileSystem { .. }),
        "{error}"
    );
    assert!(!path.exists());
}

#[test]
fn a_file_is_no_device() {
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("v.hc");
    std::fs::write(&path, b"precious").expect("written");
    assert!(matches!(Target::device(&path), Err(CreateError::NotADevice(_))));
}

mod hidden {
    use super::*;
    use keyway_volume::veracrypt::{NoOuter, create_hidden};

    const OUTER: &str = "outer correct horse battery";
    const HIDDEN: &str = "hidden correct horse battery";
    const OUTSIDE: u64 = 4 << 20;

    fn info(store: &dyn Store, password: &str) -> keyway_volume::VolumeInfo {
        unlock(store, &UnlockRequest::new(&secrets(password, 1))).expect("opens").info
    }

    fn outer(sector_bytes: u32) -> Arc<MemStore> {
        let store = Arc::new(MemStore::new(OUTSIDE as usize).with_sector_bytes(sector_bytes));
        create(&store, &new(&secrets(OUTER, 1), "twofish-serpent", HashName::Sha512), &()).expect("created");
        store
    }

    #[test]
    fn both_volumes_open_by_both_headers_and_nothing_shows() {
        for sector_bytes in [512, 4096] {
            let store = outer(sector_bytes);
            let before = store.snapshot();
            let hidden = secrets(HIDDEN, 1);
            let outside = secrets(OUTER, 1);
            let wish = new(&hidden, "aes", HashName::Sha512);
            let made = create_hidden(&store, 1 << 20, &wish, Some(&outside), &()).expect("created");
            assert_eq!(made.data_offset, OUTSIDE - HEADERS - (1 << 20));
            assert_eq!(made.data_bytes, (1 << 20) - 4096);
            assert_eq!(made.sector_bytes, sector_bytes);
            assert_eq!(made.notes, [Note::Protect, Note::OuterFilesUnknown]);
            for header in [HeaderChoice::Primary, HeaderChoice::Backup] {
                for (secrets, is_hidden) in [(&hidden, true), (&outside, false)] {
                    let request = UnlockRequest { header, ..UnlockRequest::new(secrets) };
                    let info = unlock(&store, &request).expect("opens").info;
                    assert_eq!((info.hidden, info.sector_bytes), (is_hidden, sector_bytes));
                }
            }
            let after = store.snapshot();
            assert!(before[..65_536] == after[..65_536], "the outer header is not touched");
            let backup = after.len() - HEADERS as usize;
            assert!(before[backup..][..65_536] == after[backup..][..65_536]);
            assert_eq!(repeated_blocks(&after), 0);
            assert!(chi_square_sigmas(&after).abs() < 5.0);
        }
    }

    #[test]
    fn the_outer_volume_with_protection_leaves_the_hidden_one_alone() {
        let store = outer(512);
        let hidden = secrets(HIDDEN, 1);
        create_hidden(&store, 1 << 20, &new(&hidden, "aes", HashName::Sha512), None, &()).expect("created");
        let outside = secrets(OUTER, 1);
        let request = UnlockRequest { protect_hidden: Some(&hidden), ..UnlockRequest::new(&outside) };
        let unlocked = unlock(&store, &request).expect("opens");
        let device = Device::new(Box::new(store.clone()), unlocked.layout, Access::ReadWrite).expect("fits");
        let free = device.size() - (1 << 20);
        device.write_at(&[7; 4096], free - 4096).expect("free space");
        assert!(device.write_at(&[7; 512], free).is_err());
        assert_eq!(info(&store, HIDDEN).data_bytes, (1 << 20) - 4096);
    }

    #[test]
    fn what_cannot_hold_one_is_refused_before_anything_is_written() {
        let store = outer(512);
        let before = store.snapshot();
        let (hidden, outside) = (secrets(HIDDEN, 1), secrets(OUTER, 1));
        let aes = new(&hidden, "aes", HashName::Sha512);
        let refused = |size: u64, wish: &NewVolume<'_>, outer: &Secrets| {
            let error = create_hidden(&store, size, wish, Some(outer), &()).err().expect("refused");
            assert!(store.snapshot() == before, "{error}");
            error
        };
        assert!(matches!(refused(OUTSIDE, &aes, &outside), CreateError::HiddenTooLarge { .. }));
        assert!(matches!(refused(1000, &aes, &outside), CreateError::NotWholeSectors { .. }));
        let same = new(&outside, "aes", HashName::Sha512);
        assert!(matches!(refused(1 << 20, &same, &outside), CreateError::SameSecret));
        create_hidden(&store, 1 << 20, &aes, Some(&outside), &()).expect("created");
        let inner = create_hidden(&store, 1 << 19, &same, Some(&hidden), &());
        assert!(matches!(inner, Err(CreateError::NoOuter(NoOuter::IsHidden))));
    }

    #[test]
    fn files_of_a_fat_outer_volume_are_not_overwritten() {
        use keyway_fs::mkfs::{FileSystem, format_into, silent};
        if keyway_testkit::require_tool("mkfs.fat").is_none() {
            return;
        }
        let store = outer(512);
        let (hidden, outside) = (secrets(HIDDEN, 1), secrets(OUTER, 1));
        let layout = || unlock(&store, &UnlockRequest::new(&outside)).expect("opens").layout;
        let device = Device::new(Box::new(store.clone()), layout(), Access::ReadWrite).expect("fits");
        format_into(&device, FileSystem::Fat, None, &silent).expect("formatted");
        let aes = new(&hidden, "aes", HashName::Sha512);
        let made = create_hidden(&store, 2 << 20, &aes, Some(&outside), &()).expect("free");
        assert_eq!(made.notes, [Note::Protect]);
        // A file in the cluster that the boot sector's own numbers say lies in the middle.
        let mut boot = [0; 512];
        device.read_at(&mut boot, 0).expect("read");
        assert_eq!(&boot[54..59], b"FAT12");
        let number = |at: usize| u64::from(u16::from_le_bytes([boot[at], boot[at + 1]]));
        let (cluster, reserved, table) = (u64::from(boot[13]) * 512, number(14) * 512, number(22) * 512);
        let clusters = reserved + 2 * table + number(17) * 32;
        let entry = (device.size() / 2 - clusters) / cluster + 2;
        device.write_at(&[0xff, 0x0f], reserved + entry / 2 * 3).expect("written");
        let last = entry / 2 * 2 + 1;
        let end = HEADERS + clusters + (last - 1) * cluster;
        let most = OUTSIDE - HEADERS - end;
        let error = create_hidden(&store, 2 << 20, &aes, Some(&outside), &()).err().expect("files");
        assert!(
            matches!(error, CreateError::OuterFiles { most: said, .. } if said == most),
            "{error} {most}"
        );
        create_hidden(&store, most, &aes, Some(&outside), &()).expect("free");
    }

    /// What the map of these file systems says is used is kept, to the largest volume that is told.
    #[test]
    fn what_an_outer_file_system_uses_is_not_overwritten() {
        use keyway_fs::mkfs::{FileSystem, format_into, silent};
        use keyway_volume::veracrypt::create_hidden_over;
        const BYTES: u64 = 48 << 20;
        for (fs, tool) in [
            (FileSystem::Ntfs, "mkfs.ntfs"),
            (FileSystem::ExFat, "mkfs.exfat"),
            (FileSystem::Ext4, "mkfs.ext4"),
        ] {
            if keyway_testkit::require_tool(tool).is_none() {
                continue;
            }
            let store = Arc::new(MemStore::new(BYTES as usize));
            let (hidden, outside) = (secrets(HIDDEN, 1), secrets(OUTER, 1));
            let mut outer_wish = new(&outside, "aes", HashName::Sha512);
            outer_wish.fill = Fill::Quick;
            create(&store, &outer_wish, &()).expect("created");
            let layout = || unlock(&store, &UnlockRequest::new(&outside)).expect("opens").layout;
            let device = Device::new(Box::new(store.clone()), layout(), Access::ReadWrite).expect("fits");
            format_into(&device, fs, None, &silent).expect("formatted");
            let before = store.snapshot();
            let mut wish = new(&hidden, "aes", HashName::Sha512);
            wish.fill = Fill::Quick;
            let all = BYTES - 2 * HEADERS;
            let error = create_hidden(&store, all, &wish, Some(&outside), &()).err().expect("files");
            let CreateError::OuterFiles { most, .. } = error else { panic!("{fs:?}: {error}") };
            assert!((1 << 20..all).contains(&most), "{fs:?}: {most}");
            let error = create_hidden(&store, most + 4096, &wish, Some(&outside), &()).err().expect("files");
            assert!(matches!(error, CreateError::OuterFiles { most: said, .. } if said == most), "{error}");
            assert!(store.snapshot() == before, "{fs:?}: nothing is written");
            wish.fill = Fill::Random;
            let mut plain = [vec![0; device.size() as usize], vec![0; device.size() as usize]];
            device.read_at(&mut plain[0], 0).expect("read");
            let made = create_hidden(&store, most, &wish, Some(&outside), &()).expect("free");
            assert_eq!(made.notes, [Note::Protect]);
            // All that the file system's own map calls used reads as before.
            device.read_at(&mut plain[1], 0).expect("read");
            let map = keyway_fs::allocation::Allocation::read(&device).expect("in order");
            for used in map.used(device.size(), 0) {
                let part = used.start as usize..used.end as usize;
                // What lies behind the last cluster is nobody's, but for NTFS's copy of its boot sector at the end.
                let part = part.start..if part.end as u64 == device.size() { part.start } else { part.end };
                assert!(plain[0][part.clone()] == plain[1][part.clone()], "{fs:?}: {part:?}");
            }
            let end = plain[0].len() - 512;
            assert!(plain[0][end..] == plain[1][end..], "{fs:?}");
            let over = create_hidden_over(&store, most + 4096, &wish, Some(&outside), &()).expect("told to");
            assert_eq!(over.notes, [Note::Protect, Note::OuterFilesLost]);
        }
    }

    /// A file system that nobody here has a map of, and one that was not left in order.
    #[test]
    fn an_outer_file_system_whose_map_is_not_read_is_left_alone() {
        use keyway_fs::mkfs::{FileSystem, format_into, silent};
        use keyway_volume::veracrypt::create_hidden_over;
        if keyway_testkit::require_tool("mkfs.ext4").is_none() {
            return;
        }
        let store = Arc::new(MemStore::new(16 << 20));
        let (hidden, outside) = (secrets(HIDDEN, 1), secrets(OUTER, 1));
        create(&store, &new(&outside, "aes", HashName::Sha512), &()).expect("created");
        let layout = || unlock(&store, &UnlockRequest::new(&outside)).expect("opens").layout;
        let device = Device::new(Box::new(store.clone()), layout(), Access::ReadWrite).expect("fits");
        format_into(&device, FileSystem::Ext4, None, &silent).expect("formatted");
        let wish = new(&hidden, "aes", HashName::Sha512);
        let mut page = [0; 4096];
        device.read_at(&mut page, 0).expect("read");
        // The state of one that is mounted; then XFS's mark.
        for (at, bytes) in [(1024 + 0x3a, [0, 0, 0x53, 0xef]), (0, *b"XFSB")] {
            let mut page = page;
            page[at..at + 4].copy_from_slice(&bytes);
            device.write_at(&page, 0).expect("written");
            let before = store.snapshot();
            let error = create_hidden(&store, 64 << 10, &wish, Some(&outside), &()).err().expect("unknown");
            assert!(matches!(error, CreateError::OuterUnknown { .. }), "{error}");
            assert!(store.snapshot() == before, "{error}");
        }
        let made = create_hidden_over(&store, 64 << 10, &wish, Some(&outside), &()).expect("told to");
        assert_eq!(made.notes, [Note::Protect, Note::OuterFilesLost]);
    }
}
