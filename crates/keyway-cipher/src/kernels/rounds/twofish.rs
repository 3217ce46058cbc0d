//! Twofish in vectors: no gathers, no tables at secret addresses.
//!
//! The state stays in 32-bit lanes for the additions. For g it is turned to byte slices, so that each
//! key-dependent S-box takes a vector of bytes at once.

use super::bytes::Bytes;
use super::run::Rounds;
use super::serpent::Words;
use crate::portable::Twofish;

/// Multiplications by the factors of the MDS matrix modulo x^8 + x^6 + x^5 + x^3 + 1, as matrices
/// for GFNI.
pub(in crate::kernels) const BY_5B: i64 = 0x050b_1629_53a2_4182;
pub(in crate::kernels) const BY_EF: i64 = 0x070f_1f39_72e3_c183;

/// What instruction sets do differently.
///
/// # Safety
/// Every method needs the instruction set of its vector.
pub(in crate::kernels) trait Parts: Words + Bytes {
    /// Two vectors of bytes through the S-box of a column.
    unsafe fn s_box<const COLUMN: usize>(keys: &Twofish, x: [Self; 2]) -> [Self; 2];
    /// Each byte by [`BY_5B`] and by [`BY_EF`].
    unsafe fn multiples(self) -> (Self, Self);
    /// The bytes of each four words, grouped by their place in the word.
    unsafe fn group(self) -> Self;
    unsafe fn add_words(self, other: Self) -> Self;
}

/// One word of as many blocks as four vectors have 32-bit lanes.
type Word<L> = [L; 4];

/// Words to byte slices, lowest byte first.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn slice<L: Parts>([a, b, c, d]: Word<L>) -> [L; 4] {
    // SAFETY: the caller's promise.
    unsafe { L::transpose([a.group(), b.group(), c.group(), d.group()]) }
}

/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn unslice<L: Parts>([a, b, c, d]: [L; 4]) -> Word<L> {
    // SAFETY: the caller's promise.
    unsafe {
        let (ac, ac_high) = (a.interleave_low(c), a.interleave_high(c));
        let (bd, bd_high) = (b.interleave_low(d), b.interleave_high(d));
        [
            ac.interleave_low(bd),
            ac.interleave_high(bd),
            ac_high.interleave_low(bd_high),
            ac_high.interleave_high(bd_high),
        ]
    }
}

/// The MDS matrix (4.3.2 of the paper) on byte slices, to words.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn mds<L: Parts>([a, b, c, d]: [L; 4]) -> Word<L> {
    // SAFETY: the caller's promise.
    unsafe {
        let ((a_5b, a_ef), (b_5b, b_ef)) = (a.multiples(), b.multiples());
        let ((c_5b, c_ef), (d_5b, d_ef)) = (c.multiples(), d.multiples());
        // Rows: 01 ef 5b 5b, 5b ef ef 01, ef 5b 01 ef, ef 01 ef 5b.
        unslice([
            a.xor(b_ef).xor(c_5b.xor(d_5b)),
            a_5b.xor(b_ef).xor(c_ef.xor(d)),
            a_ef.xor(b_5b).xor(c.xor(d_ef)),
            a_ef.xor(b).xor(c_ef.xor(d_5b)),
        ])
    }
}

/// F of two words (4.2 of the paper): the pseudo-Hadamard transform of g of the first and g of the
/// second rotated, plus two subkeys. The rotation by a byte is a change of slices.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn f<L: Parts>(keys: &Twofish, a: &Word<L>, b: &Word<L>, subkeys: [u32; 2]) -> (Word<L>, Word<L>) {
    // SAFETY: the caller's promise.
    unsafe {
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (slice(*a), slice(*b));
        let [a0, b3] = L::s_box::<0>(keys, [a0, b3]);
        let [a1, b0] = L::s_box::<1>(keys, [a1, b0]);
        let [a2, b1] = L::s_box::<2>(keys, [a2, b1]);
        let [a3, b2] = L::s_box::<3>(keys, [a3, b2]);
        let (t0, t1) = (mds([a0, a1, a2, a3]), mds([b3, b0, b1, b2]));
        let (mut f0, mut f1) = (t0, t1);
        for i in 0..4 {
            let sum = t0[i].add_words(t1[i]);
            f0[i] = sum.add_words(L::splat_word(subkeys[0]));
            f1[i] = sum.add_words(t1[i]).add_words(L::splat_word(subkeys[1]));
        }
        (f0, f1)
    }
}

/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn encrypt_round<L: Parts>(
    keys: &Twofish,
    [a, b]: [&Word<L>; 2],
    [c, d]: [&mut Word<L>; 2],
    subkeys: [u32; 2],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let (f0, f1) = f(keys, a, b, subkeys);
        for i in 0..4 {
            c[i] = c[i].xor(f0[i]).rotate::<31, 1>();
            d[i] = d[i].rotate::<1, 31>().xor(f1[i]);
        }
    }
}

