//! What the rounds ask of vectors, with NEON.

use super::bytes::Bytes;
use super::cbc::Apart;
use super::elephant::Arithmetic;
use super::lanes::Lanes;
use super::nibbles::Nibbles;
use super::serpent::Words;
use std::arch::aarch64::*;

/// x^128 = x^7 + x^2 + x + 1 (IEEE 1619, 5.2).
const POLYNOMIAL: u8 = 0x87;

impl Lanes for uint8x16_t {
    const BLOCKS: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const [u8; 16]) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vld1q_u8(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut [u8; 16]) {
        // SAFETY: the trait's contract.
        unsafe { vst1q_u8(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn splat(block: &[u8; 16]) -> Self {
        // SAFETY: the trait's contract; the block is one vector long.
        unsafe { Self::load(block) }
    }

    #[inline(always)]
    unsafe fn numbers(first: u64) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(first), vcreate_u64(0))) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { veorq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn tweaks_from(first: &[u8; 16]) -> Self {
        // SAFETY: the trait's contract.
        unsafe { Self::load(first) }
    }

    #[inline(always)]
    unsafe fn times_x(self, power: i64) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            let zero = vdupq_n_u8(0);
            if power == 64 {
                // In two steps: the fold below has no room for more than 57 bits.
                return shift(shift(self, 32), 32);
            }
            if power == 8 {
                // By a whole byte, as most tweaks are: no carry across the middle.
                let shifted = vextq_u8::<15>(zero, self);
                return shifted.xor(fold_byte(vextq_u8::<15>(self, zero)));
            }
            shift(self, power)
        }
    }
}

/// Times x^`power`, which is at most 57. Apart from its caller: a function that calls itself is not inlined.
#[inline(always)]
unsafe fn shift(x: uint8x16_t, power: i64) -> uint8x16_t {
    // SAFETY: the caller has NEON.
    unsafe {
        let zero = vdupq_n_u8(0);
        let words = vreinterpretq_u64_u8(x);
        let carry = vreinterpretq_u8_u64(vshlq_u64(words, vdupq_n_s64(power - 64)));
        let shifted = vreinterpretq_u8_u64(vshlq_u64(words, vdupq_n_s64(power)));
        let middle = shifted.xor(vextq_u8::<8>(zero, carry));
        let top = vextq_u8::<8>(carry, zero);
        if power < 8 {
            return middle.xor(fold_byte(top));
        }
        let top = vreinterpretq_u64_u8(top);
        let low = veorq_u64(top, vshlq_n_u64::<1>(top));
        let high = veorq_u64(vshlq_n_u64::<2>(top), vshlq_n_u64::<7>(top));
        middle.xor(vreinterpretq_u8_u64(veorq_u64(low, high)))
    }
}

/// What was carried out at the top, at most eight bits with zeros behind them, times the polynomial.
///
/// # Safety
/// The caller has NEON.
#[inline(always)]
unsafe fn fold_byte(top: uint8x16_t) -> uint8x16_t {
    // SAFETY: the caller's promise.
    unsafe { vreinterpretq_u8_p16(vmull_p8(vreinterpret_p8_u8(vget_low_u8(top)), vdup_n_p8(POLYNOMIAL))) }
}

impl Apart for uint8x16_t {
    #[inline(always)]
    unsafe fn gather(from: [*const [u8; 16]; 4]) -> Self {
        // SAFETY: the trait's contract.
        unsafe { Self::load(from[0]) }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: [*mut [u8; 16]; 4]) {
        // SAFETY: the trait's contract.
        unsafe { self.store(to[0]) }
    }

    #[inline(always)]
    unsafe fn after(self, before: Self) -> Self {
        before
    }
}

