//! Serpent with a 256-bit key (Anderson, Biham, Knudsen, "Serpent: A Proposal for the Advanced
//! Encryption Standard", 1998), bit-sliced as the cipher was designed to be: no tables.
//!
//! Blocks and keys are little-endian words, the order of the NESSIE vectors, of VeraCrypt and of
//! the Linux kernel. The S-box circuits are those of Osvik, "Speeding up Serpent", 2000, written
//! for any [`Word`]: one block at a time, or as many as a vector has lanes.

use crate::pass::Direction;
use std::ops::{BitAndAssign, BitOrAssign, BitXorAssign, Not};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The golden ratio's fraction (section 4 of the proposal).
const PHI: u32 = 0x9e37_79b9;

/// 32 bits of one block, or of several blocks side by side.
pub(crate) trait Word: Copy + BitXorAssign + BitAndAssign + BitOrAssign + Not<Output = Self> {
    fn splat(word: u32) -> Self;
    fn shift_left<const N: i32>(self) -> Self;
    /// `RIGHT` is 32 - `LEFT`.
    fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self;
    /// S-box `i` modulo 8.
    #[inline(always)]
    fn substitute(x: [Self; 4], i: usize) -> [Self; 4] {
        substitute(x, i)
    }
    /// The inverse of S-box `i` modulo 8.
    #[inline(always)]
    fn inverse_substitute(x: [Self; 4], i: usize) -> [Self; 4] {
        inverse_substitute(x, i)
    }
}

/// The 33 round keys, for bit-sliced rounds.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Serpent {
    keys: [[u32; 4]; 33],
}

impl Serpent {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        let mut w = [0u32; 8];
        for (word, bytes) in w.iter_mut().zip(key.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let mut this = Self { keys: [[0; 4]; 33] };
        for (i, word) in (0u32..).zip(this.keys.as_flattened_mut()) {
            // The last eight words go round in `w`.
            let at = |back: u32| ((i + 8 - back) % 8) as usize;
            let next = (w[at(8)] ^ w[at(5)] ^ w[at(3)] ^ w[at(1)] ^ PHI ^ i).rotate_left(11);
            w[at(8)] = next;
            *word = next;
        }
        for (i, key) in this.keys.iter_mut().enumerate() {
            *key = u32::substitute(*key, 35 - i);
        }
        w.zeroize();
        this
    }

    /// Encrypts as many blocks as `W` is wide.
    #[inline(always)]
    pub(crate) fn encrypt<W: Word>(&self, mut x: [W; 4]) -> [W; 4] {
        // Written out in eights, so that each S-box is chosen at compile time.
        for (eight, keys) in self.keys.as_chunks::<8>().0.iter().enumerate() {
            x = round::<W, 0>(x, &keys[0]);
            x = round::<W, 1>(x, &keys[1]);
            x = round::<W, 2>(x, &keys[2]);
            x = round::<W, 3>(x, &keys[3]);
            x = round::<W, 4>(x, &keys[4]);
            x = round::<W, 5>(x, &keys[5]);
            x = round::<W, 6>(x, &keys[6]);
            x = W::substitute(add(x, &keys[7]), 7);
            if eight < 3 {
                x = transform(x);
            }
        }
        add(x, &self.keys[32])
    }

    /// Decrypts as many blocks as `W` is wide.
    #[inline(always)]
    pub(crate) fn decrypt<W: Word>(&self, x: [W; 4]) -> [W; 4] {
        let mut x = add(x, &self.keys[32]);
        for (eight, keys) in self.keys.as_chunks::<8>().0.iter().enumerate().rev() {
            if eight < 3 {
                x = inverse_transform(x);
            }
            x = add(W::inverse_substitute(x, 7), &keys[7]);
            x = inverse_round::<W, 6>(x, &keys[6]);
            x = inverse_round::<W, 5>(x, &keys[5]);
            x = inverse_round::<W, 4>(x, &keys[4]);
            x = inverse_round::<W, 3>(x, &keys[3]);
            x = inverse_round::<W, 2>(x, &keys[2]);
            x = inverse_round::<W, 1>(x, &keys[1]);
            x = inverse_round::<W, 0>(x, &keys[0]);
        }
        x
    }

