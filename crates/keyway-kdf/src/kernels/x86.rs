//! The lane code compiled for AVX2 and AVX-512, handed out only to processors that have them.

use super::blake2s::Blake2s;
use super::gfni::{self, ByColumn, ByWord};
use super::gfni_pairs::ByPair;
use super::lane::{KeyBlock, Lane};
use super::lanes::{Twin, W32x8, W32x16, W64x4, W64x8};
use super::ripemd160::Ripemd160;
use super::sha256::Sha256;
use super::sha512::Sha512;
use super::step::{Step, steps};
use super::streebog::Streebog;
use super::streebog_nibbles::ByAlpha;
use super::whirlpool::Whirlpool;
use super::whirlpool_nibbles;
use super::{chain, portable, rows, scalar, sha_ni};
use crate::prf::Prf;
use std::arch::x86_64::__m256i;

macro_rules! lane_steps {
    ($features:literal, $($name:ident: $hash:ty, $words:literal, $vector:ty;)*) => { $(
        #[target_feature(enable = $features)]
        unsafe fn $name(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
            // SAFETY: this function has the features that the vector type needs.
            unsafe { chain::advance::<$vector, $hash, $words>(key, lanes, iterations) }
        }
    )* };
}

lane_steps! { "avx2",
    sha512_4: Sha512, 8, W64x4;
    sha512_4x2: Sha512, 8, Twin<W64x4>;
    sha256_8: Sha256, 8, W32x8;
    sha256_8x2: Sha256, 8, Twin<W32x8>;
    blake2s_8: Blake2s, 8, W32x8;
    ripemd160_8: Ripemd160, 5, W32x8;
    ripemd160_8x2: Ripemd160, 5, Twin<W32x8>;
}

lane_steps! { "avx512f,avx512bw,avx512vl,avx512dq",
    sha512_8: Sha512, 8, W64x8;
    sha512_8x2: Sha512, 8, Twin<W64x8>;
    sha256_16: Sha256, 8, W32x16;
    sha256_16x2: Sha256, 8, Twin<W32x16>;
    blake2s_16: Blake2s, 8, W32x16;
    ripemd160_16: Ripemd160, 5, W32x16;
    ripemd160_16x2: Ripemd160, 5, Twin<W32x16>;
}

macro_rules! row_steps {
    ($features:literal, $($name:ident: $hash:ty, $rows:ty;)*) => { $(
        #[target_feature(enable = $features)]
        unsafe fn $name(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
            // SAFETY: this function has the features that the rows need.
            unsafe { rows::advance::<$rows, $hash>(key, lanes, iterations) }
        }
    )* };
}

row_steps! { "avx2",
    whirlpool_4: Whirlpool, whirlpool_nibbles::ByColumn<__m256i>;
    streebog_4: Streebog, ByAlpha<__m256i>;
}

row_steps! { "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,gfni",
    whirlpool_8: Whirlpool, ByColumn;
    streebog_4_pairs: Streebog, ByPair;
    streebog_8: Streebog, ByWord;
}

// The lists begin with plain code for as few chains as it beats the narrowest vector at, which costs
// the same however few of its lanes are filled. Twins are there where measuring found them faster:
// the chains of additions and rotations of BLAKE2s are short enough to fill the units alone. The SHA
// instructions take two chains at a time, and four pairs of them before sixteen lanes are faster; AVX2's
// eight never are. Plain Whirlpool and Streebog look tables up in memory: vectors without do one chain too, if slower.

pub(super) fn avx2_steps(prf: Prf) -> &'static [Step] {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return &[];
    }
    match prf {
        Prf::Sha512 => steps![1 portable::sha512, 4 sha512_4, 8 sha512_4x2],
        Prf::Sha256 if sha_ni::available() => steps![16 sha_ni::pbkdf2],
        Prf::Sha256 => steps![1 portable::sha256, 8 sha256_8, 16 sha256_8x2],
        Prf::Blake2s => steps![1 scalar::blake2s, 8 blake2s_8],
        Prf::Ripemd160 => steps![1 scalar::ripemd160, 8 ripemd160_8, 16 ripemd160_8x2],
        Prf::Whirlpool => steps![4 whirlpool_4],
        Prf::Streebog => steps![4 streebog_4],
        Prf::Sha1 => &[],
    }
}

pub(super) fn avx512_steps(prf: Prf) -> &'static [Step] {
    let has = std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vl")
        && std::arch::is_x86_feature_detected!("avx512dq");
    if !has {
        return &[];
    }
    match prf {
        Prf::Sha512 => steps![1 portable::sha512, 8 sha512_8, 16 sha512_8x2],
        Prf::Sha256 if sha_ni::available() => steps![8 sha_ni::pbkdf2, 16 sha256_16, 32 sha256_16x2],
        Prf::Sha256 => steps![1 portable::sha256, 16 sha256_16, 32 sha256_16x2],
        Prf::Blake2s => steps![1 scalar::blake2s, 16 blake2s_16],
        Prf::Ripemd160 => steps![1 scalar::ripemd160, 16 ripemd160_16, 32 ripemd160_16x2],
        Prf::Whirlpool if gfni::available() => steps![8 whirlpool_8],
        Prf::Streebog if gfni::available() => steps![4 streebog_4_pairs, 8 streebog_8],
        Prf::Whirlpool | Prf::Streebog | Prf::Sha1 => &[],
    }
}
