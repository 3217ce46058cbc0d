//! Whirlpool (ISO/IEC 10118-3:2004) over rows, for any number of chains at once.
//!
//! The state is a matrix of bytes; its row `i` is word `i` here, column 0 in the lowest byte.

use super::rows::{OneState, Rows, RowsHash, Words, byte};

/// Rounds of the block cipher inside.
const ROUNDS: usize = 10;

/// The 4-bit boxes that the substitution box is made of: E, its inverse, and R.
pub(super) const BOX_E: [u8; 16] = [1, 0xb, 9, 0xc, 0xd, 6, 0xf, 3, 0xe, 8, 7, 4, 0xa, 2, 5, 0];
pub(super) const BOX_E_INVERSE: [u8; 16] = {
    let mut inverse = [0; 16];
    let mut i = 0;
    while i < 16 {
        inverse[BOX_E[i] as usize] = i as u8;
        i += 1;
    }
    inverse
};
pub(super) const BOX_R: [u8; 16] = [7, 0xc, 0xb, 0xd, 0xe, 4, 9, 0xf, 6, 3, 8, 0xa, 2, 5, 1, 0];

/// The substitution box.
pub(super) const SBOX: [u8; 256] = {
    let mut sbox = [0; 256];
    let mut x = 0;
    while x < 256 {
        let (high, low) = (BOX_E[x >> 4], BOX_E_INVERSE[x & 15]);
        let middle = BOX_R[(high ^ low) as usize];
        sbox[x] = BOX_E[(high ^ middle) as usize] << 4 | BOX_E_INVERSE[(low ^ middle) as usize];
        x += 1;
    }
    sbox
};

/// The first row of the circulant diffusion matrix.
pub(super) const CIRCULANT: [u8; 8] = [1, 1, 4, 1, 8, 5, 2, 9];

/// The product in the field of 256 elements that the diffusion uses (x^8 + x^4 + x^3 + x^2 + 1).
pub(super) const fn multiply(a: u8, b: u8) -> u8 {
    let (mut a, mut b, mut product) = (a as u16, b, 0);
    while b > 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a <<= 1;
        if a > 0xff {
            a ^= 0x11d;
        }
        b >>= 1;
    }
    product as u8
}

/// The round constants: rows 0, the substitution box from its beginning; other rows are zero.
const CONSTANTS: [Words; ROUNDS] = {
    let mut constants = [[0; 8]; ROUNDS];
    let mut i = 0;
    while i < 8 * ROUNDS {
        constants[i / 8][0] |= (SBOX[i] as u64) << (8 * (i % 8));
        i += 1;
    }
    constants
};

/// The padding behind two blocks: a one bit and, at the end, the length of 1024 bits, big-endian.
const PADDING: Words = [0x80, 0, 0, 0, 0, 0, 0, 0x0004 << 48];

/// Rows that can go through a round.
pub(crate) trait WhirlpoolRows: Rows {
    /// Substitution, cyclic shift of the columns, mixing of the rows.
    fn round(self) -> Self;
}

/// Whirlpool.
pub(crate) struct Whirlpool;

/// The state after the key block, as keys for the next block, and constants, all arranged for the rows.
#[derive(Clone, Copy)]
pub(crate) struct Keyed {
    /// The round keys, the last one combined with the first for the feed-forward.
    keys: [Words; ROUNDS + 1],
    constants: [Words; ROUNDS],
    padding: Words,
}

impl<R: WhirlpoolRows> RowsHash<R> for Whirlpool {
    type Keyed = Keyed;

    fn keyed(block: &Words) -> Keyed {
        let zero = OneState([0; 8]);
        let h = compress(zero, OneState(*block), &CONSTANTS);
        let mut key = h;
        let mut keys = [key.0; ROUNDS + 1];
        for (next, constant) in keys[1..].iter_mut().zip(&CONSTANTS) {
            key = key.round().xor_words(constant);
            *next = key.0;
        }
        keys[ROUNDS] = key.xor(h).0;
        Keyed {
            keys: keys.map(|key| R::arrange(&key)),
            constants: CONSTANTS.map(|constant| R::arrange(&constant)),
            padding: R::arrange(&PADDING),
        }
    }

    #[inline(always)]
    fn second(keyed: &Keyed, digest: R) -> R {
        let mut state = digest.xor_words(&keyed.keys[0]);
        for key in &keyed.keys[1..] {
            state = state.round().xor_words(key);
        }
        let h = state.xor(digest);
        compress(h, h.fill(&keyed.padding), &keyed.constants)
    }
}

/// The compression function: the block cipher under the key `h`, fed forward (Miyaguchi-Preneel).
#[inline(always)]
fn compress<R: WhirlpoolRows>(h: R, block: R, constants: &[Words; ROUNDS]) -> R {
    let mut key = h;
    let mut state = block.xor(h);
    let feed_forward = state;
    for constant in constants {
        key = key.round().xor_words(constant);
        state = state.round().xor(key);
    }
    state.xor(feed_forward)
}

/// Substitution followed by the share of column `j` in the diffusion, for each `j`.
static TABLE: [[u64; 256]; 8] = {
    let mut table = [[0; 256]; 8];
    let mut i = 0;
    while i < 8 * 256 * 8 {
        let (j, x, k) = (i >> 11, i >> 3 & 255, i & 7);
        table[j][x] |= (multiply(SBOX[x], CIRCULANT[(8 + k - j) % 8]) as u64) << (8 * k);
        i += 1;
    }
    table
};

impl WhirlpoolRows for OneState {
    #[inline(always)]
    fn round(self) -> Self {
        Self(std::array::from_fn(|i| {
            (0..8).fold(0, |sum, j| sum ^ TABLE[j][byte(self.0[(8 + i - j) % 8], j)])
        }))
    }
}
