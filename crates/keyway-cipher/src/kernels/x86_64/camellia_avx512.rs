//! Camellia with GFNI on 512-bit vectors: 64 blocks, two units of 512 bytes, at a time.

use super::bytes::Bytes;
use super::camellia::{Boxes, Sliced};
use super::camellia_gfni::{gfni::*, gfni_boxes};
use super::eight::{key, lanes, spread, unspread};
use super::entry_point::entry_point;
use super::lanes::Lanes;
use super::run::Rounds;
use crate::portable::Camellia;
use std::arch::x86_64::*;

gfni_boxes!(
    Gfni,
    __m512i,
    _mm512_set1_epi64,
    _mm512_gf2p8affine_epi64_epi8,
    _mm512_gf2p8affineinv_epi64_epi8
);

#[inline(always)]
fn encrypt(keys: &Camellia) -> Sliced<'_, Gfni> {
    Sliced::new(&keys.encrypt_bytes)
}

#[inline(always)]
fn decrypt(keys: &Camellia) -> Sliced<'_, Gfni> {
    Sliced::new(&keys.decrypt_bytes)
}

/// The S-boxes of eight bytes (RFC 3713, 2.4.1) for lanes of [`super::eight`].
const INTO_LANES: [i64; 8] = [INTO, INTO, INTO, INTO_S4, INTO, INTO, INTO_S4, INTO];
const OUT_LANES: [i64; 8] = [OUT, OUT_S2, OUT_S3, OUT, OUT_S2, OUT_S3, OUT, OUT];
/// The bytes that the P function adds up, one of each row for each lane; the last four lanes have none in
/// the last row.
const SUMMANDS: [[i64; 8]; 6] = [
    [0, 1, 2, 3, 0, 1, 2, 3],
    [2, 3, 0, 1, 1, 2, 3, 0],
    [3, 0, 1, 2, 5, 6, 7, 4],
    [5, 6, 7, 4, 6, 7, 4, 5],
    [6, 7, 4, 5, 7, 4, 5, 6],
    [7, 4, 5, 6, 0, 0, 0, 0],
];
/// What the P function makes of the constants of the S-boxes.
const CONSTANTS: [i64; 8] = {
    let (s1, s2, s3) = (OUT_CONSTANT, OUT_CONSTANT_S2, OUT_CONSTANT_S3);
    let constants = [s1, s2, s3, s1, s2, s3, s1, s1];
    let mut sums = [0; 8];
    let mut at = 0;
    // All summands but those that are not there.
    while at < 44 {
        let byte = constants[SUMMANDS[at / 8][at % 8] as usize] as u8;
        sums[at % 8] ^= i64::from_ne_bytes([byte; 8]);
        at += 1;
    }
    sums
};
const FIRST_FOUR: __mmask8 = 0x0f;
const LAST_FOUR: __mmask8 = 0xf0;

/// `to` ^= F, on lanes, of `x`, which has its subkey in it. Returns `to` with the next subkey in it.
///
/// # Safety
/// The caller has AVX-512 with GFNI.
#[inline(always)]
unsafe fn round(x: __m512i, to: &mut __m512i, next: &[u32; 8]) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        let x = _mm512_gf2p8affine_epi64_epi8::<INTO_CONSTANT>(x, lanes(&INTO_LANES));
        let x = _mm512_gf2p8affineinv_epi64_epi8::<0>(x, lanes(&OUT_LANES));
        let [a, b, c, d, e, f] = &SUMMANDS;
        let (a, b) = (_mm512_permutexvar_epi64(lanes(a), x), _mm512_permutexvar_epi64(lanes(b), x));
        let (c, d) = (_mm512_permutexvar_epi64(lanes(c), x), _mm512_permutexvar_epi64(lanes(d), x));
        let e = _mm512_permutexvar_epi64(lanes(e), x);
        let f = _mm512_maskz_permutexvar_epi64(FIRST_FOUR, lanes(f), x);
        // The next round waits for these sums: by threes they are there soonest.
        let (left, right, rest) = (xor3(a, b, c), xor3(d, e, f), to.xor(lanes(&CONSTANTS)));
        *to = xor3(left, right, rest);
        xor3(left, right, rest.xor(key(next)))
    }
}

/// # Safety
/// The caller has AVX-512.
#[inline(always)]
unsafe fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_ternarylogic_epi64::<0x96>(a, b, c) }
}

/// The right half of FL (RFC 3713, 2.4.2) and of its inverse: adds the left one, masked and rotated left
/// by one bit.
///
/// # Safety
/// The caller has AVX-512.
#[inline(always)]
unsafe fn xor_rotated(x: &mut __m512i, subkey: &[u32; 8]) {
    // SAFETY: the caller's promise.
    unsafe {
        let masked = x.and(key(subkey));
        let next = _mm512_permutexvar_epi64(lanes(&[1, 2, 3, 0, 0, 0, 0, 0]), masked);
        let rotated = masked.double().or(next.top_bit());
        let below = _mm512_maskz_permutexvar_epi64(LAST_FOUR, lanes(&[0, 0, 0, 0, 0, 1, 2, 3]), rotated);
        *x = x.xor(below);
    }
}

/// The left half: adds the right one, or'ed with the key.
///
/// # Safety
/// The caller has AVX-512.
#[inline(always)]
unsafe fn xor_ored(x: &mut __m512i, subkey: &[u32; 8]) {
    // SAFETY: the caller's promise.
    unsafe {
        let ored = Bytes::or(*x, key(subkey));
        *x = x.xor(_mm512_maskz_permutexvar_epi64(FIRST_FOUR, lanes(&[4, 5, 6, 7, 0, 0, 0, 0]), ored));
    }
}

/// Eight blocks.
impl Rounds<__m512i, 2> for Sliced<'_, Gfni> {
    #[inline(always)]
    unsafe fn apply(&self, blocks: &mut [__m512i; 2]) {
        let k = self.subkeys;
        // SAFETY: the caller's promise.
        unsafe {
            let [mut d1, mut d2] = spread(*blocks);
            d1 = d1.xor(key(&k[0]));
            d2 = d2.xor(key(&k[1]));
            for part in 0..4 {
                let k = &k[2 + 8 * part..];
                let mut x = d1.xor(key(&k[0]));
                for two in 0..3 {
                    x = round(x, &mut d2, &k[2 * two + 1]);
                    x = round(x, &mut d1, &k[2 * two + 2]);
                }
                if part < 3 {
                    xor_rotated(&mut d1, &k[6]);
                    xor_ored(&mut d1, &k[6]);
                    xor_ored(&mut d2, &k[7]);
                    xor_rotated(&mut d2, &k[7]);
                }
            }
            *blocks = unspread([d2.xor(key(&k[32])), d1.xor(key(&k[33]))]);
        }
    }
}

entry_point!(
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni,vpclmulqdq",
    [],
    Camellia,
    __m512i,
    16,
    2,
    encrypt,
    decrypt
);
