//! SHA-256 and SHA-512 with aarch64's instructions for them, one or two chains at a time.
//!
//! Each instruction for a few rounds waits for the one before, and the next can begin sooner than it is done: a
//! second chain costs little.

use super::chain::LaneHash;
use super::lane::{KeyBlock, Lane};
use super::sha256::{self, Sha256};
use super::sha512::{self, Sha512};
use super::stretch::{AT_ONCE, Chain, tail};
use std::arch::aarch64::*;
use zeroize::Zeroize;

/// Whether the processor has those of SHA-256.
pub(super) fn has_sha256() -> bool {
    std::arch::is_aarch64_feature_detected!("neon") && std::arch::is_aarch64_feature_detected!("sha2")
}

/// Whether the processor has those of SHA-512, which the compiler knows together with those of SHA-3.
pub(super) fn has_sha512() -> bool {
    std::arch::is_aarch64_feature_detected!("neon") && std::arch::is_aarch64_feature_detected!("sha3")
}

/// Makes PBKDF2's chains of one hash function. `$digest` vectors are a state, and half a block.
macro_rules! pbkdf2 {
    (
        $name:ident, $some:ident, $eight:ident, $put_eight:ident, $features:literal, $hash:ident, $word:ident,
        $vector:ty, $digest:literal, $load:ident, $store:ident, $xor:ident, $compress:ident
    ) => {
        /// Goes on by `iterations` links of PBKDF2 in every lane, two lanes at a time.
        ///
        /// # Safety
        /// The processor has the features.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $name(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
            // RFC 2104: the inner key block is masked with 0x36, the outer with 0x5c.
            let mut midstates = [0x36, 0x5c].map(|mask: u8| {
                let mut block = [0; 16];
                for (word, bytes) in block.iter_mut().zip(key.chunks_exact(size_of::<$word>())) {
                    *word = $hash::read(bytes) ^ $word::from_ne_bytes([mask; _]);
                }
                let midstate = $hash::midstate(&block);
                block.zeroize();
                midstate
            });
            let mut pairs = lanes.chunks_exact_mut(2);
            for pair in &mut pairs {
                if let Ok(pair) = <&mut [Lane; 2]>::try_from(pair) {
                    // SAFETY: this function has the features.
                    unsafe { $some(&midstates, pair, iterations) }
                }
            }
            for lane in pairs.into_remainder() {
                // SAFETY: this function has the features.
                unsafe { $some(&midstates, std::array::from_mut(lane), iterations) }
            }
            midstates.zeroize();
        }

        /// # Safety
        /// The processor has the features.
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn $some<const N: usize>(midstates: &[[$word; 8]; 2], lanes: &mut [Lane; N], iterations: u32) {
            const WORD: usize = size_of::<$word>();
            let read = |bytes: &[u8; 64]| -> [$word; 8] {
                std::array::from_fn(|i| $hash::read(&bytes[WORD * i..WORD * i + WORD]))
            };
            let write = |words: [$word; 8], bytes: &mut [u8; 64]| {
                bytes.chunks_exact_mut(WORD).zip(words).for_each(|(bytes, word)| $hash::write(word, bytes));
            };
            let keyed = [$eight(&midstates[0]), $eight(&midstates[1])];
            let (mut link, mut sum) = ([keyed[0]; N], [keyed[0]; N]);
            for (n, lane) in lanes.iter().enumerate() {
                link[n] = $eight(&read(&lane.link));
                sum[n] = $eight(&read(&lane.sum));
            }
            // Behind a digest: a one bit, and the length in bits of a key block of 16 words and a digest of 8.
            let padding =
                $eight(&[1 << ($word::BITS - 1), 0, 0, 0, 0, 0, 0, $word::from(24u8) * $word::BITS as $word]);
            for _ in 0..iterations {
                for keyed in keyed {
                    let mut words = [[padding[0]; 2 * $digest]; N];
                    for n in 0..N {
                        words[n][..$digest].copy_from_slice(&link[n]);
                        words[n][$digest..].copy_from_slice(&padding);
                    }
                    // SAFETY: this function has the features.
                    link = unsafe { $compress([keyed; N], words) };
                }
                for n in 0..N {
                    for i in 0..$digest {
                        sum[n][i] = $xor(sum[n][i], link[n][i]);
                    }
                }
            }
            for (n, lane) in lanes.iter_mut().enumerate() {
                let mut words = [0; 8];
                $put_eight(link[n], &mut words);
                write(words, &mut lane.link);
                $put_eight(sum[n], &mut words);
                write(words, &mut lane.sum);
                words.zeroize();
            }
        }

        #[target_feature(enable = "neon")]
        #[inline]
        fn $eight(words: &[$word; 8]) -> [$vector; $digest] {
            // SAFETY: each vector is read from as many words as it has, of which there are eight in all.
            unsafe {
                let mut vectors = [$load(words.as_ptr()); $digest];
                for (i, vector) in vectors.iter_mut().enumerate() {
                    *vector = $load(words.as_ptr().add(8 / $digest * i));
                }
                vectors
            }
        }

        #[target_feature(enable = "neon")]
        #[inline]
        fn $put_eight(vectors: [$vector; $digest], words: &mut [$word; 8]) {
            for (i, vector) in vectors.into_iter().enumerate() {
                // SAFETY: each vector is written to as many words as it has, of which there are eight in all.
                unsafe { $store(words.as_mut_ptr().add(8 / $digest * i), vector) };
            }
        }
    };
}

