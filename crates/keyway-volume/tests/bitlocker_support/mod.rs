//! Small BitLocker volumes of any shape, made byte by byte, and what they must read as: a model of
//! the format that shares no code with the one that is tested but the metadata's writer and ciphers.
#![allow(dead_code, reason = "each test uses its part")]

use keyway_cipher::{Chain, LayerKey, SectorCipher, Spec};
use keyway_secret::SecretBytes;
use keyway_testkit::Rng;
use keyway_volume::bitlocker::codes::{algorithm, role};
use keyway_volume::bitlocker::{
    Block, Dataset, EncryptionState, Entries, Entry, FileTime, GUID_AT, Guid, INFORMATION, INFORMATION_EOW,
    Key, Method, Nonce, OEM, Protection, Protector, REGION_BYTES, SecretKey, Validation, Value,
};
use std::ops::Range;

pub(crate) const KIB: u64 = 1024;

/// What a volume shall be like.
#[derive(Clone)]
pub(crate) struct Shape {
    pub(crate) sector_bytes: u32,
    pub(crate) volume_bytes: u64,
    pub(crate) method: Method,
    pub(crate) state: EncryptionState,
    pub(crate) next_state: EncryptionState,
    pub(crate) encrypted_bytes: u64,
    pub(crate) log_bytes: u32,
    pub(crate) boot_sectors: u32,
    pub(crate) boot_backup: u64,
    pub(crate) copies: [u64; 3],
    pub(crate) eow: Option<Eow>,
}

/// Encrypt-on-write bitmaps.
#[derive(Clone)]
pub(crate) struct Eow {
    pub(crate) chunk_bytes: u64,
    pub(crate) log_bytes: u32,
    /// Where the two copies of the information lie.
    pub(crate) places: [u64; 2],
    /// The regions: their bytes, where the bitmap lies, where its log lies.
    pub(crate) regions: Vec<(Range<u64>, u64, u64)>,
    /// Whether a chunk is encrypted, by its first byte.
    pub(crate) encrypted: fn(u64) -> bool,
}

impl Default for Shape {
    /// 1 MiB, encrypted throughout with XTS-AES-128 and opened by a clear key.
    fn default() -> Self {
        Self {
            sector_bytes: 512,
            volume_bytes: 1024 * KIB,
            method: Method::Xts128,
            state: EncryptionState::Encrypted,
            next_state: EncryptionState::Encrypted,
            encrypted_bytes: 1024 * KIB,
            log_bytes: 0,
            boot_sectors: 16,
            boot_backup: 640 * KIB,
            copies: [256 * KIB, 384 * KIB, 512 * KIB],
            eow: None,
        }
    }
}

/// A volume and what it must read as.
pub(crate) struct Made {
    pub(crate) image: Vec<u8>,
    pub(crate) plain: Vec<u8>,
    pub(crate) block: Block,
    pub(crate) master: SecretKey,
}

fn key(len: usize, fill: u8) -> SecretBytes {
    let bytes: Vec<u8> = (0..len).map(|i| fill.wrapping_add(i as u8)).collect();
    SecretBytes::copy_of(&bytes)
}

impl Shape {
    pub(crate) fn cipher(&self) -> SectorCipher {
        let stored = key(self.method.stored_key_bytes(), 0x40);
        let len = self.method.algorithm().key_bytes();
        let tweak = match self.method {
            Method::Cbc128 | Method::Cbc256 => 0..0,
            Method::Cbc128Elephant | Method::Cbc256Elephant => 32..32 + len,
            Method::Xts128 | Method::Xts256 => len..2 * len,
        };
        let spec = Spec {
            chain: Chain::single(self.method.algorithm()),
            mode: self.method.mode(),
            unit_bytes: self.sector_bytes,
        };
        let keys = [LayerKey { key: &stored[..len], tweak_key: &stored[tweak] }];
        SectorCipher::new(&spec, &keys).expect("a cipher")
    }

