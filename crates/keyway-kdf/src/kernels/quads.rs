//! The 64-byte states of four chains in eight 256-bit registers, for AVX2.
//!
//! Register `j` holds, for each of four chains, eight bytes that go through the same look-ups: word `j`
//! (Streebog) or column `j` (Whirlpool). A look-up is a byte shuffle: a table of sixteen entries, read at no
//! address. Nothing depends on secret data but register contents.

use super::byte_slices::{eight, transposed};
use super::rows::Words;
use std::arch::x86_64::*;

/// The bytes at the same places of four states, one state in each 64-bit lane.
pub(super) type Quad = [__m256i; 8];

/// A table of sixteen bytes for one shuffle.
pub(super) type Table = [u8; 16];

/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn load(from: &[Words], arrange: fn(&Words) -> Words) -> Quad {
    let arranged: [Words; 4] = std::array::from_fn(|c| from.get(c).map_or([0; 8], arrange));
    let register = |j: usize| -> [u64; 4] { std::array::from_fn(|c| arranged[c][j]) };
    // SAFETY: the caller vouches for the instructions; each load reads four words.
    unsafe { eight!(j => _mm256_loadu_si256(register(j).as_ptr().cast())) }
}

/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn store(quad: Quad, to: &mut [Words], arrange_back: fn(&Words) -> Words) {
    for (j, register) in quad.into_iter().enumerate() {
        let mut lanes = [0u64; 4];
        // SAFETY: the caller vouches for the instructions; the store fills four words.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), register) };
        for (words, lane) in to.iter_mut().zip(lanes) {
            words[j] = lane;
        }
    }
    to.iter_mut().take(4).for_each(|words| *words = arrange_back(words));
}

/// Implements [`Rows`](super::rows::Rows) for a type that wraps a [`Quad`].
macro_rules! quad_rows {
    ($name:ident, $arrange:expr, $arrange_back:expr) => {
        impl Rows for $name {
            const COUNT: usize = 4;

            #[inline(always)]
            unsafe fn load(from: &[Words]) -> Self {
                // SAFETY: the caller vouches for the instructions.
                Self(unsafe { quads::load(from, $arrange) })
            }
            #[inline(always)]
            fn store(self, to: &mut [Words]) {
                // SAFETY: holding `self` proves the instructions.
                unsafe { quads::store(self.0, to, $arrange_back) }
            }
            fn arrange(words: &Words) -> Words {
                $arrange(words)
            }
            #[inline(always)]
            fn fill(self, arranged: &Words) -> Self {
                // SAFETY: holding `self` proves the instructions.
                Self(unsafe { eight!(j => _mm256_set1_epi64x(arranged[j] as i64)) })
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                // SAFETY: holding `self` proves the instructions.
                Self(unsafe { eight!(j => _mm256_xor_si256(self.0[j], other.0[j])) })
            }
        }
    };
}
pub(super) use quad_rows;

/// Entries of a table by each byte's lower nibble; zero where its highest bit is set.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn look_up(table: &Table, at: __m256i) -> __m256i {
    // SAFETY: the caller vouches for the instructions; sixteen bytes are read where there are sixteen.
    unsafe {
        let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
        _mm256_shuffle_epi8(table, at)
    }
}

/// Each byte's lower and higher nibble.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn nibbles(x: __m256i) -> (__m256i, __m256i) {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let fifteen = _mm256_set1_epi8(15);
        (_mm256_and_si256(x, fifteen), _mm256_and_si256(_mm256_srli_epi16::<4>(x), fifteen))
    }
}

/// Exchanges byte `i` of register `j` with byte `j` of register `i` in every 64-bit lane.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn transpose(a: Quad) -> Quad {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        transposed!(a, [
            _mm256_unpacklo_epi8 _mm256_unpackhi_epi8, _mm256_unpacklo_epi16 _mm256_unpackhi_epi16,
            _mm256_unpacklo_epi32 _mm256_unpackhi_epi32, _mm256_unpacklo_epi64 _mm256_unpackhi_epi64
        ])
    }
}
