//! Twofish with a 256-bit key, its S-boxes worked out once per key ("full keying").
//!
//! Constants: Schneier et al., "Twofish: A 128-Bit Block Cipher", 1998: q0 and q1 in 4.3.5, the MDS
//! matrix in 4.3.2, the RS matrix in 4.3, rotations and whitening in 4.1. Tables are looked up at
//! secret indices: not constant time.

use crate::pass::Direction;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The four 4-bit tables t0..t3 of q0 and of q1.
const Q_NIBBLES: [[[u8; 16]; 4]; 2] = [
    [
        [8, 1, 7, 13, 6, 15, 3, 2, 0, 11, 5, 9, 14, 12, 10, 4],
        [14, 12, 11, 8, 1, 2, 3, 5, 15, 4, 10, 6, 7, 0, 9, 13],
        [11, 10, 5, 14, 6, 13, 9, 0, 12, 8, 15, 3, 2, 4, 7, 1],
        [13, 7, 15, 4, 1, 2, 6, 14, 9, 11, 3, 0, 8, 5, 12, 10],
    ],
    [
        [2, 8, 11, 13, 15, 7, 6, 14, 3, 1, 9, 4, 0, 10, 12, 5],
        [1, 14, 2, 11, 4, 12, 3, 7, 6, 13, 10, 5, 15, 9, 0, 8],
        [4, 12, 7, 5, 1, 6, 9, 10, 0, 14, 13, 8, 2, 11, 3, 15],
        [11, 9, 5, 1, 12, 3, 13, 14, 6, 4, 7, 15, 2, 0, 8, 10],
    ],
];

/// Which of q0 and q1 a byte of g's argument meets, first to last, in the four columns.
const Q_ORDER: [[usize; 5]; 4] = [[1, 1, 0, 0, 1], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1], [1, 0, 1, 1, 0]];

const MDS: [[u8; 4]; 4] =
    [[0x01, 0xef, 0x5b, 0x5b], [0x5b, 0xef, 0xef, 0x01], [0xef, 0x5b, 0x01, 0xef], [0xef, 0x01, 0xef, 0x5b]];
/// x^8 + x^6 + x^5 + x^3 + 1.
const MDS_POLYNOMIAL: u16 = 0x169;

const RS: [[u8; 8]; 4] = [
    [0x01, 0xa4, 0x55, 0x87, 0x5a, 0x58, 0xdb, 0x9e],
    [0xa4, 0x56, 0x82, 0xf3, 0x1e, 0xc6, 0x68, 0xe5],
    [0x02, 0xa1, 0xfc, 0xc1, 0x47, 0xae, 0x3d, 0x19],
    [0xa4, 0x55, 0x87, 0x5a, 0x58, 0xdb, 0x9e, 0x03],
];
/// x^8 + x^6 + x^3 + x^2 + 1.
const RS_POLYNOMIAL: u16 = 0x14d;

static Q: [[u8; 256]; 2] = [q_table(0), q_table(1)];
static MDS_COLUMNS: [[u32; 256]; 4] = [mds_column(0), mds_column(1), mds_column(2), mds_column(3)];

const fn q_table(which: usize) -> [u8; 256] {
    let t = &Q_NIBBLES[which];
    let mut table = [0; 256];
    let mut x = 0;
    while x < 256 {
        let (a, b) = (x >> 4, x & 15);
        let (a, b) = (a ^ b, (a ^ (b >> 1 | b << 3) ^ (a << 3)) & 15);
        let (a, b) = (t[0][a] as usize, t[1][b] as usize);
        let (a, b) = (a ^ b, (a ^ (b >> 1 | b << 3) ^ (a << 3)) & 15);
        table[x] = t[3][b] << 4 | t[2][a];
        x += 1;
    }
    table
}

const fn times(a: u8, b: u8, polynomial: u16) -> u8 {
    let (mut a, mut b, mut product) = (a as u16, b, 0u16);
    while b != 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a <<= 1;
        if a & 0x100 != 0 {
            a ^= polynomial;
        }
        b >>= 1;
    }
    product as u8
}

