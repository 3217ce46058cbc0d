//! Kuznyechik on 512-bit vectors: 64 blocks, two units of 512 bytes, at a time. GFNI multiplies; the
//! S-box lies in four registers and VBMI looks bytes up in them.

use super::eight::{key, lanes, spread, unspread};
use super::entry_point::entry_point;
use super::kuznyechik::{Decrypt, Encrypt, Parts, times, with_parts};
use super::kuznyechik_gfni::gfni_sum;
use super::lanes::Lanes;
use super::run::Rounds;
use crate::portable::{
    KUZNYECHIK_PI, KUZNYECHIK_PI_INVERSE, Kuznyechik, kuznyechik_linear, kuznyechik_times,
};
use std::arch::x86_64::*;
use std::marker::PhantomData;

struct Vbmi;

/// # Safety
/// The caller has AVX-512 with VBMI.
#[inline(always)]
unsafe fn look_up(table: &[u8; 256], x: &mut [__m512i]) {
    // SAFETY: the caller's promise; the four loads cover exactly the table.
    unsafe {
        let quarters: *const __m512i = table.as_ptr().cast();
        let t0 = _mm512_loadu_si512(quarters);
        let t1 = _mm512_loadu_si512(quarters.add(1));
        let t2 = _mm512_loadu_si512(quarters.add(2));
        let t3 = _mm512_loadu_si512(quarters.add(3));
        for x in x {
            // Each permutation takes seven bits of the index; the eighth chooses between them.
            let low = _mm512_permutex2var_epi8(t0, *x, t1);
            let high = _mm512_permutex2var_epi8(t2, *x, t3);
            *x = _mm512_mask_blend_epi8(_mm512_movepi8_mask(*x), low, high);
        }
    }
}

/// # Safety
/// The caller has AVX-512 and GFNI.
#[inline(always)]
unsafe fn map<const MATRIX: i64>(x: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(x, _mm512_set1_epi64(MATRIX)) }
}

impl Parts<__m512i> for Vbmi {
    #[inline(always)]
    unsafe fn substitute(x: &mut [__m512i; 16]) {
        // SAFETY: the trait's contract.
        unsafe { look_up(&KUZNYECHIK_PI, x) }
    }

    #[inline(always)]
    unsafe fn inverse_substitute(x: &mut [__m512i; 16]) {
        // SAFETY: the trait's contract.
        unsafe { look_up(&KUZNYECHIK_PI_INVERSE, x) }
    }

    gfni_sum!(__m512i, map);
}

with_parts!(Vbmi);

/// The multiplications by which each byte enters the sixteen that L makes: L is linear, so these are
/// L of that byte alone.
const LINEAR: [[[[i64; 8]; 2]; 8]; 2] = {
    let mut factors = [[[[0; 8]; 2]; 8]; 2];
    let mut from = 0;
    while from < 16 {
        let mut block = [0; 16];
        block[from] = 1;
        kuznyechik_linear(&mut block);
        let mut to = 0;
        while to < 16 {
            factors[from / 8][from % 8][to / 8][to % 8] = multiplication(block[to]);
            to += 1;
        }
        from += 1;
    }
    factors
};

/// The matrix of GFNI that multiplies by `factor`.
const fn multiplication(factor: u8) -> i64 {
    let (mut matrix, mut column) = (0, 0);
    while column < 8 {
        let product = kuznyechik_times(factor, 1 << column);
        let mut row = 0;
        while row < 8 {
            // Rows are kept last first.
            matrix |= ((product >> row & 1) as i64) << (8 * (7 - row) + column);
            row += 1;
        }
        column += 1;
    }
    matrix
}

const _: () = assert!(multiplication(148) == times::BY_148);

/// Eight blocks. Here no step of L waits for another one: each byte goes to all lanes at once.
impl Rounds<__m512i, 2> for Encrypt<'_, Vbmi> {
    #[inline(always)]
    unsafe fn apply(&self, blocks: &mut [__m512i; 2]) {
        let [rounds @ .., last] = &self.0.round_keys;
        // SAFETY: the caller's promise.
        unsafe {
            let mut x = spread(*blocks);
            for key in rounds {
                add_key(&mut x, key);
                look_up(&KUZNYECHIK_PI, &mut x);
                // Each half on its own, so that fewer additions wait for each other.
                let ([a, b], [c, d]) = (multiples(x[0], &LINEAR[0]), multiples(x[1], &LINEAR[1]));
                x = [a.xor(c), b.xor(d)];
            }
            add_key(&mut x, last);
            *blocks = unspread(x);
        }
    }
}

/// What eight bytes add to all sixteen.
///
/// # Safety
/// The caller has AVX-512 with GFNI.
#[inline(always)]
unsafe fn multiples(x: __m512i, factors: &[[[i64; 8]; 2]; 8]) -> [__m512i; 2] {
    // SAFETY: the caller's promise.
    unsafe {
        let (mut low, mut high) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for (from, [to_low, to_high]) in (0..).zip(factors) {
            let byte = _mm512_permutexvar_epi64(_mm512_set1_epi64(from), x);
            low = low.xor(_mm512_gf2p8affine_epi64_epi8::<0>(byte, lanes(to_low)));
            high = high.xor(_mm512_gf2p8affine_epi64_epi8::<0>(byte, lanes(to_high)));
        }
        [low, high]
    }
}

/// # Safety
/// The caller has AVX-512.
#[inline(always)]
unsafe fn add_key(x: &mut [__m512i; 2], bytes: &[u32; 16]) {
    for (x, bytes) in x.iter_mut().zip(bytes.as_chunks::<8>().0) {
        // SAFETY: the caller's promise.
        *x = unsafe { x.xor(key(bytes)) };
    }
}

entry_point!(
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni,vpclmulqdq",
    [],
    Kuznyechik,
    __m512i,
    16,
    2,
    encrypt,
    decrypt
);
