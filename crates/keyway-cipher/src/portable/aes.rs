//! AES (FIPS 197), bit-sliced: four blocks in eight 64-bit words, no table and no branch that
//! depends on a secret.
//!
//! The layout of bits and the row and column steps on it are those of Thomas Pornin's
//! "constant-time AES" for 64-bit words; the S-box is the circuit of Boyar and Peralta, "A depth-16
//! circuit for the AES S-box", 2011.

use crate::pass::Direction;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Eight words: bit i of every byte of four blocks in word i.
type Sliced = [u64; 8];

/// `R` round keys: 11 for AES-128, 15 for AES-256.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct AesKeys<const R: usize> {
    /// As FIPS 197 has them, for processors' encryption instructions.
    pub(crate) encrypt: [[u8; 16]; R],
    /// Last first, and InvMixColumns applied to all but first and last, for processors'
    /// decryption instructions (the equivalent inverse cipher, FIPS 197, 5.3.5).
    pub(crate) decrypt: [[u8; 16]; R],
    sliced: [Sliced; R],
}

impl<const R: usize> AesKeys<R> {
    /// `key` is 16 bytes long for 11 rounds, 32 bytes for 15.
    pub(crate) fn new<const N: usize>(key: &[u8; N]) -> Self {
        const { assert!(N / 4 + 7 == R) };
        let mut this = Self { encrypt: [[0; 16]; R], decrypt: [[0; 16]; R], sliced: [[0; 8]; R] };
        let words = this.encrypt.as_flattened_mut().as_chunks_mut::<4>().0;
        for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
            *word = *bytes;
        }
        let mut constant = 1u8;
        for i in N / 4..words.len() {
            let mut word = words[i - 1];
            if i.is_multiple_of(N / 4) {
                word.rotate_left(1);
                sub_word(&mut word);
                word[0] ^= constant;
                constant = (constant << 1) ^ (0x1b & 0u8.wrapping_sub(constant >> 7));
            } else if N == 32 && i % 8 == 4 {
                sub_word(&mut word);
            }
            for (byte, earlier) in word.iter_mut().zip(words[i - N / 4]) {
                *byte ^= earlier;
            }
            words[i] = word;
        }
        for (i, key) in this.encrypt.iter().enumerate() {
            this.sliced[i] = slice(&[*key; 4]);
            let mut inverse = this.sliced[i];
            if i != 0 && i != R - 1 {
                inverse_mix_columns(&mut inverse);
            }
            [this.decrypt[R - 1 - i], ..] = unslice(inverse);
            inverse.zeroize();
        }
        this
    }

    fn encrypt_four(&self, blocks: &mut [[u8; 16]; 4]) {
        let mut q = slice(blocks);
        add(&mut q, &self.sliced[0]);
        for key in &self.sliced[1..R - 1] {
            substitute(&mut q);
            shift_rows(&mut q);
            mix_columns(&mut q);
            add(&mut q, key);
        }
        substitute(&mut q);
        shift_rows(&mut q);
        add(&mut q, &self.sliced[R - 1]);
        *blocks = unslice(q);
    }

    fn decrypt_four(&self, blocks: &mut [[u8; 16]; 4]) {
        let mut q = slice(blocks);
        add(&mut q, &self.sliced[R - 1]);
        for key in self.sliced[1..R - 1].iter().rev() {
            inverse_shift_rows(&mut q);
            inverse_substitute(&mut q);
            add(&mut q, key);
            inverse_mix_columns(&mut q);
        }
        inverse_shift_rows(&mut q);
        inverse_substitute(&mut q);
        add(&mut q, &self.sliced[0]);
        *blocks = unslice(q);
    }

    /// Each block on its own, in place.
    pub(crate) fn blocks(&self, direction: Direction, blocks: &mut [[u8; 16]]) {
        match direction {
            Direction::Encrypt => super::in_groups(blocks, |four| self.encrypt_four(four)),
            Direction::Decrypt => super::in_groups(blocks, |four| self.decrypt_four(four)),
        }
    }
}

