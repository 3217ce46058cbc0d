//! AES's rounds with x86-64's instructions, which add a round's key at its end.

/// Implements [`AesLanes`](super::aes::AesLanes) with four intrinsics and a function that may keep the rounds in
/// order.
macro_rules! aes_lanes {
    ($vector:ty, $encrypt:ident, $encrypt_last:ident, $decrypt:ident, $decrypt_last:ident, $in_order:ident) => {
        impl AesLanes for $vector {
            #[inline(always)]
            unsafe fn encrypt<const V: usize, const R: usize>(x: &mut [Self; V], keys: &[[u8; 16]; R]) {
                $crate::kernels::x86_64::aes_lanes::rounds!(x, keys, R, $encrypt, $encrypt_last, $in_order);
            }

            #[inline(always)]
            unsafe fn decrypt<const V: usize, const R: usize>(x: &mut [Self; V], keys: &[[u8; 16]; R]) {
                $crate::kernels::x86_64::aes_lanes::rounds!(x, keys, R, $decrypt, $decrypt_last, $in_order);
            }
        }
    };
}
pub(super) use aes_lanes;

/// All rounds of one direction.
macro_rules! rounds {
    ($x:ident, $keys:ident, $rounds:ident, $round:ident, $last_round:ident, $in_order:ident) => {
        // SAFETY: the trait's contract.
        unsafe {
            let first = Self::splat(&$keys[0]);
            for x in $x.iter_mut() {
                *x = x.xor(first);
            }
            $in_order($x);
            for key in &$keys[1..$rounds - 1] {
                let key = Self::splat(key);
                for x in $x.iter_mut() {
                    *x = $round(*x, key);
                }
                $in_order($x);
            }
            let last = Self::splat(&$keys[$rounds - 1]);
            for x in $x.iter_mut() {
                *x = $last_round(*x, last);
            }
        }
    };
}
pub(super) use rounds;

/// Leaves the order to the compiler.
#[inline(always)]
pub(super) fn any_order<L, const V: usize>(_: &mut [L; V]) {}