const fn mds_column(column: usize) -> [u32; 256] {
    let mut table = [0; 256];
    let mut x = 0;
    while x < 256 {
        table[x] = u32::from_le_bytes([
            times(MDS[0][column], x as u8, MDS_POLYNOMIAL),
            times(MDS[1][column], x as u8, MDS_POLYNOMIAL),
            times(MDS[2][column], x as u8, MDS_POLYNOMIAL),
            times(MDS[3][column], x as u8, MDS_POLYNOMIAL),
        ]);
        x += 1;
    }
    table
}

/// One byte through the q permutations of `column`, `words` mixed in between, first to last.
fn q_chain(column: usize, x: u8, words: [u32; 4]) -> u8 {
    let order = &Q_ORDER[column];
    let mut x = Q[order[0]][usize::from(x)];
    for (word, &q) in words.iter().zip(&order[1..]) {
        x = Q[q][usize::from(x ^ word.to_le_bytes()[column])];
    }
    x
}

fn h(x: u8, words: [u32; 4]) -> u32 {
    (0..4).fold(0, |sum, column| sum ^ MDS_COLUMNS[column][usize::from(q_chain(column, x, words))])
}

/// A key, ready for use.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Twofish {
    /// g's tables: S-box and MDS column together.
    g: [[u32; 256]; 4],
    /// The S-boxes alone, by byte of the word, for kernels that multiply by themselves.
    pub(crate) s_boxes: [[u8; 256]; 4],
    /// The same in sixteen parts, for kernels that look up in sixteen entries at a time: from the
    /// second one on of each half what differs from the part before; little-endian.
    pub(crate) s_box_steps: [[u128; 16]; 4],
    /// K0..K3, xored to the plain text.
    pub(crate) input: [u32; 4],
    /// K4..K7, xored to the cipher text.
    pub(crate) output: [u32; 4],
    /// K8..K39, four for each pair of rounds.
    pub(crate) rounds: [[u32; 4]; 8],
}

impl Twofish {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        let mut words = [0u32; 8];
        for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let even = [words[6], words[4], words[2], words[0]];
        let odd = [words[7], words[5], words[3], words[1]];
        let pair = |i: u8| {
            let (a, b) = (h(2 * i, even), h(2 * i + 1, odd).rotate_left(8));
            [a.wrapping_add(b), a.wrapping_add(b).wrapping_add(b).rotate_left(9)]
        };
        let four = |i: u8| {
            let ([a, b], [c, d]) = (pair(2 * i), pair(2 * i + 1));
            [a, b, c, d]
        };
        let rounds = [2, 3, 4, 5, 6, 7, 8, 9].map(four);

