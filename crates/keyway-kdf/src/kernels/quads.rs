//! The 64-byte states of some chains in eight vectors: four in those of AVX2, two in NEON's.
//!
//! Vector `j` holds, for each chain, eight bytes that go through the same look-ups: word `j` (Streebog) or
//! column `j` (Whirlpool). A look-up is a byte shuffle: a table of sixteen entries, read at no address. Nothing
//! depends on secret data but register contents.

use super::byte_slices::eight;
use super::rows::Words;

/// As many states as any vector here has 64-bit lanes.
pub(super) const MOST: usize = 4;

/// A table of sixteen bytes for one shuffle.
pub(super) type Table = [u8; 16];

/// A vector of bytes with a state in each 64-bit lane.
///
/// # Safety
/// Every method needs the instruction set of its vector.
pub(super) trait Bytes: Copy {
    /// States side by side, at most [`MOST`].
    const STATES: usize;
    /// The first [`Self::STATES`] words.
    unsafe fn load(words: &[u64; MOST]) -> Self;
    /// Writes as many.
    unsafe fn store(self, words: &mut [u64; MOST]);
    /// The same word in every lane.
    unsafe fn fill(word: u64) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    /// Entries of a table by the bytes `at`, which are below 16, or have their highest bit set: zero then.
    unsafe fn look_up(table: &Table, at: Self) -> Self;
    /// Each 16 bytes in the order of the table.
    unsafe fn shuffle(self, order: &Table) -> Self;
    /// Each byte's lower and higher nibble.
    unsafe fn nibbles(self) -> (Self, Self);
    /// Sums of bytes modulo 15, or something with its highest bit set where a byte has that.
    unsafe fn add_logarithms(self, other: Self) -> Self;
    /// The bytes of `other` where the highest bit of `by` is set.
    unsafe fn or_else(self, other: Self, by: Self) -> Self;
    /// Exchanges byte `i` of vector `j` with byte `j` of vector `i` in every lane.
    unsafe fn transpose(vectors: [Self; 8]) -> [Self; 8];
    /// The sums of the lanes' numbers, `word`, and the carries, which are 0 or -1; and the carries out of them.
    unsafe fn add_with_carry(self, word: u64, carry: Self) -> (Self, Self);
}

/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn load<V: Bytes>(from: &[Words], arrange: fn(&Words) -> Words) -> [V; 8] {
    let arranged: [Words; MOST] = std::array::from_fn(|c| from.get(c).map_or([0; 8], arrange));
    let vector = |j: usize| -> [u64; MOST] { std::array::from_fn(|c| arranged[c][j]) };
    // SAFETY: the caller vouches for the instructions.
    unsafe { eight!(j => V::load(&vector(j))) }
}

/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn store<V: Bytes>(quad: [V; 8], to: &mut [Words], arrange_back: fn(&Words) -> Words) {
    let states = to.len().min(V::STATES);
    let to = &mut to[..states];
    for (j, vector) in quad.into_iter().enumerate() {
        let mut lanes = [0u64; MOST];
        // SAFETY: the caller vouches for the instructions.
        unsafe { vector.store(&mut lanes) };
        for (words, lane) in to.iter_mut().zip(lanes) {
            words[j] = lane;
        }
    }
    to.iter_mut().for_each(|words| *words = arrange_back(words));
}

/// Implements [`Rows`](super::rows::Rows) for a type that wraps eight vectors.
macro_rules! quad_rows {
    ($name:ident, $arrange:expr, $arrange_back:expr) => {
        impl<V: Bytes> Rows for $name<V> {
            const COUNT: usize = V::STATES;

            #[inline(always)]
            unsafe fn load(from: &[Words]) -> Self {
                // SAFETY: the caller vouches for the instructions.
                Self(unsafe { quads::load(from, $arrange) })
            }
            #[inline(always)]
            fn store(self, to: &mut [Words]) {
                // SAFETY: holding `self` proves the instructions.
                unsafe { quads::store(self.0, to, $arrange_back) }
            }
            fn arrange(words: &Words) -> Words {
                $arrange(words)
            }
            #[inline(always)]
            fn fill(self, arranged: &Words) -> Self {
                // SAFETY: holding `self` proves the instructions.
                Self(unsafe { eight!(j => V::fill(arranged[j])) })
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                // SAFETY: holding `self` proves the instructions.
                Self(unsafe { eight!(j => self.0[j].xor(other.0[j])) })
            }
        }
    };
}
pub(super) use quad_rows;
