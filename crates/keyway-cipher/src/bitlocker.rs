//! BitLocker's AES-CBC, with and without the Elephant diffuser.
//!
//! A unit's IV is its byte offset on the volume, 16 bytes little-endian, encrypted with the volume's
//! key (dm-crypt calls it `eboiv`). With the diffuser, a second key encrypts the same 16 bytes, and
//! again with 128 in the last one, to the 32 bytes of the unit's sector key. (Niels Ferguson,
//! "AES-CBC + Elephant diffuser", 2006, sections 4.1 to 4.4; libbde's format documentation.)

use crate::cipher::{Cipher, Direction};
use crate::elephant::{self, SectorKey};
use crate::kernels::{Cbc, Ready};
use keyway_secret::Locked;

/// The units it works on: BitLocker has the first and the last.
pub(crate) const UNIT_BYTES: [u32; 4] = [512, 1024, 2048, 4096];
/// Units that are worked on together: CBC encrypts them side by side.
const UNITS_AT_ONCE: usize = 32;

/// The volume's key and, with the diffuser, the one that makes sector keys (its TWEAK key).
pub(crate) struct BitLocker {
    pub(crate) ready: Ready,
    pub(crate) data: Locked<Cipher>,
    pub(crate) diffuser: Option<Locked<Cipher>>,
}

impl BitLocker {
    /// Whole units in place.
    pub(crate) fn run(&self, direction: Direction, units: &mut [u8], unit_bytes: usize, first_unit: u64) {
        let mut ivs = [[0u8; 16]; UNITS_AT_ONCE];
        let mut sector_keys = [SectorKey::default(); UNITS_AT_ONCE];
        let mut number = first_unit;
        for batch in units.chunks_mut(UNITS_AT_ONCE * unit_bytes) {
            let count = batch.len() / unit_bytes;
            let (ivs, sector_keys) = (&mut ivs[..count], &mut sector_keys[..count]);
            for (iv, key) in ivs.iter_mut().zip(&mut *sector_keys) {
                *iv = (u128::from(number) * unit_bytes as u128).to_le_bytes();
                *key = [*iv; 2];
                key[1][15] = 128;
                number = number.wrapping_add(1);
            }
            self.data.blocks(Direction::Encrypt, ivs.as_flattened_mut());
            if let Some(diffuser) = &self.diffuser {
                diffuser.blocks(Direction::Encrypt, sector_keys.as_flattened_mut().as_flattened_mut());
            }
            let diffuse = |batch: &mut [u8]| {
                if self.diffuser.is_some() {
                    elephant::diffuse(self.ready, direction, batch, unit_bytes, sector_keys);
                }
            };
            let cbc = Cbc { ivs, unit_blocks: unit_bytes / 16 };
            match direction {
                Direction::Encrypt => {
                    diffuse(batch);
                    self.data.cbc(direction, batch, cbc);
                }
                Direction::Decrypt => {
                    self.data.cbc(direction, batch, cbc);
                    diffuse(batch);
                }
            }
        }
    }
}

/// CBC in plain Rust over whole units, `cipher` taking whole blocks of 16 bytes.
pub(crate) fn portable_cbc(
    direction: Direction,
    units: &mut [u8],
    cbc: Cbc<'_>,
    mut cipher: impl FnMut(&mut [u8]),
) {
    let Cbc { ivs, unit_blocks } = cbc;
    let blocks = units.as_chunks_mut::<16>().0;
    match direction {
        Direction::Encrypt => {
            // The units side by side: a block of each at a time.
            let mut group = [[0u8; 16]; UNITS_AT_ONCE];
            for (units, ivs) in blocks.chunks_mut(UNITS_AT_ONCE * unit_blocks).zip(ivs.chunks(UNITS_AT_ONCE))
            {
                let group = &mut group[..ivs.len()];
                group.copy_from_slice(ivs);
                for at in 0..unit_blocks {
                    for (state, unit) in group.iter_mut().zip(units.chunks(unit_blocks)) {
                        *state = xor(*state, unit[at]);
                    }
                    cipher(group.as_flattened_mut());
                    for (state, unit) in group.iter().zip(units.chunks_mut(unit_blocks)) {
                        unit[at] = *state;
                    }
                }
            }
        }
        Direction::Decrypt => {
            let mut copy = [[0u8; 16]; 32];
            for (unit, iv) in blocks.chunks_mut(unit_blocks).zip(ivs) {
                let mut previous = *iv;
                for batch in unit.chunks_mut(copy.len()) {
                    let copy = &mut copy[..batch.len()];
                    copy.copy_from_slice(batch);
                    cipher(batch.as_flattened_mut());
                    for (block, cipher_text) in batch.iter_mut().zip(copy) {
                        *block = xor(*block, previous);
                        previous = *cipher_text;
                    }
                }
            }
        }
    }
}

fn xor(a: [u8; 16], b: [u8; 16]) -> [u8; 16] {
    (u128::from_ne_bytes(a) ^ u128::from_ne_bytes(b)).to_ne_bytes()
}