    /// Each block on its own, in place.
    pub(crate) fn blocks(&self, direction: Direction, blocks: &mut [[u8; 16]]) {
        match direction {
            Direction::Encrypt => super::in_groups(blocks, |four| *four = write(self.encrypt(read(four)))),
            Direction::Decrypt => super::in_groups(blocks, |four| *four = write(self.decrypt(read(four)))),
        }
    }
}

#[inline(always)]
fn add<W: Word>(mut x: [W; 4], key: &[u32; 4]) -> [W; 4] {
    for (x, &key) in x.iter_mut().zip(key) {
        *x ^= W::splat(key);
    }
    x
}

#[inline(always)]
fn round<W: Word, const SBOX: usize>(x: [W; 4], key: &[u32; 4]) -> [W; 4] {
    transform(W::substitute(add(x, key), SBOX))
}

#[inline(always)]
fn inverse_round<W: Word, const SBOX: usize>(x: [W; 4], key: &[u32; 4]) -> [W; 4] {
    add(W::inverse_substitute(inverse_transform(x), SBOX), key)
}

/// The linear transformation (section 3.2 of the proposal).
#[inline(always)]
fn transform<W: Word>([mut a, mut b, mut c, mut d]: [W; 4]) -> [W; 4] {
    a = a.rotate::<13, 19>();
    c = c.rotate::<3, 29>();
    b ^= a;
    b ^= c;
    d ^= c;
    d ^= a.shift_left::<3>();
    b = b.rotate::<1, 31>();
    d = d.rotate::<7, 25>();
    a ^= b;
    a ^= d;
    c ^= d;
    c ^= b.shift_left::<7>();
    [a.rotate::<5, 27>(), b, c.rotate::<22, 10>(), d]
}

#[inline(always)]
fn inverse_transform<W: Word>([mut a, mut b, mut c, mut d]: [W; 4]) -> [W; 4] {
    c = c.rotate::<10, 22>();
    a = a.rotate::<27, 5>();
    c ^= d;
    c ^= b.shift_left::<7>();
    a ^= b;
    a ^= d;
    d = d.rotate::<25, 7>();
    b = b.rotate::<31, 1>();
    d ^= c;
    d ^= a.shift_left::<3>();
    b ^= a;
    b ^= c;
    [a.rotate::<19, 13>(), b, c.rotate::<29, 3>(), d]
}

impl Word for u32 {
    #[inline(always)]
    fn splat(word: u32) -> Self {
        word
    }

    #[inline(always)]
    fn shift_left<const N: i32>(self) -> Self {
        self << N
    }

    #[inline(always)]
    fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        self.rotate_left(LEFT as u32)
    }
}

/// The same word of four blocks: compilers turn this into 128-bit vectors where there are any.
#[derive(Clone, Copy)]
struct Four([u32; 4]);

impl BitXorAssign for Four {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        self.0 = std::array::from_fn(|i| self.0[i] ^ other.0[i]);
    }
}

impl BitAndAssign for Four {
    #[inline(always)]
    fn bitand_assign(&mut self, other: Self) {
        self.0 = std::array::from_fn(|i| self.0[i] & other.0[i]);
    }
}

impl BitOrAssign for Four {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        self.0 = std::array::from_fn(|i| self.0[i] | other.0[i]);
    }
}

impl Not for Four {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(|x| !x))
    }
}

impl Word for Four {
    #[inline(always)]
    fn splat(word: u32) -> Self {
        Self([word; 4])
    }

    #[inline(always)]
    fn shift_left<const N: i32>(self) -> Self {
        Self(self.0.map(|x| x << N))
    }

