//! Byte shuffles of vectors.

use crate::kernels::rounds::nibbles::Nibbles;
use std::arch::x86_64::*;

/// Implements [`Nibbles`] with the intrinsics of one vector.
macro_rules! nibbles {
    (
        $vector:ty, $spread:expr, $set1:ident, $shuffle:ident, $and:ident, $shift:ident, $adds:ident, $sub:ident,
        $min:ident, $blend:ident
    ) => {
        impl Nibbles for $vector {
            #[inline(always)]
            unsafe fn table(entries: &u128) -> Self {
                // SAFETY: the trait's contract; 16 bytes are read where there are 16.
                unsafe { $spread(_mm_loadu_si128((&raw const *entries).cast())) }
            }

            #[inline(always)]
            unsafe fn splat1(byte: i8) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $set1(byte) }
            }

            #[inline(always)]
            unsafe fn look_up(self, at: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $shuffle(self, at) }
            }

            #[inline(always)]
            unsafe fn nibbles(self) -> (Self, Self) {
                // SAFETY: the trait's contract.
                unsafe { ($and(self, $set1(15)), $and($shift::<4>(self), $set1(15))) }
            }

            #[inline(always)]
            unsafe fn add_saturating(self, other: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $adds(self, other) }
            }

            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $sub(self, other) }
            }

            #[inline(always)]
            unsafe fn min(self, other: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $min(self, other) }
            }

            #[inline(always)]
            unsafe fn or_else(self, other: Self, by: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $blend(self, other, by) }
            }
        }
    };
}

nibbles!(
    __m128i,
    std::convert::identity,
    _mm_set1_epi8,
    _mm_shuffle_epi8,
    _mm_and_si128,
    _mm_srli_epi16,
    _mm_adds_epu8,
    _mm_sub_epi8,
    _mm_min_epu8,
    _mm_blendv_epi8
);
nibbles!(
    __m256i,
    _mm256_broadcastsi128_si256,
    _mm256_set1_epi8,
    _mm256_shuffle_epi8,
    _mm256_and_si256,
    _mm256_srli_epi16,
    _mm256_adds_epu8,
    _mm256_sub_epi8,
    _mm256_min_epu8,
    _mm256_blendv_epi8
);
