//! AES with its instructions: eight blocks in flight, which hides their latency of two to four cycles a
//! pair at one or two pairs a cycle.

use super::aes::{AesLanes, Decrypt, Encrypt};
use super::entry_point::entry_point;
use super::lanes::Lanes;
use crate::portable::AesKeys;
use std::arch::aarch64::*;

/// All rounds of one direction. A round's key is added at its beginning; what mixes columns comes right behind
/// what substitutes, so that a processor can take the two as one.
macro_rules! rounds {
    ($x:ident, $keys:ident, $rounds:ident, $substitute:ident, $mix:ident) => {
        // SAFETY: the trait's contract.
        unsafe {
            for key in &$keys[..$rounds - 2] {
                let key = Self::splat(key);
                for x in $x.iter_mut() {
                    *x = $mix($substitute(*x, key));
                }
            }
            let (key, last) = (Self::splat(&$keys[$rounds - 2]), Self::splat(&$keys[$rounds - 1]));
            for x in $x.iter_mut() {
                *x = $substitute(*x, key).xor(last);
            }
        }
    };
}

impl AesLanes for uint8x16_t {
    #[inline(always)]
    unsafe fn encrypt<const V: usize, const R: usize>(x: &mut [Self; V], keys: &[[u8; 16]; R]) {
        rounds!(x, keys, R, vaeseq_u8, vaesmcq_u8);
    }

    #[inline(always)]
    unsafe fn decrypt<const V: usize, const R: usize>(x: &mut [Self; V], keys: &[[u8; 16]; R]) {
        rounds!(x, keys, R, vaesdq_u8, vaesimcq_u8);
    }
}

entry_point!("neon,aes", [const R: usize], AesKeys<R>, uint8x16_t, 8, 8, Encrypt, Decrypt);

/// The same in CBC.
pub(super) mod chained {
    use super::super::cbc::cbc_entry_point;
    use std::arch::aarch64::uint8x16_t;

    cbc_entry_point!("neon,aes", uint8x16_t, 8);
}
