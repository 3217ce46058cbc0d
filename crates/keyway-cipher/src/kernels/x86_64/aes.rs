//! AES rounds on whatever width the processor's AES instructions have.

use super::lanes::Lanes;
use super::run::Rounds;
use crate::portable::AesKeys;

/// # Safety
/// Every method needs AES instructions as wide as the vector.
pub(super) trait AesLanes: Lanes {
    unsafe fn encrypt(self, key: Self) -> Self;
    unsafe fn encrypt_last(self, key: Self) -> Self;
    unsafe fn decrypt(self, key: Self) -> Self;
    unsafe fn decrypt_last(self, key: Self) -> Self;
}

/// `R` round keys: 11 for AES-128, 15 for AES-256.
pub(super) struct Encrypt<'a, const R: usize>(pub(super) &'a AesKeys<R>);

impl<L: AesLanes, const V: usize, const R: usize> Rounds<L, V> for Encrypt<'_, R> {
    #[inline(always)]
    unsafe fn apply(&self, x: &mut [L; V]) {
        let keys = &self.0.encrypt;
        // SAFETY: the caller's promise.
        unsafe {
            let first = L::splat(&keys[0]);
            for x in x.iter_mut() {
                *x = x.xor(first);
            }
            for key in &keys[1..R - 1] {
                let key = L::splat(key);
                for x in x.iter_mut() {
                    *x = x.encrypt(key);
                }
            }
            let last = L::splat(&keys[R - 1]);
            for x in x.iter_mut() {
                *x = x.encrypt_last(last);
            }
        }
    }
}

/// The equivalent inverse cipher (FIPS 197, 5.3.5).
pub(super) struct Decrypt<'a, const R: usize>(pub(super) &'a AesKeys<R>);

impl<L: AesLanes, const V: usize, const R: usize> Rounds<L, V> for Decrypt<'_, R> {
    #[inline(always)]
    unsafe fn apply(&self, x: &mut [L; V]) {
        let keys = &self.0.decrypt;
        // SAFETY: the caller's promise.
        unsafe {
            let first = L::splat(&keys[0]);
            for x in x.iter_mut() {
                *x = x.xor(first);
            }
            for key in &keys[1..R - 1] {
                let key = L::splat(key);
                for x in x.iter_mut() {
                    *x = x.decrypt(key);
                }
            }
            let last = L::splat(&keys[R - 1]);
            for x in x.iter_mut() {
                *x = x.decrypt_last(last);
            }
        }
    }
}

/// Implements [`AesLanes`] with four intrinsics.
macro_rules! aes_lanes {
    ($vector:ty, $encrypt:ident, $encrypt_last:ident, $decrypt:ident, $decrypt_last:ident) => {
        impl AesLanes for $vector {
            #[inline(always)]
            unsafe fn encrypt(self, key: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $encrypt(self, key) }
            }

            #[inline(always)]
            unsafe fn encrypt_last(self, key: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $encrypt_last(self, key) }
            }

            #[inline(always)]
            unsafe fn decrypt(self, key: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $decrypt(self, key) }
            }

            #[inline(always)]
            unsafe fn decrypt_last(self, key: Self) -> Self {
                // SAFETY: the trait's contract.
                unsafe { $decrypt_last(self, key) }
            }
        }
    };
}
pub(super) use aes_lanes;
