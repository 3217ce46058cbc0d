//! Camellia with AVX2 and AES-NI, whose S-box takes the vectors' halves: 32 blocks at a time.

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
unsafe fn map([low, high]: [u128; 2], x: __m256i) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        let mask = _mm256_set1_epi8(0x0f);
        let low = _mm256_shuffle_epi8(table(low), _mm256_and_si256(x, mask));
        let high = _mm256_shuffle_epi8(table(high), _mm256_and_si256(_mm256_srli_epi16::<4>(x), mask));
        _mm256_xor_si256(low, high)
    }
}

/// # Safety
/// The caller has the instruction set.
#[inline(always)]
unsafe fn table(bytes: u128) -> __m256i {
    // SAFETY: the caller's promise; 16 bytes are read where there are 16.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128((&raw const bytes).cast())) }
}

/// Undoes the ShiftRows that comes with the last AES round, so that only its S-box is left.
const UNSHIFT: u128 = 0x0306_090c_0f02_0508_0b0e_0104_070a_0d00;

/// # Safety
/// The caller has the instruction set.
#[inline(always)]
unsafe fn aes_box(x: __m256i) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        let x = _mm256_shuffle_epi8(x, table(UNSHIFT));
        let zero = _mm_setzero_si128();
        let low = _mm_aesenclast_si128(_mm256_castsi256_si128(x), zero);
        let high = _mm_aesenclast_si128(_mm256_extracti128_si256::<1>(x), zero);
        _mm256_set_m128i(high, low)
    }
}

impl Boxes<__m256i> for AesNi {
    #[inline(always)]
    unsafe fn s1(x: __m256i) -> __m256i {
        // SAFETY: the trait's contract.
        unsafe { map(nibbles::OUT, aes_box(map(nibbles::INTO, x))) }
    }

    #[inline(always)]
    unsafe fn s2(x: __m256i) -> __m256i {
        // SAFETY: the trait's contract.
        unsafe { map(nibbles::OUT_S2, aes_box(map(nibbles::INTO, x))) }
    }

    #[inline(always)]
    unsafe fn s3(x: __m256i) -> __m256i {
        // SAFETY: the trait's contract.
        unsafe { map(nibbles::OUT_S3, aes_box(map(nibbles::INTO, x))) }
    }

    #[inline(always)]
    unsafe fn s4(x: __m256i) -> __m256i {
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

entry_point!("avx2,aes", [], Camellia, __m256i, 16, encrypt, decrypt);
