//! SHA-256 with the SHA extensions of x86-64, one or two chains at a time.
//!
//! The instructions for two rounds have a latency of 4 cycles and can begin every 2: a second chain costs
//! little. They have no form for AVX, so nothing here is compiled for it.

use super::chain::LaneHash;
use super::lane::{KeyBlock, Lane};
use super::sha256::{IV, K, Sha256};
use super::stretch::{AT_ONCE, Chain, tail};
use std::arch::x86_64::*;
use zeroize::Zeroize;

/// A state as the instructions take it: a, b, e, f from the top of the first register, c, d, g, h
/// of the second.
type State = [__m128i; 2];

/// Eight words of message, the first lowest.
type Half = [__m128i; 2];

/// Sixteen words of message.
type Words = [__m128i; 4];

/// Whether the processor has what this module needs.
pub(super) fn available() -> bool {
    std::arch::is_x86_feature_detected!("sha") && std::arch::is_x86_feature_detected!("sse4.1")
}

/// Links of BitLocker's stretch.
///
/// # Safety
/// The processor has the SHA extensions and SSE4.1.
#[target_feature(enable = "sha,sse4.1")]
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
/// The processor has the SHA extensions and SSE4.1.
#[inline(always)]
unsafe fn stretch_some<const N: usize>(chains: &mut [Chain; N], from: u32, to: u32) {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let zero = _mm_setzero_si128();
        let (mut last, mut initial, mut salt) = ([[zero; 2]; N], [[zero; 2]; N], [zero; N]);
        for (n, chain) in chains.iter().enumerate() {
            last[n] = eight(&chain.last);
            initial[n] = eight(&chain.initial);
            salt[n] = four(&chain.salt);
        }
        let begin = [state(&IV); N];
        for count in from..to {
            let tail = tail(count);
            let (mut first, mut second) = ([[zero; 4]; N], [[zero; 4]; N]);
            for n in 0..N {
                first[n] = [last[n][0], last[n][1], initial[n][0], initial[n][1]];
                second[n] = [salt[n], four(&tail[..4]), four(&tail[4..8]), four(&tail[8..])];
            }
            let end = compress(compress(begin, first), second);
            for n in 0..N {
                last[n] = message(end[n]);
            }
        }
        for (chain, last) in chains.iter_mut().zip(last) {
            put_eight(last, &mut chain.last);
        }
    }
}

/// Goes on by `iterations` links of PBKDF2 in every lane, two lanes at a time.
///
/// # Safety
/// The processor has the SHA extensions and SSE4.1.
#[target_feature(enable = "sha,sse4.1")]
pub(super) unsafe fn pbkdf2(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
    // RFC 2104: the inner key block is masked with 0x36, the outer with 0x5c.
    let mut midstates = [0x36, 0x5c].map(|mask: u8| {
        let mut block = [0; 16];
        for (word, bytes) in block.iter_mut().zip(key.chunks_exact(4)) {
            *word = Sha256::read(bytes) ^ u32::from_ne_bytes([mask; 4]);
        }
        let midstate = Sha256::midstate(&block);
        block.zeroize();
        midstate
    });
    let mut pairs = lanes.chunks_exact_mut(2);
    for pair in &mut pairs {
        if let Ok(pair) = <&mut [Lane; 2]>::try_from(pair) {
            // SAFETY: this function has the features.
            unsafe { pbkdf2_some(&midstates, pair, iterations) }
        }
    }
    for lane in pairs.into_remainder() {
        // SAFETY: this function has the features.
        unsafe { pbkdf2_some(&midstates, std::array::from_mut(lane), iterations) }
    }
    midstates.zeroize();
}