        let mut s = [0u32; 4];
        for (word, bytes) in s.iter_mut().zip(key.as_chunks::<8>().0) {
            let row = |row: &[u8; 8]| {
                row.iter().zip(bytes).fold(0, |sum, (&r, &k)| sum ^ times(r, k, RS_POLYNOMIAL))
            };
            *word = u32::from_le_bytes([row(&RS[0]), row(&RS[1]), row(&RS[2]), row(&RS[3])]);
        }
        let mut this = Self {
            g: [[0; 256]; 4],
            s_boxes: [[0; 256]; 4],
            s_box_steps: [[0; 16]; 4],
            input: four(0),
            output: four(1),
            rounds,
        };
        for (column, mds) in MDS_COLUMNS.iter().enumerate() {
            for x in 0u8..=255 {
                let s_box = q_chain(column, x, s);
                this.s_boxes[column][usize::from(x)] = s_box;
                this.g[column][usize::from(x)] = mds[usize::from(s_box)];
            }
            let parts = this.s_boxes[column].as_chunks().0;
            let mut before = 0;
            for (i, (step, part)) in this.s_box_steps[column].iter_mut().zip(parts).enumerate() {
                let part = u128::from_le_bytes(*part);
                *step = if i == 8 { part } else { part ^ before };
                before = part;
            }
        }
        words.zeroize();
        s.zeroize();
        this
    }

    #[inline(always)]
    fn g(&self, x: u32) -> u32 {
        let [a, b, c, d] = x.to_le_bytes();
        self.g[0][usize::from(a)]
            ^ self.g[1][usize::from(b)]
            ^ self.g[2][usize::from(c)]
            ^ self.g[3][usize::from(d)]
    }

    /// g of a word rotated left by 8, the rotation folded into the choice of tables.
    #[inline(always)]
    fn g_rotated(&self, x: u32) -> u32 {
        let [a, b, c, d] = x.to_le_bytes();
        self.g[1][usize::from(a)]
            ^ self.g[2][usize::from(b)]
            ^ self.g[3][usize::from(c)]
            ^ self.g[0][usize::from(d)]
    }

    #[inline(always)]
    fn whiten(words: [u32; 4], keys: &[u32; 4]) -> [u32; 4] {
        [words[0] ^ keys[0], words[1] ^ keys[1], words[2] ^ keys[2], words[3] ^ keys[3]]
    }

    /// Encrypts `N` blocks at once, so that their table look-ups overlap.
    #[inline(always)]
    fn encrypt_group<const N: usize>(&self, blocks: &mut [[u8; 16]; N]) {
        let mut x = [[0u32; 4]; N];
        for (x, block) in x.iter_mut().zip(blocks.iter()) {
            *x = Self::whiten(read(block), &self.input);
        }
        for k in &self.rounds {
            for [a, b, c, d] in &mut x {
                let (t0, t1) = (self.g(*a), self.g_rotated(*b));
                let sum = t0.wrapping_add(t1);
                *c = (*c ^ sum.wrapping_add(k[0])).rotate_right(1);
                *d = d.rotate_left(1) ^ sum.wrapping_add(t1).wrapping_add(k[1]);
            }
            for [a, b, c, d] in &mut x {
                let (t0, t1) = (self.g(*c), self.g_rotated(*d));
                let sum = t0.wrapping_add(t1);
                *a = (*a ^ sum.wrapping_add(k[2])).rotate_right(1);
                *b = b.rotate_left(1) ^ sum.wrapping_add(t1).wrapping_add(k[3]);
            }
        }
        for (&[a, b, c, d], block) in x.iter().zip(blocks) {
            write(block, Self::whiten([c, d, a, b], &self.output));
        }
    }

    #[inline(always)]
    fn decrypt_group<const N: usize>(&self, blocks: &mut [[u8; 16]; N]) {
        let mut x = [[0u32; 4]; N];
        for (x, block) in x.iter_mut().zip(blocks.iter()) {
            let [c, d, a, b] = Self::whiten(read(block), &self.output);
            *x = [a, b, c, d];
        }
        for k in self.rounds.iter().rev() {
            for [a, b, c, d] in &mut x {
                let (t0, t1) = (self.g(*c), self.g_rotated(*d));
                let sum = t0.wrapping_add(t1);
                *a = a.rotate_left(1) ^ sum.wrapping_add(k[2]);
                *b = (*b ^ sum.wrapping_add(t1).wrapping_add(k[3])).rotate_right(1);
            }
            for [a, b, c, d] in &mut x {
                let (t0, t1) = (self.g(*a), self.g_rotated(*b));
                let sum = t0.wrapping_add(t1);
                *c = c.rotate_left(1) ^ sum.wrapping_add(k[0]);
                *d = (*d ^ sum.wrapping_add(t1).wrapping_add(k[1])).rotate_right(1);
            }
        }
        for (x, block) in x.iter().zip(blocks) {
            write(block, Self::whiten(*x, &self.input));
        }
    }

    /// Each block on its own, in place.
    pub(crate) fn blocks(&self, direction: Direction, blocks: &mut [[u8; 16]]) {
        match direction {
            Direction::Encrypt => super::in_groups(blocks, |two: &mut [_; 2]| self.encrypt_group(two)),
            Direction::Decrypt => super::in_groups(blocks, |two: &mut [_; 2]| self.decrypt_group(two)),
        }
    }
}

#[inline(always)]
fn read(block: &[u8; 16]) -> [u32; 4] {
    let x = u128::from_le_bytes(*block);
    [x as u32, (x >> 32) as u32, (x >> 64) as u32, (x >> 96) as u32]
}

#[inline(always)]
fn write(block: &mut [u8; 16], words: [u32; 4]) {
    for (bytes, word) in block.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
}
