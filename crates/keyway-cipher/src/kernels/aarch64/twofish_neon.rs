//! Twofish with NEON: 16 blocks at a time, each S-box in sixteen registers.

use super::entry_point::entry_point;
use super::nibbles::{Nibbles, tables_of};
use super::s_box::look_up;
use super::twofish::{BY_5B, BY_EF, Decrypt, Encrypt, Parts};
use crate::portable::Twofish;
use std::arch::aarch64::*;

// Multiplications by the factors of the MDS matrix.
const TIMES_5B: [u128; 2] = tables_of(BY_5B);
const TIMES_EF: [u128; 2] = tables_of(BY_EF);

impl Parts for uint8x16_t {
    #[inline(always)]
    unsafe fn s_box<const COLUMN: usize>(keys: &Twofish, x: [Self; 2]) -> [Self; 2] {
        // SAFETY: the trait's contract.
        unsafe { look_up(&keys.s_boxes[COLUMN], x) }
    }

    #[inline(always)]
    unsafe fn multiples(self) -> (Self, Self) {
        // SAFETY: the trait's contract.
        unsafe { (self.map_nibbles(&TIMES_5B), self.map_nibbles(&TIMES_EF)) }
    }

    #[inline(always)]
    unsafe fn group(self) -> Self {
        const ORDER: u128 = u128::from_le_bytes([0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]);
        // SAFETY: the trait's contract.
        unsafe { self.look_up(Self::table(&ORDER)) }
    }

    #[inline(always)]
    unsafe fn add_words(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(self), vreinterpretq_u32_u8(other))) }
    }
}

entry_point!("neon", [], Twofish, uint8x16_t, 16, 4, Encrypt, Decrypt);
