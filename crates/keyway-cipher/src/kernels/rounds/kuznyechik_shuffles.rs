//! Kuznyechik with byte shuffles alone: multiplications are look-ups by nibble too.

use super::bytes::Bytes;
use super::kuznyechik::{Parts, times};
use super::kuznyechik_nibbles::{ALPHA, OMEGA_INVERSE, TOGETHER, inverse_substitute, substitute};
use super::nibbles::{Nibbles, tables_of};

const ALPHA_TABLES: [u128; 2] = tables_of(ALPHA);
const OMEGA_INVERSE_TABLES: [u128; 2] = tables_of(OMEGA_INVERSE);
const BY_192: [u128; 2] = tables_of(times::BY_192);
const BY_148: [u128; 2] = tables_of(times::BY_148);
const BY_16: [u128; 2] = tables_of(times::BY_16);
/// What x^8 is (RFC 7801, 4.1.2).
const POLYNOMIAL: i8 = 0xc3_u8 as i8;

pub(in crate::kernels) struct Shuffles;

/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn twice<L: Nibbles>(x: L) -> L {
    // SAFETY: the caller's promise.
    unsafe { Bytes::double(x).xor(L::splat1(0).or_else(L::splat1(POLYNOMIAL), x)) }
}

impl<L: Nibbles> Parts<L> for Shuffles {
    #[inline(always)]
    unsafe fn substitute(x: &mut [L; 16]) {
        for x in x.as_chunks_mut::<TOGETHER>().0 {
            for x in x.iter_mut() {
                // SAFETY: the trait's contract.
                *x = unsafe { x.map_nibbles(&ALPHA_TABLES) };
            }
            // SAFETY: the trait's contract.
            *x = unsafe { substitute(*x) };
        }
    }

    #[inline(always)]
    unsafe fn inverse_substitute(x: &mut [L; 16]) {
        for x in x.as_chunks_mut::<TOGETHER>().0 {
            for x in x.iter_mut() {
                // SAFETY: the trait's contract.
                *x = unsafe { x.map_nibbles(&OMEGA_INVERSE_TABLES) };
            }
            // SAFETY: the trait's contract.
            *x = unsafe { inverse_substitute(*x) };
        }
    }

    /// Factors have much in common: 251 = 148 * 2 + 16, 133 = 148 + 16 + 1, 194 = 192 + 2, 32 = 16 * 2.
    #[inline(always)]
    unsafe fn sum(single: L, p: [L; 5], near: L, last: L) -> L {
        // SAFETY: the trait's contract.
        unsafe {
            let sum = p[3].xor(p[4]).map_nibbles(&BY_192).xor(twice(p[3])).xor(p[1]);
            let sum = sum.xor(single.xor(p[1]).xor(p[2]).xor(twice(p[0])).map_nibbles(&BY_16));
            sum.xor(near.xor(p[1]).xor(twice(single)).xor(last).map_nibbles(&BY_148))
        }
    }
}
