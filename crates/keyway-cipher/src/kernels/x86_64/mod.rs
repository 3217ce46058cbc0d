//! Kernels for x86-64: AVX-512 and AVX2, with VAES and GFNI, and AES-NI with SSE4.1.
//!
//! The only place in this crate with `unsafe`, for two reasons. Intrinsics may only run where the
//! processor has them: the functions below look at the [`Ready`] token before they enter a kernel.
//! And the drivers in [`run`], [`cbc`], [`elephant`] and [`lrw`] read and write whole vectors through
//! pointers, always inside the slices they were given.
//!
//! Shape of a kernel file: the rounds of its cipher over an array of vectors (`Rounds`), written
//! `#[inline(always)]` so that they become part of the one entry point that turns the instruction
//! set on; `entry_point!` makes that. Where a group is large, rounds over a few vectors as well, for the
//! tweaks of short runs.
//!
//! No kernel has a branch or an address in memory that depends on a key or a text.
#![allow(unsafe_code, reason = "intrinsics; see the module's documentation")]

mod aes_lanes;
mod aes_ni;
mod aes_vaes256;
mod aes_vaes512;
mod camellia_avx2;
mod camellia_avx2_gfni;
mod camellia_avx512;
mod camellia_gfni;
mod camellia_sse;
mod camellia_vaes256;
mod cbc_avx2;
mod cbc_avx512;
mod cbc_sse;
mod eight;
mod elephant_avx2;
mod elephant_avx512;
mod elephant_sse;
mod kuznyechik_avx2;
mod kuznyechik_avx2_gfni;
mod kuznyechik_avx512;
mod kuznyechik_gfni;
mod kuznyechik_sse;
mod lrw;
mod serpent_avx2;
mod serpent_avx512;
mod serpent_sse;
mod serpent_ternary;
mod tweaks_ahead;
mod twofish_avx2;
mod twofish_avx512;
mod vectors;

use super::rounds::{
    self, aes, bytes, camellia, camellia_aes, cbc, elephant, entry_point, kuznyechik, kuznyechik_nibbles,
    kuznyechik_shuffles, lanes, nibbles, run, serpent, twofish,
};
use crate::Kernel;
use crate::elephant::SectorKey;
use crate::pass::{Cbc, Direction, Pass, Ready};
use crate::portable::{AesKeys, Camellia, Kuznyechik, Serpent, Twofish};

/// AES with a vector kernel; false where there is none and nothing was done.
#[inline]
pub(crate) fn aes<const R: usize>(ready: Ready, keys: &AesKeys<R>, pass: Pass<'_>) -> bool {
    match ready.kernel() {
        // SAFETY: the token says that the processor has AES-NI, SSE4.1 and PCLMULQDQ.
        Kernel::Sse => unsafe { aes_ni::pass(keys, pass) },
        Kernel::Avx2 if std::arch::is_x86_feature_detected!("vaes") => {
            // SAFETY: the token says that the processor has AVX2, and VAES was just looked up.
            unsafe { aes_vaes256::pass(keys, pass) }
        }
        // SAFETY: the token says that the processor has AVX2 and all that `Sse` needs.
        Kernel::Avx2 => unsafe { aes_ni::pass(keys, pass) },
        // SAFETY: the token says that the processor has AVX-512 with VAES and VPCLMULQDQ.
        Kernel::Avx512 => unsafe { aes_vaes512::pass(keys, pass) },
        Kernel::Portable | Kernel::Neon => return false,
    }
    true
}

/// Serpent with a vector kernel; false where there is none and nothing was done.
#[inline]
pub(crate) fn serpent(ready: Ready, keys: &Serpent, pass: Pass<'_>) -> bool {
    match ready.kernel() {
        // SAFETY: the token says that the processor has SSE4.1 and PCLMULQDQ.
        Kernel::Sse => unsafe { serpent_sse::pass(keys, pass) },
        // SAFETY: the token says that the processor has AVX2.
        Kernel::Avx2 => unsafe { serpent_avx2::pass(keys, pass) },
        // SAFETY: the token says that the processor has AVX-512 and VPCLMULQDQ.
        Kernel::Avx512 => unsafe { serpent_avx512::pass(keys, pass) },
        Kernel::Portable | Kernel::Neon => return false,
    }
    true
}

