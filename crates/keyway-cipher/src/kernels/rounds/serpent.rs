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
pub(in crate::kernels) trait Words: Lanes {
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
pub(in crate::kernels) struct Wide<L, const G: usize>(pub(in crate::kernels) [L; G]);

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

/// Transposes each four consecutive vectors: whole blocks to words.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn words_of<L: Words, const V: usize, const G: usize>(x: &[L; V]) -> [Wide<L, G>; 4] {
    const { assert!(V == 4 * G) };
    let mut words = [Wide([x[0]; G]); 4];
    for (g, four) in x.as_chunks::<4>().0.iter().enumerate() {
        // SAFETY: the caller's promise.
        let four = unsafe { L::transpose(*four) };
        for (words, word) in words.iter_mut().zip(four) {
            words.0[g] = word;
        }
    }
    words
}

/// And back.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn blocks_of<L: Words, const V: usize, const G: usize>(words: [Wide<L, G>; 4], x: &mut [L; V]) {
    for (g, four) in x.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        *four = unsafe { L::transpose([words[0].0[g], words[1].0[g], words[2].0[g], words[3].0[g]]) };
    }
}

pub(in crate::kernels) struct Encrypt<'a>(pub(in crate::kernels) &'a Serpent);
pub(in crate::kernels) struct Decrypt<'a>(pub(in crate::kernels) &'a Serpent);

/// A direction's rounds over `$vectors`, four for each of `$groups`.
macro_rules! rounds {
    ($direction:ident, $rounds:ident, $vectors:literal, $groups:literal) => {
        impl<L: Words> Rounds<L, $vectors> for $direction<'_> {
            #[inline(always)]
            unsafe fn apply(&self, x: &mut [L; $vectors]) {
                // SAFETY: the caller's promise.
                unsafe { blocks_of(self.0.$rounds(words_of::<L, $vectors, $groups>(x)), x) }
            }
        }
    };
}

// Four groups, as each result takes two cycles on recent processors, which do four operations in one,
// and many rounds depend on each other: that keeps them busy. Two or one for the few blocks of tweaks.
rounds!(Encrypt, encrypt, 16, 4);
rounds!(Decrypt, decrypt, 16, 4);
rounds!(Encrypt, encrypt, 8, 2);
rounds!(Decrypt, decrypt, 8, 2);
rounds!(Encrypt, encrypt, 4, 1);
rounds!(Decrypt, decrypt, 4, 1);