pbkdf2!(
    pbkdf2_sha256,
    some_sha256,
    eight_32,
    put_eight_32,
    "neon,sha2",
    Sha256,
    u32,
    uint32x4_t,
    2,
    vld1q_u32,
    vst1q_u32,
    veorq_u32,
    compress_256
);
pbkdf2!(
    pbkdf2_sha512,
    some_sha512,
    eight_64,
    put_eight_64,
    "neon,sha3",
    Sha512,
    u64,
    uint64x2_t,
    4,
    vld1q_u64,
    vst1q_u64,
    veorq_u64,
    compress_512
);

/// Links of BitLocker's stretch.
///
/// # Safety
/// The processor has the instructions of SHA-256.
#[target_feature(enable = "neon,sha2")]
pub(super) unsafe fn stretch(chains: &mut [Chain], from: u32, to: u32) {
    let mut pairs = chains.chunks_exact_mut(AT_ONCE);
    for pair in &mut pairs {
        if let Ok(pair) = <&mut [Chain; AT_ONCE]>::try_from(pair) {
            // SAFETY: this function has the features.
            unsafe { stretch_some(pair, from, to) }
        }
    }
    for chain in pairs.into_remainder() {
        // SAFETY: this function has the features.
        unsafe { stretch_some(std::array::from_mut(chain), from, to) }
    }
}

/// # Safety
/// The processor has the instructions of SHA-256.
#[target_feature(enable = "neon,sha2")]
#[inline]
unsafe fn stretch_some<const N: usize>(chains: &mut [Chain; N], from: u32, to: u32) {
    let begin = [eight_32(&sha256::IV); N];
    let (mut last, mut initial, mut salt) = (begin, begin, [begin[0][0]; N]);
    for (n, chain) in chains.iter().enumerate() {
        last[n] = eight_32(&chain.last);
        initial[n] = eight_32(&chain.initial);
        // SAFETY: the salt is four words.
        salt[n] = unsafe { vld1q_u32(chain.salt.as_ptr()) };
    }
    for count in from..to {
        let tail = tail(count);
        let (mut first, mut second) = ([[salt[0]; 4]; N], [[salt[0]; 4]; N]);
        for n in 0..N {
            first[n] = [last[n][0], last[n][1], initial[n][0], initial[n][1]];
            // SAFETY: the tail is three times four words.
            let [a, b, c] = unsafe {
                [vld1q_u32(tail.as_ptr()), vld1q_u32(tail.as_ptr().add(4)), vld1q_u32(tail.as_ptr().add(8))]
            };
            second[n] = [salt[n], a, b, c];
        }
        // SAFETY: this function has the features.
        last = unsafe { compress_256(compress_256(begin, first), second) };
    }
    for (chain, last) in chains.iter_mut().zip(last) {
        put_eight_32(last, &mut chain.last);
    }
}

