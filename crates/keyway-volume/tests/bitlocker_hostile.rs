//! BitLocker metadata that is damaged, or that lies: each is told, none panics, and nothing is ever
//! written.
#![allow(clippy::panic, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod bitlocker_support;

use bitlocker_support::{Eow, KIB, Shape};
use keyway_error::{Explain, Fault};
use keyway_secret::SecretBytes;
use keyway_store::{MemStore, Store, StoreError};
use keyway_testkit::Rng;
use keyway_volume::bitlocker::{
    BackupError, BitLockerError, Block, BootFault, CONVERSION_MARK, CopyFault, CopyState, Entries, Entry,
    Impossible, Metadata, REGION_BYTES, ReadOnly, SIGNATURE, SecretKey, StartupKey, UnlockRequest, Unlocked,
    Value, Warning, find, look, unlock,
};

/// A store that takes no writes at all.
struct NoWrites(MemStore);

impl Store for NoWrites {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.0.read_at(buf, offset)
    }
    fn write_at(&self, _: &[u8], offset: u64) -> Result<(), StoreError> {
        panic!("opening wrote at {offset}")
    }
    fn flush(&self) -> Result<(), StoreError> {
        panic!("opening flushed")
    }
    fn discard(&self, offset: u64, _: u64) -> Result<(), StoreError> {
        panic!("opening discarded at {offset}")
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

fn open(image: &[u8]) -> Result<Unlocked, BitLockerError> {
    let store = NoWrites(MemStore::from_vec(image.to_vec()));
    // Looking never says more than opening, and never fails where that succeeds.
    let seen = look(&store);
    let unlocked = unlock(&store, &UnlockRequest::new(&[]));
    assert!(seen.is_ok() || unlocked.is_err());
    // Nor does looking for what a lost first sector would have named.
    let searched = unlock(&store, &UnlockRequest { search: true, ..UnlockRequest::new(&[]) });
    assert!(searched.is_ok() || unlocked.is_err());
    unlocked
}

fn error(image: &[u8]) -> BitLockerError {
    open(image).err().expect("refused")
}

fn put(image: &mut [u8], at: u64, bytes: &[u8]) {
    image[at as usize..][..bytes.len()].copy_from_slice(bytes);
}

fn region_of(block: &Block) -> Vec<u8> {
    let mut region = block.to_bytes().expect("room");
    region.resize(REGION_BYTES, 0);
    region
}

/// The volume with other metadata, which is sealed as Windows would seal it.
fn with_block(change: impl FnOnce(&mut Block)) -> Vec<u8> {
    let shape = Shape::default();
    let made = shape.make(1);
    let mut block = made.block.clone();
    change(&mut block);
    block.validate(&made.master, 1).expect("room");
    let mut image = made.image;
    shape.copies.iter().for_each(|at| put(&mut image, *at, &region_of(&block)));
    image
}

/// Makes the CRC-32 of a block right again.
fn fix_crc(region: &mut [u8]) {
    let len = usize::from(u16::from_le_bytes([region[8], region[9]])) * 16;
    if len + 8 <= region.len() {
        let crc = crc32fast::hash(&region[..len]);
        region[len + 4..len + 8].copy_from_slice(&crc.to_le_bytes());
    }
}

#[test]
fn a_damaged_copy_is_told_and_the_others_open_it() {
    let shape = Shape::default();
    let made = shape.make(1);
    for lost in 0..8u8 {
        let mut image = made.image.clone();
        let damaged: Vec<usize> = (0..3).filter(|i| lost >> i & 1 == 1).collect();
        damaged.iter().for_each(|i| image[shape.copies[*i] as usize + 200] ^= 1);
        if damaged.len() == 3 {
            let error = error(&image);
            assert!(
                matches!(error, BitLockerError::NoMetadata(_)) && error.fault() == Fault::Contents,
                "{error}"
            );
            assert!(error.to_string().contains("checksum"), "{error}");
            continue;
        }
        let unlocked = open(&image).expect("another copy opens it");
        let told: Vec<usize> = unlocked
            .warnings
            .iter()
            .filter_map(|w| if let Warning::DamagedCopy { number, .. } = w { Some(number - 1) } else { None })
            .collect();
        assert_eq!(told, damaged);
        let states = unlocked.opened.metadata.states();
        for (i, state) in states.iter().enumerate() {
            assert_eq!(*state == CopyState::Good, !damaged.contains(&i));
        }
    }
}

#[test]
fn the_newest_good_copy_counts() {
    let shape = Shape::default();
    let made = shape.make(1);
    for newest in 0..3 {
        let mut image = made.image.clone();
        let mut block = made.block.clone();
        block.dataset.entries.list.push(Entry::new(0x77, Value::text("new")));
        block.validate(&made.master, 1).expect("room");
        put(&mut image, shape.copies[newest], &region_of(&block));
        let unlocked = open(&image).expect("opens");
        assert_eq!(unlocked.opened.metadata.chosen, newest);
        assert!(region_of(unlocked.opened.metadata.block()) == region_of(&block));
        let older = unlocked.warnings.iter().filter(|w| matches!(w, Warning::OlderCopy(_))).count();
        assert_eq!(older, 2);
        // Damaged, it no longer does.
        image[shape.copies[newest] as usize + 64] ^= 1;
        let older = open(&image).expect("opens");
        assert!(region_of(older.opened.metadata.block()) == region_of(&made.block));
    }
}

#[test]
fn a_change_without_the_key_is_seen() {
    let shape = Shape::default();
    let made = shape.make(1);
    let mut block = made.block.clone();
    // Less of the volume encrypted: what is written behind that would lie open.
    block.encrypted_bytes = 512;
    block.dataset.next_nonce += 1;
    let mut region = region_of(&block);
    fix_crc(&mut region);
    let mut image = made.image;
    shape.copies.iter().for_each(|at| put(&mut image, *at, &region));
    let error = error(&image);
    assert!(matches!(error, BitLockerError::Tampered) && error.fault() == Fault::Contents, "{error}");
    // A genuine copy beside it counts.
    put(&mut image, shape.copies[2], &region_of(&made.block));
    let unlocked = open(&image).expect("the genuine one opens it");
    assert_eq!(unlocked.opened.metadata.chosen, 2);
    assert_eq!(unlocked.info.encrypted_bytes, shape.volume_bytes);
    let fault = CopyFault::Unauthentic;
    assert!(unlocked.warnings.contains(&Warning::DamagedCopy { number: 1, fault }));
}

#[test]
fn a_block_without_a_seal_never_counts() {
    let shape = Shape::default();
    let made = shape.make(1);
    // As Windows Vista wrote them, and one whose validation only says so.
    for version in [1u8, 2] {
        let mut region = region_of(&made.block);
        let len = usize::from(u16::from_le_bytes([region[8], region[9]])) * 16;
        region[10] = version;
        region[len + 2] = 1;
        region[len + 8..].fill(0);
        fix_crc(&mut region);
        let mut image = made.image.clone();
        shape.copies.iter().for_each(|at| put(&mut image, *at, &region));
        let error = error(&image);
        let refused = matches!(error, BitLockerError::NoMetadata(_) | BitLockerError::Tampered);
        assert!(refused && error.fault() == Fault::Contents, "{version}: {error}");
    }
}

#[test]
fn copies_that_point_at_each_other_or_nowhere_are_damaged() {
    let made = Shape::default().make(1);
    let good = Shape::default().copies;
    let cases: [([u64; 3], usize); 8] = [
        ([good[0], good[0], good[2]], 1),
        ([good[0], good[0] + 512, good[2]], 1),
        ([0, good[1], good[2]], 0),
        ([good[0], 1 << 40, good[2]], 1),
        ([good[0], u64::MAX - 100, good[2]], 1),
        ([good[0] + 1, good[1], good[2]], 0),
        ([1024 * KIB - 512, good[1], good[2]], 0),
        ([good[0], good[1], 64 * KIB], 2),
    ];
    for (copies, wrong) in cases {
        let mut image = made.image.clone();
        let boot = Shape { copies, ..Shape::default() }.boot_sector();
        put(&mut image, 0, &boot);
        // The metadata itself knows better, and is believed.
        let unlocked = open(&image).expect("opens");
        assert_eq!(unlocked.opened.metadata.copies.each_ref().map(|copy| copy.offset), good, "{copies:?}");
        assert!(unlocked.warnings.contains(&Warning::BootSector), "{copies:?}");
        // Where it says the same nonsense, that copy is damaged.
        let image = {
            let mut block = made.block.clone();
            block.copies = copies;
            block.validate(&made.master, 1).expect("room");
            good.iter().for_each(|at| put(&mut image, *at, &region_of(&block)));
            image
        };
        match open(&image) {
            Ok(unlocked) => {
                let state = &unlocked.opened.metadata.states()[wrong];
                assert!(matches!(state, CopyState::Damaged(_)), "{copies:?} {state}");
            }
            Err(e) => assert!(matches!(e, BitLockerError::Impossible(_)), "{copies:?} {e}"),
        }
    }
    let mut image = made.image;
    put(&mut image, 0, &Shape { copies: [0; 3], ..Shape::default() }.boot_sector());
    assert!(matches!(error(&image), BitLockerError::NoMetadata(_)));
}

#[test]
fn impossible_places_are_refused_even_when_sealed() {
    let of = |change: fn(&mut Block)| error(&with_block(change));
    assert!(matches!(of(|b| b.boot_sectors = 0), BitLockerError::Impossible(Impossible::BootSectors(0))));
    assert!(matches!(
        of(|b| b.boot_sectors = u32::MAX),
        BitLockerError::Impossible(Impossible::BootSectors(_))
    ));
    for (at, change) in [
        (0, (|b| b.boot_backup = 0) as fn(&mut Block)),
        (512, |b| b.boot_backup = 512),
        (1 << 50, |b| b.boot_backup = 1 << 50),
        (u64::MAX, |b| b.boot_backup = u64::MAX),
        (640 * KIB + 1, |b| b.boot_backup = 640 * KIB + 1),
        (256 * KIB, |b| b.boot_backup = 256 * KIB),
        (1024 * KIB - 512, |b| b.boot_backup = 1024 * KIB - 512),
    ] {
        let error = of(change);
        let refused =
            matches!(error, BitLockerError::Impossible(Impossible::BootBackup(found)) if found == at);
        assert!(refused && error.fault() == Fault::Contents, "{at}: {error}");
    }
    let error = of(|b| b.dataset.method = 0x9999);
    assert!(matches!(error, BitLockerError::Unsupported(_)) && error.fault() == Fault::Contents, "{error}");
    // These are odd, not impossible.
    for change in [
        (|b| b.encrypted_bytes = u64::MAX) as fn(&mut Block),
        |b| b.encrypted_bytes = 0,
        |b| b.log_bytes = u32::MAX,
        |b| b.dataset.version = 99,
        |b| b.dataset.created.0 = u64::MAX,
    ] {
        assert!(open(&with_block(change)).is_ok());
    }
}

#[test]
fn unknown_entries_are_skipped_and_kept() {
    let image = with_block(|block| {
        let list = &mut block.dataset.entries.list;
        list.insert(
            0,
            Entry { role: 0x1234, flags: 0xffff, value: Value::Raw { kind: 0x4321, bytes: vec![7; 99] } },
        );
        list.push(Entry::new(2, Value::Raw { kind: 8, bytes: vec![1; 5] }));
        list.push(Entry::new(0, Value::Raw { kind: 0, bytes: vec![] }));
        block.dataset.entries.rest = vec![3, 0, 0];
    });
    let unlocked = open(&image).expect("opens");
    let block = unlocked.opened.metadata.block();
    assert_eq!(region_of(block), image[Shape::default().copies[0] as usize..][..REGION_BYTES]);
    assert_eq!(block.dataset.entries.rest, [3, 0, 0]);
}

/// An entry of that kind around some bytes.
fn wrap(kind: u16, header: usize, inner: &[u8]) -> Vec<u8> {
    let mut bytes = ((8 + header + inner.len()) as u16).to_le_bytes().to_vec();
    bytes.extend_from_slice(&[0, 0]);
    bytes.extend_from_slice(&kind.to_le_bytes());
    bytes.extend_from_slice(&[1, 0]);
    bytes.resize(8 + header, 0);
    bytes.extend_from_slice(inner);
    bytes
}

#[test]
fn entries_that_nest_without_end_or_lie_about_their_length_stay_bytes() {
    let mut nested = vec![];
    for _ in 0..2000 {
        // Use key in use key: 12 bytes each.
        nested = wrap(4, 4, &nested);
    }
    let mut lies: Vec<Vec<u8>> = vec![nested];
    for len in [0u16, 1, 7, 8, 9, 0x7fff, 0xffff] {
        let mut bytes = wrap(8, 28, &wrap(3, 20, &wrap(5, 28, &[5; 44])));
        bytes[..2].copy_from_slice(&len.to_le_bytes());
        lies.push(bytes.clone());
        let mut bytes = wrap(8, 28, &wrap(3, 20, &wrap(5, 28, &[5; 44])));
        bytes[36..38].copy_from_slice(&len.to_le_bytes());
        lies.push(bytes);
    }
    for bytes in lies {
        let entries = Entries::parse(&bytes);
        let mut written = Vec::new();
        entries.write(&mut written).expect("no longer than it was");
        assert_eq!(written, bytes);
        let image = with_block(|block| {
            let mut all = Vec::new();
            block.dataset.entries.write(&mut all).expect("short");
            all.extend_from_slice(&bytes);
            block.dataset.entries = Entries::parse(&all);
        });
        assert!(open(&image).is_ok(), "what comes after the keys does not matter");
    }
}

#[test]
fn random_bytes_parse_and_write_back() {
    let mut rng = Rng::new(7);
    for _ in 0..20_000 {
        let len = rng.below(300) as usize;
        let mut bytes = rng.bytes(len);
        // Mostly lengths and kinds that make sense.
        for at in (0..len.saturating_sub(8)).step_by(1 + rng.below(40) as usize) {
            bytes[at] = rng.below(80) as u8;
            bytes[at + 1] = 0;
            bytes[at + 4] = rng.below(0x18) as u8;
            bytes[at + 5] = 0;
        }
        let entries = Entries::parse(&bytes);
        let mut written = Vec::new();
        entries.write(&mut written).expect("no longer than it was");
        assert_eq!(written, bytes);
    }
}

#[test]
fn changed_bytes_with_a_right_checksum_never_panic() {
    let shape = Shape::default();
    let made = shape.make(1);
    let good = region_of(&made.block);
    let used = made.block.to_bytes().expect("room").len() as u64;
    let mut rng = Rng::new(1);
    let (mut opened, mut sealed) = (0, 0);
    for round in 0..1500u32 {
        let mut region = good.clone();
        for _ in 0..=rng.below(3) {
            // The first half are single bytes of the headers, one after the other.
            let at = if round < 600 { u64::from(round) % used } else { rng.below(used) };
            region[at as usize] = if rng.below(2) == 0 { rng.next_u64() as u8 } else { 0xff };
        }
        fix_crc(&mut region);
        let mut image = made.image.clone();
        // With and without the key's seal.
        if rng.below(2) == 0
            && let Ok(mut block) = Block::parse(&region)
            && block.validate(&made.master, 5).is_ok()
            && let Ok(mut bytes) = block.to_bytes()
        {
            bytes.resize(REGION_BYTES, 0);
            region = bytes;
            sealed += 1;
        }
        shape.copies.iter().for_each(|at| put(&mut image, *at, &region));
        match open(&image) {
            Ok(_) => opened += 1,
            Err(e) => assert!(matches!(e.fault(), Fault::Request | Fault::Secret | Fault::Contents), "{e}"),
        }
    }
    assert!(sealed > 300 && opened > 50, "{sealed} were sealed, {opened} opened");
}

#[test]
fn a_boot_sector_of_any_bytes_never_panics() {
    let made = Shape::default().make(1);
    let mut rng = Rng::new(3);
    for round in 0..600usize {
        let mut image = made.image.clone();
        let at = if round < 512 { round } else { rng.below(512) as usize };
        image[at] ^= 1 + rng.below(255) as u8;
        if let Err(e) = open(&image) {
            assert_eq!(e.fault(), Fault::Contents, "{at}: {e}");
        }
    }
    for len in [0, 1, 511, 512, 513, 4096, 70_000] {
        let image = &made.image[..len];
        assert_eq!(error(image).fault(), Fault::Contents, "{len}");
    }
    let mut vista = made.image;
    vista[160..176].fill(0);
    vista[..3].copy_from_slice(&[0xeb, 0x52, 0x90]);
    let told = error(&vista);
    assert!(matches!(told, BitLockerError::Unsupported(_)), "{told}");
    // Those of later Windows jump further, and have the GUID that is not there.
    vista[..3].copy_from_slice(&[0xeb, 0x58, 0x90]);
    let told = error(&vista);
    assert!(matches!(told, BitLockerError::BootSector(BootFault::NoPlaces)), "{told}");
}

#[test]
fn encrypt_on_write_that_lies_is_told() {
    let eow = Eow {
        chunk_bytes: 4 * KIB,
        log_bytes: 1024,
        places: [768 * KIB, 832 * KIB],
        regions: vec![(0..1024 * KIB, 769 * KIB, 780 * KIB)],
        encrypted: |at| at < 512 * KIB,
    };
    let shape = Shape { eow: Some(eow), ..Shape::default() };
    let made = shape.make(1);
    assert!(open(&made.image).is_ok());
    let damage = |places: &[u64]| {
        let mut image = made.image.clone();
        places.iter().for_each(|at| image[*at as usize] ^= 0xff);
        image
    };
    // A flipped byte of one information: the other counts.
    let unlocked = open(&damage(&[768 * KIB + 50])).expect("the other copy counts");
    assert!(unlocked.warnings.contains(&Warning::EncryptOnWriteCopy));
    let both = error(&damage(&[768 * KIB + 50, 832 * KIB + 50]));
    assert!(matches!(both, BitLockerError::Impossible(Impossible::EncryptOnWrite)), "{both}");
    // Neither there any more: the conversion is done.
    let done = open(&damage(&[768 * KIB, 832 * KIB])).expect("opens");
    assert_eq!(done.info.encrypted_bytes, shape.volume_bytes);
    // The bitmap, its newest record, both of its records.
    let bitmap = 769 * KIB;
    let error_of = |places: &[u64]| error(&damage(places));
    assert!(
        matches!(error_of(&[bitmap + 21]), BitLockerError::Impossible(Impossible::Bitmap(at)) if at == bitmap)
    );
    let older = open(&damage(&[bitmap + 60 + 100])).expect("the older record counts");
    assert_eq!(older.info.encrypted_bytes, shape.volume_bytes / 2);
    assert!(matches!(
        error_of(&[bitmap + 160, bitmap + 60 + 226 + 100]),
        BitLockerError::Impossible(Impossible::Bitmap(_))
    ));
    // Every byte of it all.
    for at in (768 * KIB..768 * KIB + 64).chain(bitmap..bitmap + 512) {
        match open(&damage(&[at, at + 64 * KIB])) {
            Ok(_) => {}
            Err(e) => assert_eq!(e.fault(), Fault::Contents, "{at}: {e}"),
        }
    }
}

#[test]
fn metadata_of_another_volume_in_a_copy_is_told() {
    let shape = Shape::default();
    let made = shape.make(1);
    let mut block = made.block.clone();
    block.dataset.volume.0 = [1; 16];
    block.dataset.next_nonce = u32::MAX - 1;
    block.validate(&made.master, 1).expect("room");
    let mut image = made.image;
    put(&mut image, shape.copies[1], &region_of(&block));
    let unlocked = open(&image).expect("opens");
    assert_eq!(unlocked.opened.metadata.chosen, 0);
    let fault = CopyFault::OtherVolume(block.dataset.volume);
    assert!(unlocked.warnings.contains(&Warning::DamagedCopy { number: 2, fault }));
}

#[test]
fn keys_that_are_damaged_under_a_right_seal_are_told() {
    let lost = error(&with_block(|block| {
        block.dataset.entries.list.retain(|entry| entry.role != 3);
    }));
    assert!(
        matches!(lost, BitLockerError::DamagedKey("data key")) && lost.fault() == Fault::Contents,
        "{lost}"
    );
    let no_clear_key = error(&with_block(|block| {
        for entry in &mut block.dataset.entries.list {
            if let Value::Protector(protector) = &mut entry.value {
                protector.entries.list.remove(0);
            }
        }
    }));
    assert!(matches!(no_clear_key, BitLockerError::DamagedKey("clear key")), "{no_clear_key}");
    let short = with_block(|block| {
        let master = Shape::default().block().1;
        let key = SecretKey { algorithm: 0x8005, flags: 0, bytes: SecretBytes::zeroed(32) };
        let nonce = keyway_volume::bitlocker::Nonce { time: 1, counter: 77 };
        for entry in block.dataset.entries.list.iter_mut().filter(|entry| entry.role == 3) {
            entry.value = Value::Sealed(key.seal(&master.bytes, nonce));
        }
    });
    assert!(matches!(error(&short), BitLockerError::DamagedKey("data key")));
}

#[test]
fn startup_keys_of_any_bytes_never_panic() {
    let good = StartupKey::random().expect("random").to_bytes();
    let mut rng = Rng::new(5);
    let mut read = 0;
    for _ in 0..5000 {
        let mut bytes = good.to_vec();
        for _ in 0..=rng.below(3) {
            let at = rng.below(bytes.len() as u64) as usize;
            bytes[at] = rng.next_u64() as u8;
        }
        bytes.truncate(rng.below(bytes.len() as u64 * 2) as usize + 1);
        if let Ok(key) = StartupKey::parse(&SecretBytes::copy_of(&bytes)) {
            assert_eq!(key.key.bytes.len(), 32);
            assert!(StartupKey::parse(&key.to_bytes()).is_ok());
            read += 1;
        }
    }
    assert!(read > 100, "{read}");
}

#[test]
fn a_block_too_long_for_its_place_is_refused_when_written() {
    let mut block = Shape::default().block().0;
    for _ in 0..3 {
        block.dataset.entries.list.push(Entry::new(9, Value::Raw { kind: 9, bytes: vec![0; 30_000] }));
    }
    assert!(block.to_bytes().is_err());
    block.dataset.entries.list.push(Entry::new(9, Value::Raw { kind: 9, bytes: vec![0; 70_000] }));
    assert!(block.body().is_err());
    let store = MemStore::new(100);
    assert!(Metadata::read(&store).is_err());
}

#[test]
fn metadata_that_is_looked_for_counts_only_where_it_says_that_it_lies() {
    let shape = Shape::default();
    let made = shape.make(1);
    let mut image = made.image.clone();
    put(&mut image, 0, &[0; 512]);
    // Beginnings that lead nowhere, the last without room for a copy, and a copy of a copy.
    for at in [8 * KIB, 16 * KIB + 512, 1024 * KIB - 512] {
        put(&mut image, at, &SIGNATURE);
    }
    put(&mut image, 64 * KIB, &region_of(&made.block));
    assert!(matches!(error(&image), BitLockerError::NotBitLocker(BootFault::NotBitLocker)));
    let store = MemStore::from_vec(image.clone());
    let request = UnlockRequest { search: true, ..UnlockRequest::new(&[]) };
    let found = unlock(&store, &request).expect("found");
    assert_eq!(found.opened.metadata.copies.each_ref().map(|copy| copy.offset), shape.copies);
    assert_eq!(found.read_only, Some(ReadOnly::FirstSector));
    assert!(
        found.warnings.contains(&Warning::LostBootSector(BootFault::NotBitLocker)),
        "{:?}",
        found.warnings
    );
    // A marker of a conversion in the third copy's second half: the metadata does not say how far that is.
    let mut half = image.clone();
    put(&mut half, shape.copies[2] + 32 * KIB + 16, &CONVERSION_MARK);
    let refused = unlock(&MemStore::from_vec(half), &request).err();
    assert!(matches!(refused, Some(BitLockerError::HalfConverted)), "{refused:?}");
    // Remains of another volume: what opens may not be what it is now, and nothing is written.
    let mut remains = image.clone();
    let mut other = made.block.clone();
    other.dataset.volume.0[0] ^= 1;
    other.copies = [128 * KIB, 192 * KIB, 320 * KIB];
    other.validate(&made.master, 1).expect("room");
    put(&mut remains, 128 * KIB, &region_of(&other));
    let store = MemStore::from_vec(remains.clone());
    let found = unlock(&store, &request).expect("either");
    let refused = found.opened.repair(&store);
    assert!(matches!(refused, Err(BackupError::Remains { .. })), "{refused:?}");
    assert!(store.snapshot() == remains);
    // One copy that is left is enough.
    put(&mut image, shape.copies[0], &[0; 512]);
    put(&mut image, shape.copies[1] + 100, &[0xff; 8]);
    let left = find(&MemStore::from_vec(image.clone())).expect("found").metadata.states();
    assert!(matches!(left, [CopyState::Damaged(_), CopyState::Damaged(_), CopyState::Good]), "{left:?}");
    put(&mut image, shape.copies[2], &[0; 512]);
    let none = unlock(&MemStore::from_vec(image), &request).err();
    assert!(matches!(none, Some(BitLockerError::NotBitLocker(BootFault::Nowhere))), "{none:?}");
}
