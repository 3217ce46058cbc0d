//! Vectors of bytes with NEON.

use super::byte_slices::transposed;
use super::quads::{Bytes, MOST, Table};
use std::arch::aarch64::*;

impl Bytes for uint8x16_t {
    const STATES: usize = 2;

    #[inline(always)]
    unsafe fn load(words: &[u64; MOST]) -> Self {
        // SAFETY: the caller vouches for the instructions; two words are read where there are four.
        unsafe { vreinterpretq_u8_u64(vld1q_u64(words.as_ptr())) }
    }
    #[inline(always)]
    unsafe fn store(self, words: &mut [u64; MOST]) {
        // SAFETY: the caller vouches for the instructions; two words are filled where there are four.
        unsafe { vst1q_u64(words.as_mut_ptr(), vreinterpretq_u64_u8(self)) }
    }
    #[inline(always)]
    unsafe fn fill(word: u64) -> Self {
        // SAFETY: the caller vouches for the instructions.
        unsafe { vreinterpretq_u8_u64(vdupq_n_u64(word)) }
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: the caller vouches for the instructions.
        unsafe { veorq_u8(self, other) }
    }
    #[inline(always)]
    unsafe fn look_up(table: &Table, at: Self) -> Self {
        // SAFETY: the caller vouches for the instructions; sixteen bytes are read where there are sixteen.
        unsafe { vqtbl1q_u8(vld1q_u8(table.as_ptr()), at) }
    }
    #[inline(always)]
    unsafe fn shuffle(self, order: &Table) -> Self {
        // SAFETY: the caller vouches for the instructions; sixteen bytes are read where there are sixteen.
        unsafe { vqtbl1q_u8(self, vld1q_u8(order.as_ptr())) }
    }
    #[inline(always)]
    unsafe fn nibbles(self) -> (Self, Self) {
        // SAFETY: the caller vouches for the instructions.
        unsafe { (vandq_u8(self, vdupq_n_u8(15)), vshrq_n_u8::<4>(self)) }
    }
    #[inline(always)]
    unsafe fn add_logarithms(self, other: Self) -> Self {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            let sum = vqaddq_u8(self, other);
            vminq_u8(sum, vsubq_u8(sum, vdupq_n_u8(15)))
        }
    }
    #[inline(always)]
    unsafe fn or_else(self, other: Self, by: Self) -> Self {
        // SAFETY: the caller vouches for the instructions.
        unsafe { vbslq_u8(vcltzq_s8(vreinterpretq_s8_u8(by)), other, self) }
    }
    #[inline(always)]
    unsafe fn transpose(vectors: [Self; 8]) -> [Self; 8] {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            transposed!(vectors, [
                vzip1q_u8 vzip2q_u8, zip1_16 zip2_16, zip1_32 zip2_32, zip1_64 zip2_64
            ])
        }
    }
    #[inline(always)]
    unsafe fn add_with_carry(self, word: u64, carry: Self) -> (Self, Self) {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            let (word, carry) = (vdupq_n_u64(word), vreinterpretq_u64_u8(carry));
            let sum = vaddq_u64(vreinterpretq_u64_u8(self), word);
            let over = vcgtq_u64(word, sum);
            // A carry is -1. It carries on where it makes zero.
            let carried = vsubq_u64(sum, carry);
            let carry = vorrq_u64(over, vandq_u64(carry, vceqzq_u64(carried)));
            (vreinterpretq_u8_u64(carried), vreinterpretq_u8_u64(carry))
        }
    }
}

/// Interleaves the lower, or upper, halves of two vectors of longer elements.
macro_rules! zips {
    ($($name:ident $zip:ident $from:ident $to:ident)*) => { $(
        /// # Safety
        /// The processor has NEON.
        #[inline(always)]
        unsafe fn $name(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
            // SAFETY: the caller vouches for the instructions.
            unsafe { $to($zip($from(a), $from(b))) }
        }
    )* };
}
zips! {
    zip1_16 vzip1q_u16 vreinterpretq_u16_u8 vreinterpretq_u8_u16
    zip2_16 vzip2q_u16 vreinterpretq_u16_u8 vreinterpretq_u8_u16
    zip1_32 vzip1q_u32 vreinterpretq_u32_u8 vreinterpretq_u8_u32
    zip2_32 vzip2q_u32 vreinterpretq_u32_u8 vreinterpretq_u8_u32
    zip1_64 vzip1q_u64 vreinterpretq_u64_u8 vreinterpretq_u8_u64
    zip2_64 vzip2q_u64 vreinterpretq_u64_u8 vreinterpretq_u8_u64
}
