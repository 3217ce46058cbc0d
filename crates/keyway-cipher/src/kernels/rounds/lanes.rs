//! Vectors seen as one, two or four blocks of 128 bits, with the arithmetic that XTS needs.

/// A vector of whole blocks.
///
/// # Safety
/// Every method needs the instruction set of its vector; pointers are good for `BLOCKS` blocks and
/// need no alignment.
pub(in crate::kernels) trait Lanes: Copy {
    /// Blocks in a vector.
    const BLOCKS: usize;
    unsafe fn load(from: *const [u8; 16]) -> Self;
    unsafe fn store(self, to: *mut [u8; 16]);
    /// The same block in every lane.
    unsafe fn splat(block: &[u8; 16]) -> Self;
    /// `first` and the numbers after it, each a block: little-endian, counted in the lower 64 bits.
    unsafe fn numbers(first: u64) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    /// `first`, and in each further lane times x: the tweaks of consecutive blocks.
    unsafe fn tweaks_from(first: &[u8; 16]) -> Self;
    /// Every lane times x^`power`, which is at most 48 or exactly 64.
    unsafe fn times_x(self, power: i64) -> Self;
}