/// Camellia with a vector kernel; false where there is none and nothing was done.
#[inline]
pub(crate) fn camellia(ready: Ready, keys: &Camellia, pass: Pass<'_>) -> bool {
    match ready.kernel() {
        // SAFETY: the token says that the processor has AES-NI, SSE4.1 and PCLMULQDQ.
        Kernel::Sse => unsafe { camellia_sse::pass(keys, pass) },
        Kernel::Avx2 if std::arch::is_x86_feature_detected!("gfni") => {
            // SAFETY: the token says that the processor has AVX2, and GFNI was just looked up.
            unsafe { camellia_avx2_gfni::pass(keys, pass) }
        }
        Kernel::Avx2 if std::arch::is_x86_feature_detected!("vaes") => {
            // SAFETY: the token says that the processor has AVX2, and VAES was just looked up.
            unsafe { camellia_vaes256::pass(keys, pass) }
        }
        // SAFETY: the token says that the processor has AVX2 and AES-NI.
        Kernel::Avx2 => unsafe { camellia_avx2::pass(keys, pass) },
        // SAFETY: the token says that the processor has AVX-512 with VBMI, GFNI and VPCLMULQDQ.
        Kernel::Avx512 => unsafe { camellia_avx512::pass(keys, pass) },
        Kernel::Portable | Kernel::Neon => return false,
    }
    true
}

/// AES in CBC with a vector kernel; false where there is none and nothing was done.
pub(crate) fn aes_cbc<const R: usize>(
    ready: Ready,
    keys: &AesKeys<R>,
    direction: Direction,
    blocks: &mut [[u8; 16]],
    cbc: Cbc<'_>,
) -> bool {
    match ready.kernel() {
        // SAFETY: the token says that the processor has AES-NI, SSE4.1 and PCLMULQDQ.
        Kernel::Sse => unsafe { cbc_sse::pass(keys, direction, blocks, cbc) },
        Kernel::Avx2 if std::arch::is_x86_feature_detected!("vaes") => {
            // SAFETY: the token says that the processor has AVX2, and VAES was just looked up.
            unsafe { cbc_avx2::pass(keys, direction, blocks, cbc) }
        }
        // SAFETY: the token says that the processor has AVX2 and all that `Sse` needs.
        Kernel::Avx2 => unsafe { cbc_sse::pass(keys, direction, blocks, cbc) },
        // SAFETY: the token says that the processor has AVX-512 with VAES and VPCLMULQDQ.
        Kernel::Avx512 => unsafe { cbc_avx512::pass(keys, direction, blocks, cbc) },
        Kernel::Portable | Kernel::Neon => false,
    }
}

/// BitLocker's diffuser with a vector kernel; false where there is none and nothing was done.
pub(crate) fn elephant(
    ready: Ready,
    direction: Direction,
    units: &mut [u8],
    unit_bytes: usize,
    sector_keys: &[SectorKey],
) -> bool {
    let Some(units) = elephant::Units::new(units, unit_bytes, sector_keys) else { return false };
    match ready.kernel() {
        // SAFETY: the token says that the processor has SSE4.1 and PCLMULQDQ.
        Kernel::Sse => unsafe { elephant_sse::pass(direction, units) },
        // SAFETY: the token says that the processor has AVX2.
        Kernel::Avx2 => unsafe { elephant_avx2::pass(direction, units) },
        // SAFETY: the token says that the processor has AVX-512 and VPCLMULQDQ.
        Kernel::Avx512 => unsafe { elephant_avx512::pass(direction, units) },
        Kernel::Portable | Kernel::Neon => return false,
    }
    true
}