/// The S-box on the four bytes of a word of the key schedule.
fn sub_word(word: &mut [u8; 4]) {
    let mut block = [0; 16];
    block[..4].copy_from_slice(word);
    let mut q = slice(&[block; 4]);
    substitute(&mut q);
    let [block, ..] = unslice(q);
    word.copy_from_slice(&block[..4]);
}

/// Exchanges the bits of `b` under `mask` with those of `a` that lie `shift` higher.
#[inline(always)]
fn exchange(a: &mut u64, b: &mut u64, mask: u64, shift: u32) {
    let difference = ((*a >> shift) ^ *b) & mask;
    *a ^= difference << shift;
    *b ^= difference;
}

/// Transposes each byte position's 8 by 8 bits; its own inverse.
#[inline(always)]
fn transpose(q: &mut Sliced) {
    for (distance, mask) in
        [(1, 0x5555_5555_5555_5555), (2, 0x3333_3333_3333_3333), (4, 0x0f0f_0f0f_0f0f_0f0f)]
    {
        for i in 0..8 {
            if i & distance == 0 {
                let (low, high) = q.split_at_mut(i + distance);
                exchange(&mut low[i], &mut high[0], mask, distance as u32);
            }
        }
    }
}

/// Spreads a block's four columns over two words: rows become runs of 16 bits.
#[inline(always)]
fn spread(block: &[u8; 16]) -> (u64, u64) {
    let mut columns = [0u64; 4];
    for (column, bytes) in columns.iter_mut().zip(block.as_chunks::<4>().0) {
        let x = u64::from(u32::from_le_bytes(*bytes));
        let x = (x | x << 16) & 0x0000_ffff_0000_ffff;
        *column = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
    }
    (columns[0] | columns[2] << 8, columns[1] | columns[3] << 8)
}

#[inline(always)]
fn gather(even: u64, odd: u64) -> [u8; 16] {
    let mut block = [0; 16];
    let columns = [even, odd, even >> 8, odd >> 8];
    for (bytes, x) in block.as_chunks_mut::<4>().0.iter_mut().zip(columns) {
        let x = x & 0x00ff_00ff_00ff_00ff;
        let x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
        *bytes = ((x | x >> 16) as u32).to_le_bytes();
    }
    block
}

#[inline(always)]
fn slice(blocks: &[[u8; 16]; 4]) -> Sliced {
    let mut q = [0; 8];
    for (i, block) in blocks.iter().enumerate() {
        (q[i], q[i + 4]) = spread(block);
    }
    transpose(&mut q);
    q
}

#[inline(always)]
fn unslice(mut q: Sliced) -> [[u8; 16]; 4] {
    transpose(&mut q);
    [gather(q[0], q[4]), gather(q[1], q[5]), gather(q[2], q[6]), gather(q[3], q[7])]
}

#[inline(always)]
fn add(q: &mut Sliced, key: &Sliced) {
    for (q, key) in q.iter_mut().zip(key) {
        *q ^= key;
    }
}

#[inline(always)]
fn shift_rows(q: &mut Sliced) {
    for q in q {
        let x = *q;
        *q = (x & 0x0000_0000_0000_ffff)
            | ((x & 0x0000_0000_fff0_0000) >> 4)
            | ((x & 0x0000_0000_000f_0000) << 12)
            | ((x & 0x0000_ff00_0000_0000) >> 8)
            | ((x & 0x0000_00ff_0000_0000) << 8)
            | ((x & 0xf000_0000_0000_0000) >> 12)
            | ((x & 0x0fff_0000_0000_0000) << 4);
    }
}