impl Words for uint8x16_t {
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vandq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vorrq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn not(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vmvnq_u8(self) }
    }

    #[inline(always)]
    unsafe fn splat_word(word: u32) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vreinterpretq_u8_u32(vdupq_n_u32(word)) }
    }

    #[inline(always)]
    unsafe fn shift_left<const N: i32>(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vreinterpretq_u8_u32(vshlq_n_u32::<N>(vreinterpretq_u32_u8(self))) }
    }

    #[inline(always)]
    unsafe fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            let x = vreinterpretq_u32_u8(self);
            vreinterpretq_u8_u32(vsriq_n_u32::<RIGHT>(vshlq_n_u32::<LEFT>(x), x))
        }
    }

    #[inline(always)]
    unsafe fn transpose(x: [Self; 4]) -> [Self; 4] {
        // SAFETY: the trait's contract.
        unsafe {
            let [a, b, c, d] = [
                vreinterpretq_u32_u8(x[0]),
                vreinterpretq_u32_u8(x[1]),
                vreinterpretq_u32_u8(x[2]),
                vreinterpretq_u32_u8(x[3]),
            ];
            let (ac, ac_high) = (vzip1q_u32(a, c), vzip2q_u32(a, c));
            let (bd, bd_high) = (vzip1q_u32(b, d), vzip2q_u32(b, d));
            [
                vreinterpretq_u8_u32(vzip1q_u32(ac, bd)),
                vreinterpretq_u8_u32(vzip2q_u32(ac, bd)),
                vreinterpretq_u8_u32(vzip1q_u32(ac_high, bd_high)),
                vreinterpretq_u8_u32(vzip2q_u32(ac_high, bd_high)),
            ]
        }
    }
}

impl Arithmetic for uint8x16_t {
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(self), vreinterpretq_u32_u8(other))) }
    }

    #[inline(always)]
    unsafe fn minus(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vreinterpretq_u8_u32(vsubq_u32(vreinterpretq_u32_u8(self), vreinterpretq_u32_u8(other))) }
    }
}

impl Bytes for uint8x16_t {
    #[inline(always)]
    unsafe fn interleave_low(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vzip1q_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn interleave_high(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vzip2q_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn splat4(bytes: u32) -> Self {
        // SAFETY: the trait's contract.
        unsafe { Self::splat_word(bytes) }
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vandq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vorrq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn double(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vaddq_u8(self, self) }
    }

    #[inline(always)]
    unsafe fn top_bit(self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vshrq_n_u8::<7>(self) }
    }
}

impl Nibbles for uint8x16_t {
    #[inline(always)]
    unsafe fn table(entries: &u128) -> Self {
        // SAFETY: the trait's contract; 16 bytes are read where there are 16.
        unsafe { vld1q_u8((&raw const *entries).cast()) }
    }

    #[inline(always)]
    unsafe fn splat1(byte: i8) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vdupq_n_u8(byte.cast_unsigned()) }
    }

    #[inline(always)]
    unsafe fn look_up(self, at: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vqtbl1q_u8(self, at) }
    }

    #[inline(always)]
    unsafe fn nibbles(self) -> (Self, Self) {
        // SAFETY: the trait's contract.
        unsafe { (vandq_u8(self, vdupq_n_u8(15)), vshrq_n_u8::<4>(self)) }
    }

    #[inline(always)]
    unsafe fn add_saturating(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vqaddq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vsubq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vminq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn or_else(self, other: Self, by: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { vbslq_u8(vcltzq_s8(vreinterpretq_s8_u8(by)), other, self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xts::double;

    /// Every power that a group of any size may ask for, with carries and without.
    #[test]
    fn powers_of_x() {
        for start in [1, 0x80, u128::MAX, 1 << 127, 0x8421_0f5a_3c96_e177_8000_0000_0000_0001] {
            let mut expected = start;
            for power in 1..=64 {
                expected = double(expected);
                if power <= 48 || power == 64 {
                    let mut found = [0; 16];
                    // SAFETY: NEON is part of every aarch64 target here; the arrays are one vector long.
                    unsafe { uint8x16_t::load(&start.to_le_bytes()).times_x(power).store(&mut found) };
                    assert_eq!(u128::from_le_bytes(found), expected, "{start:#x} times x^{power}");
                }
            }
        }
    }
}
