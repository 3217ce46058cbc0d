//! Chains of SHA-256 over BitLocker's stretch structure, one or two at a time.

use super::sha256;
use zeroize::Zeroize;

/// One chain: the hash so far and what every link takes in besides, as big-endian words.
#[derive(Default)]
pub(crate) struct Chain {
    pub(crate) last: [u32; 8],
    pub(crate) initial: [u32; 8],
    pub(crate) salt: [u32; 4],
}

impl Zeroize for Chain {
    fn zeroize(&mut self) {
        self.last.zeroize();
        self.initial.zeroize();
        self.salt.zeroize();
    }
}

/// How many chains fill the SHA unit of one core: while one waits for a result, the other computes.
pub(crate) const AT_ONCE: usize = 2;

/// A way to go on by some links in every chain.
#[derive(Clone, Copy)]
pub(crate) struct Links {
    /// Safe to call on a processor for which [`Links::all`] hands it out.
    run: unsafe fn(&mut [Chain], u32, u32),
}

impl Links {
    /// The one that runs on any processor.
    pub(crate) const PORTABLE: Self = Self { run: portable };

    /// Every function that runs on this processor, the fastest first.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("sha") && std::arch::is_x86_feature_detected!("sse4.1") {
            all.push(Self { run: x86::sha_ni });
        }
        all.push(Self::PORTABLE);
        all
    }

    /// The fastest on this processor.
    pub(crate) fn best() -> Self {
        Self::all().first().copied().unwrap_or(Self::PORTABLE)
    }

    /// Links number `from` to `to`, the latter left out, in each chain.
    pub(crate) fn run(self, chains: &mut [Chain], from: u32, to: u32) {
        // SAFETY: `all` has asked the processor for the instructions of what it hands out.
        unsafe { (self.run)(chains, from, to) }
    }
}

/// Bits of one structure: two hashes, the salt and the count. It ends in the second block.
const BITS: u32 = 8 * (32 + 32 + 16 + 8);

/// The second half of the second block: the count is little-endian and below 2^32, padding follows.
const fn tail(count: u32) -> [u32; 12] {
    [count.swap_bytes(), 0, 1 << 31, 0, 0, 0, 0, 0, 0, 0, 0, BITS]
}

