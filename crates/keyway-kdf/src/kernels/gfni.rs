//! Whirlpool and Streebog over eight chains, byte-sliced, with GFNI and VBMI.
//!
//! Register `j` holds, for each of eight chains, the eight bytes of word `j` (Streebog) or of
//! column `j` (Whirlpool). The substitution is a byte permutation of its 256-byte table in four
//! registers; multiplication by a constant, which is linear over bits, is one affine instruction
//! whatever the field. Nothing depends on secret data but register contents: no look-ups in
//! memory, no branches.

use super::byte_slices::{eight, transposed};
use super::rows::{Rows, Words};
use super::streebog::{PI, StreebogRows, linear};
use super::whirlpool::{SBOX, WhirlpoolRows, multiply};
use std::arch::x86_64::*;

/// The processor features that both types of this module need.
pub(super) fn available() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vl")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512vbmi")
        && std::arch::is_x86_feature_detected!("gfni")
}

/// A linear map of bytes in the form of the affine instruction: byte `7 - o` of the matrix holds
/// the input bits whose parity is output bit `o`. `columns[t]` is the image of input bit `t`.
const fn matrix(columns: [u8; 8]) -> i64 {
    let mut matrix = 0u64;
    let mut i = 0;
    while i < 64 {
        let (o, t) = (i / 8, i % 8);
        if columns[t] >> o & 1 == 1 {
            matrix |= 1 << (8 * (7 - o) + t);
        }
        i += 1;
    }
    matrix as i64
}

/// The byte `k` of the linear transformation's value as maps of each byte `j` of its argument.
pub(super) static STREEBOG: [[i64; 8]; 8] = {
    let mut maps = [[0; 8]; 8];
    let mut i = 0;
    while i < 64 {
        let (k, j) = (i / 8, i % 8);
        let mut columns = [0; 8];
        let mut t = 0;
        while t < 8 {
            columns[t] = (linear(j, t) >> (8 * k)) as u8;
            t += 1;
        }
        maps[k][j] = matrix(columns);
        i += 1;
    }
    maps
};

/// Multiplication by a constant in Whirlpool's field.
const fn times(constant: u8) -> i64 {
    let mut columns = [0; 8];
    let mut t = 0;
    while t < 8 {
        columns[t] = multiply(constant, 1 << t);
        t += 1;
    }
    matrix(columns)
}

/// The bytes at the same places of eight states, one state in each 64-bit lane.
type Eight = [__m512i; 8];

/// Eight chains of Streebog, register by word.
#[derive(Clone, Copy)]
pub(super) struct ByWord(Eight);

/// Eight chains of Whirlpool, register by column.
#[derive(Clone, Copy)]
pub(super) struct ByColumn(Eight);

/// The eight bytes at one place of eight words: the transpose of an 8×8 matrix of bytes.
const fn transposed(words: &Words) -> Words {
    let mut columns = [0; 8];
    let mut i = 0;
    while i < 64 {
        let (row, column) = (i / 8, i % 8);
        columns[column] |= (words[row] >> (8 * column) & 0xff) << (8 * row);
        i += 1;
    }
    columns
}

macro_rules! rows {
    ($name:ident, $arrange:expr) => {
        impl Rows for $name {
            const COUNT: usize = 8;

            #[inline(always)]
            unsafe fn load(from: &[Words]) -> Self {
                let arranged: [Words; 8] = std::array::from_fn(|c| from.get(c).map_or([0; 8], $arrange));
                let register = |j: usize| -> Words { std::array::from_fn(|c| arranged[c][j]) };
                // SAFETY: the caller vouches for the instructions; each load reads eight words.
                Self(unsafe { eight!(j => _mm512_loadu_si512(register(j).as_ptr().cast())) })
            }
            #[inline(always)]
            fn store(self, to: &mut [Words]) {
                for (j, register) in self.0.into_iter().enumerate() {
                    let mut lanes = Words::default();
                    // SAFETY: holding `self` proves the instructions; the store fills eight words.
                    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), register) };
                    for (words, lane) in to.iter_mut().zip(lanes) {
                        words[j] = lane;
                    }
                }
                to.iter_mut().for_each(|words| *words = $arrange(words));
            }
            fn arrange(words: &Words) -> Words {
                $arrange(words)
            }
            #[inline(always)]
            fn fill(self, arranged: &Words) -> Self {
                // SAFETY: holding `self` proves the instructions.
                Self(unsafe { eight!(j => _mm512_set1_epi64(arranged[j] as i64)) })
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                // SAFETY: holding `self` proves the instructions.
                Self(unsafe { eight!(j => _mm512_xor_si512(self.0[j], other.0[j])) })
            }
            #[inline(always)]
            fn xor3(self, b: Self, c: Self) -> Self {
                // SAFETY: holding `self` proves the instructions.
                Self(unsafe { eight!(j => xor3(self.0[j], b.0[j], c.0[j])) })
            }
        }
    };
}
rows!(ByWord, |words: &Words| *words);
rows!(ByColumn, transposed);

/// Exclusive or of three.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
pub(super) unsafe fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    // SAFETY: the caller vouches for the instruction.
    unsafe { _mm512_ternarylogic_epi64::<0x96>(a, b, c) }
}

