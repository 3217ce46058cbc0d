//! Streebog over four chains with GFNI and VBMI, for about half the price of eight.
//!
//! As in [`super::gfni`], but a register holds two words of each of four chains: word `2r` in the
//! lower half of register `r`, word `2r + 1` in the upper. The halves get different matrices.

use super::gfni::{STREEBOG, looked_up, map_each, xor3};
use super::rows::{Rows, Words};
use super::streebog::{PI, StreebogRows};
use std::arch::x86_64::*;

/// Four chains of Streebog, register by pair of words.
#[derive(Clone, Copy)]
pub(super) struct ByPair([__m512i; 4]);

/// The lanes of a register's upper half.
const UPPER: __mmask8 = 0xf0;

/// The byte `k` of the linear transformation's value as maps of each byte of the pair of words `r`.
static MAPS: [[Words; 4]; 8] = {
    let mut maps = [[[0; 8]; 4]; 8];
    let mut i = 0;
    while i < 8 * 4 * 8 {
        let (k, r, lane) = (i / 32, i / 8 % 4, i % 8);
        maps[k][r][lane] = STREEBOG[k][2 * r + lane / 4] as u64;
        i += 1;
    }
    maps
};

/// Written out for the same reason as in [`super::gfni`].
macro_rules! four {
    ($r:ident => $value:expr) => {
        [four!(0, $r => $value), four!(1, $r => $value), four!(2, $r => $value), four!(3, $r => $value)]
    };
    ($number:literal, $r:ident => $value:expr) => {{
        let $r: usize = $number;
        $value
    }};
}

impl Rows for ByPair {
    const COUNT: usize = 4;

    #[inline(always)]
    unsafe fn load(from: &[Words]) -> Self {
        let register = |r: usize| -> Words {
            std::array::from_fn(|lane| from.get(lane % 4).map_or(0, |words| words[2 * r + lane / 4]))
        };
        // SAFETY: the caller vouches for the instructions; each load reads eight words.
        Self(unsafe { four!(r => _mm512_loadu_si512(register(r).as_ptr().cast())) })
    }
    #[inline(always)]
    fn store(self, to: &mut [Words]) {
        for (r, register) in self.0.into_iter().enumerate() {
            let mut lanes = Words::default();
            // SAFETY: holding `self` proves the instructions; the store fills eight words.
            unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), register) };
            for (chain, words) in to.iter_mut().take(4).enumerate() {
                words[2 * r] = lanes[chain];
                words[2 * r + 1] = lanes[4 + chain];
            }
        }
    }
    fn arrange(words: &Words) -> Words {
        *words
    }
    #[inline(always)]
    fn fill(self, arranged: &Words) -> Self {
        // SAFETY: holding `self` proves the instructions.
        Self(unsafe {
            four!(r => {
                let lower = _mm512_set1_epi64(arranged[2 * r] as i64);
                _mm512_mask_set1_epi64(lower, UPPER, arranged[2 * r + 1] as i64)
            })
        })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: holding `self` proves the instructions.
        Self(unsafe { four!(r => _mm512_xor_si512(self.0[r], other.0[r])) })
    }
    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        // SAFETY: holding `self` proves the instructions.
        Self(unsafe { four!(r => xor3(self.0[r], b.0[r], c.0[r])) })
    }
}

/// Where the two words of output register `r` lie in a pair of registers (even chains in the first, odd
/// ones in the second) whose lower halves have their lower four bytes, the upper halves the others.
const fn words_at(r: i32) -> [i32; 16] {
    let mut from = [0; 16];
    let mut i = 0;
    while i < 16 {
        // Double word i: half of word `word` of chain `chain`.
        let (word, chain, upper) = (2 * (r % 2) + i / 8, i / 2 % 4, i % 2);
        from[i as usize] = 16 * (chain % 2) + 8 * upper + 4 * (chain / 2) + word;
        i += 1;
    }
    from
}

/// [`words_at`] the even and the odd output registers.
static WORDS: [[i32; 16]; 2] = [words_at(0), words_at(1)];

impl ByPair {
    /// # Safety
    /// The processor has AVX-512BW and VBMI.
    #[inline(always)]
    unsafe fn substituted(self) -> [__m512i; 4] {
        // SAFETY: the caller vouches for the instructions.
        unsafe { four!(r => looked_up(&PI, self.0[r])) }
    }

