//! Camellia with a 256-bit key (RFC 3713, whose names these are).
//!
//! S-boxes and the P function are combined in tables, looked up at secret indices: not constant
//! time.

use crate::pass::Direction;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// SBOX1 (RFC 3713, 2.4.1); the other three are made from it by rotations.
#[rustfmt::skip]
const SBOX1: [u8; 256] = [
    112, 130, 44, 236, 179, 39, 192, 229, 228, 133, 87, 53, 234, 12, 174, 65,
    35, 239, 107, 147, 69, 25, 165, 33, 237, 14, 79, 78, 29, 101, 146, 189,
    134, 184, 175, 143, 124, 235, 31, 206, 62, 48, 220, 95, 94, 197, 11, 26,
    166, 225, 57, 202, 213, 71, 93, 61, 217, 1, 90, 214, 81, 86, 108, 77,
    139, 13, 154, 102, 251, 204, 176, 45, 116, 18, 43, 32, 240, 177, 132, 153,
    223, 76, 203, 194, 52, 126, 118, 5, 109, 183, 169, 49, 209, 23, 4, 215,
    20, 88, 58, 97, 222, 27, 17, 28, 50, 15, 156, 22, 83, 24, 242, 34,
    254, 68, 207, 178, 195, 181, 122, 145, 36, 8, 232, 168, 96, 252, 105, 80,
    170, 208, 160, 125, 161, 137, 98, 151, 84, 91, 30, 149, 224, 255, 100, 210,
    16, 196, 0, 72, 163, 247, 117, 219, 138, 3, 230, 218, 9, 63, 221, 148,
    135, 92, 131, 2, 205, 74, 144, 51, 115, 103, 246, 243, 157, 127, 191, 226,
    82, 155, 216, 38, 200, 55, 198, 59, 129, 150, 111, 75, 19, 190, 99, 46,
    233, 121, 167, 140, 159, 110, 188, 142, 41, 245, 249, 182, 47, 253, 180, 89,
    120, 152, 6, 106, 231, 70, 113, 186, 212, 37, 171, 66, 136, 162, 141, 250,
    114, 7, 185, 85, 248, 238, 172, 10, 54, 73, 42, 104, 60, 56, 241, 164,
    64, 40, 211, 123, 187, 201, 67, 193, 21, 227, 173, 244, 119, 199, 128, 158,
];

/// Sigma1 to Sigma6 (RFC 3713, 2.2).
const SIGMA: [u64; 6] = [
    0xa09e_667f_3bcc_908b,
    0xb67a_e858_4caa_73b2,
    0xc6ef_372f_e94f_82be,
    0x54ff_53a5_f1d3_6f1c,
    0x10e5_27fa_de68_2d1d,
    0xb056_88c2_b3e6_c1fd,
];

/// Which bytes of F's output, first to last, the eight S-boxes' outputs go to (RFC 3713, 2.4.1).
const P_COLUMNS: [u64; 8] = [
    0xffff_ff00_ff00_00ff,
    0x00ff_ffff_ffff_0000,
    0xff00_ffff_00ff_ff00,
    0xffff_00ff_0000_ffff,
    0x00ff_ffff_00ff_ffff,
    0xff00_ffff_ff00_ffff,
    0xffff_00ff_ffff_00ff,
    0xffff_ff00_ffff_ff00,
];

static SP: [[u64; 256]; 8] =
    [sp_table(0), sp_table(1), sp_table(2), sp_table(3), sp_table(4), sp_table(5), sp_table(6), sp_table(7)];

const fn sp_table(byte: usize) -> [u64; 256] {
    let mut table = [0; 256];
    let mut x = 0;
    while x < 256 {
        // The eight bytes pass S-boxes 1 2 3 4 2 3 4 1.
        let s = match byte {
            0 | 7 => SBOX1[x],
            1 | 4 => SBOX1[x].rotate_left(1),
            2 | 5 => SBOX1[x].rotate_left(7),
            _ => SBOX1[(x as u8).rotate_left(1) as usize],
        };
        table[x] = P_COLUMNS[byte] & (s as u64 * 0x0101_0101_0101_0101);
        x += 1;
    }
    table
}

#[inline(always)]
fn f(x: u64, key: u64) -> u64 {
    (x ^ key).to_be_bytes().iter().zip(&SP).fold(0, |sum, (byte, table)| sum ^ table[usize::from(*byte)])
}

#[inline(always)]
fn fl(x: u64, key: u64) -> u64 {
    let (x1, x2) = ((x >> 32) as u32, x as u32);
    let (k1, k2) = ((key >> 32) as u32, key as u32);
    let x2 = x2 ^ (x1 & k1).rotate_left(1);
    u64::from(x1 ^ (x2 | k2)) << 32 | u64::from(x2)
}

