//! Whirlpool over as many chains as a vector has lanes, byte-sliced, by look-ups of nibbles.
//!
//! The substitution box is made of 4-bit boxes (ISO/IEC 10118-3, annex): its last two are part of the tables
//! that multiply, which take what the middle box makes of each half.

use super::byte_slices::eight;
use super::quads::{self, Bytes, Table, quad_rows};
use super::rows::{Rows, Words};
use super::whirlpool::{BOX_E, BOX_E_INVERSE, BOX_R, WhirlpoolRows, multiply};

/// Chains of Whirlpool, vector by column.
#[derive(Clone, Copy)]
pub(super) struct ByColumn<V>([V; 8]);

/// The eight bytes at one place of eight words: the transpose of an 8×8 matrix of bytes. Its own inverse.
fn transposed(words: &Words) -> Words {
    std::array::from_fn(|column| {
        words.iter().rev().fold(0, |bytes, word| bytes << 8 | (word >> (8 * column) & 0xff))
    })
}

quad_rows!(ByColumn, transposed, transposed);

/// The substitution box's last step and the multiplication by 2^`power`: by its higher nibble, and by its lower one.
const fn products(power: u32) -> [Table; 2] {
    let mut tables = [[0; 16]; 2];
    let mut nibble = 0;
    while nibble < 16 {
        tables[0][nibble] = multiply(BOX_E[nibble] << 4, 1 << power);
        tables[1][nibble] = multiply(BOX_E_INVERSE[nibble], 1 << power);
        nibble += 1;
    }
    tables
}

/// By 1, 2, 4 and 8.
static PRODUCTS: [[Table; 2]; 4] = [products(0), products(1), products(2), products(3)];

/// For each column the bytes that its cyclic shift takes.
static SHIFTS: [Table; 8] = {
    let mut shifts = [[0; 16]; 8];
    let mut i = 0;
    while i < 8 * 16 {
        let (column, at) = (i / 16, i % 16);
        shifts[column][at] = (at / 8 * 8 + (at + 8 - column) % 8) as u8;
        i += 1;
    }
    shifts
};

/// Substitution of every byte, multiplied by 1, 2, 4 and 8.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn substituted<V: Bytes>(x: V) -> [V; 4] {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let (low, high) = x.nibbles();
        let (high, low) = (V::look_up(&BOX_E, high), V::look_up(&BOX_E_INVERSE, low));
        let middle = V::look_up(&BOX_R, high.xor(low));
        let (high, low) = (high.xor(middle), low.xor(middle));
        macro_rules! times {
            ($power:literal) => {{
                let [by_high, by_low] = &PRODUCTS[$power];
                V::look_up(by_high, high).xor(V::look_up(by_low, low))
            }};
        }
        [times!(0), times!(1), times!(2), times!(3)]
    }
}

impl<V: Bytes> WhirlpoolRows for ByColumn<V> {
    #[inline(always)]
    fn round(self) -> Self {
        // SAFETY: holding `self` proves the instructions.
        unsafe {
            let x = eight!(j => {
                // Column j moves down by j rows, which are bytes here.
                substituted(if j == 0 { self.0[j] } else { self.0[j].shuffle(&SHIFTS[j]) })
            });
            // The circulant 1 1 4 1 8 5 2 9: column j goes into column j + d by the factor number d.
            Self(eight!(k => {
                macro_rules! of {
                    ($distance:literal, $power:literal) => { x[(k + 8 - $distance) % 8][$power] };
                }
                let sum = of!(0, 0).xor(of!(1, 0)).xor(of!(2, 2));
                let sum = sum.xor(of!(3, 0)).xor(of!(4, 3));
                let sum = sum.xor(of!(5, 0)).xor(of!(5, 2));
                let sum = sum.xor(of!(6, 1)).xor(of!(7, 0));
                sum.xor(of!(7, 3))
            }))
        }
    }
}
