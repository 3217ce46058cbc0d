//! Twofish with AVX2: 32 blocks, a unit of 512 bytes, at a time.
//!
//! An S-box is sixteen shuffles, each of sixteen entries. For bytes below 128 the i-th one sees the
//! byte minus 16 i: once that is negative, a shuffle gives zero. So a byte 16 n + m is the sum of
//! entry m of the first n + 1 tables, and those hold differences. The other bytes do the same
//! with their highest bit turned over.

use super::entry_point;
use super::lanes::Lanes;
use super::twofish::{Decrypt, Encrypt, Parts};
use crate::portable::Twofish;
use std::arch::x86_64::*;

// Multiples of the lower and of the higher nibble, by nibble.
const BY_5B_LOW: u128 = 0xe2b9_540f_e7bc_510a_e8b3_5e05_edb6_5b00;
const BY_5B_HIGH: u128 = 0xccd8_e4f0_9c88_b4a0_6c78_4450_3c28_1400;
const BY_EF_LOW: u128 = 0x51be_e609_56b9_e10e_5fb0_e807_58b7_ef00;
const BY_EF_HIGH: u128 = 0xb4a8_8c90_c4d8_fce0_5448_6c70_2438_1c00;

/// The same 16 bytes in both lanes.
///
/// # Safety
/// The caller has AVX2.
#[inline(always)]
unsafe fn table(table: &u128) -> __m256i {
    // SAFETY: the caller's promise; 16 bytes are read where there are 16.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128((&raw const *table).cast())) }
}

impl Parts for __m256i {
    #[inline(always)]
    unsafe fn s_box<const COLUMN: usize>(keys: &Twofish, [a, b]: [Self; 2]) -> [Self; 2] {
        let (low, high) = keys.s_box_steps[COLUMN].split_at(8);
        // SAFETY: the trait's contract.
        unsafe {
            let (sixteen, top) = (_mm256_set1_epi8(16), _mm256_set1_epi8(-128));
            let mut x = [a, b, a.xor(top), b.xor(top)];
            let mut sum = [_mm256_setzero_si256(); 4];
            for (low, high) in low.iter().zip(high) {
                let tables = [table(low), table(low), table(high), table(high)];
                for i in 0..4 {
                    sum[i] = sum[i].xor(_mm256_shuffle_epi8(tables[i], x[i]));
                    x[i] = _mm256_subs_epi8(x[i], sixteen);
                }
            }
            [sum[0].xor(sum[2]), sum[1].xor(sum[3])]
        }
    }

    #[inline(always)]
    unsafe fn multiples(self) -> (Self, Self) {
        // SAFETY: the trait's contract.
        unsafe {
            let mask = _mm256_set1_epi8(15);
            let (low, high) =
                (_mm256_and_si256(self, mask), _mm256_and_si256(_mm256_srli_epi16::<4>(self), mask));
            (
                _mm256_shuffle_epi8(table(&BY_5B_LOW), low)
                    .xor(_mm256_shuffle_epi8(table(&BY_5B_HIGH), high)),
                _mm256_shuffle_epi8(table(&BY_EF_LOW), low)
                    .xor(_mm256_shuffle_epi8(table(&BY_EF_HIGH), high)),
            )
        }
    }

    #[inline(always)]
    unsafe fn group(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            let order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            _mm256_shuffle_epi8(self, _mm256_broadcastsi128_si256(order))
        }
    }

    #[inline(always)]
    unsafe fn add_words(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_add_epi32(self, other) }
    }
}

entry_point!("avx2", [], Twofish, __m256i, 16, Encrypt, Decrypt);