#[inline(always)]
fn fl_inverse(y: u64, key: u64) -> u64 {
    let (y1, y2) = ((y >> 32) as u32, y as u32);
    let (k1, k2) = ((key >> 32) as u32, key as u32);
    let y1 = y1 ^ (y2 | k2);
    u64::from(y1) << 32 | u64::from(y2 ^ (y1 & k1).rotate_left(1))
}

/// Subkeys in the order of their use: two of whitening, six rounds, two of FL, six rounds, two, six,
/// two, six, two of whitening.
pub(crate) type Subkeys<T> = [T; 34];

/// A key, ready for use in both directions.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Camellia {
    encrypt: Subkeys<u64>,
    decrypt: Subkeys<u64>,
    /// The same with each byte four times, first to last: what byte-sliced kernels spread.
    pub(crate) encrypt_bytes: Subkeys<[u32; 8]>,
    pub(crate) decrypt_bytes: Subkeys<[u32; 8]>,
}

impl Camellia {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        let kl = u128::from_be_bytes(std::array::from_fn(|i| key[i]));
        let kr = u128::from_be_bytes(std::array::from_fn(|i| key[16 + i]));
        let two_rounds = |x: u128, i: usize| {
            let (mut d1, mut d2) = ((x >> 64) as u64, x as u64);
            d2 ^= f(d1, SIGMA[i]);
            d1 ^= f(d2, SIGMA[i + 1]);
            u128::from(d1) << 64 | u128::from(d2)
        };
        let ka = two_rounds(two_rounds(kl ^ kr, 0) ^ kl, 2);
        let kb = two_rounds(ka ^ kr, 4);
        // RFC 3713, 2.2, "256-bit": each line is a pair of subkeys.
        let pairs = [
            kl,
            kb,
            kr.rotate_left(15),
            ka.rotate_left(15),
            kr.rotate_left(30),
            kb.rotate_left(30),
            kl.rotate_left(45),
            ka.rotate_left(45),
            kl.rotate_left(60),
            kr.rotate_left(60),
            kb.rotate_left(60),
            kl.rotate_left(77),
            ka.rotate_left(77),
            kr.rotate_left(94),
            ka.rotate_left(94),
            kl.rotate_left(111),
            kb.rotate_left(111),
        ];
        let mut this = Self {
            encrypt: [0; 34],
            decrypt: [0; 34],
            encrypt_bytes: [[0; 8]; 34],
            decrypt_bytes: [[0; 8]; 34],
        };
        for (two, pair) in this.encrypt.as_chunks_mut::<2>().0.iter_mut().zip(pairs) {
            *two = [(pair >> 64) as u64, pair as u64];
        }
        // Decryption goes backwards, but the two whitening keys keep their sides (2.3.2).
        this.decrypt = this.encrypt;
        this.decrypt.reverse();
        this.decrypt.swap(0, 1);
        this.decrypt.swap(32, 33);
        let spread = |subkey: u64| subkey.to_be_bytes().map(|byte| u32::from(byte) * 0x0101_0101);
        this.encrypt_bytes = this.encrypt.map(spread);
        this.decrypt_bytes = this.decrypt.map(spread);
        this
    }

    /// Each block on its own, in place.
    pub(crate) fn blocks(&self, direction: Direction, blocks: &mut [[u8; 16]]) {
        let subkeys = match direction {
            Direction::Encrypt => &self.encrypt,
            Direction::Decrypt => &self.decrypt,
        };
        super::in_groups(blocks, |two: &mut [_; 2]| group(subkeys, two));
    }
}

/// `N` blocks at once, so that their table look-ups overlap.
#[inline(always)]
fn group<const N: usize>(k: &Subkeys<u64>, blocks: &mut [[u8; 16]; N]) {
    let mut d = blocks.map(|block| {
        let x = u128::from_be_bytes(block);
        [(x >> 64) as u64 ^ k[0], x as u64 ^ k[1]]
    });
    for (i, part) in k[2..32].chunks(8).enumerate() {
        let (rounds, between) = part.split_at(6);
        for [first, second] in rounds.as_chunks().0 {
            for [d1, d2] in &mut d {
                *d2 ^= f(*d1, *first);
            }
            for [d1, d2] in &mut d {
                *d1 ^= f(*d2, *second);
            }
        }
        if i < 3 {
            for [d1, d2] in &mut d {
                *d1 = fl(*d1, between[0]);
                *d2 = fl_inverse(*d2, between[1]);
            }
        }
    }
    *blocks = d.map(|[d1, d2]| (u128::from(d2 ^ k[32]) << 64 | u128::from(d1 ^ k[33])).to_be_bytes());
}
