//! Vectors of numbers.

use crate::kernels::rounds::elephant::Arithmetic;
use std::arch::x86_64::*;

/// Implements [`Arithmetic`] with two intrinsics.
macro_rules! arithmetic {
    ($vector:ty, $add:ident, $sub:ident) => {
        impl Arithmetic for $vector {
            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn minus(self, other: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $sub(self, other) }
            }
        }
    };
}

arithmetic!(__m128i, _mm_add_epi32, _mm_sub_epi32);

arithmetic!(__m256i, _mm256_add_epi32, _mm256_sub_epi32);

arithmetic!(__m512i, _mm512_add_epi32, _mm512_sub_epi32);
