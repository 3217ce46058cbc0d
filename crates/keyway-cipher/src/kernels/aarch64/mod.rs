//! Kernels for aarch64: NEON, and the AES instructions where the processor has them.
//!
//! Every vector has 128 bits. What x86-64 does with nibbles NEON mostly does with whole bytes: its byte shuffle
//! takes tables of 64 entries, of which four make an S-box.
//!
//! No kernel has a branch or an address in memory that depends on a key or a text.
#![allow(unsafe_code, reason = "intrinsics; see the module's documentation")]
#![allow(
    inline_always_mismatching_target_features,
    reason = "what calls an intrinsic is inlined itself, into an entry point that has turned its instructions on"
)]

mod aes_instructions;
mod camellia_neon;
mod kuznyechik_neon;
mod s_box;
mod serpent_neon;
mod twofish_neon;
mod vectors;

use super::rounds::{
    aes, bytes, camellia, camellia_aes, cbc, elephant, entry_point, kuznyechik, kuznyechik_shuffles, lanes,
    lrw, nibbles, serpent, twofish,
};
use crate::Kernel;
use crate::elephant::SectorKey;
use crate::pass::{Cbc, Direction, Pass, Ready};
use crate::portable::{AesKeys, Camellia, Kuznyechik, Serpent, Twofish};

fn has_aes(ready: Ready) -> bool {
    ready.kernel() == Kernel::Neon && std::arch::is_aarch64_feature_detected!("aes")
}

/// AES with its instructions; false where there are none and nothing was done.
#[inline]
pub(crate) fn aes<const R: usize>(ready: Ready, keys: &AesKeys<R>, pass: Pass<'_>) -> bool {
    let has = has_aes(ready);
    if has {
        // SAFETY: the token says that the processor has NEON, and AES was just looked up.
        unsafe { aes_instructions::pass(keys, pass) }
    }
    has
}

/// AES in CBC with its instructions; false where there are none and nothing was done.
pub(crate) fn aes_cbc<const R: usize>(
    ready: Ready,
    keys: &AesKeys<R>,
    direction: Direction,
    blocks: &mut [[u8; 16]],
    cbc: Cbc<'_>,
) -> bool {
    // SAFETY: the token says that the processor has NEON, and AES was just looked up.
    has_aes(ready) && unsafe { aes_instructions::chained::pass(keys, direction, blocks, cbc) }
}

/// Camellia, whose S-boxes need AES's; false where there are none and nothing was done.
#[inline]
pub(crate) fn camellia(ready: Ready, keys: &Camellia, pass: Pass<'_>) -> bool {
    let has = has_aes(ready);
    if has {
        // SAFETY: the token says that the processor has NEON, and AES was just looked up.
        unsafe { camellia_neon::pass(keys, pass) }
    }
    has
}

/// Kuznyechik; false for another kernel, when nothing was done.
#[inline]
pub(crate) fn kuznyechik(ready: Ready, keys: &Kuznyechik, pass: Pass<'_>) -> bool {
    let has = ready.kernel() == Kernel::Neon;
    if has {
        // SAFETY: the token says that the processor has NEON.
        unsafe { kuznyechik_neon::pass(keys, pass) }
    }
    has
}

/// Serpent; false for another kernel, when nothing was done.
#[inline]
pub(crate) fn serpent(ready: Ready, keys: &Serpent, pass: Pass<'_>) -> bool {
    let has = ready.kernel() == Kernel::Neon;
    if has {
        // SAFETY: the token says that the processor has NEON.
        unsafe { serpent_neon::pass(keys, pass) }
    }
    has
}

/// Twofish; false for another kernel, when nothing was done.
#[inline]
pub(crate) fn twofish(ready: Ready, keys: &Twofish, pass: Pass<'_>) -> bool {
    let has = ready.kernel() == Kernel::Neon;
    if has {
        // SAFETY: the token says that the processor has NEON.
        unsafe { twofish_neon::pass(keys, pass) }
    }
    has
}

/// BitLocker's diffuser; false for another kernel and for units it does not take, when nothing was done.
pub(crate) fn elephant(
    ready: Ready,
    direction: Direction,
    units: &mut [u8],
    unit_bytes: usize,
    sector_keys: &[SectorKey],
) -> bool {
    if ready.kernel() != Kernel::Neon {
        return false;
    }
    let Some(units) = elephant::Units::new(units, unit_bytes, sector_keys) else { return false };
    // SAFETY: the token says that the processor has NEON.
    unsafe { diffuser::pass(direction, units) };
    true
}

mod diffuser {
    use super::elephant::elephant_entry_point;
    use std::arch::aarch64::uint8x16_t;

    elephant_entry_point!("neon", [], uint8x16_t);
}

/// Xors tweaks of LRW into blocks, as [`crate::portable::xor_multiples`] does.
pub(crate) fn xor_multiples(ready: Ready, blocks: &mut [[u8; 16]], multiples: &[[u8; 16]], base: &[u8; 16]) {
    #[target_feature(enable = "neon")]
    fn neon(blocks: &mut [[u8; 16]], multiples: &[[u8; 16]], base: &[u8; 16]) {
        // SAFETY: NEON is on in this function.
        unsafe { lrw::xor::<std::arch::aarch64::uint8x16_t>(blocks, multiples, base) }
    }
    if ready.kernel() == Kernel::Neon {
        // SAFETY: the token says that the processor has NEON.
        unsafe { neon(blocks, multiples, base) }
    } else {
        crate::portable::xor_multiples(blocks, multiples, base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::Work;

    fn pass(blocks: &mut [[u8; 16]]) -> Pass<'_> {
        Pass { direction: Direction::Encrypt, blocks, work: Work::Blocks }
    }

    /// Nothing is left to plain code where the processor has AES.
    #[test]
    fn every_cipher_has_a_kernel() {
        if !std::arch::is_aarch64_feature_detected!("aes") {
            keyway_testkit::leave_out("this machine has no AES instructions");
            return;
        }
        let Some(ready) = Ready::new(Kernel::Neon) else { panic!("NEON is part of aarch64") };
        let blocks = &mut [[0; 16]; 3];
        assert!(aes(ready, &AesKeys::<11>::new(&[1; 16]), pass(blocks)));
        assert!(aes(ready, &AesKeys::<15>::new(&[1; 32]), pass(blocks)));
        assert!(camellia(ready, &Camellia::new(&[1; 32]), pass(blocks)));
        assert!(kuznyechik(ready, &Kuznyechik::new(&[1; 32]), pass(blocks)));
        assert!(serpent(ready, &Serpent::new(&[1; 32]), pass(blocks)));
        assert!(twofish(ready, &Twofish::new(&[1; 32]), pass(blocks)));
        let (units, ivs) = (&mut [[0; 16]; 64], &[[0; 16]; 2]);
        let cbc = Cbc { ivs, unit_blocks: 32 };
        assert!(aes_cbc(ready, &AesKeys::<11>::new(&[1; 16]), Direction::Decrypt, units, cbc));
        assert!(elephant(ready, Direction::Decrypt, units.as_flattened_mut(), 512, &[[[0; 16]; 2]; 2]));
    }
}
