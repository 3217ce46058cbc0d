//! AES on whatever width the processor's AES instructions have.

use super::lanes::Lanes;
use super::run::Rounds;
use crate::portable::AesKeys;

/// Vectors with AES instructions.
///
/// # Safety
/// Every method needs AES instructions as wide as the vector.
pub(in crate::kernels) trait AesLanes: Lanes {
    /// All rounds over some vectors, which take turns; `keys` as FIPS 197 has them.
    unsafe fn encrypt<const V: usize, const R: usize>(x: &mut [Self; V], keys: &[[u8; 16]; R]);
    /// The equivalent inverse cipher (FIPS 197, 5.3.5) and its keys.
    unsafe fn decrypt<const V: usize, const R: usize>(x: &mut [Self; V], keys: &[[u8; 16]; R]);
}

/// `R` round keys: 11 for AES-128, 15 for AES-256.
pub(in crate::kernels) struct Encrypt<'a, const R: usize>(pub(in crate::kernels) &'a AesKeys<R>);

impl<L: AesLanes, const V: usize, const R: usize> Rounds<L, V> for Encrypt<'_, R> {
    #[inline(always)]
    unsafe fn apply(&self, x: &mut [L; V]) {
        // SAFETY: the caller's promise.
        unsafe { L::encrypt(x, &self.0.encrypt) }
    }
}

pub(in crate::kernels) struct Decrypt<'a, const R: usize>(pub(in crate::kernels) &'a AesKeys<R>);

impl<L: AesLanes, const V: usize, const R: usize> Rounds<L, V> for Decrypt<'_, R> {
    #[inline(always)]
    unsafe fn apply(&self, x: &mut [L; V]) {
        // SAFETY: the caller's promise.
        unsafe { L::decrypt(x, &self.0.decrypt) }
    }
}
