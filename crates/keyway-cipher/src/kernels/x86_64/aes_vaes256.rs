//! AES with VAES on 256-bit vectors: sixteen blocks in flight.
//!
//! That is just as many as two units with four cycles of latency need, if every round is begun for all eight
//! vectors before the next one. Compilers put instructions into another order: first one vector's rounds.

use super::aes::{AesLanes, Decrypt, Encrypt};
use super::aes_lanes::aes_lanes;
use super::lanes::Lanes;
use super::tweaks_ahead::run_ahead;
use crate::pass::{Direction, Pass};
use crate::portable::AesKeys;
use std::arch::{asm, x86_64::*};

aes_lanes!(
    __m256i,
    _mm256_aesenc_epi128,
    _mm256_aesenclast_epi128,
    _mm256_aesdec_epi128,
    _mm256_aesdeclast_epi128,
    in_order
);

/// What is done to eight vectors before this is done before what comes after it.
///
/// # Safety
/// The caller has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn in_order<const V: usize>(x: &mut [__m256i; V]) {
    if let Ok([a, b, c, d, e, f, g, h]) = <&mut [__m256i; 8]>::try_from(x.as_mut_slice()) {
        // SAFETY: no instruction, only a comment, for which all eight must have been computed.
        unsafe {
            asm!(
                "/* {0} {1} {2} {3} {4} {5} {6} {7} */",
                inout(ymm_reg) * a,
                inout(ymm_reg) * b,
                inout(ymm_reg) * c,
                inout(ymm_reg) * d,
                inout(ymm_reg) * e,
                inout(ymm_reg) * f,
                inout(ymm_reg) * g,
                inout(ymm_reg) * h,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
    }
}

/// The kernel's entry point: safe to call where the named features are present.
#[target_feature(enable = "avx2,vaes")]
pub(in crate::kernels) fn pass<const R: usize>(keys: &AesKeys<R>, pass: Pass<'_>) {
    // SAFETY: the features that the vectors and rounds need are on in this function.
    unsafe {
        match pass.direction {
            Direction::Encrypt => run_ahead::<4, _>(pass, &Encrypt(keys)),
            // Tweaks are encrypted whichever way the data goes.
            Direction::Decrypt => run_ahead::<8, _>(pass, &Decrypt(keys)),
        }
    }
}
