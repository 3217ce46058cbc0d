//! Blocks of 128 bits in vectors, one, two or four, and their products with powers of x.

use crate::kernels::rounds::lanes::Lanes;
use std::arch::x86_64::*;

/// x^128 = x^7 + x^2 + x + 1 (IEEE 1619, 5.2).
const POLYNOMIAL: i64 = 0x87;

impl Lanes for __m128i {
    const BLOCKS: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const [u8; 16]) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut [u8; 16]) {
        // SAFETY: the trait's contract.
        unsafe { _mm_storeu_si128(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn splat(block: &[u8; 16]) -> Self {
        // SAFETY: the trait's contract; the block is one vector long.
        unsafe { Self::load(block) }
    }

    #[inline(always)]
    unsafe fn numbers(first: u64) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm_set_epi64x(0, first as i64) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm_xor_si128(self, other) }
    }

    #[inline(always)]
    unsafe fn tweaks_from(first: &[u8; 16]) -> Self {
        // SAFETY: the trait's contract.
        unsafe { Self::load(first) }
    }

    #[inline(always)]
    unsafe fn times_x(self, power: i64) -> Self {
        // SAFETY: the trait's contract: SSE2 and PCLMULQDQ.
        unsafe {
            let polynomial = _mm_cvtsi64_si128(POLYNOMIAL);
            if power == 64 {
                let folded = _mm_clmulepi64_si128(self, polynomial, 0x01);
                return _mm_xor_si128(_mm_bslli_si128(self, 8), folded);
            }
            let carry = _mm_srl_epi64(self, _mm_cvtsi64_si128(64 - power));
            let shifted = _mm_sll_epi64(self, _mm_cvtsi64_si128(power));
            let folded = _mm_clmulepi64_si128(carry, polynomial, 0x01);
            _mm_xor_si128(_mm_xor_si128(shifted, folded), _mm_bslli_si128(carry, 8))
        }
    }
}

impl Lanes for __m256i {
    const BLOCKS: usize = 2;

    #[inline(always)]
    unsafe fn load(from: *const [u8; 16]) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut [u8; 16]) {
        // SAFETY: the trait's contract.
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn splat(block: &[u8; 16]) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_broadcastsi128_si256(<__m128i as Lanes>::load(block)) }
    }

    #[inline(always)]
    unsafe fn numbers(first: u64) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            _mm256_add_epi64(
                _mm256_setr_epi64x(first as i64, 0, first as i64, 0),
                _mm256_setr_epi64x(0, 0, 1, 0),
            )
        }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_xor_si256(self, other) }
    }

    #[inline(always)]
    unsafe fn tweaks_from(first: &[u8; 16]) -> Self {
        // SAFETY: the trait's contract. A shift by 64 gives zero.
        unsafe {
            let same = Self::splat(first);
            let carry = _mm256_srlv_epi64(same, _mm256_setr_epi64x(64, 64, 63, 63));
            let shifted = _mm256_sllv_epi64(same, _mm256_setr_epi64x(0, 0, 1, 1));
            fold_256(shifted, carry)
        }
    }

    #[inline(always)]
    unsafe fn times_x(self, power: i64) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            if power == 64 {
                // In two steps: the fold below has no room for more than 57 bits.
                return shift_256(shift_256(self, 32), 32);
            }
            // By whole bytes: one shift in place of a shift and a carry across the middle.
            if power == 16 {
                return _mm256_xor_si256(
                    _mm256_bslli_epi128(self, 2),
                    fold_top(_mm256_bsrli_epi128(self, 14)),
                );
            }
            if power == 8 {
                return _mm256_xor_si256(
                    _mm256_bslli_epi128(self, 1),
                    fold_top(_mm256_bsrli_epi128(self, 15)),
                );
            }
            shift_256(self, power)
        }
    }
}

/// Times x^`power`, which is at most 57. Apart from its caller: a function that calls itself is not inlined, and
/// without its caller's instruction set it is slow.
#[inline(always)]
unsafe fn shift_256(x: __m256i, power: i64) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe {
        let carry = _mm256_srlv_epi64(x, _mm256_set1_epi64x(64 - power));
        let shifted = _mm256_sllv_epi64(x, _mm256_set1_epi64x(power));
        fold_256(shifted, carry)
    }
}

/// Puts what 64-bit shifts carried out back in: across the middle, and folded at the top. With
/// shifts instead of carry-less multiplication, which AVX2 processors may not have this wide.
#[inline(always)]
unsafe fn fold_256(shifted: __m256i, carry: __m256i) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe {
        let middle = _mm256_xor_si256(shifted, _mm256_bslli_epi128(carry, 8));
        _mm256_xor_si256(middle, fold_top(_mm256_bsrli_epi128(carry, 8)))
    }
}

/// What was carried out at the top, times the polynomial.
#[inline(always)]
unsafe fn fold_top(top: __m256i) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe {
        let low = _mm256_xor_si256(top, _mm256_slli_epi64(top, 1));
        let high = _mm256_xor_si256(_mm256_slli_epi64(top, 2), _mm256_slli_epi64(top, 7));
        _mm256_xor_si256(low, high)
    }
}

impl Lanes for __m512i {
    const BLOCKS: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const [u8; 16]) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut [u8; 16]) {
        // SAFETY: the trait's contract.
        unsafe { _mm512_storeu_si512(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn splat(block: &[u8; 16]) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_broadcast_i32x4(<__m128i as Lanes>::load(block)) }
    }

    #[inline(always)]
    unsafe fn numbers(first: u64) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            _mm512_add_epi64(
                _mm512_maskz_set1_epi64(0b0101_0101, first as i64),
                _mm512_setr_epi64(0, 0, 1, 0, 2, 0, 3, 0),
            )
        }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_xor_si512(self, other) }
    }

    #[inline(always)]
    unsafe fn tweaks_from(first: &[u8; 16]) -> Self {
        // SAFETY: the trait's contract. A shift by 64 gives zero.
        unsafe {
            let same = Self::splat(first);
            let carry = _mm512_srlv_epi64(same, _mm512_setr_epi64(64, 64, 63, 63, 62, 62, 61, 61));
            let shifted = _mm512_sllv_epi64(same, _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3));
            fold_512(shifted, carry)
        }
    }

    #[inline(always)]
    unsafe fn times_x(self, power: i64) -> Self {
        // SAFETY: the trait's contract: AVX-512 F and BW, VPCLMULQDQ.
        unsafe {
            if power == 64 {
                let folded = _mm512_clmulepi64_epi128(self, _mm512_set1_epi64(POLYNOMIAL), 0x01);
                return _mm512_xor_si512(_mm512_bslli_epi128(self, 8), folded);
            }
            let carry = _mm512_srlv_epi64(self, _mm512_set1_epi64(64 - power));
            let shifted = _mm512_sllv_epi64(self, _mm512_set1_epi64(power));
            fold_512(shifted, carry)
        }
    }
}

/// As [`fold_256`], by carry-less multiplication.
#[inline(always)]
unsafe fn fold_512(shifted: __m512i, carry: __m512i) -> __m512i {
    // SAFETY: the caller has AVX-512 F and BW, and VPCLMULQDQ.
    unsafe {
        let folded = _mm512_clmulepi64_epi128(carry, _mm512_set1_epi64(POLYNOMIAL), 0x01);
        let across = _mm512_bslli_epi128(carry, 8);
        // 0x96: exclusive or of all three.
        _mm512_ternarylogic_epi64(shifted, folded, across, 0x96)
    }
}
