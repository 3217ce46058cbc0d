//! Camellia's S-boxes with AES instructions, for processors without GFNI.
//!
//! AES's last round comes with ShiftRows, which moves blocks about here, and the last round of decryption with
//! its inverse. So the right half stays where ShiftRows would have put it: rounds from left to right take the one
//! instruction, those back the other, and nothing has to be moved in between.

use super::camellia::{Boxes, nibbles};
use super::nibbles::Nibbles;
use std::marker::PhantomData;

/// What ShiftRows does, and its inverse.
const SHIFT: u128 = 0x0b06_010c_0702_0d08_030e_0904_0f0a_0500;
const UNSHIFT: u128 = 0x0306_090c_0f02_0508_0b0e_0104_070a_0d00;

const AFFINE_OF_ZERO: u8 = 0x63;

/// The affine map of AES's S-box (FIPS 197, 5.1.1), behind the inversion.
const fn affine(x: u8) -> u8 {
    x ^ x.rotate_left(1) ^ x.rotate_left(2) ^ x.rotate_left(3) ^ x.rotate_left(4) ^ AFFINE_OF_ZERO
}

/// The map of these tables, then AES's affine one: decryption's last round undoes that before it inverts.
const fn then_affine([low, high]: [u128; 2]) -> [u128; 2] {
    let (low, high) = (low.to_le_bytes(), high.to_le_bytes());
    let (mut new_low, mut new_high) = ([0; 16], [0; 16]);
    let mut nibble = 0;
    while nibble < 16 {
        new_low[nibble] = affine(low[nibble]);
        new_high[nibble] = affine(high[nibble]) ^ AFFINE_OF_ZERO;
        nibble += 1;
    }
    [u128::from_le_bytes(new_low), u128::from_le_bytes(new_high)]
}

/// AES's affine map, which decryption's last round leaves out, then that of these tables.
const fn affine_then([low, high]: [u128; 2]) -> [u128; 2] {
    let (low, high) = (low.to_le_bytes(), high.to_le_bytes());
    let zero = AFFINE_OF_ZERO;
    let of_zero = low[(zero & 15) as usize] ^ high[(zero >> 4) as usize];
    let (mut new_low, mut new_high) = ([0; 16], [0; 16]);
    let mut nibble = 0;
    while nibble < 16 {
        let (x, y) = (affine(nibble as u8), affine((nibble as u8) << 4));
        new_low[nibble] = low[(x & 15) as usize] ^ high[(x >> 4) as usize];
        new_high[nibble] = low[(y & 15) as usize] ^ high[(y >> 4) as usize] ^ of_zero;
        nibble += 1;
    }
    [u128::from_le_bytes(new_low), u128::from_le_bytes(new_high)]
}

const BACK_INTO: [u128; 2] = then_affine(nibbles::INTO);
const BACK_INTO_S4: [u128; 2] = then_affine(nibbles::INTO_S4);
const BACK_OUT: [u128; 2] = affine_then(nibbles::OUT);
const BACK_OUT_S2: [u128; 2] = affine_then(nibbles::OUT_S2);
const BACK_OUT_S3: [u128; 2] = affine_then(nibbles::OUT_S3);

/// AES's last rounds, as wide as the vector, with a key of zeros.
///
/// # Safety
/// Every method needs the vector's instruction set and the AES instructions of the implementation.
pub(in crate::kernels) trait LastRounds<L> {
    unsafe fn encrypt(x: L) -> L;
    unsafe fn decrypt(x: L) -> L;
}

/// The S-boxes on the way from left to right.
pub(in crate::kernels) struct AesBoxes<A>(PhantomData<A>);

/// And on the way back.
pub(in crate::kernels) struct BackBoxes<A>(PhantomData<A>);

/// Implements the S-boxes with one of AES's last rounds and the maps before and behind it.
macro_rules! boxes {
    ($round:ident, $into:expr, $into_s4:expr, $out:expr, $out_s2:expr, $out_s3:expr) => {
        #[inline(always)]
        unsafe fn s1(x: L) -> L {
            // SAFETY: the trait's contract.
            unsafe { A::$round(x.map_nibbles(&$into)).map_nibbles(&$out) }
        }

        #[inline(always)]
        unsafe fn s2(x: L) -> L {
            // SAFETY: the trait's contract.
            unsafe { A::$round(x.map_nibbles(&$into)).map_nibbles(&$out_s2) }
        }

        #[inline(always)]
        unsafe fn s3(x: L) -> L {
            // SAFETY: the trait's contract.
            unsafe { A::$round(x.map_nibbles(&$into)).map_nibbles(&$out_s3) }
        }

        #[inline(always)]
        unsafe fn s4(x: L) -> L {
            // SAFETY: the trait's contract.
            unsafe { A::$round(x.map_nibbles(&$into_s4)).map_nibbles(&$out) }
        }
    };
}

impl<L: Nibbles, A: LastRounds<L>> Boxes<L> for AesBoxes<A> {
    type Back = BackBoxes<A>;

    boxes!(encrypt, nibbles::INTO, nibbles::INTO_S4, nibbles::OUT, nibbles::OUT_S2, nibbles::OUT_S3);

    #[inline(always)]
    unsafe fn move_right_half(half: &mut [L; 8]) {
        for x in half {
            // SAFETY: the trait's contract.
            *x = unsafe { x.look_up(L::table(&SHIFT)) };
        }
    }

    #[inline(always)]
    unsafe fn move_right_half_back(half: &mut [L; 8]) {
        for x in half {
            // SAFETY: the trait's contract.
            *x = unsafe { x.look_up(L::table(&UNSHIFT)) };
        }
    }
}

impl<L: Nibbles, A: LastRounds<L>> Boxes<L> for BackBoxes<A> {
    type Back = Self;

    boxes!(decrypt, BACK_INTO, BACK_INTO_S4, BACK_OUT, BACK_OUT_S2, BACK_OUT_S3);
}

/// Makes the functions that [`entry_point`](super::entry_point) asks for.
macro_rules! with_aes_boxes {
    ($rounds:ty) => {
        #[inline(always)]
        fn encrypt(keys: &Camellia) -> Sliced<'_, AesBoxes<$rounds>> {
            Sliced::new(&keys.encrypt_bytes)
        }

        #[inline(always)]
        fn decrypt(keys: &Camellia) -> Sliced<'_, AesBoxes<$rounds>> {
            Sliced::new(&keys.decrypt_bytes)
        }
    };
}
pub(in crate::kernels) use with_aes_boxes;
