//! Twofish on 512-bit vectors: 64 blocks, two units of 512 bytes, at a time. VBMI looks up the S-boxes
//! in four registers, and GFNI multiplies.

use super::entry_point::entry_point;
use super::twofish::{BY_5B, BY_EF, Decrypt, Encrypt, Parts};
use crate::portable::Twofish;
use std::arch::x86_64::*;

/// # Safety
/// The caller has AVX-512 with VBMI.
#[inline(always)]
unsafe fn look_up(table: &[u8; 256], x: __m512i) -> __m512i {
    // SAFETY: the caller's promise; the four loads cover exactly the table.
    unsafe {
        let quarters: *const __m512i = table.as_ptr().cast();
        let low =
            _mm512_permutex2var_epi8(_mm512_loadu_si512(quarters), x, _mm512_loadu_si512(quarters.add(1)));
        let high = _mm512_permutex2var_epi8(
            _mm512_loadu_si512(quarters.add(2)),
            x,
            _mm512_loadu_si512(quarters.add(3)),
        );
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high)
    }
}

impl Parts for __m512i {
    #[inline(always)]
    unsafe fn s_box<const COLUMN: usize>(keys: &Twofish, [a, b]: [Self; 2]) -> [Self; 2] {
        let table = &keys.s_boxes[COLUMN];
        // SAFETY: the trait's contract.
        unsafe { [look_up(table, a), look_up(table, b)] }
    }

    #[inline(always)]
    unsafe fn multiples(self) -> (Self, Self) {
        // SAFETY: the trait's contract.
        unsafe {
            (
                _mm512_gf2p8affine_epi64_epi8::<0>(self, _mm512_set1_epi64(BY_5B)),
                _mm512_gf2p8affine_epi64_epi8::<0>(self, _mm512_set1_epi64(BY_EF)),
            )
        }
    }

    #[inline(always)]
    unsafe fn group(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            let order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            _mm512_shuffle_epi8(self, _mm512_broadcast_i32x4(order))
        }
    }

    #[inline(always)]
    unsafe fn add_words(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_add_epi32(self, other) }
    }
}

entry_point!(
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni,vpclmulqdq",
    [],
    Twofish,
    __m512i,
    16,
    4,
    Encrypt,
    Decrypt
);
