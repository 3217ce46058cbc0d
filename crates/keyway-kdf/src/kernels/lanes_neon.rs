//! Lanes of NEON: four 32-bit or two 64-bit words.

use super::lanes::{Lanes, Wide, operations};
use std::arch::aarch64::*;

/// A rotation right by `N` bits, for every `N` that there can be: a shift, and another that puts its bits into
/// the gap. Their amounts are part of the instructions; only one arm is left of the compiled `match`.
macro_rules! rotated {
    ($x:expr, $n:expr, $bits:literal, $left:ident, $insert:ident, $($amount:literal)*) => {
        match $n {
            $($amount => $insert::<$amount>($left::<{ $bits - $amount }>($x), $x),)*
            _ => $x,
        }
    };
}

macro_rules! rotated_32 {
    ($x:expr, $n:expr) => {
        rotated!($x, $n, 32, vshlq_n_u32, vsriq_n_u32,
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    };
}

macro_rules! rotated_64 {
    ($x:expr, $n:expr) => {
        rotated!($x, $n, 64, vshlq_n_u64, vsriq_n_u64,
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41
            42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63)
    };
}

macro_rules! neon {
    (
        $name:ident, $vector:ty, $word:ty, $count:literal, $doc:literal, $load:ident, $store:ident, $dup:ident,
        $add:ident, $xor:ident, $select:ident, $or_not:ident, $shift:ident, $rotated:ident
    ) => {
        #[doc = $doc]
        #[derive(Clone, Copy)]
        pub(crate) struct $name(pub(super) $vector);

        impl Lanes for $name {
            type Word = $word;
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn load(from: &[$word]) -> Self {
                debug_assert!(from.len() >= $count);
                // SAFETY: the caller vouches for the processor and for the length.
                Self(unsafe { $load(from.as_ptr()) })
            }
            #[inline(always)]
            fn store(self, to: &mut [$word]) {
                if to.len() >= $count {
                    // SAFETY: the length was just checked; a value proves the instruction set.
                    unsafe { $store(to.as_mut_ptr(), self.0) }
                }
            }
            operations! {
                fn xor3(self, b: Self, c: Self) = self.xor(b).xor(c);
                // Where self and b agree that is the answer, elsewhere c decides.
                fn majority(self, b: Self, c: Self) = self.xor(b).choose(c, b);
            }
            operations! { proved
                fn fill(self, word: $word) = $dup(word);
                fn add(self, o: Self) = $add(self.0, o.0);
                fn xor(self, o: Self) = $xor(self.0, o.0);
                fn choose(self, b: Self, c: Self) = $select(self.0, b.0, c.0);
                fn or_not_xor(self, b: Self, c: Self) = $xor($or_not(self.0, b.0), c.0);
                fn rotate_right<const N: i32>(self) = $rotated!(self.0, N);
                fn rotate_left<const N: i32>(self) = $rotated!(self.0, <$word>::BITS as i32 - N);
                fn shift_right<const N: i32>(self) = $shift::<N>(self.0);
            }
        }
    };
}
neon! { W32x4, uint32x4_t, u32, 4, "Four 32-bit words.", vld1q_u32, vst1q_u32, vdupq_n_u32, vaddq_u32, veorq_u32,
vbslq_u32, vornq_u32, vshrq_n_u32, rotated_32 }
neon! { W64x2, uint64x2_t, u64, 2, "Two 64-bit words.", vld1q_u64, vst1q_u64, vdupq_n_u64, vaddq_u64, veorq_u64,
vbslq_u64, vornq_u64, vshrq_n_u64, rotated_64 }

impl Wide for W64x2 {
    #[inline(always)]
    fn multiply_low(self, o: Self) -> Self {
        // SAFETY: holding `self` proves the instruction set.
        Self(unsafe { vmull_u32(vmovn_u64(self.0), vmovn_u64(o.0)) })
    }
}

impl W64x2 {
    /// The first words of both, and the second words.
    #[inline(always)]
    pub(super) fn turned(self, o: Self) -> [Self; 2] {
        // SAFETY: holding `self` proves the instruction set.
        unsafe { [Self(vzip1q_u64(self.0, o.0)), Self(vzip2q_u64(self.0, o.0))] }
    }
}