/// One block into each of the states (FIPS 180-4, section 6.2.2). A state is a to d and e to h.
///
/// # Safety
/// The processor has the instructions of SHA-256.
#[target_feature(enable = "neon,sha2")]
#[inline]
unsafe fn compress_256<const N: usize>(
    states: [[uint32x4_t; 2]; N],
    mut words: [[uint32x4_t; 4]; N],
) -> [[uint32x4_t; 2]; N] {
    let mut now = states;
    // Four rounds with the words of register `$a`; from the seventeenth on they are made in it, from the sixteen
    // words before.
    macro_rules! four_rounds {
        ($i:expr, $a:literal) => {
            for n in 0..N {
                // SAFETY: the constants are four words from 4 i on.
                let sum = vaddq_u32(words[n][$a], unsafe { vld1q_u32(sha256::K.as_ptr().add(4 * $i)) });
                let [abcd, efgh] = now[n];
                now[n] = [vsha256hq_u32(abcd, efgh, sum), vsha256h2q_u32(efgh, abcd, sum)];
            }
        };
        (made $i:expr, $a:literal $b:literal $c:literal $d:literal) => {
            for w in &mut words {
                w[$a] = vsha256su1q_u32(vsha256su0q_u32(w[$a], w[$b]), w[$c], w[$d]);
            }
            four_rounds!($i, $a);
        };
    }
    four_rounds!(0, 0);
    four_rounds!(1, 1);
    four_rounds!(2, 2);
    four_rounds!(3, 3);
    for sixteen in 1..4 {
        four_rounds!(made 4 * sixteen, 0 1 2 3);
        four_rounds!(made 4 * sixteen + 1, 1 2 3 0);
        four_rounds!(made 4 * sixteen + 2, 2 3 0 1);
        four_rounds!(made 4 * sixteen + 3, 3 0 1 2);
    }
    for n in 0..N {
        for half in 0..2 {
            now[n][half] = vaddq_u32(now[n][half], states[n][half]);
        }
    }
    now
}

/// One block into each of the states (FIPS 180-4, section 6.4.2). A state is a and b, c and d, e and f, g and h.
///
/// # Safety
/// The processor has the instructions of SHA-512.
#[target_feature(enable = "neon,sha3")]
#[inline]
unsafe fn compress_512<const N: usize>(
    states: [[uint64x2_t; 4]; N],
    mut words: [[uint64x2_t; 8]; N],
) -> [[uint64x2_t; 4]; N] {
    let mut now = states;
    // Two rounds with the words of register `$a`, likewise. The first instruction makes both of section 6.4.2's T1, of
    // the second round in the lower half, the second what becomes a and b.
    macro_rules! two_rounds {
        ($i:expr, $a:literal) => {
            for n in 0..N {
                // SAFETY: the constants are two words from 2 i on.
                let sum = vaddq_u64(words[n][$a], unsafe { vld1q_u64(sha512::K.as_ptr().add(2 * $i)) });
                let [ab, cd, ef, gh] = now[n];
                let sum = vaddq_u64(gh, vextq_u64::<1>(sum, sum));
                let t1 = vsha512hq_u64(sum, vextq_u64::<1>(ef, gh), vextq_u64::<1>(cd, ef));
                now[n] = [vsha512h2q_u64(t1, cd, ab), ab, vaddq_u64(cd, t1), ef];
            }
        };
        (made $i:expr, $a:literal $b:literal $e:literal $f:literal $h:literal) => {
            for w in &mut words {
                let nine = vextq_u64::<1>(w[$e], w[$f]);
                w[$a] = vsha512su1q_u64(vsha512su0q_u64(w[$a], w[$b]), w[$h], nine);
            }
            two_rounds!($i, $a);
        };
    }
    two_rounds!(0, 0);
    two_rounds!(1, 1);
    two_rounds!(2, 2);
    two_rounds!(3, 3);
    two_rounds!(4, 4);
    two_rounds!(5, 5);
    two_rounds!(6, 6);
    two_rounds!(7, 7);
    for sixteen in 1..5 {
        two_rounds!(made 8 * sixteen, 0 1 4 5 7);
        two_rounds!(made 8 * sixteen + 1, 1 2 5 6 0);
        two_rounds!(made 8 * sixteen + 2, 2 3 6 7 1);
        two_rounds!(made 8 * sixteen + 3, 3 4 7 0 2);
        two_rounds!(made 8 * sixteen + 4, 4 5 0 1 3);
        two_rounds!(made 8 * sixteen + 5, 5 6 1 2 4);
        two_rounds!(made 8 * sixteen + 6, 6 7 2 3 5);
        two_rounds!(made 8 * sixteen + 7, 7 0 3 4 6);
    }
    for n in 0..N {
        for i in 0..4 {
            now[n][i] = vaddq_u64(now[n][i], states[n][i]);
        }
    }
    now
}