/// Looks every byte up in a table of 256.
///
/// # Safety
/// The processor has AVX-512BW and VBMI.
#[inline(always)]
pub(super) unsafe fn looked_up(table: &[u8; 256], bytes: __m512i) -> __m512i {
    // SAFETY: the caller vouches for the instructions; the four loads are the table's quarters.
    unsafe {
        let table = table.as_ptr();
        let t0 = _mm512_loadu_si512(table.cast());
        let t1 = _mm512_loadu_si512(table.add(64).cast());
        let t2 = _mm512_loadu_si512(table.add(128).cast());
        let t3 = _mm512_loadu_si512(table.add(192).cast());
        let low = _mm512_permutex2var_epi8(t0, bytes, t1);
        let high = _mm512_permutex2var_epi8(t2, bytes, t3);
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high)
    }
}

/// Looks every byte of a state up.
///
/// # Safety
/// The processor has AVX-512BW and VBMI.
#[inline(always)]
unsafe fn substitute(table: &[u8; 256], state: Eight) -> Eight {
    // SAFETY: the caller vouches for the instructions.
    unsafe { eight!(j => looked_up(table, state[j])) }
}

/// The bytes of each lane under that lane's linear map.
///
/// # Safety
/// The processor has AVX-512F and GFNI.
#[inline(always)]
pub(super) unsafe fn map_each(bytes: __m512i, matrices: &Words) -> __m512i {
    // SAFETY: the caller vouches for the instructions; the load is of eight words.
    unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(bytes, _mm512_loadu_si512(matrices.as_ptr().cast())) }
}

/// The same linear map of every byte.
///
/// # Safety
/// The processor has AVX-512F and GFNI.
#[inline(always)]
unsafe fn map(bytes: __m512i, matrix: i64) -> __m512i {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(bytes, _mm512_set1_epi64(matrix)) }
}

/// Exchanges byte `i` of register `j` with byte `j` of register `i` in every 64-bit lane.
///
/// # Safety
/// The processor has AVX-512BW.
#[inline(always)]
unsafe fn transpose(a: Eight) -> Eight {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        transposed!(a, [
            _mm512_unpacklo_epi8 _mm512_unpackhi_epi8, _mm512_unpacklo_epi16 _mm512_unpackhi_epi16,
            _mm512_unpacklo_epi32 _mm512_unpackhi_epi32, _mm512_unpacklo_epi64 _mm512_unpackhi_epi64
        ])
    }
}

impl StreebogRows for ByWord {
    #[inline(always)]
    fn lps(self) -> Self {
        // SAFETY: holding `self` proves the instructions.
        unsafe {
            let s = substitute(&PI, self.0);
            let sum = eight!(k => _mm512_xor_si512(map(s[0], STREEBOG[k][0]), map(s[1], STREEBOG[k][1])));
            let sum = eight!(k => xor3(sum[k], map(s[2], STREEBOG[k][2]), map(s[3], STREEBOG[k][3])));
            let sum = eight!(k => xor3(sum[k], map(s[4], STREEBOG[k][4]), map(s[5], STREEBOG[k][5])));
            Self(transpose(eight!(k => xor3(sum[k], map(s[6], STREEBOG[k][6]), map(s[7], STREEBOG[k][7])))))
        }
    }

    #[inline(always)]
    fn add(self, words: &Words) -> Self {
        let mut carry = 0;
        #[allow(unused_assignments, reason = "the last carry leaves the number")]
        // SAFETY: holding `self` proves the instructions.
        Self(unsafe {
            eight!(j => {
                let word = _mm512_set1_epi64(words[j] as i64);
                let sum = _mm512_add_epi64(self.0[j], word);
                let over = _mm512_cmplt_epu64_mask(sum, word);
                let carried = _mm512_mask_add_epi64(sum, carry, sum, _mm512_set1_epi64(1));
                carry = over | _mm512_mask_cmpeq_epu64_mask(carry, carried, _mm512_setzero_si512());
                carried
            })
        })
    }
}

impl WhirlpoolRows for ByColumn {
    #[inline(always)]
    fn round(self) -> Self {
        // SAFETY: holding `self` proves the instructions.
        unsafe {
            let s = substitute(&SBOX, self.0);
            // Column j moves down by j rows, which are bytes here.
            let x = [
                s[0],
                _mm512_rol_epi64::<8>(s[1]),
                _mm512_rol_epi64::<16>(s[2]),
                _mm512_rol_epi64::<24>(s[3]),
                _mm512_rol_epi64::<32>(s[4]),
                _mm512_rol_epi64::<40>(s[5]),
                _mm512_rol_epi64::<48>(s[6]),
                _mm512_rol_epi64::<56>(s[7]),
            ];
            // With d_k = x_k + x_(k-3), the circulant 1 1 4 1 8 5 2 9 sums up for column k to
            // d_k + x_(k-1) + x_(k-5) + x_(k-7) + 4 d_(k-2) + 8 d_(k-4) + 2 x_(k-6).
            let d: Eight = eight!(k => _mm512_xor_si512(x[k], x[(k + 5) % 8]));
            Self(eight!(k => {
                let plain = xor3(d[k], x[(k + 7) % 8], x[(k + 3) % 8]);
                let two = map(x[(k + 2) % 8], const { times(2) });
                let four = map(d[(k + 6) % 8], const { times(4) });
                let eight = map(d[(k + 4) % 8], const { times(8) });
                xor3(plain, xor3(x[(k + 1) % 8], two, four), eight)
            }))
        }
    }
}
