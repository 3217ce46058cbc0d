//! Vectors of bytes.

use crate::kernels::rounds::bytes::Bytes;
use std::arch::x86_64::*;

/// Implements [`Bytes`] with the intrinsics of one vector.
macro_rules! bytes {
    ($vector:ty, $low:ident, $high:ident, $set4:ident, $set1:ident, $and:ident, $or:ident, $add:ident, $shift:ident) => {
        impl Bytes for $vector {
            #[inline(always)]
            unsafe fn interleave_low(self, other: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $low(self, other) }
            }

            #[inline(always)]
            unsafe fn interleave_high(self, other: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $high(self, other) }
            }

            #[inline(always)]
            unsafe fn splat4(bytes: u32) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $set4(bytes as i32) }
            }

            #[inline(always)]
            unsafe fn and(self, other: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $and(self, other) }
            }

            #[inline(always)]
            unsafe fn or(self, other: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $or(self, other) }
            }

            #[inline(always)]
            unsafe fn double(self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $add(self, self) }
            }

            #[inline(always)]
            unsafe fn top_bit(self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $and($shift::<7>(self), $set1(1)) }
            }
        }
    };
}

bytes!(
    __m128i,
    _mm_unpacklo_epi8,
    _mm_unpackhi_epi8,
    _mm_set1_epi32,
    _mm_set1_epi8,
    _mm_and_si128,
    _mm_or_si128,
    _mm_add_epi8,
    _mm_srli_epi16
);
bytes!(
    __m256i,
    _mm256_unpacklo_epi8,
    _mm256_unpackhi_epi8,
    _mm256_set1_epi32,
    _mm256_set1_epi8,
    _mm256_and_si256,
    _mm256_or_si256,
    _mm256_add_epi8,
    _mm256_srli_epi16
);
bytes!(
    __m512i,
    _mm512_unpacklo_epi8,
    _mm512_unpackhi_epi8,
    _mm512_set1_epi32,
    _mm512_set1_epi8,
    _mm512_and_si512,
    _mm512_or_si512,
    _mm512_add_epi8,
    _mm512_srli_epi16
);