/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn decrypt_round<L: Parts>(
    keys: &Twofish,
    [a, b]: [&Word<L>; 2],
    [c, d]: [&mut Word<L>; 2],
    subkeys: [u32; 2],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let (f0, f1) = f(keys, a, b, subkeys);
        for i in 0..4 {
            c[i] = c[i].rotate::<1, 31>().xor(f0[i]);
            d[i] = d[i].xor(f1[i]).rotate::<31, 1>();
        }
    }
}

/// Blocks to words, whitened.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn read<L: Parts>(x: &[L; 16], key: &[u32; 4]) -> [Word<L>; 4] {
    let mut words = [[x[0]; 4]; 4];
    for (i, four) in x.as_chunks::<4>().0.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe {
            let four = L::transpose(*four);
            for j in 0..4 {
                words[j][i] = four[j].xor(L::splat_word(key[j]));
            }
        }
    }
    words
}

/// Words, whitened, to blocks.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn write<L: Parts>(x: &mut [L; 16], words: [Word<L>; 4], key: &[u32; 4]) {
    for (i, blocks) in x.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        unsafe {
            let mut four = [words[0][i], words[1][i], words[2][i], words[3][i]];
            for j in 0..4 {
                four[j] = four[j].xor(L::splat_word(key[j]));
            }
            *blocks = L::transpose(four);
        }
    }
}

pub(in crate::kernels) struct Encrypt<'a>(pub(in crate::kernels) &'a Twofish);

impl<L: Parts> Rounds<L, 16> for Encrypt<'_> {
    #[inline(always)]
    unsafe fn apply(&self, x: &mut [L; 16]) {
        let keys = self.0;
        // SAFETY: the caller's promise.
        unsafe {
            let [mut a, mut b, mut c, mut d] = read(x, &keys.input);
            for &[k0, k1, k2, k3] in &keys.rounds {
                encrypt_round(keys, [&a, &b], [&mut c, &mut d], [k0, k1]);
                encrypt_round(keys, [&c, &d], [&mut a, &mut b], [k2, k3]);
            }
            write(x, [c, d, a, b], &keys.output);
        }
    }
}

/// As many blocks as one vector has 32-bit lanes. Both words of F go through its S-boxes together, in the
/// lanes that are left.
impl<L: Parts> Rounds<L, 4> for Encrypt<'_> {
    #[inline(always)]
    unsafe fn apply(&self, x: &mut [L; 4]) {
        let keys = self.0;
        // SAFETY: the caller's promise.
        unsafe {
            let mut words = L::transpose(*x);
            for (word, key) in words.iter_mut().zip(keys.input) {
                *word = word.xor(L::splat_word(key));
            }
            let [mut a, mut b, mut c, mut d] = words;
            for &[k0, k1, k2, k3] in &keys.rounds {
                few_round(keys, [a, b], [&mut c, &mut d], [k0, k1]);
                few_round(keys, [c, d], [&mut a, &mut b], [k2, k3]);
            }
            words = [c, d, a, b];
            for (word, key) in words.iter_mut().zip(keys.output) {
                *word = word.xor(L::splat_word(key));
            }
            *x = L::transpose(words);
        }
    }
}

/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn few_round<L: Parts>(keys: &Twofish, [a, b]: [L; 2], [c, d]: [&mut L; 2], subkeys: [u32; 2]) {
    // SAFETY: the caller's promise.
    unsafe {
        let b = b.rotate::<8, 24>();
        let [x0, x1, x2, x3] = slice([a, b, a, b]);
        // What is there twice is computed once.
        let ([x0, _], [x1, _]) = (L::s_box::<0>(keys, [x0; 2]), L::s_box::<1>(keys, [x1; 2]));
        let ([x2, _], [x3, _]) = (L::s_box::<2>(keys, [x2; 2]), L::s_box::<3>(keys, [x3; 2]));
        let [t0, t1, ..] = mds([x0, x1, x2, x3]);
        let sum = t0.add_words(t1);
        let (f0, f1) = (
            sum.add_words(L::splat_word(subkeys[0])),
            sum.add_words(t1).add_words(L::splat_word(subkeys[1])),
        );
        *c = c.xor(f0).rotate::<31, 1>();
        *d = d.rotate::<1, 31>().xor(f1);
    }
}

pub(in crate::kernels) struct Decrypt<'a>(pub(in crate::kernels) &'a Twofish);

impl<L: Parts> Rounds<L, 16> for Decrypt<'_> {
    #[inline(always)]
    unsafe fn apply(&self, x: &mut [L; 16]) {
        let keys = self.0;
        // SAFETY: the caller's promise.
        unsafe {
            let [mut c, mut d, mut a, mut b] = read(x, &keys.output);
            for &[k0, k1, k2, k3] in keys.rounds.iter().rev() {
                decrypt_round(keys, [&c, &d], [&mut a, &mut b], [k2, k3]);
                decrypt_round(keys, [&a, &b], [&mut c, &mut d], [k0, k1]);
            }
            write(x, [a, b, c, d], &keys.input);
        }
    }
}