/// With RustCrypto's compression function, which takes SHA instructions where it knows them.
fn portable(chains: &mut [Chain], from: u32, to: u32) {
    let mut blocks = [[0; 64]; 2];
    for chain in chains {
        for count in from..to {
            let words = chain.last.iter().chain(&chain.initial).chain(&chain.salt);
            let words = words.copied().chain(tail(count));
            for (bytes, word) in blocks.as_flattened_mut().chunks_exact_mut(4).zip(words) {
                bytes.copy_from_slice(&word.to_be_bytes());
            }
            chain.last = sha256::IV;
            sha2::block_api::compress256(&mut chain.last, &blocks);
        }
    }
    blocks.zeroize();
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::sha256::{IV, K};
    use super::{AT_ONCE, Chain, tail};
    use std::arch::x86_64::*;

    /// A state as the instructions take it: a, b, e, f from the top of the first register, c, d, g, h
    /// of the second.
    type State = [__m128i; 2];

    /// Sixteen words of message, the first lowest.
    type Words = [__m128i; 4];

    /// # Safety
    /// The processor has the SHA extensions and SSE4.1.
    #[target_feature(enable = "sha,sse4.1")]
    pub(super) unsafe fn sha_ni(chains: &mut [Chain], from: u32, to: u32) {
        let mut pairs = chains.chunks_exact_mut(AT_ONCE);
        for pair in &mut pairs {
            if let Ok(pair) = <&mut [Chain; AT_ONCE]>::try_from(pair) {
                // SAFETY: this function has the features.
                unsafe { advance(pair, from, to) }
            }
        }
        for chain in pairs.into_remainder() {
            // SAFETY: this function has the features.
            unsafe { advance(std::array::from_mut(chain), from, to) }
        }
    }

    /// # Safety
    /// The processor has the SHA extensions and SSE4.1.
    #[inline(always)]
    unsafe fn advance<const N: usize>(chains: &mut [Chain; N], from: u32, to: u32) {
        // SAFETY: the caller vouches for the instructions; each load and store is of four words.
        unsafe {
            let four = |words: &[u32]| -> __m128i {
                debug_assert!(words.len() >= 4);
                _mm_loadu_si128(words.as_ptr().cast())
            };
            let zero = _mm_setzero_si128();
            let mut last = [[zero; 2]; N];
            let mut initial = [[zero; 2]; N];
            let mut salt = [zero; N];
            for (n, chain) in chains.iter().enumerate() {
                last[n] = [four(&chain.last[..4]), four(&chain.last[4..])];
                initial[n] = [four(&chain.initial[..4]), four(&chain.initial[4..])];
                salt[n] = four(&chain.salt);
            }
            let [a, b, c, d, e, f, g, h] = IV.map(u32::cast_signed);
            let iv = [[_mm_set_epi32(a, b, e, f), _mm_set_epi32(c, d, g, h)]; N];
            for count in from..to {
                let tail = tail(count);
                let (mut first, mut second) = ([[zero; 4]; N], [[zero; 4]; N]);
                for n in 0..N {
                    first[n] = [last[n][0], last[n][1], initial[n][0], initial[n][1]];
                    second[n] = [salt[n], four(&tail[..4]), four(&tail[4..8]), four(&tail[8..])];
                }
                let state = compress(compress(iv, first), second);
                for n in 0..N {
                    let [abef, cdgh] = state[n].map(|half| _mm_castsi128_ps(half));
                    last[n] = [
                        _mm_castps_si128(_mm_shuffle_ps::<0b10_11_10_11>(abef, cdgh)),
                        _mm_castps_si128(_mm_shuffle_ps::<0b00_01_00_01>(abef, cdgh)),
                    ];
                }
            }
            for (chain, last) in chains.iter_mut().zip(last) {
                let (low, high) = chain.last.split_at_mut(4);
                _mm_storeu_si128(low.as_mut_ptr().cast(), last[0]);
                _mm_storeu_si128(high.as_mut_ptr().cast(), last[1]);
            }
        }
    }

    /// One block into each of the states.
    ///
    /// # Safety
    /// The processor has the SHA extensions and SSE4.1.
    #[inline(always)]
    unsafe fn compress<const N: usize>(states: [State; N], mut words: [Words; N]) -> [State; N] {
        let mut now = states;
        // Four rounds. `$a` is the register with their words; later ones are made in it, from the
        // sixteen words before (FIPS 180-4, section 6.2.2).
        macro_rules! four_rounds {
            (given $i:literal $a:literal) => {
                for n in 0..N {
                    // SAFETY: the caller vouches for the instructions; K has four words from 4 i on.
                    unsafe { rounds!(n, $i, $a) }
                }
            };
            (made $i:literal $a:literal $b:literal $c:literal $d:literal) => {
                for n in 0..N {
                    // SAFETY: the caller vouches for the instructions; K has four words from 4 i on.
                    unsafe {
                        let w = &mut words[n];
                        let sum = _mm_add_epi32(
                            _mm_sha256msg1_epu32(w[$a], w[$b]),
                            _mm_alignr_epi8::<4>(w[$d], w[$c]),
                        );
                        w[$a] = _mm_sha256msg2_epu32(sum, w[$d]);
                        rounds!(n, $i, $a)
                    }
                }
            };
        }
        macro_rules! rounds {
            ($n:ident, $i:literal, $a:literal) => {{
                let k = _mm_loadu_si128(K.as_ptr().add(4 * $i).cast());
                let sum = _mm_add_epi32(words[$n][$a], k);
                let [abef, cdgh] = now[$n];
                let cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
                let abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32::<0b11_10>(sum));
                now[$n] = [abef, cdgh];
            }};
        }
        four_rounds!(given 0 0);
        four_rounds!(given 1 1);
        four_rounds!(given 2 2);
        four_rounds!(given 3 3);
        macro_rules! sixteen_more {
            ($i:literal $j:literal $k:literal $l:literal) => {
                four_rounds!(made $i 0 1 2 3);
                four_rounds!(made $j 1 2 3 0);
                four_rounds!(made $k 2 3 0 1);
                four_rounds!(made $l 3 0 1 2);
            };
        }
        sixteen_more!(4 5 6 7);
        sixteen_more!(8 9 10 11);
        sixteen_more!(12 13 14 15);
        for n in 0..N {
            for half in 0..2 {
                // SAFETY: the caller vouches for the instructions.
                now[n][half] = unsafe { _mm_add_epi32(now[n][half], states[n][half]) };
            }
        }
        now
    }
}
