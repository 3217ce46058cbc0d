//! Serpent, four times four blocks, with SSE2 (the token asks for a little more). An Intel Xeon does that faster than twice
//! four by 8 %, though the registers don't suffice (docs/measurements/ciphers.md).

use super::entry_point::entry_point;
use super::serpent::{Decrypt, Encrypt, Words};
use crate::portable::Serpent;
use std::arch::x86_64::*;

impl Words for __m128i {
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm_and_si128(self, other) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm_or_si128(self, other) }
    }

    #[inline(always)]
    unsafe fn not(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm_xor_si128(self, _mm_set1_epi32(-1)) }
    }

    #[inline(always)]
    unsafe fn splat_word(word: u32) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm_set1_epi32(word as i32) }
    }

    #[inline(always)]
    unsafe fn shift_left<const N: i32>(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm_slli_epi32::<N>(self) }
    }

    #[inline(always)]
    unsafe fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm_or_si128(_mm_slli_epi32::<LEFT>(self), _mm_srli_epi32::<RIGHT>(self)) }
    }

    #[inline(always)]
    unsafe fn transpose([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        // SAFETY: the trait's contract.
        unsafe {
            let (ab, ab_high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
            let (cd, cd_high) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
            [
                _mm_unpacklo_epi64(ab, cd),
                _mm_unpackhi_epi64(ab, cd),
                _mm_unpacklo_epi64(ab_high, cd_high),
                _mm_unpackhi_epi64(ab_high, cd_high),
            ]
        }
    }
}

entry_point!("sse4.1,pclmulqdq", [], Serpent, __m128i, 16, 4, Encrypt, Decrypt);
