//! Kuznyechik (GOST R 34.12-2015; RFC 7801, whose names these are): its round keys, and block after block by tables for
//! machines without a kernel.

use crate::pass::Direction;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The S-box pi (RFC 7801, 4.1.1).
#[rustfmt::skip]
pub(crate) const PI: [u8; 256] = [
    252, 238, 221, 17, 207, 110, 49, 22, 251, 196, 250, 218, 35, 197, 4, 77,
    233, 119, 240, 219, 147, 46, 153, 186, 23, 54, 241, 187, 20, 205, 95, 193,
    249, 24, 101, 90, 226, 92, 239, 33, 129, 28, 60, 66, 139, 1, 142, 79,
    5, 132, 2, 174, 227, 106, 143, 160, 6, 11, 237, 152, 127, 212, 211, 31,
    235, 52, 44, 81, 234, 200, 72, 171, 242, 42, 104, 162, 253, 58, 206, 204,
    181, 112, 14, 86, 8, 12, 118, 18, 191, 114, 19, 71, 156, 183, 93, 135,
    21, 161, 150, 41, 16, 123, 154, 199, 243, 145, 120, 111, 157, 158, 178, 177,
    50, 117, 25, 61, 255, 53, 138, 126, 109, 84, 198, 128, 195, 189, 13, 87,
    223, 245, 36, 169, 62, 168, 67, 201, 215, 121, 214, 246, 124, 34, 185, 3,
    224, 15, 236, 222, 122, 148, 176, 188, 220, 232, 40, 80, 78, 51, 10, 74,
    167, 151, 96, 115, 30, 0, 98, 68, 26, 184, 56, 130, 100, 159, 38, 65,
    173, 69, 70, 146, 39, 94, 85, 47, 140, 163, 165, 125, 105, 213, 149, 59,
    7, 88, 179, 64, 134, 172, 29, 247, 48, 55, 107, 228, 136, 217, 231, 137,
    225, 27, 131, 73, 76, 63, 248, 254, 141, 83, 170, 144, 202, 216, 133, 97,
    32, 113, 103, 164, 45, 43, 9, 91, 203, 155, 37, 208, 190, 229, 108, 82,
    89, 166, 116, 210, 230, 244, 180, 192, 209, 102, 175, 194, 57, 75, 99, 182,
];

/// Its inverse.
pub(crate) const PI_INVERSE: [u8; 256] = {
    let mut table = [0; 256];
    let mut x = 0;
    while x < 256 {
        table[PI[x] as usize] = x as u8;
        x += 1;
    }
    table
};

/// The factors of l, for bytes 15 down to 0 (RFC 7801, 4.1.2).
const FACTORS: [u8; 16] = [148, 32, 133, 16, 194, 192, 1, 251, 1, 192, 194, 16, 133, 32, 148, 1];

/// Product modulo x^8 + x^7 + x^6 + x + 1 (RFC 7801, 4.1.2).
pub(crate) const fn times(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        product ^= a & 0u8.wrapping_sub(b & 1);
        a = (a << 1) ^ (0xc3 & 0u8.wrapping_sub(a >> 7));
        b >>= 1;
    }
    product
}

/// The linear transformation L, sixteen times R.
pub(crate) const fn linear(block: &mut [u8; 16]) {
    let mut step = 0;
    while step < 16 {
        let (mut sum, mut i) = (0, 16);
        while i > 0 {
            i -= 1;
            sum ^= times(block[i], FACTORS[i]);
            // Each byte moves to the next place, when it was read there.
            if i < 15 {
                block[i + 1] = block[i];
            }
        }
        block[0] = sum;
        step += 1;
    }
}

/// For each value of each byte what pi and then L, or the inverse of each, make of it: the sum over a block's bytes is
/// what becomes of the block, since L is linear.
type Table = [[u128; 256]; 16];

static FORWARD: Table = table(&PI, false);
static BACKWARD: Table = table(&PI_INVERSE, true);

/// Built from the images of single bits: a compiler that follows L itself for each entry takes long.
const fn table(substitution: &[u8; 256], inverse: bool) -> Table {
    let mut table = [[0; 256]; 16];
    let mut byte = 0;
    while byte < 16 {
        let mut linear_alone = [0; 256];
        let mut value: usize = 1;
        while value < 256 {
            let lowest = value & value.wrapping_neg();
            linear_alone[value] = if lowest == value {
                let mut block = [0; 16];
                block[byte] = value as u8;
                if inverse {
                    linear_inverse(&mut block)
                } else {
                    linear(&mut block)
                }
                u128::from_ne_bytes(block)
            } else {
                linear_alone[value ^ lowest] ^ linear_alone[lowest]
            };
            value += 1;
        }
        value = 0;
        while value < 256 {
            table[byte][value] = linear_alone[substitution[value] as usize];
            value += 1;
        }
        byte += 1;
    }
    table
}

