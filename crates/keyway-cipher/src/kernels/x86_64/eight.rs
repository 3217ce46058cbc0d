//! Eight blocks in two 512-bit vectors: 64-bit lane i of the pair holds byte i of all eight.
//!
//! What a cipher made of bytes does with sixteen vectors for a whole group it does here with two: a
//! page's eight tweaks then don't cost as much as 64 blocks. Bytes meet by permuting lanes.

use std::arch::x86_64::*;

/// Two vectors of four blocks each to lanes of bytes.
///
/// # Safety
/// The caller has AVX-512 with VBMI.
#[inline(always)]
pub(super) unsafe fn spread(blocks: [__m512i; 2]) -> [__m512i; 2] {
    // Byte i of block b goes to byte b of lane i.
    const FROM: [u8; 128] = transposed(16, 8);
    // SAFETY: the caller's promise.
    unsafe { permute(&FROM, blocks) }
}

/// And back.
///
/// # Safety
/// The caller has AVX-512 with VBMI.
#[inline(always)]
pub(super) unsafe fn unspread(lanes: [__m512i; 2]) -> [__m512i; 2] {
    const FROM: [u8; 128] = transposed(8, 16);
    // SAFETY: the caller's promise.
    unsafe { permute(&FROM, lanes) }
}

/// Where each byte comes from when rows of `columns` bytes become columns of `rows`.
const fn transposed(columns: usize, rows: usize) -> [u8; 128] {
    let mut from = [0; 128];
    let mut to = 0;
    while to < 128 {
        from[to] = (to % rows * columns + to / rows) as u8;
        to += 1;
    }
    from
}

/// # Safety
/// The caller has AVX-512 with VBMI.
#[inline(always)]
unsafe fn permute(from: &[u8; 128], [a, b]: [__m512i; 2]) -> [__m512i; 2] {
    // SAFETY: the caller's promise; the two loads cover exactly the array.
    unsafe {
        let from: *const __m512i = from.as_ptr().cast();
        [
            _mm512_permutex2var_epi8(a, _mm512_loadu_si512(from), b),
            _mm512_permutex2var_epi8(a, _mm512_loadu_si512(from.add(1)), b),
        ]
    }
}

/// Bytes that key schedules keep four times over, each in a lane.
///
/// # Safety
/// The caller has AVX-512.
#[inline(always)]
pub(super) unsafe fn key(bytes: &[u32; 8]) -> __m512i {
    // SAFETY: the caller's promise; eight words are one vector of 256 bits.
    unsafe {
        let words = _mm256_loadu_si256(bytes.as_ptr().cast());
        let twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
        _mm512_permutexvar_epi32(twice, _mm512_castsi256_si512(words))
    }
}

/// A value for each lane.
///
/// # Safety
/// The caller has AVX-512.
#[inline(always)]
pub(super) unsafe fn lanes(values: &[i64; 8]) -> __m512i {
    // SAFETY: the caller's promise; eight values are one vector.
    unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
}
