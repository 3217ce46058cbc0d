//! The lane code for NEON and the SHA instructions, handed out only to processors that have them.

use super::blake2s::Blake2s;
use super::lane::{KeyBlock, Lane};
use super::lanes::Twin;
use super::lanes_neon::W32x4;
use super::ripemd160::Ripemd160;
use super::sha_instructions::{self, has_sha256, has_sha512};
use super::sha256::Sha256;
use super::step::{Step, steps};
use super::streebog::Streebog;
use super::streebog_nibbles::ByAlpha;
use super::whirlpool::Whirlpool;
use super::whirlpool_nibbles::ByColumn;
use super::{chain, portable, rows, scalar};
use crate::prf::Prf;
use std::arch::aarch64::uint8x16_t;

macro_rules! lane_steps {
    ($($name:ident: $hash:ty, $words:literal, $vector:ty;)*) => { $(
        #[target_feature(enable = "neon")]
        unsafe fn $name(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
            // SAFETY: this function has the features that the vector type needs.
            unsafe { chain::advance::<$vector, $hash, $words>(key, lanes, iterations) }
        }
    )* };
}

lane_steps! {
    sha256_4: Sha256, 8, W32x4;
    sha256_4x2: Sha256, 8, Twin<W32x4>;
    blake2s_4: Blake2s, 8, W32x4;
    ripemd160_4: Ripemd160, 5, W32x4;
    ripemd160_4x2: Ripemd160, 5, Twin<W32x4>;
}

macro_rules! row_steps {
    ($($name:ident: $hash:ty, $rows:ty;)*) => { $(
        #[target_feature(enable = "neon")]
        unsafe fn $name(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
            // SAFETY: this function has the features that the rows need.
            unsafe { rows::advance::<$rows, $hash>(key, lanes, iterations) }
        }
    )* };
}

row_steps! {
    whirlpool_2: Whirlpool, ByColumn<uint8x16_t>;
    streebog_2: Streebog, ByAlpha<uint8x16_t>;
}

// The lists begin with plain code for single chains, where vectors would be filled by a part. As on x86-64, twins fill
// the gaps where each instruction waits for the one before; BLAKE2s fills the units alone. Plain Whirlpool
// and Streebog look tables up in memory: vectors without do one chain too. Two words of SHA-512 in a vector
// that can't rotate are not worth one.

pub(super) fn neon_steps(prf: Prf) -> &'static [Step] {
    if !std::arch::is_aarch64_feature_detected!("neon") {
        return &[];
    }
    match prf {
        Prf::Sha512 if has_sha512() => steps![16 sha_instructions::pbkdf2_sha512],
        Prf::Sha256 if has_sha256() => steps![16 sha_instructions::pbkdf2_sha256],
        Prf::Sha256 => steps![1 portable::sha256, 4 sha256_4, 8 sha256_4x2],
        Prf::Blake2s => steps![1 scalar::blake2s, 4 blake2s_4],
        Prf::Ripemd160 => steps![1 scalar::ripemd160, 4 ripemd160_4, 8 ripemd160_4x2],
        Prf::Whirlpool => steps![2 whirlpool_2],
        Prf::Streebog => steps![2 streebog_2],
        Prf::Sha512 | Prf::Sha1 => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Kernel, portable_steps};

    /// What these tests run on is emulated with all of it, or without SHA-512.
    #[test]
    fn what_the_processor_has_is_chosen() {
        for prf in Prf::ALL {
            let expected = match prf {
                Prf::Sha1 => 0,
                Prf::Sha512 => {
                    if has_sha512() {
                        16
                    } else {
                        0
                    }
                }
                Prf::Sha256 => {
                    if has_sha256() {
                        16
                    } else {
                        8
                    }
                }
                Prf::Ripemd160 => 8,
                Prf::Blake2s => 4,
                Prf::Whirlpool | Prf::Streebog => 2,
            };
            assert_eq!(Kernel::Neon.lanes(prf), expected, "{prf}");
        }
    }

    /// Processors with the SHA instructions take kernels without them for no chain; this runs those all the same.
    #[test]
    fn vectors_that_processors_with_sha_instructions_do_not_choose() {
        let key: KeyBlock = std::array::from_fn(|i| i as u8);
        let begin: [Lane; 8] = std::array::from_fn(|n| {
            let mut lane = Lane::EMPTY;
            lane.link.iter_mut().zip(0u8..32).for_each(|(byte, i)| *byte = i.wrapping_mul(37) ^ n as u8);
            lane.sum = lane.link;
            lane
        });
        let Some(plain) = portable_steps(Prf::Sha256).first() else { unreachable!("there is one") };
        let mut expected = begin;
        expected.iter_mut().for_each(|lane| plain.run(&key, std::slice::from_mut(lane), 5));
        for chains in 1..=8 {
            let (mut four, mut eight) = (begin, begin);
            // SAFETY: NEON is part of every aarch64 target here.
            unsafe {
                for four in four[..chains].chunks_mut(4) {
                    sha256_4(&key, four, 5);
                }
                sha256_4x2(&key, &mut eight[..chains], 5);
            }
            for got in [four, eight] {
                for (got, expected) in got[..chains].iter().zip(&expected) {
                    assert!(got.link == expected.link && got.sum == expected.sum, "{chains} chains");
                }
            }
        }
    }
}
