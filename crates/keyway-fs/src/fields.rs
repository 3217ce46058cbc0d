//! Fields of structures on a medium: little-endian numbers at places that may lie outside of what was read.

/// The number of `N` bytes at a place; `None` past the end of what was read.
pub(crate) fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(N)?)?;
    Some(field.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte)))
}
