//! Streebog over as many chains as a vector has lanes, byte-sliced, by look-ups of nibbles.
//!
//! π is computed from its hidden structure (Biryukov, Perrin, Udovenko, "Reverse-Engineering the S-Box of
//! Streebog, Kuznyechik and STRIBOBr1", 2016): two linear maps of bytes, alpha and omega, and between them
//! on nibbles l and r of GF(2^4), modulo x^4 + x^3 + 1, l' = nu1(l / r), or nu0(l) where r is zero;
//! r' = sigma(r * phi(l')). Products are sums of logarithms.
//!
//! The maps cost nothing. Omega is part of the tables of the linear transformation, which are looked up by
//! l' and by the logarithm of r * phi(l'). All bytes here are what alpha makes of the standard's: those
//! tables end with alpha, keys and constants are arranged, and only sums of numbers go back and forth.

use super::byte_slices::eight;
use super::quads::{self, Bytes, Table, quad_rows};
use super::rows::{Rows, Words};
use super::streebog::{StreebogRows, linear};

/// Chains of Streebog, vector by word, every byte mapped by alpha.
#[derive(Clone, Copy)]
pub(super) struct ByAlpha<V>([V; 8]);

/// What alpha makes of each bit of a byte, and what its inverse does.
const ALPHA: [u8; 8] = [0x70, 0x3a, 0x14, 0x9a, 0x02, 0x11, 0x74, 0x18];
const ALPHA_INVERSE: [u8; 8] = [0x65, 0x10, 0x41, 0xc5, 0x45, 0x92, 0xd6, 0x98];

// By nibble. Logarithms are to the base x; tables called `EXP` take one. Zero's logarithm is 0xc0: a sum with
// it keeps its highest bit, for which a shuffle gives zero.
const LOG: Table =
    [0xc0, 0x00, 0x01, 0x0c, 0x02, 0x09, 0x0d, 0x07, 0x03, 0x04, 0x0a, 0x05, 0x0e, 0x0b, 0x08, 0x06];
const LOG_INVERSE: Table =
    [0xc0, 0x00, 0x0e, 0x03, 0x0d, 0x06, 0x02, 0x08, 0x0c, 0x0b, 0x05, 0x0a, 0x01, 0x04, 0x07, 0x09];
/// L' is kept plus nu1 of zero, so that a shuffle's zero is right too.
const NU0: Table =
    [0x05, 0x02, 0x04, 0x0c, 0x01, 0x0e, 0x09, 0x0d, 0x07, 0x03, 0x08, 0x06, 0x0f, 0x0a, 0x0b, 0x00];
const NU1_EXP: Table =
    [0x01, 0x0b, 0x07, 0x03, 0x02, 0x09, 0x0d, 0x06, 0x04, 0x08, 0x0c, 0x05, 0x0e, 0x0f, 0x0a, 0x00];
const LOG_PHI: Table =
    [0x0e, 0x00, 0x02, 0x0e, 0x03, 0x05, 0x01, 0x05, 0x05, 0x0d, 0x0c, 0x08, 0x03, 0x09, 0x0c, 0x0d];
/// Omega on the left nibble, plus omega of sigma of zero, which is missing in the next table.
const OMEGA_LEFT: Table =
    [0xe8, 0xf8, 0xc8, 0xd8, 0xec, 0xfc, 0xcc, 0xdc, 0xfa, 0xea, 0xda, 0xca, 0xfe, 0xee, 0xde, 0xce];
const OMEGA_SIGMA_EXP: Table =
    [0x01, 0xdc, 0x44, 0x4f, 0x45, 0x4e, 0x0b, 0x92, 0x0a, 0xd7, 0x99, 0xdd, 0x98, 0xd6, 0x93, 0x00];

/// A linear map of every byte of a word, in plain arithmetic: no table that a secret would be looked up in.
const fn map(word: u64, columns: &[u8; 8]) -> u64 {
    const LOWEST: u64 = u64::from_ne_bytes([1; 8]);
    let mut mapped = 0;
    let mut bit = 0;
    while bit < 8 {
        mapped ^= (word >> bit & LOWEST) * columns[bit] as u64;
        bit += 1;
    }
    mapped
}