/// # Safety
/// The processor has the SHA extensions and SSE4.1.
#[inline(always)]
unsafe fn pbkdf2_some<const N: usize>(midstates: &[[u32; 8]; 2], lanes: &mut [Lane; N], iterations: u32) {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let zero = _mm_setzero_si128();
        let read = |bytes: &[u8; 64]| -> [u32; 8] {
            std::array::from_fn(|i| Sha256::read(&bytes[4 * i..4 * i + 4]))
        };
        let write = |words: [u32; 8], bytes: &mut [u8; 64]| {
            bytes.chunks_exact_mut(4).zip(words).for_each(|(bytes, word)| Sha256::write(word, bytes));
        };
        let (mut link, mut sum) = ([[zero; 2]; N], [[zero; 2]; N]);
        for (n, lane) in lanes.iter().enumerate() {
            link[n] = eight(&read(&lane.link));
            sum[n] = eight(&read(&lane.sum));
        }
        let keyed = [state(&midstates[0]), state(&midstates[1])];
        // Behind a digest: a one bit, and the length in bits of a key block of 16 words and a digest of 8.
        let padding = [_mm_set_epi32(0, 0, 0, i32::MIN), _mm_set_epi32(24 * 32, 0, 0, 0)];
        for _ in 0..iterations {
            for keyed in keyed {
                let mut words = [[zero; 4]; N];
                for n in 0..N {
                    words[n] = [link[n][0], link[n][1], padding[0], padding[1]];
                }
                let end = compress([keyed; N], words);
                for n in 0..N {
                    link[n] = message(end[n]);
                }
            }
            for n in 0..N {
                sum[n] = [_mm_xor_si128(sum[n][0], link[n][0]), _mm_xor_si128(sum[n][1], link[n][1])];
            }
        }
        for (n, lane) in lanes.iter_mut().enumerate() {
            let mut words = [0; 8];
            put_eight(link[n], &mut words);
            write(words, &mut lane.link);
            put_eight(sum[n], &mut words);
            write(words, &mut lane.sum);
            words.zeroize();
        }
    }
}

/// # Safety
/// The processor has SSE2; `words` are four or more.
#[inline(always)]
unsafe fn four(words: &[u32]) -> __m128i {
    debug_assert!(words.len() >= 4);
    // SAFETY: the caller vouches for the length.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

/// # Safety
/// The processor has SSE2.
#[inline(always)]
unsafe fn eight(words: &[u32; 8]) -> Half {
    // SAFETY: the halves are four words each.
    unsafe { [four(&words[..4]), four(&words[4..])] }
}

/// # Safety
/// The processor has SSE2.
#[inline(always)]
unsafe fn put_eight(half: Half, words: &mut [u32; 8]) {
    let (low, high) = words.split_at_mut(4);
    // SAFETY: each store is of four words.
    unsafe {
        _mm_storeu_si128(low.as_mut_ptr().cast(), half[0]);
        _mm_storeu_si128(high.as_mut_ptr().cast(), half[1]);
    }
}

/// A state from its words, a to h.
///
/// # Safety
/// The processor has SSE2.
#[inline(always)]
unsafe fn state(words: &[u32; 8]) -> State {
    let [a, b, c, d, e, f, g, h] = words.map(u32::cast_signed);
    // SAFETY: the caller vouches for the instructions.
    unsafe { [_mm_set_epi32(a, b, e, f), _mm_set_epi32(c, d, g, h)] }
}

/// A state's words, a to h, as the next message has them.
///
/// # Safety
/// The processor has SSE2.
#[inline(always)]
unsafe fn message(state: State) -> Half {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let (abef, cdgh) = (_mm_castsi128_ps(state[0]), _mm_castsi128_ps(state[1]));
        [
            _mm_castps_si128(_mm_shuffle_ps::<0b10_11_10_11>(abef, cdgh)),
            _mm_castps_si128(_mm_shuffle_ps::<0b00_01_00_01>(abef, cdgh)),
        ]
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
                    let sum =
                        _mm_add_epi32(_mm_sha256msg1_epu32(w[$a], w[$b]), _mm_alignr_epi8::<4>(w[$d], w[$c]));
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