    #[inline(always)]
    fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        Self(self.0.map(|x| x.rotate_left(LEFT as u32)))
    }
}

#[inline(always)]
fn read(blocks: &[[u8; 16]; 4]) -> [Four; 4] {
    let blocks = blocks.map(u128::from_le_bytes);
    [0, 32, 64, 96].map(|shift| Four(blocks.map(|block| (block >> shift) as u32)))
}

#[inline(always)]
fn write(x: [Four; 4]) -> [[u8; 16]; 4] {
    std::array::from_fn(|i| {
        let word = |j: usize| u128::from(x[j].0[i]) << (32 * j);
        (word(0) | word(1) | word(2) | word(3)).to_le_bytes()
    })
}

/// S-box `i` modulo 8 by logic of two operands.
#[inline(always)]
pub(crate) fn substitute<W: Word>(x: [W; 4], i: usize) -> [W; 4] {
    match i % 8 {
        0 => s0(x),
        1 => s1(x),
        2 => s2(x),
        3 => s3(x),
        4 => s4(x),
        5 => s5(x),
        6 => s6(x),
        _ => s7(x),
    }
}

/// The inverse of S-box `i` modulo 8 by logic of two operands.
#[inline(always)]
pub(crate) fn inverse_substitute<W: Word>(x: [W; 4], i: usize) -> [W; 4] {
    match i % 8 {
        0 => inverse_s0(x),
        1 => inverse_s1(x),
        2 => inverse_s2(x),
        3 => inverse_s3(x),
        4 => inverse_s4(x),
        5 => inverse_s5(x),
        6 => inverse_s6(x),
        _ => inverse_s7(x),
    }
}

/// One box by its circuit: the words it takes and the one it needs besides, its gates in their order, and where
/// its outputs are then.
macro_rules! s_box {
    ($name:ident($($input:ident)*; $spare:ident), [$($gates:tt)*], [$($out:ident),*]) => {
        #[inline(always)]
        #[allow(unused_mut, reason = "not each circuit changes all four")]
        fn $name<W: Word>([$(mut $input),*]: [W; 4]) -> [W; 4] {
            let mut $spare;
            $($gates)*
            [$($out),*]
        }
    };
}

s_box!(s0(a b c d; t), [d ^= a; t = b; b &= d; t ^= c; b ^= a; a |= d; a ^= t; t ^= d; d ^= c; c |= b;
    c ^= t; t = !t; t |= b; b ^= d; b ^= t; d |= a; b ^= d; t ^= d;], [b, t, c, a]);
s_box!(s1(a b c d; t), [a = !a; c = !c; t = a; a &= b; c ^= a; a |= d; d ^= c; b ^= a; a ^= t; t |= b;
    b ^= d; c |= a; c &= t; a ^= b; b &= c; b ^= a; a &= c; t ^= a;], [c, t, d, b]);
s_box!(s2(a b c d; t), [t = a; a &= c; a ^= d; c ^= b; c ^= a; d |= t; d ^= b; t ^= c; b = d; d |= t;
    d ^= a; a &= b; t ^= a; b ^= d; b ^= t; t = !t;], [c, d, b, t]);
s_box!(s3(a b c d; t), [t = a; a |= d; d ^= b; b &= t; t ^= c; c ^= d; d &= a; t |= b; d ^= t; a ^= b;
    t &= a; b ^= d; t ^= c; b |= a; b ^= c; a ^= d; c = b; b |= d; a ^= b;], [a, c, d, t]);
s_box!(s4(a b c d; t), [b ^= d; d = !d; c ^= d; d ^= a; t = b; b &= d; b ^= c; t ^= d; a ^= t; c &= t;
    c ^= a; a &= b; d ^= a; t |= b; t ^= a; a |= d; a ^= c; c &= d; a = !a; t ^= c;], [b, t, a, d]);
