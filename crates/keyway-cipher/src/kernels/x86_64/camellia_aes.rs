//! Camellia's S-boxes with AES instructions, for processors without GFNI.

use super::camellia::{Boxes, nibbles};
use super::nibbles::Nibbles;

/// Undoes the ShiftRows that comes with the last AES round, so that only its S-box is left.
const UNSHIFT: u128 = 0x0306_090c_0f02_0508_0b0e_0104_070a_0d00;

/// AES's last round, as wide as the vector.
///
/// # Safety
/// Needs the vector's instruction set and AES-NI.
pub(super) trait LastRound: Nibbles {
    /// With a key of zeros.
    unsafe fn last_round(self) -> Self;
}

pub(super) struct AesBoxes;

/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn s_box<L: LastRound>(x: L, into: &[u128; 2], out: &[u128; 2]) -> L {
    // SAFETY: the caller's promise.
    unsafe { x.map_nibbles(into).look_up(L::table(&UNSHIFT)).last_round().map_nibbles(out) }
}

impl<L: LastRound> Boxes<L> for AesBoxes {
    #[inline(always)]
    unsafe fn s1(x: L) -> L {
        // SAFETY: the trait's contract.
        unsafe { s_box(x, &nibbles::INTO, &nibbles::OUT) }
    }

    #[inline(always)]
    unsafe fn s2(x: L) -> L {
        // SAFETY: the trait's contract.
        unsafe { s_box(x, &nibbles::INTO, &nibbles::OUT_S2) }
    }

    #[inline(always)]
    unsafe fn s3(x: L) -> L {
        // SAFETY: the trait's contract.
        unsafe { s_box(x, &nibbles::INTO, &nibbles::OUT_S3) }
    }

    #[inline(always)]
    unsafe fn s4(x: L) -> L {
        // SAFETY: the trait's contract.
        unsafe { s_box(x, &nibbles::INTO_S4, &nibbles::OUT) }
    }
}

/// Makes the functions that [`entry_point`](super::entry_point) asks for.
macro_rules! with_aes_boxes {
    () => {
        #[inline(always)]
        fn encrypt(keys: &Camellia) -> Sliced<'_, AesBoxes> {
            Sliced::new(&keys.encrypt_bytes)
        }

        #[inline(always)]
        fn decrypt(keys: &Camellia) -> Sliced<'_, AesBoxes> {
            Sliced::new(&keys.decrypt_bytes)
        }
    };
}
pub(super) use with_aes_boxes;
