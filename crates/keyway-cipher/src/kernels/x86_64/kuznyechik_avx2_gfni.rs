//! Kuznyechik on 256-bit vectors with GFNI: 32 blocks, a unit of 512 bytes, at a time.
//!
//! The S-box is computed from its hidden structure (Biryukov, Perrin, Udovenko, "Reverse-Engineering
//! the S-Box of Streebog, Kuznyechik and STRIBOBr1", 2016): two linear maps, alpha and omega, and
//! between them on nibbles l and r of GF(2^4), modulo x^4 + x^3 + 1,
//! l' = nu1(l / r), or nu0(l) where r is zero; r' = sigma(r * phi(l')).
//! Everything on nibbles is a table of 16 for one shuffle, with logarithms to multiply. Zero's
//! logarithm is 0xc0: a sum with it keeps its highest bit, for which a shuffle gives zero.

use super::entry_point;
use super::kuznyechik::{Decrypt, Encrypt, Parts};
use super::lanes::Lanes;
use crate::portable::Kuznyechik;
use std::arch::x86_64::*;

// Matrices for GFNI.
const ALPHA: i64 = 0x201a_448a_ef43_4108;
const OMEGA_INVERSE: i64 = 0x0188_4008_1a20_448a;

// Tables by nibble. Logarithms are to the base x; tables called `EXP` take a logarithm.
const LOG: u128 = 0x0608_0b0e_050a_0403_070d_0902_0c01_00c0;
const LOG_INVERSE: u128 = 0x0907_0401_0a05_0b0c_0802_060d_030e_00c0;
const NU0: u128 = 0x070c_0d08_010f_0400_0a0e_0906_0b03_0502;
/// Nu1 of zero; added to the next table, so that a shuffle's zero is right too.
const NU1_OF_ZERO: i8 = 7;
const NU1_EXP: u128 = 0x000a_0f0e_050c_0804_060d_0902_0307_0b01;
const LOG_PHI: u128 = 0x050d_0c08_0309_0c0d_0e00_020e_0305_0105;
/// Omega on the left nibble, plus omega of sigma of zero, which is missing in the next table.
const OMEGA_LEFT: u128 = 0xfaea_daca_feee_dece_e8f8_c8d8_ecfc_ccdc;
const OMEGA_SIGMA_EXP: u128 = 0x0093_d698_dd99_d70a_920b_4e45_4f44_dc01;

const LOG_SIGMA_INVERSE: u128 = 0x0e07_00c0_090d_0402_0608_0a0c_0305_0b01;
const LOG_INVERSE_PHI: u128 = 0x0a02_0307_0c06_0302_0100_0d01_0c0a_0e0a;
const LOG_NU1_INVERSE: u128 = 0x0905_0e01_0a06_0c0d_c000_0403_080b_0702;
/// The inverse of alpha on the left nibble.
const ALPHA_INVERSE_NU0_INVERSE: u128 = 0x0a44_0bdc_d701_934e_99d6_45dd_9200_4f98;
const ALPHA_INVERSE_LEFT_EXP: u128 = 0x004e_44d7_0b0a_93dc_0199_4fdd_98d6_9245;
const ALPHA_INVERSE_RIGHT_EXP: u128 = 0x0084_5175_e1d5_2494_34f1_b0a0_c541_1065;

/// # Safety
/// The caller has AVX2.
#[inline(always)]
unsafe fn look_up(table: u128, x: __m256i) -> __m256i {
    // SAFETY: the caller's promise; 16 bytes are read where there are 16.
    unsafe {
        let table = _mm256_broadcastsi128_si256(_mm_loadu_si128((&raw const table).cast()));
        _mm256_shuffle_epi8(table, x)
    }
}

/// The logarithm of a product: the sum modulo 15, or something with its highest bit set.
///
/// # Safety
/// The caller has AVX2.
#[inline(always)]
unsafe fn add_logarithms(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        let sum = _mm256_adds_epu8(a, b);
        _mm256_min_epu8(sum, _mm256_sub_epi8(sum, _mm256_set1_epi8(15)))
    }
}

/// The left and the right nibbles.
///
/// # Safety
/// The caller has AVX2.
#[inline(always)]
unsafe fn nibbles(x: __m256i) -> (__m256i, __m256i) {
    // SAFETY: the caller's promise.
    unsafe {
        let mask = _mm256_set1_epi8(15);
        (_mm256_and_si256(_mm256_srli_epi16::<4>(x), mask), _mm256_and_si256(x, mask))
    }
}

impl Parts for __m256i {
    #[inline(always)]
    unsafe fn substitute(x: &mut [Self; 16]) {
        for x in x {
            // SAFETY: the trait's contract.
            unsafe {
                let (l, r) = nibbles(x.map::<ALPHA>());
                let quotient = add_logarithms(look_up(LOG, l), look_up(LOG_INVERSE, r));
                let nu1 = look_up(NU1_EXP, quotient).xor(_mm256_set1_epi8(NU1_OF_ZERO));
                let r_is_zero = _mm256_cmpeq_epi8(r, _mm256_setzero_si256());
                let l = _mm256_blendv_epi8(nu1, look_up(NU0, l), r_is_zero);
                let product = add_logarithms(look_up(LOG, r), look_up(LOG_PHI, l));
                *x = look_up(OMEGA_LEFT, l).xor(look_up(OMEGA_SIGMA_EXP, product));
            }
        }
    }

    #[inline(always)]
    unsafe fn inverse_substitute(x: &mut [Self; 16]) {
        for x in x {
            // SAFETY: the trait's contract.
            unsafe {
                let (l, r) = nibbles(x.map::<OMEGA_INVERSE>());
                let r = add_logarithms(look_up(LOG_SIGMA_INVERSE, r), look_up(LOG_INVERSE_PHI, l));
                let product = add_logarithms(look_up(LOG_NU1_INVERSE, l), r);
                // The highest bit of r's logarithm says that r is zero.
                let left = _mm256_blendv_epi8(
                    look_up(ALPHA_INVERSE_LEFT_EXP, product),
                    look_up(ALPHA_INVERSE_NU0_INVERSE, l),
                    r,
                );
                *x = left.xor(look_up(ALPHA_INVERSE_RIGHT_EXP, r));
            }
        }
    }

    #[inline(always)]
    unsafe fn map<const MATRIX: i64>(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_gf2p8affine_epi64_epi8::<0>(self, _mm256_set1_epi64x(MATRIX)) }
    }
}

entry_point!("avx2,gfni", [], Kuznyechik, __m256i, 16, Encrypt, Decrypt);
