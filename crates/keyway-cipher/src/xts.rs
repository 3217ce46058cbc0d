//! XTS (IEEE 1619) in plain Rust, over any cipher.

use crate::pass::Xts;

/// Blocks that are worked on together: 4 KiB, so that data and tweaks stay in the first cache.
const BATCH: usize = 256;

/// The next block's tweak: times x in GF(2^128) modulo x^128 + x^7 + x^2 + x + 1 (IEEE 1619, 5.2).
#[inline(always)]
pub(crate) fn double(tweak: u128) -> u128 {
    (tweak << 1) ^ (0x87 & 0u128.wrapping_sub(tweak >> 127))
}

/// The numbers of the units from `first_unit` on, as IEEE 1619 encrypts them to first tweaks.
pub(crate) fn unit_numbers(first_unit: u64, into: &mut [[u8; 16]]) {
    let mut unit = first_unit;
    for number in into {
        *number = u128::from(unit).to_le_bytes();
        unit = unit.wrapping_add(1);
    }
}

/// Runs `cipher`, which takes whole blocks, over whole units.
pub(crate) fn run(units: &mut [u8], xts: Xts<'_>, mut cipher: impl FnMut(&mut [u8])) {
    let mut firsts = xts.first_tweaks.iter();
    let (mut left, mut next) = (0, 0);
    let mut tweaks = [0u128; BATCH];
    for batch in units.as_chunks_mut::<16>().0.chunks_mut(BATCH) {
        let tweaks = &mut tweaks[..batch.len()];
        for tweak in tweaks.iter_mut() {
            if left == 0 {
                left = xts.unit_blocks;
                next = firsts.next().map_or(0, |first| u128::from_le_bytes(*first));
            }
            *tweak = next;
            next = double(next);
            left -= 1;
        }
        xor(batch, tweaks);
        cipher(batch.as_flattened_mut());
        xor(batch, tweaks);
    }
}

fn xor(blocks: &mut [[u8; 16]], tweaks: &[u128]) {
    for (block, tweak) in blocks.iter_mut().zip(tweaks) {
        *block = (u128::from_le_bytes(*block) ^ tweak).to_le_bytes();
    }
}
