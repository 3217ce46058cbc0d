//! Twofish on 512-bit vectors: 64 blocks, two units of 512 bytes, at a time.
//!
//! The state stays in 32-bit lanes for the additions. For g it is turned to byte slices, so that
//! each key-dependent S-box takes 64 bytes at once by VBMI permutations, and GFNI multiplies by the
//! two factors of the MDS matrix. No gathers, which are slow on patched processors.

use super::entry_point;
use super::run::Rounds;
use super::serpent::Words;
use crate::portable::Twofish;
use std::arch::x86_64::*;

/// Multiplications by the factors of the MDS matrix modulo x^8 + x^6 + x^5 + x^3 + 1, as matrices
/// for GFNI.
const BY_5B: i64 = 0x050b_1629_53a2_4182;
const BY_EF: i64 = 0x070f_1f39_72e3_c183;

/// One word of 64 blocks.
type Word = [__m512i; 4];

/// # Safety
/// The caller has AVX-512 with VBMI.
#[inline(always)]
unsafe fn look_up(table: &[u8; 256], x: __m512i) -> __m512i {
    // SAFETY: the caller's promise; the four loads cover exactly the table.
    unsafe {
        let quarters: *const __m512i = table.as_ptr().cast();
        let low =
            _mm512_permutex2var_epi8(_mm512_loadu_si512(quarters), x, _mm512_loadu_si512(quarters.add(1)));
        let high = _mm512_permutex2var_epi8(
            _mm512_loadu_si512(quarters.add(2)),
            x,
            _mm512_loadu_si512(quarters.add(3)),
        );
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high)
    }
}

/// Groups the bytes of four words by their place in the word; its own inverse.
///
/// # Safety
/// The caller has AVX-512 BW.
#[inline(always)]
unsafe fn group(x: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        let order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(order))
    }
}

/// Words to byte slices, lowest byte first.
///
/// # Safety
/// The caller has AVX-512 BW.
#[inline(always)]
unsafe fn slice([a, b, c, d]: Word) -> [__m512i; 4] {
    // SAFETY: the caller's promise.
    unsafe { Words::transpose([group(a), group(b), group(c), group(d)]) }
}

/// # Safety
/// The caller has AVX-512 BW.
#[inline(always)]
unsafe fn unslice(bytes: [__m512i; 4]) -> Word {
    // SAFETY: the caller's promise.
    unsafe {
        let [a, b, c, d] = Words::transpose(bytes);
        [group(a), group(b), group(c), group(d)]
    }
}

/// g on byte slices of its argument.
///
/// # Safety
/// The caller has AVX-512 with VBMI and GFNI.
#[inline(always)]
unsafe fn g(keys: &Twofish, [a, b, c, d]: [__m512i; 4]) -> Word {
    // SAFETY: the caller's promise.
    unsafe {
        let [s0, s1, s2, s3] = &keys.s_boxes;
        let (a, b, c, d) = (look_up(s0, a), look_up(s1, b), look_up(s2, c), look_up(s3, d));
        // The MDS matrix's rows: 01 ef 5b 5b, 5b ef ef 01, ef 5b 01 ef, ef 01 ef 5b.
        unslice([
            xor3(a, ef(b), x5b(_mm512_xor_si512(c, d))),
            xor3(x5b(a), ef(_mm512_xor_si512(b, c)), d),
            xor3(ef(_mm512_xor_si512(a, d)), x5b(b), c),
            xor3(ef(_mm512_xor_si512(a, c)), b, x5b(d)),
        ])
    }
}

/// # Safety
/// The caller has AVX-512 and GFNI.
#[inline(always)]
unsafe fn ef(x: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(x, _mm512_set1_epi64(BY_EF)) }
}

/// # Safety
/// The caller has AVX-512 and GFNI.
#[inline(always)]
unsafe fn x5b(x: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(x, _mm512_set1_epi64(BY_5B)) }
}

/// # Safety
/// The caller has AVX-512.
#[inline(always)]
unsafe fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    // SAFETY: the caller's promise. 0x96: exclusive or of all three.
    unsafe { _mm512_ternarylogic_epi32::<0x96>(a, b, c) }
}

