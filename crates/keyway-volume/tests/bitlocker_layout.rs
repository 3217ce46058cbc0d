//! Volumes of every shape that Windows leaves behind, made small: each reads as its model says, and
//! what is written lands where it belongs and nowhere else.
#![allow(clippy::panic, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod bitlocker_support;

use bitlocker_support::{Eow, KIB, Made, Shape};
use keyway_engine::{Access, Device, DeviceError};
use keyway_store::{MemStore, Store};
use keyway_testkit::{BitLockerSecret, Rng, dissect_sha256, sha256_of};
use keyway_volume::bitlocker::{
    Conversion, EncryptionState, Method, ReadOnly, UnlockRequest, Unlocked, Warning, unlock,
};
use std::io::Write;
use std::sync::Arc;

/// A conversion under way: chunks of 4 KiB, in two regions. Information, bitmap and log of each
/// region lie together and fill 32 KiB.
fn eow(encrypted: Pattern) -> Eow {
    let region = |start: u64, at: u64| (start..start + 512 * KIB, at + 512, at + 1024);
    Eow {
        chunk_bytes: 4 * KIB,
        log_bytes: 31 * 1024,
        places: [768 * KIB, 832 * KIB],
        regions: vec![region(0, 768 * KIB), region(512 * KIB, 832 * KIB)],
        encrypted,
    }
}

/// Every shape, by name.
fn shapes() -> Vec<(String, Shape)> {
    let whole = Shape::default();
    let mut shapes: Vec<(String, Shape)> = Method::ALL
        .into_iter()
        .map(|method| (method.name().to_owned(), Shape { method, ..whole.clone() }))
        .collect();
    let mut add = |name: &str, shape: Shape| shapes.push((name.to_owned(), shape));
    for method in Method::ALL {
        let big = Shape { sector_bytes: 4096, boot_sectors: 2, method, ..whole.clone() };
        add(&format!("{} with 4096-byte sectors", method.name()), big);
    }
    add("to go: many sectors elsewhere", Shape { boot_sectors: 300, ..whole.clone() });
    add("metadata side by side", Shape { copies: [192 * KIB, 256 * KIB, 320 * KIB], ..whole.clone() });
    add("a boot backup before the metadata", Shape { boot_backup: 64 * KIB, ..whole.clone() });
    add("metadata at the very end", Shape { copies: [256 * KIB, 384 * KIB, 960 * KIB], ..whole.clone() });
    // Paused or on the way, in both directions: a boundary before, between and behind everything.
    for (kib, direction) in [
        (8, EncryptionState::Encrypted),
        (300, EncryptionState::Decrypted),
        (700, EncryptionState::Encrypted),
    ] {
        let name = format!("encrypted up to {kib} KiB on the way to {direction:?}");
        let state = Shape { state: EncryptionState::Converting, next_state: direction, ..whole.clone() };
        add(&name, Shape { encrypted_bytes: kib * KIB, ..state });
    }
    add(
        "paused",
        Shape { state: EncryptionState::Paused, encrypted_bytes: 333 * KIB + 512, ..whole.clone() },
    );
    add("decrypted", Shape { state: EncryptionState::Decrypted, encrypted_bytes: 0, ..whole.clone() });
    let log = Shape { state: EncryptionState::ConvertingWithLog, log_bytes: 16 * 1024, ..whole.clone() };
    add("a conversion log", Shape { encrypted_bytes: 720 * KIB, ..log });
    for (name, encrypted) in EOW {
        // 64 sectors elsewhere, so that everything begins where a byte of the bitmap does: there
        // dissect.fve reads bitmaps right, which it does not where a read begins within a byte.
        add(name, Shape { boot_sectors: 64, eow: Some(eow(encrypted)), ..whole.clone() });
    }
    shapes
}

/// Whether the chunk that begins there is encrypted.
type Pattern = fn(u64) -> bool;

const EOW: [(&str, Pattern); 4] = [
    ("encrypt-on-write, all", |_| true),
    ("encrypt-on-write, none", |_| false),
    ("encrypt-on-write, a half", |at| at < 500 * KIB),
    ("encrypt-on-write, scattered", |at| !(at / 4096).is_multiple_of(3) && at % 7 < 5),
];

fn open(made: &Made, shape: &Shape) -> Unlocked {
    let store = MemStore::from_vec(made.image.clone()).with_sector_bytes(shape.sector_bytes).read_only();
    unlock(&store, &UnlockRequest::new(&[])).expect("a clear key opens it")
}