/// Xors tweaks of LRW into blocks, as [`crate::portable::xor_multiples`] does.
pub(crate) fn xor_multiples(ready: Ready, blocks: &mut [[u8; 16]], multiples: &[[u8; 16]], base: &[u8; 16]) {
    match ready.kernel() {
        // SAFETY: the token says that the processor has SSE4.1.
        Kernel::Sse => unsafe { lrw::xor_sse(blocks, multiples, base) },
        // SAFETY: the token says that the processor has AVX2.
        Kernel::Avx2 => unsafe { lrw::xor_avx2(blocks, multiples, base) },
        // SAFETY: the token says that the processor has AVX-512.
        Kernel::Avx512 => unsafe { lrw::xor_avx512(blocks, multiples, base) },
        Kernel::Portable | Kernel::Neon => crate::portable::xor_multiples(blocks, multiples, base),
    }
}

/// Kuznyechik with a vector kernel; false where there is none and nothing was done.
#[inline]
pub(crate) fn kuznyechik(ready: Ready, keys: &Kuznyechik, pass: Pass<'_>) -> bool {
    match ready.kernel() {
        Kernel::Avx2 if std::arch::is_x86_feature_detected!("gfni") => {
            // SAFETY: the token says that the processor has AVX2, and GFNI was just looked up.
            unsafe { kuznyechik_avx2_gfni::pass(keys, pass) }
        }
        // SAFETY: the token says that the processor has AVX-512 with VBMI, GFNI and VPCLMULQDQ.
        Kernel::Avx512 => unsafe { kuznyechik_avx512::pass(keys, pass) },
        // SAFETY: the token says that the processor has SSE4.1 and PCLMULQDQ.
        Kernel::Sse => unsafe { kuznyechik_sse::pass(keys, pass) },
        // SAFETY: the token says that the processor has AVX2.
        Kernel::Avx2 => unsafe { kuznyechik_avx2::pass(keys, pass) },
        Kernel::Portable | Kernel::Neon => return false,
    }
    true
}

/// Twofish with a vector kernel; false where there is none and nothing was done.
#[inline]
pub(crate) fn twofish(ready: Ready, keys: &Twofish, pass: Pass<'_>) -> bool {
    match ready.kernel() {
        // SAFETY: the token says that the processor has AVX2.
        Kernel::Avx2 => unsafe { twofish_avx2::pass(keys, pass) },
        // SAFETY: the token says that the processor has AVX-512 with VBMI, GFNI and VPCLMULQDQ.
        Kernel::Avx512 => unsafe { twofish_avx512::pass(keys, pass) },
        // With sixteen bytes to a shuffle, tables in the first cache are faster.
        Kernel::Portable | Kernel::Sse | Kernel::Neon => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::Work;

    /// Processors with AVX2 but without VAES or GFNI take kernels that are not chosen where those
    /// are; these run them all the same.
    #[test]
    fn variants_that_newer_processors_do_not_choose() {
        if Ready::new(Kernel::Avx2).is_none() {
            keyway_testkit::leave_out("this machine has no AVX2");
            return;
        }
        let (camellia, kuznyechik) = (Camellia::new(&[0x5a; 32]), Kuznyechik::new(&[0x5a; 32]));
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            let plain: Vec<[u8; 16]> =
                (0..100u8).map(|i| std::array::from_fn(|j| i ^ (j as u8).wrapping_mul(37))).collect();
            let (mut expected, mut blocks) = (plain.clone(), plain.clone());
            camellia.blocks(direction, &mut expected);
            // SAFETY: AVX2 and AES-NI are there, as the token says.
            unsafe {
                camellia_avx2::pass(&camellia, Pass { direction, blocks: &mut blocks, work: Work::Blocks })
            };
            assert_eq!(blocks, expected);
            if std::arch::is_x86_feature_detected!("vaes") {
                blocks.clone_from(&plain);
                // SAFETY: AVX2 is there, as the token says, and VAES was just looked up.
                unsafe {
                    camellia_vaes256::pass(
                        &camellia,
                        Pass { direction, blocks: &mut blocks, work: Work::Blocks },
                    )
                };
                assert_eq!(blocks, expected);
            }
            let (mut expected, mut blocks) = (plain.clone(), plain);
            kuznyechik.blocks(direction, &mut expected);
            // SAFETY: AVX2 is there, as the token says.
            unsafe {
                kuznyechik_avx2::pass(
                    &kuznyechik,
                    Pass { direction, blocks: &mut blocks, work: Work::Blocks },
                )
            };
            assert_eq!(blocks, expected);
        }
    }
}