s_box!(s5(a b c d; t), [a ^= b; b ^= d; d = !d; t = b; b &= a; c ^= d; b ^= c; c |= t; t ^= d; d &= b;
    d ^= a; t ^= b; t ^= c; c ^= a; a &= d; c = !c; a ^= t; t |= d; t ^= c; c = a; a = b; b = d;
    d = t;], [a, b, c, d]);
s_box!(s6(a b c d; t), [c = !c; t = d; d &= a; a ^= t; d ^= c; c |= t; b ^= d; c ^= a; a |= b; c ^= b;
    t ^= a; a |= d; a ^= c; t ^= d; t ^= a; d = !d; c &= t; d ^= c; c = t;], [a, b, c, d]);
s_box!(s7(a b c d; t), [t = b; b |= c; b ^= d; t ^= c; c ^= b; d |= t; d &= a; t ^= c; d ^= b; b |= t;
    b ^= a; a |= t; a ^= c; b ^= t; c ^= b; b &= a; b ^= t; c = !c; c |= a; t ^= c;], [t, d, b, a]);
s_box!(inverse_s0(a b c d; t), [c = !c; t = b; b |= a; t = !t; b ^= c; c |= t; b ^= d; a ^= t; c ^= a;
    a &= d; t ^= a; a |= b; a ^= c; d ^= t; c ^= b; d ^= a; d ^= b; c &= d; t ^= c;], [a, t, b, d]);
s_box!(inverse_s1(a b c d; t), [t = b; b ^= d; d &= b; t ^= c; d ^= a; a |= b; c ^= d; a ^= t; a |= c;
    b ^= d; a ^= b; b |= d; b ^= a; t = !t; t ^= b; b |= a; b ^= a; b |= t; d ^= b;], [t, a, d, c]);
s_box!(inverse_s2(a b c d; t), [c ^= d; d ^= a; t = d; d &= c; d ^= b; b |= c; b ^= t; t &= d; c ^= d;
    t &= a; t ^= c; c &= b; c |= a; d = !d; c ^= d; a ^= d; a &= b; d ^= t; d ^= a;], [b, t, c, d]);
s_box!(inverse_s3(a b c d; t), [t = c; c ^= b; a ^= c; t &= c; t ^= a; a &= b; b ^= d; d |= t; c ^= d;
    a ^= d; b ^= t; d &= c; d ^= b; b ^= a; b |= c; a ^= d; b ^= t; a ^= b;], [c, b, d, a]);
s_box!(inverse_s4(a b c d; t), [t = c; c &= d; c ^= b; b |= d; b &= a; t ^= c; t ^= b; b &= c; a = !a;
    d ^= t; b ^= d; d &= a; d ^= c; a ^= b; c &= a; d ^= a; c ^= t; c |= d; d ^= a;
    c ^= b;], [a, d, c, t]);
s_box!(inverse_s5(a b c d; t), [b = !b; t = d; c ^= b; d |= a; d ^= c; c |= b; c &= a; t ^= d; c ^= t;
    t |= a; t ^= b; b &= c; b ^= d; t ^= c; d &= t; t ^= b; d ^= t; t = !t; d ^= a;], [b, t, d, c]);
s_box!(inverse_s6(a b c d; t), [a ^= c; t = c; c &= a; t ^= d; c = !c; d ^= b; c ^= d; t |= a; a ^= c;
    d ^= t; t ^= b; b &= d; b ^= a; a ^= d; a |= c; d ^= b; t ^= a;], [b, c, t, d]);
s_box!(inverse_s7(a b c d; t), [t = c; c ^= a; a &= d; t |= d; c = !c; d ^= b; b |= a; a ^= c; c &= t;
    d &= t; b ^= c; c ^= a; a |= c; t ^= b; a ^= d; d ^= t; t |= a; d ^= c; t ^= c;], [d, a, b, t]);
