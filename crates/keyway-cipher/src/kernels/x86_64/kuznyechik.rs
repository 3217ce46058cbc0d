//! Kuznyechik byte-sliced: no gathers, no tables in memory.
//!
//! L is sixteen steps, each of which replaces one byte by a sum of multiples of all sixteen; since
//! that byte's own factor is 1, the same step undoes itself, and the inverse of L is the steps
//! backwards. In byte-sliced form nothing moves: step after step the next vector is added to.

use super::bytes::{Bytes, transpose};
use super::run::Rounds;
use crate::portable::Kuznyechik;

/// The S-box and the multiplications, as the instruction set does them best.
///
/// # Safety
/// Every method needs the instruction set of the implementation.
pub(super) trait Parts: Bytes {
    unsafe fn substitute(x: &mut [Self; 16]);
    unsafe fn inverse_substitute(x: &mut [Self; 16]);
    /// Each byte under a matrix over GF(2), as GFNI takes them.
    unsafe fn map<const MATRIX: i64>(self) -> Self;
}

/// Multiplications by a constant modulo x^8 + x^7 + x^6 + x + 1, as matrices for GFNI.
mod times {
    pub(super) const BY_148: i64 = 0xc64a_952a_55aa_92e3_u64 as i64;
    pub(super) const BY_32: i64 = 0xd868_d0a0_4081_da6c_u64 as i64;
    pub(super) const BY_133: i64 = 0x7798_3162_c488_66bb;
    pub(super) const BY_16: i64 = 0xb0d0_a040_8102_b4d8_u64 as i64;
    pub(super) const BY_194: i64 = 0x5aef_debc_78f0_bb2d;
    pub(super) const BY_192: i64 = 0xda6e_dcb8_70e0_1bed_u64 as i64;
    pub(super) const BY_251: i64 = 0x53f5_ead5_ab57_fda9;
}

/// One step of L or of its inverse: adds to byte `AT` the multiples of the other fifteen
/// (RFC 7801, 4.1.2; the factors are the same seen from either side).
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn step<L: Parts, const AT: usize>(x: &mut [L; 16]) {
    // SAFETY: the caller's promise.
    unsafe {
        // A macro, not a closure, which would not be compiled with the caller's instruction set.
        macro_rules! back {
            ($distance:literal) => {
                x[(AT + 16 - $distance) % 16]
            };
        }
        // The neighbours come last: one of them was made by the step before.
        let sum = x[AT].xor(back!(9)).xor(back!(7)).xor(back!(8).map::<{ times::BY_251 }>());
        let sum = sum
            .xor(back!(10).xor(back!(6)).map::<{ times::BY_192 }>())
            .xor(back!(11).xor(back!(5)).map::<{ times::BY_194 }>());
        let sum = sum
            .xor(back!(12).xor(back!(4)).map::<{ times::BY_16 }>())
            .xor(back!(13).xor(back!(3)).map::<{ times::BY_133 }>());
        let sum = sum.xor(back!(14).xor(back!(2)).map::<{ times::BY_32 }>());
        x[AT] = sum.xor(back!(15).xor(back!(1)).map::<{ times::BY_148 }>());
    }
}

/// L, its steps written out so that the bytes can stay in registers.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn linear<L: Parts>(x: &mut [L; 16]) {
    // SAFETY: the caller's promise.
    unsafe {
        step::<L, 15>(x);
        step::<L, 14>(x);
        step::<L, 13>(x);
        step::<L, 12>(x);
        step::<L, 11>(x);
        step::<L, 10>(x);
        step::<L, 9>(x);
        step::<L, 8>(x);
        step::<L, 7>(x);
        step::<L, 6>(x);
        step::<L, 5>(x);
        step::<L, 4>(x);
        step::<L, 3>(x);
        step::<L, 2>(x);
        step::<L, 1>(x);
        step::<L, 0>(x);
    }
}

/// The inverse of L.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn inverse_linear<L: Parts>(x: &mut [L; 16]) {
    // SAFETY: the caller's promise.
    unsafe {
        step::<L, 0>(x);
        step::<L, 1>(x);
        step::<L, 2>(x);
        step::<L, 3>(x);
        step::<L, 4>(x);
        step::<L, 5>(x);
        step::<L, 6>(x);
        step::<L, 7>(x);
        step::<L, 8>(x);
        step::<L, 9>(x);
        step::<L, 10>(x);
        step::<L, 11>(x);
        step::<L, 12>(x);
        step::<L, 13>(x);
        step::<L, 14>(x);
        step::<L, 15>(x);
    }
}

/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn add_key<L: Parts>(x: &mut [L; 16], key: &[u32; 16]) {
    for (x, key) in x.iter_mut().zip(key) {
        // SAFETY: the caller's promise.
        *x = unsafe { x.xor(L::splat4(*key)) };
    }
}

pub(super) struct Encrypt<'a>(pub(super) &'a Kuznyechik);

impl<L: Parts> Rounds<L, 16> for Encrypt<'_> {
    #[inline(always)]
    unsafe fn apply(&self, blocks: &mut [L; 16]) {
        let [rounds @ .., last] = &self.0.round_keys;
        // SAFETY: the caller's promise.
        unsafe {
            transpose(blocks);
            for key in rounds {
                add_key(blocks, key);
                L::substitute(blocks);
                linear(blocks);
            }
            add_key(blocks, last);
            transpose(blocks);
        }
    }
}

pub(super) struct Decrypt<'a>(pub(super) &'a Kuznyechik);

impl<L: Parts> Rounds<L, 16> for Decrypt<'_> {
    #[inline(always)]
    unsafe fn apply(&self, blocks: &mut [L; 16]) {
        let [rounds @ .., last] = &self.0.round_keys;
        // SAFETY: the caller's promise.
        unsafe {
            transpose(blocks);
            add_key(blocks, last);
            for key in rounds.iter().rev() {
                inverse_linear(blocks);
                L::inverse_substitute(blocks);
                add_key(blocks, key);
            }
            transpose(blocks);
        }
    }
}
