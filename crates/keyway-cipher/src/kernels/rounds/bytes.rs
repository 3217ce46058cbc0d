//! Byte-sliced vectors: after a transposition, vector i holds byte i of as many blocks as it is
//! long. A cipher made of bytes then needs no shuffles, and its S-boxes work on all blocks at once.

use super::lanes::Lanes;

/// Vectors of bytes.
///
/// # Safety
/// Every method needs the instruction set of its vector.
pub(in crate::kernels) trait Bytes: Lanes {
    /// Interleaves the low, or high, eight bytes of each lane of 128 bits.
    unsafe fn interleave_low(self, other: Self) -> Self;
    unsafe fn interleave_high(self, other: Self) -> Self;
    /// The same four bytes everywhere; kept four times over in key schedules, a byte costs nothing
    /// to spread.
    unsafe fn splat4(bytes: u32) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    unsafe fn or(self, other: Self) -> Self;
    /// Each byte shifted left by one.
    unsafe fn double(self) -> Self;
    /// Each byte's highest bit, moved to its lowest; the rest zero.
    unsafe fn top_bit(self) -> Self;
}

/// Sixteen vectors of whole blocks to sixteen vectors of one byte each, and back: a transposition of
/// 16 by 16 bytes in each lane is four rounds of interleaving halves.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
pub(in crate::kernels) unsafe fn transpose<L: Bytes>(x: &mut [L; 16]) {
    // SAFETY: the caller's promise.
    unsafe { *x = interleave(interleave(interleave(interleave(*x)))) };
}

/// Written out: as a loop it would go through memory.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn interleave<L: Bytes>([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]: [L; 16]) -> [L; 16] {
    // SAFETY: the caller's promise.
    unsafe {
        [
            a.interleave_low(i),
            a.interleave_high(i),
            b.interleave_low(j),
            b.interleave_high(j),
            c.interleave_low(k),
            c.interleave_high(k),
            d.interleave_low(l),
            d.interleave_high(l),
            e.interleave_low(m),
            e.interleave_high(m),
            f.interleave_low(n),
            f.interleave_high(n),
            g.interleave_low(o),
            g.interleave_high(o),
            h.interleave_low(p),
            h.interleave_high(p),
        ]
    }
}