#[inline(always)]
fn inverse_shift_rows(q: &mut Sliced) {
    for q in q {
        let x = *q;
        *q = (x & 0x0000_0000_0000_ffff)
            | ((x & 0x0000_0000_0fff_0000) << 4)
            | ((x & 0x0000_0000_f000_0000) >> 12)
            | ((x & 0x0000_00ff_0000_0000) << 8)
            | ((x & 0x0000_ff00_0000_0000) >> 8)
            | ((x & 0x000f_0000_0000_0000) << 12)
            | ((x & 0xfff0_0000_0000_0000) >> 4);
    }
}

/// Every byte times x, modulo x^8 + x^4 + x^3 + x + 1.
#[inline(always)]
fn double(q: Sliced) -> Sliced {
    [q[7], q[0] ^ q[7], q[1], q[2] ^ q[7], q[3] ^ q[7], q[4], q[5], q[6]]
}

/// Each byte becomes 2a + 3b + c + d, with b, c, d the bytes one, two and three rows below.
#[inline(always)]
fn mix_columns(q: &mut Sliced) {
    let below = q.map(|x| x.rotate_right(16));
    let mut sum = *q;
    add(&mut sum, &below);
    let doubled = double(sum);
    for i in 0..8 {
        q[i] = doubled[i] ^ below[i] ^ sum[i].rotate_right(32);
    }
}

/// MixColumns' matrix is circ(2, 3, 1, 1), its inverse that times circ(5, 0, 4, 0).
#[inline(always)]
fn inverse_mix_columns(q: &mut Sliced) {
    let sum = q.map(|x| x ^ x.rotate_right(32));
    add(q, &double(double(sum)));
    mix_columns(q);
}

/// The affine part of the inverse S-box; the S-box's inverse is S between two of these.
#[inline(always)]
fn inverse_affine(q: &mut Sliced) {
    let x = [!q[0], !q[1], q[2], q[3], q[4], !q[5], !q[6], q[7]];
    for i in 0..8 {
        q[i] = x[(i + 2) % 8] ^ x[(i + 5) % 8] ^ x[(i + 7) % 8];
    }
}

#[inline(always)]
fn inverse_substitute(q: &mut Sliced) {
    inverse_affine(q);
    substitute(q);
    inverse_affine(q);
}

