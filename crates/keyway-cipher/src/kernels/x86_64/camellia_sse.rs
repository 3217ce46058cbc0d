//! Camellia with AES-NI: 16 blocks at a time.

use super::camellia::Sliced;
use super::camellia_aes::{AesBoxes, LastRound, with_aes_boxes};
use super::entry_point::entry_point;
use crate::portable::Camellia;
use std::arch::x86_64::*;

impl LastRound for __m128i {
    #[inline(always)]
    unsafe fn last_round(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm_aesenclast_si128(self, _mm_setzero_si128()) }
    }
}

with_aes_boxes!();

entry_point!("sse4.1,aes,pclmulqdq", [], Camellia, __m128i, 16, 16, encrypt, decrypt);