#[test]
fn every_shape_reads_as_its_model_says() {
    for (seed, (name, shape)) in (1..).zip(shapes()) {
        let made = shape.make(seed);
        let unlocked = open(&made, &shape);
        assert_eq!(unlocked.layout.size(), shape.volume_bytes, "{name}");
        let store = MemStore::from_vec(made.image.clone());
        let device = Device::new(Box::new(store), unlocked.layout, Access::ReadOnly).expect(&name);
        let mut read = vec![0; made.plain.len()];
        device.read_at(&mut read, 0).expect(&name);
        let differs = read.iter().zip(&made.plain).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{name}");
        let encrypted = (0..shape.volume_bytes).step_by(512).filter(|at| shape.is_encrypted(*at)).count();
        assert_eq!(unlocked.info.encrypted_bytes, encrypted as u64 * 512, "{name}");
    }
}

/// The only public account of what Windows makes of these shapes. All of them in the long run.
#[test]
fn dissect_fve_reads_the_same() {
    let all = std::env::var_os("KEYWAY_SLOW").is_some();
    let few = ["4096-byte", "700 KiB", "paused", "conversion log", "scattered"];
    for (seed, (name, shape)) in (1..).zip(shapes()) {
        let elephant = name.contains("elephant");
        if !all && (elephant || !few.iter().any(|part| name.contains(part)) || name.contains("256")) {
            continue;
        }
        let made = shape.make(seed);
        let mut file = tempfile::NamedTempFile::new().expect("temp");
        file.write_all(&made.image).expect("written");
        let whole = 0..shape.volume_bytes;
        let read = dissect_sha256(file.path(), BitLockerSecret::ClearKey, &[whole]);
        let Some(read) = read else { return };
        assert_eq!(read, sha256_of(made.plain.as_slice()), "{name}");
    }
}

#[test]
fn what_is_written_lands_where_it_belongs_and_nowhere_else() {
    for (seed, (name, shape)) in (1..).zip(shapes()) {
        let made = shape.make(seed);
        let unlocked = open(&made, &shape);
        let store = Arc::new(MemStore::from_vec(made.image.clone()));
        let access = if unlocked.read_only.is_some() { Access::ReadOnly } else { Access::ReadWrite };
        let device = Device::new(Box::new(Arc::clone(&store)), unlocked.layout, access).expect(&name);
        let mut plain = made.plain.clone();
        let mut rng = Rng::new(seed);
        let zeros: Vec<_> = shape.reserved();
        let boot = u64::from(shape.boot_sectors) * u64::from(shape.sector_bytes);
        let mut refused = 0;
        for _ in 0..200 {
            let len = 1 + rng.below(20_000);
            let at = rng.below(shape.volume_bytes - len);
            let bytes = rng.bytes(len as usize);
            let metadata = |place: u64| place >= boot && zeros.iter().any(|r| r.contains(&place));
            let over_it = (at..).zip(&bytes).any(|(place, byte)| *byte != 0 && metadata(place));
            match device.write_at(&bytes, at) {
                Err(DeviceError::ReadOnly) => {
                    assert_eq!(access, Access::ReadOnly, "{name}");
                    continue;
                }
                Ok(()) => assert!(!over_it, "{name}: {len} bytes at {at}"),
                Err(DeviceError::Metadata(_)) => {
                    assert!(over_it, "{name}: {len} bytes at {at}");
                    refused += 1;
                }
                Err(e) => panic!("{name}: {e}"),
            }
            assert_eq!(access, Access::ReadWrite, "{name}");
            // All that is not metadata arrives, in front of it and behind.
            for (place, byte) in (at..).zip(bytes).filter(|(place, _)| !metadata(*place)) {
                plain[place as usize] = byte;
            }
        }
        assert!(refused > 0 || access == Access::ReadOnly, "{name}: no write came near the metadata");
        drop(device);
        // Opened anew, it holds all of that; and what belongs to BitLocker has not changed.
        let image = store.snapshot();
        let again = Made { image, plain, ..made };
        let reopened = open(&again, &shape);
        assert_eq!(again.image[..512], shape.boot_sector(), "{name}");
        let device =
            Device::new(Box::new(store), reopened.layout, Access::ReadOnly).expect("it opened before");
        let mut read = vec![0; again.plain.len()];
        device.read_at(&mut read, 0).expect(&name);
        assert!(read == again.plain, "{name}");
        for range in shape.reserved().into_iter().filter(|r| r.start != shape.boot_backup) {
            let range = range.start as usize..range.end as usize;
            assert!(
                again.image[range.clone()] == made_image(&shape, seed)[range.clone()],
                "{name}: {range:?}"
            );
        }
    }
}