    /// The metadata, sealed.
    pub(crate) fn block(&self) -> (Block, SecretKey) {
        let master = SecretKey::master(key(32, 1));
        let clear = key(32, 2);
        let data = SecretKey {
            algorithm: self.method.code(),
            flags: 0,
            bytes: key(self.method.stored_key_bytes(), 0x40),
        };
        let nonce = |counter| Nonce { time: 132_066_973_151_562_352, counter };
        let property = |value| Entry::new(role::PROPERTY, value);
        let protector = Protector {
            id: Guid([7; 16]),
            changed: FileTime(132_066_973_151_562_352),
            flags: 0,
            protection: Protection::ClearKey,
            entries: Entries {
                list: vec![
                    property(Value::Key(Key {
                        algorithm: algorithm::CLEAR,
                        flags: 0,
                        bytes: clear.to_vec(),
                    })),
                    property(Value::Sealed(master.seal(&clear, nonce(2)))),
                ],
                rest: vec![],
            },
        };
        let entries = Entries {
            list: vec![
                Entry::new(role::DESCRIPTION, Value::text("TEST X: 1/1/2020")),
                Entry::new(role::PROTECTOR, Value::Protector(protector)),
                Entry::new(role::DATA_KEY, Value::Sealed(data.seal(&master.bytes, nonce(3)))),
            ],
            rest: vec![],
        };
        let mut block = Block {
            version: 2,
            state: self.state,
            next_state: self.next_state,
            encrypted_bytes: self.encrypted_bytes,
            log_bytes: self.log_bytes,
            boot_sectors: self.boot_sectors,
            copies: self.copies,
            boot_backup: self.boot_backup,
            dataset: Dataset {
                version: 1,
                volume: Guid([9; 16]),
                next_nonce: 4,
                method: self.method.code(),
                second_method: 0,
                created: FileTime(132_066_973_151_562_352),
                entries,
            },
            padding: vec![],
            validation: Validation { bytes: 0, version: 2, crc: 0, hash: None },
        };
        block.validate(&master, nonce(0).time).expect("room");
        (block, master)
    }

    pub(crate) fn boot_sector(&self) -> [u8; 512] {
        let mut sector = [0; 512];
        sector[..3].copy_from_slice(b"\xeb\x58\x90");
        sector[3..11].copy_from_slice(&OEM);
        sector[11..13].copy_from_slice(&(self.sector_bytes as u16).to_le_bytes());
        sector[13] = (4096 / self.sector_bytes) as u8;
        let guid = if self.eow.is_some() { INFORMATION_EOW } else { INFORMATION };
        sector[GUID_AT..GUID_AT + 16].copy_from_slice(&guid.0);
        let places = self.copies.iter().chain(self.eow.iter().flat_map(|eow| &eow.places));
        for (slot, offset) in sector[GUID_AT + 16..].chunks_exact_mut(8).zip(places) {
            slot.copy_from_slice(&offset.to_le_bytes());
        }
        sector[510..].copy_from_slice(b"\x55\xaa");
        sector
    }

    fn boot_bytes(&self) -> u64 {
        u64::from(self.boot_sectors) * u64::from(self.sector_bytes)
    }

    /// Whether what lies at a byte of the medium is encrypted.
    pub(crate) fn is_encrypted(&self, place: u64) -> bool {
        if let Some(eow) = &self.eow {
            let region = eow.regions.iter().find(|(region, ..)| region.contains(&place)).expect("covered");
            let chunk = (place - region.0.start) / eow.chunk_bytes;
            return (eow.encrypted)(region.0.start + chunk * eow.chunk_bytes);
        }
        self.state != EncryptionState::Decrypted && place < self.encrypted_bytes
    }

    /// What reads as zeros.
    pub(crate) fn reserved(&self) -> Vec<Range<u64>> {
        let sector = u64::from(self.sector_bytes);
        let mut all: Vec<Range<u64>> = self.copies.iter().map(|at| *at..at + REGION_BYTES as u64).collect();
        all.push(self.boot_backup..self.boot_backup + self.boot_bytes());
        if self.state == EncryptionState::ConvertingWithLog {
            all.push(self.encrypted_bytes..self.encrypted_bytes + u64::from(self.log_bytes));
        }
        if let Some(eow) = &self.eow {
            let information = (56 + 8 * eow.regions.len() as u64).next_multiple_of(sector);
            all.extend(eow.places.iter().map(|at| *at..at + information));
            for (region, bitmap, log) in &eow.regions {
                let bytes = eow.bitmap(region).len() as u64;
                all.push(*bitmap..bitmap + bytes.next_multiple_of(sector));
                all.push(*log..log + u64::from(eow.log_bytes));
            }
        }
        all
    }

