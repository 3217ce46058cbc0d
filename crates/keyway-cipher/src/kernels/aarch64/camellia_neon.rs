//! Camellia with the AES instructions: 16 blocks at a time.

use super::camellia::Sliced;
use super::camellia_aes::{AesBoxes, LastRounds, with_aes_boxes};
use super::entry_point::entry_point;
use crate::portable::Camellia;
use std::arch::aarch64::*;

struct Aes;

impl LastRounds<uint8x16_t> for Aes {
    #[inline(always)]
    unsafe fn encrypt(x: uint8x16_t) -> uint8x16_t {
        // SAFETY: the trait's contract.
        unsafe { vaeseq_u8(x, vdupq_n_u8(0)) }
    }

    #[inline(always)]
    unsafe fn decrypt(x: uint8x16_t) -> uint8x16_t {
        // SAFETY: the trait's contract.
        unsafe { vaesdq_u8(x, vdupq_n_u8(0)) }
    }
}

with_aes_boxes!(Aes);

entry_point!("neon,aes", [], Camellia, uint8x16_t, 16, 16, encrypt, decrypt);
