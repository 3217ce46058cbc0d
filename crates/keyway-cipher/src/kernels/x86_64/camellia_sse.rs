//! Camellia with AES-NI: 16 blocks at a time.

use super::camellia::{Boxes, Sliced, nibbles};
use super::entry_point;
use crate::portable::Camellia;
use std::arch::x86_64::*;

struct AesNi;

/// A linear map, nibble by nibble.
///
/// # Safety
/// The caller has the instruction set.
#[inline(always)]
unsafe fn map([low, high]: [u128; 2], x: __m128i) -> __m128i {
    // SAFETY: the caller's promise.
    unsafe {
        let mask = _mm_set1_epi8(0x0f);
        let low = _mm_shuffle_epi8(table(low), _mm_and_si128(x, mask));
        let high = _mm_shuffle_epi8(table(high), _mm_and_si128(_mm_srli_epi16::<4>(x), mask));
        _mm_xor_si128(low, high)
    }
}

/// # Safety
/// The caller has the instruction set.
#[inline(always)]
unsafe fn table(bytes: u128) -> __m128i {
    // SAFETY: the caller's promise; 16 bytes are read where there are 16.
    unsafe { _mm_loadu_si128((&raw const bytes).cast()) }
}

/// Undoes the ShiftRows that comes with the last AES round, so that only its S-box is left.
const UNSHIFT: u128 = 0x0306_090c_0f02_0508_0b0e_0104_070a_0d00;

/// # Safety
/// The caller has the instruction set.
#[inline(always)]
unsafe fn aes_box(x: __m128i) -> __m128i {
    // SAFETY: the caller's promise.
    unsafe { _mm_aesenclast_si128(_mm_shuffle_epi8(x, table(UNSHIFT)), _mm_setzero_si128()) }
}

impl Boxes<__m128i> for AesNi {
    #[inline(always)]
    unsafe fn s1(x: __m128i) -> __m128i {
        // SAFETY: the trait's contract.
        unsafe { map(nibbles::OUT, aes_box(map(nibbles::INTO, x))) }
    }

    #[inline(always)]
    unsafe fn s2(x: __m128i) -> __m128i {
        // SAFETY: the trait's contract.
        unsafe { map(nibbles::OUT_S2, aes_box(map(nibbles::INTO, x))) }
    }

    #[inline(always)]
    unsafe fn s3(x: __m128i) -> __m128i {
        // SAFETY: the trait's contract.
        unsafe { map(nibbles::OUT_S3, aes_box(map(nibbles::INTO, x))) }
    }

    #[inline(always)]
    unsafe fn s4(x: __m128i) -> __m128i {
        // SAFETY: the trait's contract.
        unsafe { map(nibbles::OUT, aes_box(map(nibbles::INTO_S4, x))) }
    }
}

#[inline(always)]
fn encrypt(keys: &Camellia) -> Sliced<'_, AesNi> {
    Sliced::new(&keys.encrypt_bytes)
}

#[inline(always)]
fn decrypt(keys: &Camellia) -> Sliced<'_, AesNi> {
    Sliced::new(&keys.decrypt_bytes)
}

entry_point!("sse4.1,aes,pclmulqdq", [], Camellia, __m128i, 16, encrypt, decrypt);
