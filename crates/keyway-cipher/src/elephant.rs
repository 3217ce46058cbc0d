//! The Elephant diffuser of BitLocker's older volumes: two mixers that spread every bit of a unit
//! over all of it, so that a change of cipher text garbles the whole unit and not two blocks.
//!
//! Source: Niels Ferguson, "AES-CBC + Elephant diffuser, a disk encryption algorithm for Windows
//! Vista", 2006, section 4: `d_i += d_(i-2) ^ (d_(i-5) <<< Ra[i mod 4])` for A and
//! `d_i += d_(i+2) ^ (d_(i+5) <<< Rb[i mod 4])` for B, indices modulo the unit's words. Those are the
//! steps that decrypt, with i rising; encrypting subtracts, with i falling.
//!
//! In A each step of decryption needs the results of the ones before, and so does each of
//! encryption in B; what fills a processor is several units side by side. The mixers below are
//! written over any [`Word`]: one unit's word, or a vector with the same word of many units.

use crate::pass::Direction;

/// Times that A passes over a unit (`Acycles`).
const A_CYCLES: usize = 5;
/// Times that B passes over a unit (`Bcycles`).
const B_CYCLES: usize = 3;
/// The longest unit there is.
pub(crate) const LARGEST_UNIT: usize = 4096;

/// What each unit is xored with, again and again: the sector key.
pub(crate) type SectorKey = [[u8; 16]; 2];

/// A 32-bit word, or a vector of them.
pub(crate) trait Word: Copy {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// `RIGHT` is 32 - `LEFT`.
    fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self;
}

impl Word for u32 {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        self.rotate_left(LEFT as u32)
    }
}

/// Diffuses units in place, in plain Rust; `units` is a whole number of them for each sector key. Encrypting xors
/// the sector key first and applies A, then B; decrypting does the opposite.
pub(crate) fn diffuse(direction: Direction, units: &mut [u8], unit_bytes: usize, sector_keys: &[SectorKey]) {
    let mut words = [[0u32; 4]; LARGEST_UNIT / 16];
    for (unit, key) in units.chunks_exact_mut(unit_bytes).zip(sector_keys) {
        let blocks = unit.as_chunks_mut::<16>().0;
        let words = &mut words[..blocks.len()];
        if direction == Direction::Encrypt {
            xor_key(blocks, key);
        }
        for (words, block) in words.iter_mut().zip(&*blocks) {
            for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
                *word = u32::from_le_bytes(*bytes);
            }
        }
        mix(direction, words);
        for (words, block) in words.iter().zip(&mut *blocks) {
            for (word, bytes) in words.iter().zip(block.as_chunks_mut().0) {
                *bytes = word.to_le_bytes();
            }
        }
        if direction == Direction::Decrypt {
            xor_key(blocks, key);
        }
    }
}

fn xor_key(blocks: &mut [[u8; 16]], key: &SectorKey) {
    for (block, key) in blocks.iter_mut().zip(key.iter().cycle()) {
        *block = (u128::from_ne_bytes(*block) ^ u128::from_ne_bytes(*key)).to_ne_bytes();
    }
}

/// Both diffusers over a unit, or over as many side by side as a `Word` has lanes. The words come
/// in fours, at least three of them.
#[inline(always)]
pub(crate) fn mix<W: Word>(direction: Direction, d: &mut [[W; 4]]) {
    match direction {
        Direction::Encrypt => {
            for _ in 0..A_CYCLES {
                encrypt_a(d);
            }
            for _ in 0..B_CYCLES {
                encrypt_b(d);
            }
        }
        Direction::Decrypt => {
            for _ in 0..B_CYCLES {
                decrypt_b(d);
            }
            for _ in 0..A_CYCLES {
                decrypt_a(d);
            }
        }
    }
}

/// Rotations of A: 9, 0, 13, 0. Every step needs the one two before it.
#[inline(always)]
fn decrypt_a<W: Word>(d: &mut [[W; 4]]) {
    let [.., [_, _, _, e], [f, g, h, i]] = *d else { return };
    // The five words before the next four.
    let mut before = [e, f, g, h, i];
    for four in d {
        let [e, f, g, h, i] = before;
        let x0 = four[0].plus(h.xor(e.rotate::<9, 23>()));
        let x1 = four[1].plus(i.xor(f));
        let x2 = four[2].plus(x0.xor(g.rotate::<13, 19>()));
        let x3 = four[3].plus(x1.xor(h));
        *four = [x0, x1, x2, x3];
        before = [i, x0, x1, x2, x3];
    }
}

/// Every step needs words that it has yet to come to.
#[inline(always)]
fn encrypt_a<W: Word>(d: &mut [[W; 4]]) {
    let last = d.len() - 1;
    let mut now = d[last];
    for at in (0..=last).rev() {
        let before = if at > 0 { d[at - 1] } else { d[last] };
        let e = if at > 1 { d[at - 2][3] } else { d[last + at - 1][3] };
        let [f, g, h, i] = before;
        let [x0, x1, x2, x3] = now;
        d[at] = [
            x0.minus(h.xor(e.rotate::<9, 23>())),
            x1.minus(i.xor(f)),
            x2.minus(x0.xor(g.rotate::<13, 19>())),
            x3.minus(x1.xor(h)),
        ];
        now = before;
    }
}

/// Rotations of B: 0, 10, 0, 25. Every step needs words that it has yet to come to.
#[inline(always)]
fn decrypt_b<W: Word>(d: &mut [[W; 4]]) {
    let last = d.len() - 1;
    let mut now = d[0];
    for at in 0..=last {
        let after = if at < last { d[at + 1] } else { d[0] };
        let i = if at + 1 < last { d[at + 2][0] } else { d[at + 1 - last][0] };
        let [e, f, g, h] = after;
        let [x0, x1, x2, x3] = now;
        d[at] = [
            x0.plus(x2.xor(f)),
            x1.plus(x3.xor(g.rotate::<10, 22>())),
            x2.plus(e.xor(h)),
            x3.plus(f.xor(i.rotate::<25, 7>())),
        ];
        now = after;
    }
}

/// Every step needs the one two before it.
#[inline(always)]
fn encrypt_b<W: Word>(d: &mut [[W; 4]]) {
    let [[e, f, g, h], [i, ..], ..] = *d else { return };
    // The five words after the next four.
    let mut after = [e, f, g, h, i];
    for four in d.iter_mut().rev() {
        let [e, f, g, h, i] = after;
        let x3 = four[3].minus(f.xor(i.rotate::<25, 7>()));
        let x2 = four[2].minus(e.xor(h));
        let x1 = four[1].minus(x3.xor(g.rotate::<10, 22>()));
        let x0 = four[0].minus(x2.xor(f));
        *four = [x0, x1, x2, x3];
        after = [x0, x1, x2, x3, e];
    }
}
