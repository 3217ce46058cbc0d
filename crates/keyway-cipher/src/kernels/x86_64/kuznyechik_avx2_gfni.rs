//! Kuznyechik on 256-bit vectors with GFNI: 32 blocks, a unit of 512 bytes, at a time.

use super::entry_point::entry_point;
use super::kuznyechik::{Decrypt, Encrypt, Parts, with_parts};
use super::kuznyechik_gfni::gfni_sum;
use super::kuznyechik_nibbles::{ALPHA, OMEGA_INVERSE, TOGETHER, inverse_substitute, substitute};
use super::lanes::Lanes;
use crate::portable::Kuznyechik;
use std::arch::x86_64::*;
use std::marker::PhantomData;

struct Gfni;

/// # Safety
/// The caller has AVX2 and GFNI.
#[inline(always)]
unsafe fn map<const MATRIX: i64>(x: __m256i) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { _mm256_gf2p8affine_epi64_epi8::<0>(x, _mm256_set1_epi64x(MATRIX)) }
}

impl Parts<__m256i> for Gfni {
    #[inline(always)]
    unsafe fn substitute(x: &mut [__m256i; 16]) {
        for x in x.as_chunks_mut::<TOGETHER>().0 {
            for x in x.iter_mut() {
                // SAFETY: the trait's contract.
                *x = unsafe { map::<ALPHA>(*x) };
            }
            // SAFETY: the trait's contract.
            *x = unsafe { substitute(*x) };
        }
    }

    #[inline(always)]
    unsafe fn inverse_substitute(x: &mut [__m256i; 16]) {
        for x in x.as_chunks_mut::<TOGETHER>().0 {
            for x in x.iter_mut() {
                // SAFETY: the trait's contract.
                *x = unsafe { map::<OMEGA_INVERSE>(*x) };
            }
            // SAFETY: the trait's contract.
            *x = unsafe { inverse_substitute(*x) };
        }
    }

    gfni_sum!(__m256i, map);
}

with_parts!(Gfni);

entry_point!("avx2,gfni", [], Kuznyechik, __m256i, 16, 16, encrypt, decrypt);
