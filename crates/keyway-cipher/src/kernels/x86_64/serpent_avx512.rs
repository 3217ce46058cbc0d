//! Serpent, four times sixteen blocks, with AVX-512: rotations are one instruction, and logic takes
//! three operands.

use super::entry_point::entry_point;
use super::serpent::{Decrypt, Encrypt, Wide, Words};
use super::serpent_ternary::*;
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

    #[inline(always)]
    unsafe fn substitute<const G: usize>(mut x: [Wide<Self, G>; 4], i: usize) -> [Wide<Self, G>; 4] {
        for g in 0..G {
            let words = [x[0].0[g], x[1].0[g], x[2].0[g], x[3].0[g]];
            // SAFETY: the trait's contract.
            let words = unsafe {
                match i % 8 {
                    0 => s0(words),
                    1 => s1(words),
                    2 => s2(words),
                    3 => s3(words),
                    4 => s4(words),
                    5 => s5(words),
                    6 => s6(words),
                    _ => s7(words),
                }
            };
            for (x, word) in x.iter_mut().zip(words) {
                x.0[g] = word;
            }
        }
        x
    }

    #[inline(always)]
    unsafe fn inverse_substitute<const G: usize>(mut x: [Wide<Self, G>; 4], i: usize) -> [Wide<Self, G>; 4] {
        for g in 0..G {
            let words = [x[0].0[g], x[1].0[g], x[2].0[g], x[3].0[g]];
            // SAFETY: the trait's contract.
            let words = unsafe {
                match i % 8 {
                    0 => inverse_s0(words),
                    1 => inverse_s1(words),
                    2 => inverse_s2(words),
                    3 => inverse_s3(words),
                    4 => inverse_s4(words),
                    5 => inverse_s5(words),
                    6 => inverse_s6(words),
                    _ => inverse_s7(words),
                }
            };
            for (x, word) in x.iter_mut().zip(words) {
                x.0[g] = word;
            }
        }
        x
    }
}

entry_point!("avx512f,avx512bw,avx512dq,avx512vl,vpclmulqdq", [], Serpent, __m512i, 16, 4, Encrypt, Decrypt);
