//! BitLocker's AES-CBC, with and without the Elephant diffuser.
//!
//! A unit's IV is its byte offset on the volume, 16 bytes little-endian, encrypted with the volume's
//! key (dm-crypt calls it `eboiv`). With the diffuser, a second key encrypts the same 16 bytes, and
//! again with 128 in the last one, to the 32 bytes of the unit's sector key. (Niels Ferguson,
//! "AES-CBC + Elephant diffuser", 2006, sections 4.1 to 4.4; libbde's format documentation.)

use crate::cbc::UNITS_AT_ONCE;
use crate::cipher::Cipher;
use crate::elephant::{self, SectorKey};
use crate::kernels;
use crate::pass::{Cbc, Direction, Ready};
use keyway_secret::Locked;

/// The units it works on: BitLocker has the first and the last.
pub(crate) const UNIT_BYTES: [u32; 4] = [512, 1024, 2048, 4096];

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
                if self.diffuser.is_some()
                    && !kernels::elephant(self.ready, direction, batch, unit_bytes, sector_keys)
                {
                    elephant::diffuse(direction, batch, unit_bytes, sector_keys);
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