    /// The linear transformation: byte `k` of all words in the lower half of the result's register `k`,
    /// byte `k + 4` in the upper.
    ///
    /// # Safety
    /// The processor has AVX-512F and GFNI.
    #[inline(always)]
    unsafe fn mixed(s: [__m512i; 4]) -> [__m512i; 4] {
        // Each half of the share is its words' share of byte k.
        macro_rules! share {
            ($k:expr) => {{
                let some = _mm512_xor_si512(map_each(s[0], &MAPS[$k][0]), map_each(s[1], &MAPS[$k][1]));
                xor3(some, map_each(s[2], &MAPS[$k][2]), map_each(s[3], &MAPS[$k][3]))
            }};
        }
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            four!(k => {
                let (p, q) = (share!(k), share!(k + 4));
                let lower = _mm512_inserti64x4::<1>(p, _mm512_castsi512_si256(q));
                _mm512_xor_si512(lower, _mm512_shuffle_i64x2::<0b11_10_11_10>(p, q))
            })
        }
    }

    /// Back from bytes at the same place to words.
    ///
    /// # Safety
    /// The processor has AVX-512BW.
    #[inline(always)]
    unsafe fn words(g: [__m512i; 4]) -> Self {
        // SAFETY: the caller vouches for the instructions; the loads are of sixteen double words each.
        unsafe {
            // Bytes 0 to 3 (4 to 7 in the upper half) side by side, of even and of odd chains.
            let b = [
                _mm512_unpacklo_epi8(g[0], g[1]),
                _mm512_unpacklo_epi8(g[2], g[3]),
                _mm512_unpackhi_epi8(g[0], g[1]),
                _mm512_unpackhi_epi8(g[2], g[3]),
            ];
            let (even_low, even_high) =
                (_mm512_unpacklo_epi16(b[0], b[1]), _mm512_unpackhi_epi16(b[0], b[1]));
            let (odd_low, odd_high) = (_mm512_unpacklo_epi16(b[2], b[3]), _mm512_unpackhi_epi16(b[2], b[3]));
            let even_words = _mm512_loadu_si512(WORDS[0].as_ptr().cast());
            let odd_words = _mm512_loadu_si512(WORDS[1].as_ptr().cast());
            Self([
                _mm512_permutex2var_epi32(even_low, even_words, odd_low),
                _mm512_permutex2var_epi32(even_low, odd_words, odd_low),
                _mm512_permutex2var_epi32(even_high, even_words, odd_high),
                _mm512_permutex2var_epi32(even_high, odd_words, odd_high),
            ])
        }
    }
}

impl StreebogRows for ByPair {
    #[inline(always)]
    fn lps(self) -> Self {
        // SAFETY: holding `self` proves the instructions.
        unsafe { Self::words(Self::mixed(self.substituted())) }
    }

    #[inline(always)]
    fn lps_both(self, other: Self) -> (Self, Self) {
        // SAFETY: holding `self` proves the instructions.
        unsafe {
            let (s, t) = (self.substituted(), other.substituted());
            let s = Self::mixed(s);
            let t = Self::mixed(t);
            (Self::words(s), Self::words(t))
        }
    }

    #[inline(always)]
    fn add(self, words: &Words) -> Self {
        let mut carry = 0;
        macro_rules! sum {
            ($half:expr, $word:expr) => {{
                let word = _mm256_set1_epi64x($word as i64);
                let sum = _mm256_add_epi64($half, word);
                let over = _mm256_cmplt_epu64_mask(sum, word);
                let carried = _mm256_mask_add_epi64(sum, carry, sum, _mm256_set1_epi64x(1));
                carry = over | _mm256_mask_cmpeq_epu64_mask(carry, carried, _mm256_setzero_si256());
                carried
            }};
        }
        #[allow(unused_assignments, reason = "the last carry leaves the number")]
        // SAFETY: holding `self` proves the instructions.
        Self(unsafe {
            four!(r => {
                let lower = sum!(_mm512_castsi512_si256(self.0[r]), words[2 * r]);
                let upper = sum!(_mm512_extracti64x4_epi64::<1>(self.0[r]), words[2 * r + 1]);
                _mm512_inserti64x4::<1>(_mm512_castsi256_si512(lower), upper)
            })
        })
    }
}