/// The inverse of [`linear`].
const fn linear_inverse(block: &mut [u8; 16]) {
    let mut step = 0;
    while step < 16 {
        // R put the sum at the front and moved all others on; the byte that it dropped had the factor 1.
        let first = block[0];
        let (mut sum, mut i) = (first, 0);
        while i < 15 {
            block[i] = block[i + 1];
            sum ^= times(block[i], FACTORS[i]);
            i += 1;
        }
        block[15] = sum;
        step += 1;
    }
}

/// What a table makes of a block.
fn looked_up(table: &Table, block: u128) -> u128 {
    table.iter().zip(block.to_ne_bytes()).fold(0, |sum, (images, byte)| sum ^ images[usize::from(byte)])
}

/// Each byte by a substitution.
fn substituted(substitution: &[u8; 256], block: u128) -> u128 {
    u128::from_ne_bytes(block.to_ne_bytes().map(|byte| substitution[usize::from(byte)]))
}

/// A key, ready for use.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Kuznyechik {
    /// The ten round keys, each byte four times: what byte-sliced kernels spread.
    pub(crate) round_keys: [[u32; 16]; 10],
    /// The same as a block each.
    forward: [u128; 10],
    /// What the inverse of L makes of them, so that backwards too each round is one look into the table.
    backward: [u128; 10],
}

impl Kuznyechik {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        let mut pair: [[u8; 16]; 2] = [std::array::from_fn(|i| key[i]), std::array::from_fn(|i| key[16 + i])];
        let mut this = Self { round_keys: [[0; 16]; 10], forward: [0; 10], backward: [0; 10] };
        let places =
            this.round_keys.as_chunks_mut::<2>().0.iter_mut().zip(this.forward.as_chunks_mut::<2>().0);
        for (i, (keys, blocks)) in (0u8..).step_by(8).zip(places) {
            *keys = pair.map(|key| key.map(|byte| u32::from(byte) * 0x0101_0101));
            *blocks = pair.map(u128::from_ne_bytes);
            // Eight Feistel rounds lead to the next pair (RFC 7801, 4.3).
            for constant in i + 1..=i + 8 {
                let mut c = [0; 16];
                c[15] = constant;
                linear(&mut c);
                let [left, right] = &mut pair;
                let mut x: [u8; 16] = std::array::from_fn(|i| PI[usize::from(left[i] ^ c[i])]);
                linear(&mut x);
                for (x, right) in x.iter_mut().zip(right.iter()) {
                    *x ^= right;
                }
                *right = *left;
                *left = x;
                x.zeroize();
            }
        }
        pair.zeroize();
        this.backward = this.forward.map(inverse_of_l);
        this
    }

    /// Each block on its own, in place; some beside each other, as each waits for its tables.
    pub(crate) fn blocks(&self, direction: Direction, blocks: &mut [[u8; 16]]) {
        let (together, rest) = blocks.as_chunks_mut::<4>();
        together.iter_mut().for_each(|blocks| self.each_of(direction, blocks));
        rest.iter_mut().for_each(|block| self.each_of(direction, std::array::from_mut(block)));
    }

    fn each_of<const N: usize>(&self, direction: Direction, blocks: &mut [[u8; 16]; N]) {
        let given = blocks.map(u128::from_ne_bytes);
        let done = match direction {
            Direction::Encrypt => self.encrypted(given),
            Direction::Decrypt => self.decrypted(given),
        };
        *blocks = done.map(u128::to_ne_bytes);
    }

    /// Nine times the key, pi and L, then the last key (RFC 7801, 4.4.1).
    fn encrypted<const N: usize>(&self, blocks: [u128; N]) -> [u128; N] {
        let [first, rounds @ ..] = &self.forward;
        // The next key is added where what the table made still is: before the next look it would have to be fetched.
        let round = |blocks: [u128; N], key: &u128| blocks.map(|block| looked_up(&FORWARD, block) ^ key);
        rounds.iter().fold(blocks.map(|block| block ^ first), round)
    }

    /// The same backwards (RFC 7801, 4.4.2), with the inverse of L taken before each key is added.
    fn decrypted<const N: usize>(&self, blocks: [u128; N]) -> [u128; N] {
        let ([_, rounds @ .., last], first) = (&self.backward, self.forward[0]);
        let blocks = blocks.map(|block| inverse_of_l(block) ^ last);
        let round = |blocks: [u128; N], key: &u128| blocks.map(|block| looked_up(&BACKWARD, block) ^ key);
        rounds.iter().rev().fold(blocks, round).map(|block| substituted(&PI_INVERSE, block) ^ first)
    }
}

/// The inverse of L by the table, of which pi takes the inverse of pi away.
fn inverse_of_l(block: u128) -> u128 {
    looked_up(&BACKWARD, substituted(&PI, block))
}
