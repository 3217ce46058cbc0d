//! Vectors of blocks that lie apart.

use crate::kernels::rounds::cbc::Apart;
use std::arch::x86_64::*;

impl Apart for __m128i {
    #[inline(always)]
    unsafe fn gather(from: [*const [u8; 16]; 4]) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm_loadu_si128(from[0].cast()) }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: [*mut [u8; 16]; 4]) {
        // SAFETY: the trait's contract.
        unsafe { _mm_storeu_si128(to[0].cast(), self) }
    }

    #[inline(always)]
    unsafe fn after(self, before: Self) -> Self {
        before
    }
}

impl Apart for __m256i {
    #[inline(always)]
    unsafe fn gather(from: [*const [u8; 16]; 4]) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_loadu2_m128i(from[1].cast(), from[0].cast()) }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: [*mut [u8; 16]; 4]) {
        // SAFETY: the trait's contract.
        unsafe { _mm256_storeu2_m128i(to[1].cast(), to[0].cast(), self) }
    }

    #[inline(always)]
    unsafe fn after(self, before: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_permute2x128_si256::<0x21>(before, self) }
    }
}

impl Apart for __m512i {
    #[inline(always)]
    unsafe fn gather(from: [*const [u8; 16]; 4]) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            let x = _mm512_castsi128_si512(_mm_loadu_si128(from[0].cast()));
            let x = _mm512_inserti32x4::<1>(x, _mm_loadu_si128(from[1].cast()));
            let x = _mm512_inserti32x4::<2>(x, _mm_loadu_si128(from[2].cast()));
            _mm512_inserti32x4::<3>(x, _mm_loadu_si128(from[3].cast()))
        }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: [*mut [u8; 16]; 4]) {
        // SAFETY: the trait's contract.
        unsafe {
            _mm_storeu_si128(to[0].cast(), _mm512_castsi512_si128(self));
            _mm_storeu_si128(to[1].cast(), _mm512_extracti32x4_epi32::<1>(self));
            _mm_storeu_si128(to[2].cast(), _mm512_extracti32x4_epi32::<2>(self));
            _mm_storeu_si128(to[3].cast(), _mm512_extracti32x4_epi32::<3>(self));
        }
    }

    #[inline(always)]
    unsafe fn after(self, before: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_alignr_epi64::<6>(self, before) }
    }
}
