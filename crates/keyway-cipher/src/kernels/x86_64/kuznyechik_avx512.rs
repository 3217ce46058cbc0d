//! Kuznyechik on 512-bit vectors: 64 blocks, two units of 512 bytes, at a time. GFNI multiplies; the
//! S-box lies in four registers and VBMI looks bytes up in them.

use super::entry_point;
use super::kuznyechik::{Decrypt, Encrypt, Parts, gfni_sum, with_parts};
use super::lanes::Lanes;
use crate::portable::{KUZNYECHIK_PI, KUZNYECHIK_PI_INVERSE, Kuznyechik};
use std::arch::x86_64::*;
use std::marker::PhantomData;

struct Vbmi;

/// # Safety
/// The caller has AVX-512 with VBMI.
#[inline(always)]
unsafe fn look_up(table: &[u8; 256], x: &mut [__m512i; 16]) {
    // SAFETY: the caller's promise; the four loads cover exactly the table.
    unsafe {
        let quarters: *const __m512i = table.as_ptr().cast();
        let t0 = _mm512_loadu_si512(quarters);
        let t1 = _mm512_loadu_si512(quarters.add(1));
        let t2 = _mm512_loadu_si512(quarters.add(2));
        let t3 = _mm512_loadu_si512(quarters.add(3));
        for x in x {
            // Each permutation takes seven bits of the index; the eighth chooses between them.
            let low = _mm512_permutex2var_epi8(t0, *x, t1);
            let high = _mm512_permutex2var_epi8(t2, *x, t3);
            *x = _mm512_mask_blend_epi8(_mm512_movepi8_mask(*x), low, high);
        }
    }
}

/// # Safety
/// The caller has AVX-512 and GFNI.
#[inline(always)]
unsafe fn map<const MATRIX: i64>(x: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(x, _mm512_set1_epi64(MATRIX)) }
}

impl Parts<__m512i> for Vbmi {
    #[inline(always)]
    unsafe fn substitute(x: &mut [__m512i; 16]) {
        // SAFETY: the trait's contract.
        unsafe { look_up(&KUZNYECHIK_PI, x) }
    }

    #[inline(always)]
    unsafe fn inverse_substitute(x: &mut [__m512i; 16]) {
        // SAFETY: the trait's contract.
        unsafe { look_up(&KUZNYECHIK_PI_INVERSE, x) }
    }

    gfni_sum!(__m512i, map);
}

with_parts!(Vbmi);

entry_point!(
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni,vpclmulqdq",
    [],
    Kuznyechik,
    __m512i,
    16,
    encrypt,
    decrypt
);
