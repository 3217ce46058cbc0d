//! XTS (IEEE 1619): tweaks for runs of data units, and the mode over any cipher.

use crate::portable::Cipher;

/// Blocks that are worked on together: 4 KiB, so that data and tweaks stay in the first cache.
const BATCH: usize = 256;

/// The next block's tweak: times x in GF(2^128) modulo x^128 + x^7 + x^2 + x + 1 (IEEE 1619, 5.2).
#[inline(always)]
pub(crate) fn double(tweak: u128) -> u128 {
    (tweak << 1) ^ (0x87 & 0u128.wrapping_sub(tweak >> 127))
}

/// Direction of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

/// One layer's two keyed ciphers.
pub(crate) struct XtsLayer {
    pub(crate) data: Cipher,
    pub(crate) tweak: Cipher,
}

impl XtsLayer {
    /// The encrypted numbers of `into.len()` units from `first_unit` on: their first tweaks.
    pub(crate) fn first_tweaks(&self, first_unit: u64, into: &mut [[u8; 16]]) {
        let mut unit = first_unit;
        for seed in into.iter_mut() {
            *seed = u128::from(unit).to_le_bytes();
            unit = unit.wrapping_add(1);
        }
        self.tweak.encrypt(into.as_flattened_mut());
    }

    /// Runs over whole units, each `unit_bytes` long, `first_tweaks` holding one tweak for each.
    pub(crate) fn run(
        &self,
        direction: Direction,
        units: &mut [u8],
        unit_bytes: usize,
        first_tweaks: &[[u8; 16]],
    ) {
        let unit_blocks = unit_bytes / 16;
        let mut seeds = first_tweaks.iter().map(|seed| u128::from_le_bytes(*seed));
        let (mut left, mut next) = (0, 0);
        let mut tweaks = [0u128; BATCH];
        for batch in units.as_chunks_mut::<16>().0.chunks_mut(BATCH) {
            let tweaks = &mut tweaks[..batch.len()];
            for tweak in tweaks.iter_mut() {
                if left == 0 {
                    left = unit_blocks;
                    next = seeds.next().unwrap_or_default();
                }
                *tweak = next;
                next = double(next);
                left -= 1;
            }
            xor(batch, tweaks);
            match direction {
                Direction::Encrypt => self.data.encrypt(batch.as_flattened_mut()),
                Direction::Decrypt => self.data.decrypt(batch.as_flattened_mut()),
            }
            xor(batch, tweaks);
        }
    }
}

#[inline(always)]
pub(crate) fn xor(blocks: &mut [[u8; 16]], tweaks: &[u128]) {
    for (block, tweak) in blocks.iter_mut().zip(tweaks) {
        *block = (u128::from_le_bytes(*block) ^ tweak).to_le_bytes();
    }
}