/// The S-box. Names as in the paper: x inputs, y top linear layer, t the middle, s outputs.
#[inline(always)]
fn substitute(q: &mut Sliced) {
    let [x7, x6, x5, x4, x3, x2, x1, x0] = *q;

    let y14 = x3 ^ x5;
    let y13 = x0 ^ x6;
    let y9 = x0 ^ x3;
    let y8 = x0 ^ x5;
    let t0 = x1 ^ x2;
    let y1 = t0 ^ x7;
    let y4 = y1 ^ x3;
    let y12 = y13 ^ y14;
    let y2 = y1 ^ x0;
    let y5 = y1 ^ x6;
    let y3 = y5 ^ y8;
    let t1 = x4 ^ y12;
    let y15 = t1 ^ x5;
    let y20 = t1 ^ x1;
    let y6 = y15 ^ x7;
    let y10 = y15 ^ t0;
    let y11 = y20 ^ y9;
    let y7 = x7 ^ y11;
    let y17 = y10 ^ y11;
    let y19 = y10 ^ y8;
    let y16 = t0 ^ y11;
    let y21 = y13 ^ y16;
    let y18 = x0 ^ y16;

    let t2 = y12 & y15;
    let t3 = y3 & y6;
    let t4 = t3 ^ t2;
    let t5 = y4 & x7;
    let t6 = t5 ^ t2;
    let t7 = y13 & y16;
    let t8 = y5 & y1;
    let t9 = t8 ^ t7;
    let t10 = y2 & y7;
    let t11 = t10 ^ t7;
    let t12 = y9 & y11;
    let t13 = y14 & y17;
    let t14 = t13 ^ t12;
    let t15 = y8 & y10;
    let t16 = t15 ^ t12;
    let t17 = t4 ^ t14;
    let t18 = t6 ^ t16;
    let t19 = t9 ^ t14;
    let t20 = t11 ^ t16;
    let t21 = t17 ^ y20;
    let t22 = t18 ^ y19;
    let t23 = t19 ^ y21;
    let t24 = t20 ^ y18;

    let t25 = t21 ^ t22;
    let t26 = t21 & t23;
    let t27 = t24 ^ t26;
    let t28 = t25 & t27;
    let t29 = t28 ^ t22;
    let t30 = t23 ^ t24;
    let t31 = t22 ^ t26;
    let t32 = t31 & t30;
    let t33 = t32 ^ t24;
    let t34 = t23 ^ t33;
    let t35 = t27 ^ t33;
    let t36 = t24 & t35;
    let t37 = t36 ^ t34;
    let t38 = t27 ^ t36;
    let t39 = t29 & t38;
    let t40 = t25 ^ t39;
    let t41 = t40 ^ t37;
    let t42 = t29 ^ t33;
    let t43 = t29 ^ t40;
    let t44 = t33 ^ t37;
    let t45 = t42 ^ t41;

    let z0 = t44 & y15;
    let z1 = t37 & y6;
    let z2 = t33 & x7;
    let z3 = t43 & y16;
    let z4 = t40 & y1;
    let z5 = t29 & y7;
    let z6 = t42 & y11;
    let z7 = t45 & y17;
    let z8 = t41 & y10;
    let z9 = t44 & y12;
    let z10 = t37 & y3;
    let z11 = t33 & y4;
    let z12 = t43 & y13;
    let z13 = t40 & y5;
    let z14 = t29 & y2;
    let z15 = t42 & y9;
    let z16 = t45 & y14;
    let z17 = t41 & y8;

    let t46 = z15 ^ z16;
    let t47 = z10 ^ z11;
    let t48 = z5 ^ z13;
    let t49 = z9 ^ z10;
    let t50 = z2 ^ z12;
    let t51 = z2 ^ z5;
    let t52 = z7 ^ z8;
    let t53 = z0 ^ z3;
    let t54 = z6 ^ z7;
    let t55 = z16 ^ z17;
    let t56 = z12 ^ t48;
    let t57 = t50 ^ t53;
    let t58 = z4 ^ t46;
    let t59 = z3 ^ t54;
    let t60 = t46 ^ t57;
    let t61 = z14 ^ t57;
    let t62 = t52 ^ t58;
    let t63 = t49 ^ t58;
    let t64 = z4 ^ t59;
    let t65 = t61 ^ t62;
    let t66 = z1 ^ t63;
    let t67 = t64 ^ t65;
    let s0 = t59 ^ t63;
    let s3 = t53 ^ t66;
    let s1 = t64 ^ !s3;
    let s2 = t55 ^ !t67;
    let s4 = t51 ^ t66;
    let s5 = t47 ^ t65;
    let s6 = t56 ^ !t62;
    let s7 = t48 ^ !t60;

    *q = [s7, s6, s5, s4, s3, s2, s1, s0];
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197, appendix A: last round keys of the two example expansions.
    #[test]
    fn key_expansion() {
        let key =
            [0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c];
        let last = 0xd014_f9a8_c9ee_2589_e13f_0cc8_b663_0ca6u128;
        assert_eq!(AesKeys::<11>::new(&key).encrypt[10], last.to_be_bytes());
        let key = 0x603d_eb10_15ca_71be_2b73_aef0_857d_7781u128;
        let rest = 0x1f35_2c07_3b61_08d7_2d98_10a3_0914_dff4u128;
        let mut both = [0; 32];
        both[..16].copy_from_slice(&key.to_be_bytes());
        both[16..].copy_from_slice(&rest.to_be_bytes());
        let last = 0xfe48_90d1_e618_8d0b_046d_f344_706c_631eu128;
        assert_eq!(AesKeys::<15>::new(&both).encrypt[14], last.to_be_bytes());
    }
}
