//! Twofish with AVX2: 32 blocks, a unit of 512 bytes, at a time.
//!
//! An S-box is sixteen shuffles, each of sixteen entries. For bytes below 128 the i-th one sees the
//! byte minus 16 i: once that is negative, a shuffle gives zero. So a byte 16 n + m is the sum of
//! entry m of the first n + 1 tables, and those hold differences. The other bytes do the same
//! with their highest bit turned over.

use super::entry_point::entry_point;
use super::lanes::Lanes;
use super::nibbles::{Nibbles, tables_of};
use super::twofish::{BY_5B, BY_EF, Decrypt, Encrypt, Parts};
use crate::portable::Twofish;
use std::arch::x86_64::*;

// Multiplications by the factors of the MDS matrix.
const TIMES_5B: [u128; 2] = tables_of(BY_5B);
const TIMES_EF: [u128; 2] = tables_of(BY_EF);

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
                let tables = [Self::table(low), Self::table(low), Self::table(high), Self::table(high)];
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
        unsafe { (self.map_nibbles(&TIMES_5B), self.map_nibbles(&TIMES_EF)) }
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

entry_point!("avx2", [], Twofish, __m256i, 16, 4, Encrypt, Decrypt);