fn made_image(shape: &Shape, seed: u64) -> Vec<u8> {
    shape.make(seed).image
}

#[test]
fn the_words_are_those_of_manage_bde() {
    let words = |shape: &Shape| {
        let info = open(&shape.make(1), shape).info;
        (info.conversion_status, info.percentage_encrypted)
    };
    let whole = Shape::default();
    assert_eq!(words(&whole), (Conversion::FullyEncrypted, 100.0));
    let half = Shape { state: EncryptionState::Converting, encrypted_bytes: 512 * KIB, ..whole.clone() };
    assert_eq!(words(&half), (Conversion::Encrypting, 50.0));
    assert_eq!(
        words(&Shape { next_state: EncryptionState::Decrypted, ..half.clone() }),
        (Conversion::Decrypting, 50.0)
    );
    assert_eq!(
        words(&Shape { state: EncryptionState::Paused, ..half }),
        (Conversion::EncryptionPaused, 50.0)
    );
    let none = Shape { state: EncryptionState::Decrypted, encrypted_bytes: 0, ..whole.clone() };
    assert_eq!(words(&none), (Conversion::FullyDecrypted, 0.0));
    let eow = |encrypted| Shape { boot_sectors: 64, eow: Some(eow(encrypted)), ..whole.clone() };
    assert_eq!(words(&eow(|at| at < 256 * KIB)), (Conversion::Encrypting, 25.0));
    assert_eq!(words(&eow(|_| true)), (Conversion::FullyEncrypted, 100.0));
}

#[test]
fn conversions_that_windows_must_finish_are_read_only_and_say_so() {
    let whole = Shape::default();
    let log = Shape {
        state: EncryptionState::ConvertingWithLog,
        log_bytes: 4096,
        encrypted_bytes: 720 * KIB,
        ..whole
    };
    let scattered = Shape { boot_sectors: 64, eow: Some(eow(EOW[3].1)), ..Shape::default() };
    for (shape, why) in [(log, ReadOnly::ConversionLog), (scattered, ReadOnly::EncryptOnWrite)] {
        let unlocked = open(&shape.make(1), &shape);
        assert_eq!(unlocked.read_only, Some(why));
        assert!(unlocked.warnings.contains(&Warning::ReadOnly(why)));
        assert!(unlocked.warnings.iter().any(|w| matches!(w, Warning::PartlyEncrypted { .. })));
    }
    let done = Shape { boot_sectors: 64, eow: Some(eow(|_| true)), ..Shape::default() };
    assert_eq!(open(&done.make(1), &done).read_only, None);
}

#[test]
fn a_volume_that_was_cut_off_says_so() {
    let shape = Shape { encrypted_bytes: 2048 * KIB, ..Shape::default() };
    let made = Shape::default().make(1);
    let mut image = made.image;
    let mut region = shape.block().0.to_bytes().expect("room");
    region.resize(64 * 1024, 0);
    shape.copies.iter().for_each(|at| image[*at as usize..][..region.len()].copy_from_slice(&region));
    let store = MemStore::from_vec(image);
    let unlocked = unlock(&store, &UnlockRequest::new(&[])).expect("it opens");
    let cut = Warning::CutOff { expected: 2048 * KIB, present: 1024 * KIB };
    assert_eq!(unlocked.warnings, [Warning::Suspended, cut, Warning::ReadOnly(ReadOnly::CutOff)]);
    assert_eq!(unlocked.layout.size(), store.size());
}

/// As when an image is copied to a larger partition: the metadata says nothing of what lies behind.
#[test]
fn what_lies_behind_a_volume_is_no_part_that_is_not_encrypted_yet() {
    let shape = Shape { encrypted_bytes: 1024 * KIB, ..Shape::default() };
    let made = shape.make(1);
    let mut image = made.image.clone();
    image.resize(1536 * KIB as usize, 0);
    let store = MemStore::from_vec(image);
    let unlocked = unlock(&store, &UnlockRequest::new(&[])).expect("it opens");
    let info = &unlocked.info;
    assert_eq!((info.conversion_status, info.percentage_encrypted), (Conversion::FullyEncrypted, 100.0));
    let larger = Warning::Larger { volume: 1024 * KIB, present: 1536 * KIB };
    assert_eq!(unlocked.warnings, [Warning::Suspended, larger]);
    assert_eq!(unlocked.read_only, None);
    let device = Device::new(Box::new(store), unlocked.layout, Access::ReadOnly).expect("fits");
    let mut read = vec![0; made.plain.len()];
    device.read_at(&mut read, 0).expect("read");
    assert!(read == made.plain, "what is in the volume stays");
}
