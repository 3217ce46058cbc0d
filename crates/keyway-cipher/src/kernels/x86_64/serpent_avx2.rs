//! Serpent, four times eight blocks, with AVX2.

use super::entry_point::entry_point;
use super::serpent::{Decrypt, Encrypt, Words};
use crate::portable::Serpent;
use std::arch::x86_64::*;

impl Words for __m256i {
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_and_si256(self, other) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_or_si256(self, other) }
    }

    #[inline(always)]
    unsafe fn not(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_xor_si256(self, _mm256_set1_epi32(-1)) }
    }

    #[inline(always)]
    unsafe fn splat_word(word: u32) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_set1_epi32(word as i32) }
    }

    #[inline(always)]
    unsafe fn shift_left<const N: i32>(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_slli_epi32::<N>(self) }
    }

    #[inline(always)]
    unsafe fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_or_si256(_mm256_slli_epi32::<LEFT>(self), _mm256_srli_epi32::<RIGHT>(self)) }
    }

    #[inline(always)]
    unsafe fn transpose([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        // SAFETY: the trait's contract.
        unsafe {
            let (ab, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
            let (cd, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
            [
                _mm256_unpacklo_epi64(ab, cd),
                _mm256_unpackhi_epi64(ab, cd),
                _mm256_unpacklo_epi64(ab_high, cd_high),
                _mm256_unpackhi_epi64(ab_high, cd_high),
            ]
        }
    }
}

entry_point!("avx2", [], Serpent, __m256i, 16, 4, Encrypt, Decrypt);