/// F of two words (section 4.2 of the paper): the pseudo-Hadamard transform of g of the first and g
/// of the second rotated, plus two subkeys. The rotation by a byte is a change of slices.
///
/// # Safety
/// The caller has AVX-512 with VBMI and GFNI.
#[inline(always)]
unsafe fn f(keys: &Twofish, a: &Word, b: &Word, subkeys: [u32; 2]) -> (Word, Word) {
    // SAFETY: the caller's promise.
    unsafe {
        let t0 = g(keys, slice(*a));
        let [b0, b1, b2, b3] = slice(*b);
        let t1 = g(keys, [b3, b0, b1, b2]);
        let (mut f0, mut f1) = (t0, t1);
        for i in 0..4 {
            let sum = _mm512_add_epi32(t0[i], t1[i]);
            f0[i] = _mm512_add_epi32(sum, _mm512_set1_epi32(subkeys[0] as i32));
            let sum = _mm512_add_epi32(sum, t1[i]);
            f1[i] = _mm512_add_epi32(sum, _mm512_set1_epi32(subkeys[1] as i32));
        }
        (f0, f1)
    }
}

/// # Safety
/// The caller has AVX-512 with VBMI and GFNI.
#[inline(always)]
unsafe fn encrypt_round(keys: &Twofish, a: &Word, b: &Word, c: &mut Word, d: &mut Word, subkeys: [u32; 2]) {
    // SAFETY: the caller's promise.
    unsafe {
        let (f0, f1) = f(keys, a, b, subkeys);
        for i in 0..4 {
            c[i] = _mm512_ror_epi32::<1>(_mm512_xor_si512(c[i], f0[i]));
            d[i] = _mm512_xor_si512(_mm512_rol_epi32::<1>(d[i]), f1[i]);
        }
    }
}

/// # Safety
/// The caller has AVX-512 with VBMI and GFNI.
#[inline(always)]
unsafe fn decrypt_round(keys: &Twofish, a: &Word, b: &Word, c: &mut Word, d: &mut Word, subkeys: [u32; 2]) {
    // SAFETY: the caller's promise.
    unsafe {
        let (f0, f1) = f(keys, a, b, subkeys);
        for i in 0..4 {
            c[i] = _mm512_xor_si512(_mm512_rol_epi32::<1>(c[i]), f0[i]);
            d[i] = _mm512_ror_epi32::<1>(_mm512_xor_si512(d[i], f1[i]));
        }
    }
}

/// Blocks to words, whitened.
///
/// # Safety
/// The caller has AVX-512.
#[inline(always)]
unsafe fn read(x: &[__m512i; 16], key: &[u32; 4]) -> [Word; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut words = [[_mm512_setzero_si512(); 4]; 4];
        for i in 0..4 {
            let four = Words::transpose([x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]]);
            for j in 0..4 {
                words[j][i] = _mm512_xor_si512(four[j], _mm512_set1_epi32(key[j] as i32));
            }
        }
        words
    }
}

/// Words, whitened, to blocks.
///
/// # Safety
/// The caller has AVX-512.
#[inline(always)]
unsafe fn write(x: &mut [__m512i; 16], words: [Word; 4], key: &[u32; 4]) {
    // SAFETY: the caller's promise.
    unsafe {
        for i in 0..4 {
            let mut four = [words[0][i], words[1][i], words[2][i], words[3][i]];
            for j in 0..4 {
                four[j] = _mm512_xor_si512(four[j], _mm512_set1_epi32(key[j] as i32));
            }
            x[4 * i..4 * i + 4].copy_from_slice(&Words::transpose(four));
        }
    }
}

struct Encrypt<'a>(&'a Twofish);

impl Rounds<__m512i, 16> for Encrypt<'_> {
    #[inline(always)]
    unsafe fn apply(&self, x: &mut [__m512i; 16]) {
        let keys = self.0;
        // SAFETY: the caller's promise.
        unsafe {
            let [mut a, mut b, mut c, mut d] = read(x, &keys.input);
            for &[k0, k1, k2, k3] in &keys.rounds {
                encrypt_round(keys, &a, &b, &mut c, &mut d, [k0, k1]);
                encrypt_round(keys, &c, &d, &mut a, &mut b, [k2, k3]);
            }
            write(x, [c, d, a, b], &keys.output);
        }
    }
}

struct Decrypt<'a>(&'a Twofish);

impl Rounds<__m512i, 16> for Decrypt<'_> {
    #[inline(always)]
    unsafe fn apply(&self, x: &mut [__m512i; 16]) {
        let keys = self.0;
        // SAFETY: the caller's promise.
        unsafe {
            let [mut c, mut d, mut a, mut b] = read(x, &keys.output);
            for &[k0, k1, k2, k3] in keys.rounds.iter().rev() {
                decrypt_round(keys, &c, &d, &mut a, &mut b, [k2, k3]);
                decrypt_round(keys, &a, &b, &mut c, &mut d, [k0, k1]);
            }
            write(x, [a, b, c, d], &keys.input);
        }
    }
}

entry_point!(
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni,vpclmulqdq",
    [],
    Twofish,
    __m512i,
    16,
    Encrypt,
    Decrypt
);
