//! Camellia with VAES on 256-bit vectors, for processors without GFNI: 64 blocks at a time, in two groups that take turns.

use super::camellia::Sliced;
use super::camellia_aes::{AesBoxes, LastRounds, with_aes_boxes};
use super::entry_point::entry_point;
use crate::portable::Camellia;
use std::arch::x86_64::*;

struct Vaes;

impl LastRounds<__m256i> for Vaes {
    #[inline(always)]
    unsafe fn encrypt(x: __m256i) -> __m256i {
        // SAFETY: the trait's contract.
        unsafe { _mm256_aesenclast_epi128(x, _mm256_setzero_si256()) }
    }

    #[inline(always)]
    unsafe fn decrypt(x: __m256i) -> __m256i {
        // SAFETY: the trait's contract.
        unsafe { _mm256_aesdeclast_epi128(x, _mm256_setzero_si256()) }
    }
}

with_aes_boxes!(Vaes);

entry_point!("avx2,vaes", [], Camellia, __m256i, 32, 16, encrypt, decrypt);
