//! Camellia with AES-NI: 32 blocks at a time, in two groups that take turns.

use super::camellia::Sliced;
use super::camellia_aes::{AesBoxes, LastRounds, with_aes_boxes};
use super::entry_point::entry_point;
use crate::portable::Camellia;
use std::arch::x86_64::*;

struct AesNi;

impl LastRounds<__m128i> for AesNi {
    #[inline(always)]
    unsafe fn encrypt(x: __m128i) -> __m128i {
        // SAFETY: the trait's contract.
        unsafe { _mm_aesenclast_si128(x, _mm_setzero_si128()) }
    }

    #[inline(always)]
    unsafe fn decrypt(x: __m128i) -> __m128i {
        // SAFETY: the trait's contract.
        unsafe { _mm_aesdeclast_si128(x, _mm_setzero_si128()) }
    }
}

with_aes_boxes!(AesNi);

entry_point!("sse4.1,aes,pclmulqdq", [], Camellia, __m128i, 32, 16, encrypt, decrypt);
