//! Look-ups by nibble: a byte shuffle is a table of sixteen entries, read at no address.

use super::bytes::Bytes;

/// Vectors of bytes whose instruction set shuffles bytes within 128 bits.
///
/// # Safety
/// Every method needs the instruction set of its vector: SSE4.1 or AVX2.
pub(in crate::kernels) trait Nibbles: Bytes {
    /// A table, its first entry in the lowest byte.
    unsafe fn table(entries: &u128) -> Self;
    /// The same byte everywhere.
    unsafe fn splat1(byte: i8) -> Self;
    /// Entries of the table by the lower nibble of each byte; zero where its highest bit is set.
    unsafe fn look_up(self, at: Self) -> Self;
    /// Each byte's lower and higher nibble.
    unsafe fn nibbles(self) -> (Self, Self);
    unsafe fn add_saturating(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn min(self, other: Self) -> Self;
    /// The bytes of `other` where the highest bit of `by` is set.
    unsafe fn or_else(self, other: Self, by: Self) -> Self;
    /// Each byte under a map that is a sum of one of either nibble: their tables, lower first.
    #[inline(always)]
    unsafe fn map_nibbles(self, [low, high]: &[u128; 2]) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            let (l, h) = self.nibbles();
            Self::table(low).look_up(l).xor(Self::table(high).look_up(h))
        }
    }
}

/// Tables for [`Nibbles::map_nibbles`] that do what GFNI does with `matrix`.
pub(in crate::kernels) const fn tables_of(matrix: i64) -> [u128; 2] {
    let rows = matrix.to_be_bytes();
    let mut tables = [0u128; 2];
    let mut nibble = 0;
    while nibble < 16 {
        let mut bit = 0;
        while bit < 8 {
            let low = (rows[bit] & nibble).count_ones() & 1;
            let high = (rows[bit] & (nibble << 4)).count_ones() & 1;
            tables[0] |= (low as u128) << (8 * nibble as usize + bit);
            tables[1] |= (high as u128) << (8 * nibble as usize + bit);
            bit += 1;
        }
        nibble += 1;
    }
    tables
}
