//! Camellia with AVX2 and AES-NI, whose S-box takes the vectors' halves: 64 blocks at a time, in two
//! groups that take turns.

use super::camellia::Sliced;
use super::camellia_aes::{AesBoxes, LastRounds, with_aes_boxes};
use super::entry_point::entry_point;
use crate::portable::Camellia;
use std::arch::x86_64::*;

struct Halves;

impl LastRounds<__m256i> for Halves {
    #[inline(always)]
    unsafe fn encrypt(x: __m256i) -> __m256i {
        // SAFETY: the trait's contract.
        unsafe {
            let zero = _mm_setzero_si128();
            let low = _mm_aesenclast_si128(_mm256_castsi256_si128(x), zero);
            let high = _mm_aesenclast_si128(_mm256_extracti128_si256::<1>(x), zero);
            _mm256_set_m128i(high, low)
        }
    }

    #[inline(always)]
    unsafe fn decrypt(x: __m256i) -> __m256i {
        // SAFETY: the trait's contract.
        unsafe {
            let zero = _mm_setzero_si128();
            let low = _mm_aesdeclast_si128(_mm256_castsi256_si128(x), zero);
            let high = _mm_aesdeclast_si128(_mm256_extracti128_si256::<1>(x), zero);
            _mm256_set_m128i(high, low)
        }
    }
}

with_aes_boxes!(Halves);

entry_point!("avx2,aes", [], Camellia, __m256i, 32, 16, encrypt, decrypt);