    /// The volume. `seed` chooses what is in it.
    pub(crate) fn make(&self, seed: u64) -> Made {
        let mut medium = vec![0; self.volume_bytes as usize];
        Rng::new(seed).fill(&mut medium);
        let sector = u64::from(self.sector_bytes);
        let mut plain = vec![0; medium.len()];
        let reserved = self.reserved();
        for (at, out) in (0..).step_by(sector as usize).zip(plain.chunks_exact_mut(sector as usize)) {
            let place = if at < self.boot_bytes() { self.boot_backup + at } else { at };
            if place == at && reserved.iter().any(|range| range.contains(&at)) {
                continue;
            }
            out.copy_from_slice(&medium[place as usize..][..sector as usize]);
        }
        let cipher = self.cipher();
        for (at, bytes) in (0..).step_by(sector as usize).zip(medium.chunks_exact_mut(sector as usize)) {
            if self.is_encrypted(at) {
                cipher.encrypt_sectors(bytes, at / sector);
            }
        }
        let (block, master) = self.block();
        let mut put = |at: u64, bytes: &[u8]| medium[at as usize..][..bytes.len()].copy_from_slice(bytes);
        put(0, &self.boot_sector());
        let mut region = block.to_bytes().expect("room");
        region.resize(REGION_BYTES, 0);
        self.copies.iter().for_each(|at| put(*at, &region));
        if let Some(eow) = &self.eow {
            eow.places.iter().for_each(|at| put(*at, &eow.information(self.sector_bytes)));
            eow.regions.iter().for_each(|(region, at, log)| {
                put(*at, &eow.bitmap(region));
                put(*log, &vec![0; eow.log_bytes as usize]);
            });
        }
        Made { image: medium, plain, block, master }
    }
}

fn checked(mut bytes: Vec<u8>, at: usize) -> Vec<u8> {
    let crc = crc32fast::hash(&bytes);
    bytes[at..at + 4].copy_from_slice(&crc.to_le_bytes());
    bytes
}

impl Eow {
    fn information(&self, sector_bytes: u32) -> Vec<u8> {
        let mut bytes = b"FVE-EOW\0".to_vec();
        bytes.extend_from_slice(&56u16.to_le_bytes());
        bytes.extend_from_slice(&(56 + 8 * self.regions.len() as u16).to_le_bytes());
        let count = self.regions.len() as u32;
        for field in [sector_bytes, 0, self.chunk_bytes as u32, self.log_bytes, 0, count, 0] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        for offset in self.places.iter().chain(self.regions.iter().map(|(_, at, _)| at)) {
            bytes.extend_from_slice(&offset.to_le_bytes());
        }
        checked(bytes, 36)
    }

    /// A bitmap with two records: an old one that says the opposite, and the one that counts.
    fn bitmap(&self, region: &Range<u64>) -> Vec<u8> {
        let record = |sequence: u64, invert: bool| {
            let chunks = (region.end - region.start).div_ceil(self.chunk_bytes);
            // Padded so that header and both records fill whole sectors of 512 bytes.
            let filled = 60 + 2 * (36 + (chunks as usize).div_ceil(8));
            let mut bits = vec![0u8; (filled.next_multiple_of(512) - 60) / 2 - 36];
            for index in 0..chunks {
                if (self.encrypted)(region.start + index * self.chunk_bytes) != invert {
                    bits[index as usize / 8] |= 1 << (index % 8);
                }
            }
            let mut bytes = b"FVE-EOWBR\0".to_vec();
            bytes.extend_from_slice(&36u16.to_le_bytes());
            bytes.extend_from_slice(&(36 + bits.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&(chunks as u32).to_le_bytes());
            bytes.extend_from_slice(&sequence.to_le_bytes());
            bytes.extend_from_slice(&[0; 8]);
            bytes.extend_from_slice(&bits);
            checked(bytes, 32)
        };
        let records = [record(8, false), record(7, true)];
        let len = records[0].len() as u32;
        let log = self.regions.iter().find(|(r, ..)| r == region).map_or(0, |(_, _, log)| *log);
        let mut bytes = b"FVE-EOWBM\0".to_vec();
        bytes.extend_from_slice(&60u16.to_le_bytes());
        bytes.extend_from_slice(&(60 + 2 * len).to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        for field in [region.start, region.end - region.start, log] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        for field in [60, 60 + len, len, 0] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        let mut bytes = checked(bytes, 56);
        records.iter().for_each(|record| bytes.extend_from_slice(record));
        bytes
    }
}
