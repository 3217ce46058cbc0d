//! Kuznyechik byte-sliced: no gathers, no tables in memory.
//!
//! L is sixteen steps, each of which replaces one byte by a sum of multiples of all sixteen; since
//! that byte's own factor is 1, the same step undoes itself, and the inverse of L is the steps
//! backwards. In byte-sliced form nothing moves: step after step the next vector is added to.

use super::bytes::{Bytes, transpose};
use super::run::Rounds;
use crate::portable::Kuznyechik;
use std::marker::PhantomData;

/// The S-box and the linear sums, as the instruction set does them best.
///
/// # Safety
/// Every method needs the instruction set of the implementation.
pub(in crate::kernels) trait Parts<L> {
    unsafe fn substitute(x: &mut [L; 16]);
    unsafe fn inverse_substitute(x: &mut [L; 16]);
    /// 251 `single` + 32 `p[0]` + 133 `p[1]` + 16 `p[2]` + 194 `p[3]` + 192 `p[4]` + 148 (`near` + `last`);
    /// `last` is known last.
    unsafe fn sum(single: L, p: [L; 5], near: L, last: L) -> L;
}

/// Multiplications by a constant modulo x^8 + x^7 + x^6 + x + 1, as matrices for GFNI.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "some are for GFNI alone"))]
pub(in crate::kernels) mod times {
    pub(in crate::kernels) const BY_148: i64 = 0xc64a_952a_55aa_92e3_u64 as i64;
    pub(in crate::kernels) const BY_32: i64 = 0xd868_d0a0_4081_da6c_u64 as i64;
    pub(in crate::kernels) const BY_133: i64 = 0x7798_3162_c488_66bb;
    pub(in crate::kernels) const BY_16: i64 = 0xb0d0_a040_8102_b4d8_u64 as i64;
    pub(in crate::kernels) const BY_194: i64 = 0x5aef_debc_78f0_bb2d;
    pub(in crate::kernels) const BY_192: i64 = 0xda6e_dcb8_70e0_1bed_u64 as i64;
    pub(in crate::kernels) const BY_251: i64 = 0x53f5_ead5_ab57_fda9;
}

/// One step of L or of its inverse: adds to byte `AT` the multiples of the other fifteen
/// (RFC 7801, 4.1.2; the factors are the same seen from either side).
/// The step before did byte `AT` + `LAST`.
///
/// # Safety
/// As for the methods of `L` and `P`.
#[inline(always)]
unsafe fn step<L: Bytes, P: Parts<L>, const AT: usize, const LAST: usize>(x: &mut [L; 16]) {
    // SAFETY: the caller's promise.
    unsafe {
        // A macro, not a closure, which would not be compiled with the caller's instruction set.
        macro_rules! pair {
            ($distance:literal) => {
                x[(AT + 16 - $distance) % 16].xor(x[(AT + $distance) % 16])
            };
        }
        let pairs = [pair!(2), pair!(3), pair!(4), pair!(5), pair!(6)];
        let sum = P::sum(x[(AT + 8) % 16], pairs, x[(AT + 16 - LAST) % 16], x[(AT + LAST) % 16]);
        x[AT] = x[AT].xor(pair!(7)).xor(sum);
    }
}

/// L, its steps written out so that the bytes can stay in registers.
///
/// # Safety
/// As for the methods of `L` and `P`.
#[inline(always)]
unsafe fn linear<L: Bytes, P: Parts<L>>(x: &mut [L; 16]) {
    // SAFETY: the caller's promise.
    unsafe {
        step::<L, P, 15, 1>(x);
        step::<L, P, 14, 1>(x);
        step::<L, P, 13, 1>(x);
        step::<L, P, 12, 1>(x);
        step::<L, P, 11, 1>(x);
        step::<L, P, 10, 1>(x);
        step::<L, P, 9, 1>(x);
        step::<L, P, 8, 1>(x);
        step::<L, P, 7, 1>(x);
        step::<L, P, 6, 1>(x);
        step::<L, P, 5, 1>(x);
        step::<L, P, 4, 1>(x);
        step::<L, P, 3, 1>(x);
        step::<L, P, 2, 1>(x);
        step::<L, P, 1, 1>(x);
        step::<L, P, 0, 1>(x);
    }
}

/// The inverse of L.
///
/// # Safety
/// As for the methods of `L` and `P`.
#[inline(always)]
unsafe fn inverse_linear<L: Bytes, P: Parts<L>>(x: &mut [L; 16]) {
    // SAFETY: the caller's promise.
    unsafe {
        step::<L, P, 0, 15>(x);
        step::<L, P, 1, 15>(x);
        step::<L, P, 2, 15>(x);
        step::<L, P, 3, 15>(x);
        step::<L, P, 4, 15>(x);
        step::<L, P, 5, 15>(x);
        step::<L, P, 6, 15>(x);
        step::<L, P, 7, 15>(x);
        step::<L, P, 8, 15>(x);
        step::<L, P, 9, 15>(x);
        step::<L, P, 10, 15>(x);
        step::<L, P, 11, 15>(x);
        step::<L, P, 12, 15>(x);
        step::<L, P, 13, 15>(x);
        step::<L, P, 14, 15>(x);
        step::<L, P, 15, 15>(x);
    }
}

/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn add_key<L: Bytes>(x: &mut [L; 16], key: &[u32; 16]) {
    for (x, key) in x.iter_mut().zip(key) {
        // SAFETY: the caller's promise.
        *x = unsafe { x.xor(L::splat4(*key)) };
    }
}

pub(in crate::kernels) struct Encrypt<'a, P>(
    pub(in crate::kernels) &'a Kuznyechik,
    pub(in crate::kernels) PhantomData<P>,
);

impl<L: Bytes, P: Parts<L>> Rounds<L, 16> for Encrypt<'_, P> {
    #[inline(always)]
    unsafe fn apply(&self, blocks: &mut [L; 16]) {
        let [rounds @ .., last] = &self.0.round_keys;
        // SAFETY: the caller's promise.
        unsafe {
            transpose(blocks);
            for key in rounds {
                add_key(blocks, key);
                P::substitute(blocks);
                linear::<L, P>(blocks);
            }
            add_key(blocks, last);
            transpose(blocks);
        }
    }
}

pub(in crate::kernels) struct Decrypt<'a, P>(
    pub(in crate::kernels) &'a Kuznyechik,
    pub(in crate::kernels) PhantomData<P>,
);

impl<L: Bytes, P: Parts<L>> Rounds<L, 16> for Decrypt<'_, P> {
    #[inline(always)]
    unsafe fn apply(&self, blocks: &mut [L; 16]) {
        let [rounds @ .., last] = &self.0.round_keys;
        // SAFETY: the caller's promise.
        unsafe {
            transpose(blocks);
            add_key(blocks, last);
            for key in rounds.iter().rev() {
                inverse_linear::<L, P>(blocks);
                P::inverse_substitute(blocks);
                add_key(blocks, key);
            }
            transpose(blocks);
        }
    }
}

/// Makes the functions that [`entry_point`](super::entry_point) asks for.
macro_rules! with_parts {
    ($parts:ty) => {
        #[inline(always)]
        fn encrypt(keys: &Kuznyechik) -> Encrypt<'_, $parts> {
            Encrypt(keys, PhantomData)
        }

        #[inline(always)]
        fn decrypt(keys: &Kuznyechik) -> Decrypt<'_, $parts> {
            Decrypt(keys, PhantomData)
        }
    };
}
pub(in crate::kernels) use with_parts;
