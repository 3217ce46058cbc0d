//! Camellia with AVX2 and AES-NI, whose S-box takes the vectors' halves: 32 blocks at a time.

use super::camellia::Sliced;
use super::camellia_aes::{AesBoxes, LastRound, with_aes_boxes};
use super::entry_point::entry_point;
use crate::portable::Camellia;
use std::arch::x86_64::*;

impl LastRound for __m256i {
    #[inline(always)]
    unsafe fn last_round(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            let zero = _mm_setzero_si128();
            let low = _mm_aesenclast_si128(_mm256_castsi256_si128(self), zero);
            let high = _mm_aesenclast_si128(_mm256_extracti128_si256::<1>(self), zero);
            _mm256_set_m128i(high, low)
        }
    }
}

with_aes_boxes!();

entry_point!("avx2,aes", [], Camellia, __m256i, 16, 16, encrypt, decrypt);
