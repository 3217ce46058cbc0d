//! The lane code compiled for AVX2 and AVX-512, handed out only to processors that have them.

use super::blake2s::Blake2s;
use super::gfni::{self, ByColumn, ByWord};
use super::lanes::{Twin, W32x8, W32x16, W64x4, W64x8};
use super::ripemd160::Ripemd160;
use super::sha256::Sha256;
use super::sha512::Sha512;
use super::streebog::Streebog;
use super::whirlpool::Whirlpool;
use super::{KeyBlock, Lane, Step, chain, rows};
use crate::prf::Prf;

macro_rules! steps {
    ($features:literal, $($name:ident: $hash:ty, $words:literal, $vector:ty;)*) => { $(
        #[target_feature(enable = $features)]
        unsafe fn $name(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
            // SAFETY: this function has the features that the vector type needs.
            unsafe { chain::advance::<$vector, $hash, $words>(key, lanes, iterations) }
        }
    )* };
}

steps! { "avx2",
    sha512_4: Sha512, 8, W64x4;
    sha512_4x2: Sha512, 8, Twin<W64x4>;
    sha256_8: Sha256, 8, W32x8;
    sha256_8x2: Sha256, 8, Twin<W32x8>;
    blake2s_8: Blake2s, 8, W32x8;
    blake2s_8x2: Blake2s, 8, Twin<W32x8>;
    ripemd160_8: Ripemd160, 5, W32x8;
    ripemd160_8x2: Ripemd160, 5, Twin<W32x8>;
}

steps! { "avx512f,avx512bw,avx512vl,avx512dq",
    sha512_8: Sha512, 8, W64x8;
    sha512_8x2: Sha512, 8, Twin<W64x8>;
    sha256_16: Sha256, 8, W32x16;
    sha256_16x2: Sha256, 8, Twin<W32x16>;
    blake2s_16: Blake2s, 8, W32x16;
    blake2s_16x2: Blake2s, 8, Twin<W32x16>;
    ripemd160_16: Ripemd160, 5, W32x16;
    ripemd160_16x2: Ripemd160, 5, Twin<W32x16>;
}

macro_rules! row_steps {
    ($($name:ident: $hash:ty, $rows:ty;)*) => { $(
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,gfni")]
        unsafe fn $name(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
            // SAFETY: this function has the features that the rows need.
            unsafe { rows::advance::<$rows, $hash>(key, lanes, iterations) }
        }
    )* };
}

row_steps! {
    whirlpool_8: Whirlpool, ByColumn;
    streebog_8: Streebog, ByWord;
}

pub(super) fn avx2_steps(prf: Prf) -> &'static [Step] {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return &[];
    }
    match prf {
        Prf::Sha512 => &[Step { lanes: 4, run: sha512_4 }, Step { lanes: 8, run: sha512_4x2 }],
        Prf::Sha256 => &[Step { lanes: 8, run: sha256_8 }, Step { lanes: 16, run: sha256_8x2 }],
        Prf::Blake2s => &[Step { lanes: 8, run: blake2s_8 }, Step { lanes: 16, run: blake2s_8x2 }],
        Prf::Ripemd160 => &[Step { lanes: 8, run: ripemd160_8 }, Step { lanes: 16, run: ripemd160_8x2 }],
        Prf::Whirlpool | Prf::Streebog | Prf::Sha1 => &[],
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
        Prf::Sha512 => &[Step { lanes: 8, run: sha512_8 }, Step { lanes: 16, run: sha512_8x2 }],
        Prf::Sha256 => &[Step { lanes: 16, run: sha256_16 }, Step { lanes: 32, run: sha256_16x2 }],
        Prf::Blake2s => &[Step { lanes: 16, run: blake2s_16 }, Step { lanes: 32, run: blake2s_16x2 }],
        Prf::Ripemd160 => &[Step { lanes: 16, run: ripemd160_16 }, Step { lanes: 32, run: ripemd160_16x2 }],
        Prf::Whirlpool if gfni::available() => &[Step { lanes: 8, run: whirlpool_8 }],
        Prf::Streebog if gfni::available() => &[Step { lanes: 8, run: streebog_8 }],
        Prf::Whirlpool | Prf::Streebog | Prf::Sha1 => &[],
    }
}
