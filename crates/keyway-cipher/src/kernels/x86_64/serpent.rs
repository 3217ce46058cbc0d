//! Serpent with a block in every 32-bit lane: the bit-sliced rounds of `portable`, on vectors.

use super::lanes::Lanes;
use super::run::Rounds;
use crate::portable::Serpent;
use crate::portable::serpent::{self as two_operand, Word};
use std::ops::{BitAndAssign, BitOrAssign, BitXorAssign, Not};

/// Vectors of 32-bit words.
///
/// # Safety
/// Every method needs the instruction set of its vector.
pub(super) trait Words: Lanes {
    unsafe fn and(self, other: Self) -> Self;
    unsafe fn or(self, other: Self) -> Self;
    unsafe fn not(self) -> Self;
    unsafe fn splat_word(word: u32) -> Self;
    unsafe fn shift_left<const N: i32>(self) -> Self;
    /// `RIGHT` is 32 - `LEFT`.
    unsafe fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self;
    /// Transposes 4 by 4 words in each lane of 128 bits; its own inverse.
    unsafe fn transpose(x: [Self; 4]) -> [Self; 4];
    /// S-box `i` modulo 8; overridden where there is logic of three operands.
    #[inline(always)]
    unsafe fn substitute<const G: usize>(x: [Wide<Self, G>; 4], i: usize) -> [Wide<Self, G>; 4] {
        two_operand::substitute(x, i)
    }
    /// The inverse of S-box `i` modulo 8, likewise.
    #[inline(always)]
    unsafe fn inverse_substitute<const G: usize>(x: [Wide<Self, G>; 4], i: usize) -> [Wide<Self, G>; 4] {
        two_operand::inverse_substitute(x, i)
    }
}

/// `G` vectors side by side: independent work to fill the time that each result takes. Made only
/// by [`Encrypt`] and [`Decrypt`], whose callers have the instruction set; that is why the
/// operators below may use it.
#[derive(Clone, Copy)]
pub(super) struct Wide<L, const G: usize>(pub(super) [L; G]);

// Loops, not closures: a closure would not be compiled with its caller's instruction set.

impl<L: Words, const G: usize> BitXorAssign for Wide<L, G> {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        for (x, other) in self.0.iter_mut().zip(other.0) {
            // SAFETY: see `Wide`.
            *x = unsafe { x.xor(other) };
        }
    }
}

impl<L: Words, const G: usize> BitAndAssign for Wide<L, G> {
    #[inline(always)]
    fn bitand_assign(&mut self, other: Self) {
        for (x, other) in self.0.iter_mut().zip(other.0) {
            // SAFETY: see `Wide`.
            *x = unsafe { x.and(other) };
        }
    }
}

impl<L: Words, const G: usize> BitOrAssign for Wide<L, G> {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        for (x, other) in self.0.iter_mut().zip(other.0) {
            // SAFETY: see `Wide`.
            *x = unsafe { x.or(other) };
        }
    }
}

impl<L: Words, const G: usize> Not for Wide<L, G> {
    type Output = Self;

    #[inline(always)]
    fn not(mut self) -> Self {
        for x in &mut self.0 {
            // SAFETY: see `Wide`.
            *x = unsafe { x.not() };
        }
        self
    }
}

impl<L: Words, const G: usize> Word for Wide<L, G> {
    #[inline(always)]
    fn splat(word: u32) -> Self {
        // SAFETY: see `Wide`.
        Self([unsafe { L::splat_word(word) }; G])
    }

    #[inline(always)]
    fn substitute(x: [Self; 4], i: usize) -> [Self; 4] {
        // SAFETY: see `Wide`.
        unsafe { L::substitute(x, i) }
    }

    #[inline(always)]
    fn inverse_substitute(x: [Self; 4], i: usize) -> [Self; 4] {
        // SAFETY: see `Wide`.
        unsafe { L::inverse_substitute(x, i) }
    }

    #[inline(always)]
    fn shift_left<const N: i32>(mut self) -> Self {
        for x in &mut self.0 {
            // SAFETY: see `Wide`.
            *x = unsafe { x.shift_left::<N>() };
        }
        self
    }

    #[inline(always)]
    fn rotate<const LEFT: i32, const RIGHT: i32>(mut self) -> Self {
        for x in &mut self.0 {
            // SAFETY: see `Wide`.
            *x = unsafe { x.rotate::<LEFT, RIGHT>() };
        }
        self
    }
}

/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn words_of<L: Words>(x: &[L; 8]) -> [Wide<L, 2>; 4] {
    let [a, b, c, d, e, f, g, h] = *x;
    // SAFETY: the caller's promise.
    let ([a, b, c, d], [e, f, g, h]) = unsafe { (L::transpose([a, b, c, d]), L::transpose([e, f, g, h])) };
    [Wide([a, e]), Wide([b, f]), Wide([c, g]), Wide([d, h])]
}

/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn blocks_of<L: Words>([ae, bf, cg, dh]: [Wide<L, 2>; 4]) -> [L; 8] {
    let (Wide([a, e]), Wide([b, f]), Wide([c, g]), Wide([d, h])) = (ae, bf, cg, dh);
    // SAFETY: the caller's promise.
    let ([a, b, c, d], [e, f, g, h]) = unsafe { (L::transpose([a, b, c, d]), L::transpose([e, f, g, h])) };
    [a, b, c, d, e, f, g, h]
}

pub(super) struct Encrypt<'a>(pub(super) &'a Serpent);

impl<L: Words> Rounds<L, 8> for Encrypt<'_> {
    #[inline(always)]
    unsafe fn apply(&self, x: &mut [L; 8]) {
        // SAFETY: the caller's promise.
        unsafe { *x = blocks_of(self.0.encrypt(words_of(x))) }
    }
}

pub(super) struct Decrypt<'a>(pub(super) &'a Serpent);

impl<L: Words> Rounds<L, 8> for Decrypt<'_> {
    #[inline(always)]
    unsafe fn apply(&self, x: &mut [L; 8]) {
        // SAFETY: the caller's promise.
        unsafe { *x = blocks_of(self.0.decrypt(words_of(x))) }
    }
}
