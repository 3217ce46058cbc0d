//! The 64-byte states of Whirlpool and Streebog, of one or more chains, and their PBKDF2 loop.

use super::lane::{KeyBlock, Lane};

/// A 64-byte state or block as eight little-endian words.
pub(crate) type Words = [u64; 8];

/// The 64-byte states of [`Self::COUNT`] chains.
///
/// As with lanes of words, only the unsafe [`Rows::load`] makes a value, so holding one proves
/// that the processor has the instructions.
pub(crate) trait Rows: Copy {
    /// How many chains.
    const COUNT: usize;

    /// Reads [`Self::COUNT`] states.
    ///
    /// # Safety
    /// The processor has the instructions of the implementing type.
    unsafe fn load(from: &[Words]) -> Self;
    /// Writes the first [`Self::COUNT`] states.
    fn store(self, to: &mut [Words]);
    /// Puts the bytes of a state in the order that [`Rows::fill`] and [`Rows::xor_words`] take.
    fn arrange(words: &Words) -> Words;
    /// The same arranged words for every chain.
    fn fill(self, arranged: &Words) -> Self;
    /// Exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Exclusive or of three.
    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        self.xor(b).xor(c)
    }
    /// Exclusive or with the same arranged words in every chain.
    #[inline(always)]
    fn xor_words(self, arranged: &Words) -> Self {
        self.xor(self.fill(arranged))
    }
}

/// A hash function with 64-byte blocks, state and digest.
pub(crate) trait RowsHash<R> {
    /// What the state after a key block amounts to.
    type Keyed: Copy;
    /// Hashes a key block, already masked.
    fn keyed(block: &Words) -> Self::Keyed;
    /// The digest of the key block and one digest.
    fn second(keyed: &Self::Keyed, digest: R) -> R;
}

/// Goes on by `iterations` links in every lane.
///
/// # Safety
/// The processor has the instructions of `R`.
#[inline(always)]
pub(crate) unsafe fn advance<R: Rows, H: RowsHash<R>>(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
    // RFC 2104: the inner key block is masked with 0x36, the outer with 0x5c.
    let keyed = [0x36, 0x5c].map(|mask| H::keyed(&words(&std::array::from_fn(|i| key[i] ^ mask))));
    for lanes in lanes.chunks_mut(R::COUNT) {
        let mut states = [Words::default(); 8];
        const { assert!(R::COUNT <= 8) };
        let mut gather = |field: fn(&Lane) -> &[u8; 64]| {
            states.iter_mut().zip(lanes.iter()).for_each(|(state, lane)| *state = words(field(lane)));
            // SAFETY: the caller vouches for the instructions.
            unsafe { R::load(&states) }
        };
        let mut link = gather(|lane| &lane.link);
        let mut sum = gather(|lane| &lane.sum);
        for _ in 0..iterations {
            for keyed in &keyed {
                link = H::second(keyed, link);
            }
            sum = sum.xor(link);
        }
        let mut scatter = |from: R, field: fn(&mut Lane) -> &mut [u8; 64]| {
            from.store(&mut states);
            for (state, lane) in states.iter().zip(lanes.iter_mut()) {
                for (bytes, word) in field(lane).chunks_exact_mut(8).zip(state) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                }
            }
        };
        scatter(link, |lane| &mut lane.link);
        scatter(sum, |lane| &mut lane.sum);
    }
}

/// Bytes as little-endian words.
fn words(bytes: &[u8; 64]) -> Words {
    std::array::from_fn(|i| {
        bytes.iter().skip(8 * i).take(8).rev().fold(0, |word, &b| word << 8 | u64::from(b))
    })
}

/// One chain in plain registers, transformed by table look-ups.
///
/// The tables make the time depend on secret data through the cache, as in every portable
/// implementation of these two functions; the vector implementation does not.
#[derive(Clone, Copy)]
pub(crate) struct OneState(pub(super) Words);

impl Rows for OneState {
    const COUNT: usize = 1;

    #[inline(always)]
    unsafe fn load(from: &[Words]) -> Self {
        Self(from.first().copied().unwrap_or_default())
    }
    #[inline(always)]
    fn store(self, to: &mut [Words]) {
        if let Some(to) = to.first_mut() {
            *to = self.0;
        }
    }
    fn arrange(words: &Words) -> Words {
        *words
    }
    #[inline(always)]
    fn fill(self, arranged: &Words) -> Self {
        Self(*arranged)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] ^ other.0[i]))
    }
}

/// The byte `at` of a word, the lowest first, as an index.
#[inline(always)]
pub(super) const fn byte(word: u64, at: usize) -> usize {
    (word >> (8 * at)) as usize & 0xff
}
