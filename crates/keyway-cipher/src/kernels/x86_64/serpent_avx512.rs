//! Serpent, twice sixteen blocks, with AVX-512: rotations are one instruction, and logic takes
//! three operands.

use super::entry_point;
use super::serpent::{Decrypt, Encrypt, Words};
use crate::portable::Serpent;
use std::arch::x86_64::*;

impl Words for __m512i {
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_and_si512(self, other) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_or_si512(self, other) }
    }

    #[inline(always)]
    unsafe fn not(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_xor_si512(self, _mm512_set1_epi32(-1)) }
    }

    #[inline(always)]
    unsafe fn splat_word(word: u32) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_set1_epi32(word as i32) }
    }

    #[inline(always)]
    unsafe fn shift_left<const N: i32>(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_sll_epi32(self, _mm_cvtsi32_si128(N)) }
    }

    #[inline(always)]
    unsafe fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_rol_epi32::<LEFT>(self) }
    }

    #[inline(always)]
    unsafe fn transpose([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        // SAFETY: the trait's contract.
        unsafe {
            let (ab, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
            let (cd, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
            [
                _mm512_unpacklo_epi64(ab, cd),
                _mm512_unpackhi_epi64(ab, cd),
                _mm512_unpacklo_epi64(ab_high, cd_high),
                _mm512_unpackhi_epi64(ab_high, cd_high),
            ]
        }
    }
}

entry_point!("avx512f,avx512bw,avx512dq,avx512vl,vpclmulqdq", [], Serpent, __m512i, 8, Encrypt, Decrypt);