/// For byte `j` of the linear transformation's argument its share of each byte `k` of the result: by the left
/// nibble behind the middle of π, and by the logarithm of the right one.
static SHARES: [[[Table; 2]; 8]; 8] = {
    let mut shares = [[[[0; 16]; 2]; 8]; 8];
    let mut i = 0;
    while i < 8 * 2 * 16 {
        let (j, side, entry) = (i / 32, i / 16 % 2, i % 16);
        let byte = [OMEGA_LEFT, OMEGA_SIGMA_EXP][side][entry];
        let (mut sum, mut bit) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                sum ^= linear(j, bit);
            }
            bit += 1;
        }
        let bytes = map(sum, &ALPHA).to_le_bytes();
        let mut k = 0;
        while k < 8 {
            shares[j][k][side][entry] = bytes[k];
            k += 1;
        }
        i += 1;
    }
    shares
};

/// Words with every byte mapped by alpha.
fn arranged(words: &Words) -> Words {
    words.map(|word| map(word, &ALPHA))
}

/// And as they were.
fn arranged_back(words: &Words) -> Words {
    words.map(|word| map(word, &ALPHA_INVERSE))
}

quad_rows!(ByAlpha, arranged, arranged_back);

/// The middle of π: l' and the logarithm of r * phi(l').
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn middle<V: Bytes>(x: V) -> [V; 2] {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let (r, l) = x.nibbles();
        let inverse = V::look_up(&LOG_INVERSE, r);
        let quotient = V::look_up(&LOG, l).add_logarithms(inverse);
        // The highest bit of the logarithm says that r is zero.
        let l = V::look_up(&NU1_EXP, quotient).or_else(V::look_up(&NU0, l), inverse);
        [l, V::look_up(&LOG, r).add_logarithms(V::look_up(&LOG_PHI, l))]
    }
}

/// Each byte of a linear map of bytes.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn mapped<V: Bytes>(x: V, columns: &[u8; 8]) -> V {
    let table = |shift: usize| -> Table {
        std::array::from_fn(|nibble| map((nibble << shift) as u64, columns) as u8)
    };
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let (low, high) = x.nibbles();
        V::look_up(&table(0), low).xor(V::look_up(&table(4), high))
    }
}

impl<V: Bytes> StreebogRows for ByAlpha<V> {
    #[inline(always)]
    fn lps(self) -> Self {
        // SAFETY: holding `self` proves the instructions.
        unsafe {
            // One argument after the other: eight sums and its two nibbles find room in registers.
            macro_rules! share {
                ($at:ident, $j:literal, $k:expr) => {{
                    let [left, right] = &SHARES[$j][$k];
                    V::look_up(left, $at[0]).xor(V::look_up(right, $at[1]))
                }};
            }
            let at = middle(self.0[0]);
            let mut sum = eight!(k => share!(at, 0, k));
            macro_rules! add_share {
                ($j:literal) => {
                    let at = middle(self.0[$j]);
                    sum = eight!(k => sum[k].xor(share!(at, $j, k)));
                };
            }
            add_share!(1);
            add_share!(2);
            add_share!(3);
            add_share!(4);
            add_share!(5);
            add_share!(6);
            add_share!(7);
            Self(V::transpose(sum))
        }
    }

    #[inline(always)]
    #[allow(unused_assignments, reason = "the last carry leaves the number")]
    fn add(self, words: &Words) -> Self {
        // SAFETY: holding `self` proves the instructions.
        unsafe {
            let mut carry = V::fill(0);
            Self(eight!(j => {
                let sum;
                (sum, carry) = mapped(self.0[j], &ALPHA_INVERSE).add_with_carry(words[j], carry);
                mapped(sum, &ALPHA)
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::streebog::PI;

    /// The hidden structure, its inverse maps, and the standard's table agree on every byte.
    #[test]
    fn the_parts_make_pi() {
        let look_up = |table: &Table, at: u8| if at >> 7 == 1 { 0 } else { table[usize::from(at & 15)] };
        let add = |a: u8, b: u8| {
            let sum = a.saturating_add(b);
            sum.min(sum.wrapping_sub(15))
        };
        for (x, &expected) in (0u8..=255).zip(&PI) {
            let mapped = map(u64::from(x), &ALPHA);
            assert_eq!(map(mapped, &ALPHA_INVERSE), u64::from(x));
            let (l, r) = (mapped as u8 >> 4, mapped as u8 & 15);
            let inverse = look_up(&LOG_INVERSE, r);
            let nu1 = look_up(&NU1_EXP, add(look_up(&LOG, l), inverse));
            let l = if r == 0 { look_up(&NU0, l) } else { nu1 };
            let r = add(look_up(&LOG, r), look_up(&LOG_PHI, l));
            assert_eq!(look_up(&OMEGA_LEFT, l) ^ look_up(&OMEGA_SIGMA_EXP, r), expected, "{x:#x}");
        }
    }
}
