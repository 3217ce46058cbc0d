//! Vectors of bytes with AVX2.

use super::byte_slices::transposed;
use super::quads::{Bytes, MOST, Table};
use std::arch::x86_64::*;

impl Bytes for __m256i {
    const STATES: usize = 4;

    #[inline(always)]
    unsafe fn load(words: &[u64; MOST]) -> Self {
        // SAFETY: the caller vouches for the instructions; four words are read.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, words: &mut [u64; MOST]) {
        // SAFETY: the caller vouches for the instructions; four words are filled.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), self) }
    }
    #[inline(always)]
    unsafe fn fill(word: u64) -> Self {
        // SAFETY: the caller vouches for the instructions.
        unsafe { _mm256_set1_epi64x(word as i64) }
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: the caller vouches for the instructions.
        unsafe { _mm256_xor_si256(self, other) }
    }
    #[inline(always)]
    unsafe fn look_up(table: &Table, at: Self) -> Self {
        // SAFETY: the caller vouches for the instructions; sixteen bytes are read where there are sixteen.
        unsafe {
            let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
            _mm256_shuffle_epi8(table, at)
        }
    }
    #[inline(always)]
    unsafe fn shuffle(self, order: &Table) -> Self {
        // SAFETY: the caller vouches for the instructions; sixteen bytes are read where there are sixteen.
        unsafe {
            let order = _mm256_broadcastsi128_si256(_mm_loadu_si128(order.as_ptr().cast()));
            _mm256_shuffle_epi8(self, order)
        }
    }
    #[inline(always)]
    unsafe fn nibbles(self) -> (Self, Self) {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            let fifteen = _mm256_set1_epi8(15);
            (_mm256_and_si256(self, fifteen), _mm256_and_si256(_mm256_srli_epi16::<4>(self), fifteen))
        }
    }
    #[inline(always)]
    unsafe fn add_logarithms(self, other: Self) -> Self {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            let sum = _mm256_adds_epu8(self, other);
            _mm256_min_epu8(sum, _mm256_sub_epi8(sum, _mm256_set1_epi8(15)))
        }
    }
    #[inline(always)]
    unsafe fn or_else(self, other: Self, by: Self) -> Self {
        // SAFETY: the caller vouches for the instructions.
        unsafe { _mm256_blendv_epi8(self, other, by) }
    }
    #[inline(always)]
    unsafe fn transpose(vectors: [Self; 8]) -> [Self; 8] {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            transposed!(vectors, [
                _mm256_unpacklo_epi8 _mm256_unpackhi_epi8, _mm256_unpacklo_epi16 _mm256_unpackhi_epi16,
                _mm256_unpacklo_epi32 _mm256_unpackhi_epi32, _mm256_unpacklo_epi64 _mm256_unpackhi_epi64
            ])
        }
    }
    #[inline(always)]
    unsafe fn add_with_carry(self, word: u64, carry: Self) -> (Self, Self) {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            let (top, word) = (_mm256_set1_epi64x(i64::MIN), Self::fill(word));
            let sum = _mm256_add_epi64(self, word);
            // Compared as signed numbers, so with the highest bits turned over.
            let over = _mm256_cmpgt_epi64(_mm256_xor_si256(word, top), _mm256_xor_si256(sum, top));
            // A carry is -1. It carries on where it makes zero.
            let carried = _mm256_sub_epi64(sum, carry);
            let zero = _mm256_cmpeq_epi64(carried, _mm256_setzero_si256());
            (carried, _mm256_or_si256(over, _mm256_and_si256(carry, zero)))
        }
    }
}
