//! CBC as TrueCrypt 1.0 to 4.0 has it: a secret IV for each unit, and whitening of the cipher
//! text. To open old volumes.
//!
//! The volume's 32 seed bytes, taken as four 64-bit words, are each xored with the unit's number,
//! little-endian. The first block's worth of them is the IV; the 16 bytes after it, as four 32-bit
//! words a b c d, give eight bytes of whitening: CRC-32(a) ^ CRC-32(d), CRC-32(b) ^ CRC-32(c),
//! little-endian (TrueCrypt 4.3, `Crypto.c`, `InitSectorIVAndWhitening`; dm-crypt's `tcw`).
//!
//! A volume's header is one unit whose IV is the seed itself and whose whitening is the seed's
//! bytes 8 to 16 (`EncryptBuffer` there).

use crate::cipher::Cipher;
use crate::pass::Direction;
use keyway_secret::Locked;
use zeroize::Zeroize;

/// Bytes of seed that every volume keeps before its keys (`LEGACY_VOL_IV_SIZE`).
pub(crate) const SEED_BYTES: usize = 32;

/// Bytes decrypted together.
const BATCH: usize = 512;
/// Units encrypted together.
pub(crate) const UNITS_AT_ONCE: usize = 32;

/// A unit's IV (64-bit ciphers use its first half) and whitening.
#[derive(Default, Zeroize)]
#[zeroize(drop)]
pub(crate) struct UnitIv {
    iv: [u8; 16],
    whitening: [u8; 8],
}

impl UnitIv {
    /// For the unit with this number under a cipher with these blocks.
    pub(crate) fn of_unit(seed: &[u8; SEED_BYTES], block_bytes: usize, unit: u64) -> Self {
        let mut mixed = *seed;
        for word in mixed.as_chunks_mut::<8>().0 {
            *word = (u64::from_le_bytes(*word) ^ unit).to_le_bytes();
        }
        let mut this = Self { iv: [0; 16], whitening: [0; 8] };
        this.iv.copy_from_slice(&mixed[..16]);
        let mut words = mixed[block_bytes.min(16)..].as_chunks::<4>().0.iter();
        let mut crc = || words.next().map_or(0, |word| crc32fast::hash(word));
        let [a, b, c, d] = [crc(), crc(), crc(), crc()];
        this.whitening[..4].copy_from_slice(&(a ^ d).to_le_bytes());
        this.whitening[4..].copy_from_slice(&(b ^ c).to_le_bytes());
        mixed.zeroize();
        this
    }

    /// For a volume's header.
    pub(crate) fn of_header(seed: &[u8; SEED_BYTES]) -> Self {
        let mut this = Self { iv: [0; 16], whitening: [0; 8] };
        this.iv.copy_from_slice(&seed[..16]);
        this.whitening.copy_from_slice(&seed[8..16]);
        this
    }

    fn whiten(&self, bytes: &mut [u8]) {
        for eight in bytes.as_chunks_mut::<8>().0 {
            xor(eight, &self.whitening);
        }
    }
}

fn xor(into: &mut [u8], other: &[u8]) {
    for (a, b) in into.iter_mut().zip(other) {
        *a ^= b;
    }
}

/// Encrypts units, one for each IV and at most [`UNITS_AT_ONCE`], with a chain (outermost first)
/// inside one CBC. A unit's blocks wait for each other: the units go side by side.
pub(crate) fn encrypt(layers: &[Locked<Cipher>], units: &mut [u8], unit_bytes: usize, ivs: &[UnitIv]) {
    let block_bytes = block_bytes(layers);
    let mut states = [0u8; 16 * UNITS_AT_ONCE];
    let states = &mut states[..ivs.len() * block_bytes];
    for (state, iv) in states.chunks_exact_mut(block_bytes).zip(ivs) {
        state.copy_from_slice(&iv.iv[..block_bytes]);
    }
    for at in (0..unit_bytes).step_by(block_bytes) {
        for (state, unit) in states.chunks_exact_mut(block_bytes).zip(units.chunks_exact(unit_bytes)) {
            xor(state, &unit[at..]);
        }
        for layer in layers.iter().rev() {
            layer.blocks(Direction::Encrypt, states);
        }
        let states = states.chunks_exact(block_bytes);
        for ((state, unit), iv) in states.zip(units.chunks_exact_mut(unit_bytes)).zip(ivs) {
            let block = &mut unit[at..at + block_bytes];
            block.copy_from_slice(state);
            iv.whiten(block);
        }
    }
}

/// Bytes in a block of the chain's outermost cipher: of all, where the chain is chained as a whole.
fn block_bytes(layers: &[Locked<Cipher>]) -> usize {
    layers.first().map_or(16, |layer| layer.block_bytes())
}

/// Decrypts a unit with a chain (outermost first) inside one CBC.
pub(crate) fn decrypt(layers: &[Locked<Cipher>], unit: &mut [u8], iv: &UnitIv) {
    let block_bytes = block_bytes(layers);
    let mut previous = [0u8; 16];
    let previous = &mut previous[..block_bytes];
    previous.copy_from_slice(&iv.iv[..block_bytes]);
    let mut copy = [0u8; BATCH];
    for batch in unit.chunks_mut(BATCH) {
        iv.whiten(batch);
        let copy = &mut copy[..batch.len()];
        copy.copy_from_slice(batch);
        for layer in layers {
            layer.blocks(Direction::Decrypt, batch);
        }
        for (block, cipher_text) in batch.chunks_exact_mut(block_bytes).zip(copy.chunks_exact(block_bytes)) {
            xor(block, previous);
            previous.copy_from_slice(cipher_text);
        }
    }
}
