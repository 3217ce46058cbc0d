//! The inner loop of PBKDF2: each link is the HMAC of the one before, all of them are summed.

use super::lane::{KeyBlock, Lane};
use super::lanes::Lanes;

/// A hash function of `S` state words whose digest is the whole state.
pub(crate) trait LaneHash<const S: usize> {
    /// `u32` or `u64`.
    type Word: Copy + Default;

    /// One word from its bytes, in the byte order of the hash function.
    fn read(bytes: &[u8]) -> Self::Word;
    /// One word to its bytes.
    fn write(word: Self::Word, bytes: &mut [u8]);
    /// The state after the HMAC key block.
    fn midstate(block: &[Self::Word; 16]) -> [Self::Word; S];
    /// The digest of a message that is the key block behind `midstate` and one digest.
    fn second<V: Lanes<Word = Self::Word>>(midstate: [V; S], digest: [V; S]) -> [V; S];
}

/// Goes on by `iterations` links in every lane.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn advance<V, H, const S: usize>(key: &KeyBlock, lanes: &mut [Lane], iterations: u32)
where
    H: LaneHash<S>,
    V: Lanes<Word = H::Word>,
{
    /// As wide as any vector here.
    const WIDEST: usize = 32;
    const { assert!(V::COUNT <= WIDEST) };
    let mut words = [H::Word::default(); WIDEST];
    // RFC 2104: the inner key block is masked with 0x36, the outer with 0x5c.
    let mut keyed = |mask: u8| {
        let bytes = size_of::<H::Word>();
        let mut block = [H::Word::default(); 16];
        for (word, key) in block.iter_mut().zip(key.chunks_exact(bytes)) {
            let mut masked = [0; 8];
            masked.iter_mut().zip(key).for_each(|(m, k)| *m = k ^ mask);
            *word = H::read(masked.get(..bytes).unwrap_or_default());
        }
        H::midstate(&block).map(|word| {
            words.fill(word);
            // SAFETY: the caller vouches for the instructions; `words` is as wide as any vector.
            unsafe { V::load(&words) }
        })
    };
    let midstates = [keyed(0x36), keyed(0x5c)];
    let mut gather = |field: fn(&Lane) -> &[u8; 64]| -> [V; S] {
        std::array::from_fn(|i| {
            for (word, lane) in words.iter_mut().zip(lanes.iter()) {
                *word =
                    field(lane).chunks_exact(size_of::<H::Word>()).nth(i).map(H::read).unwrap_or_default();
            }
            // SAFETY: as above.
            unsafe { V::load(&words) }
        })
    };
    let mut link = gather(|lane| &lane.link);
    let mut sum = gather(|lane| &lane.sum);
    for _ in 0..iterations {
        for midstate in midstates {
            link = H::second(midstate, link);
        }
        sum = std::array::from_fn(|i| sum[i].xor(link[i]));
    }
    let mut scatter = |from: [V; S], field: fn(&mut Lane) -> &mut [u8; 64]| {
        for (i, vector) in from.into_iter().enumerate() {
            vector.store(&mut words);
            for (&word, lane) in words.iter().zip(lanes.iter_mut()) {
                if let Some(bytes) = field(lane).chunks_exact_mut(size_of::<H::Word>()).nth(i) {
                    H::write(word, bytes);
                }
            }
        }
    };
    scatter(link, |lane| &mut lane.link);
    scatter(sum, |lane| &mut lane.sum);
}
