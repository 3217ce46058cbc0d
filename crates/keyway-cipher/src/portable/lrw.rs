//! The tweaks of LRW.

/// Xors `base` and an entry of `multiples`, of which there are enough, into each block.
pub(crate) fn xor_multiples(blocks: &mut [[u8; 16]], multiples: &[[u8; 16]], base: &[u8; 16]) {
    let base = u128::from_ne_bytes(*base);
    for (block, multiple) in blocks.iter_mut().zip(multiples) {
        *block = (u128::from_ne_bytes(*block) ^ u128::from_ne_bytes(*multiple) ^ base).to_ne_bytes();
    }
}
