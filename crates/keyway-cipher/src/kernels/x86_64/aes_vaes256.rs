//! AES with VAES on 256-bit vectors: sixteen blocks in flight.

use super::aes::{AesLanes, Decrypt, Encrypt};
use super::aes_lanes::aes_lanes;
use super::entry_point::entry_point;
use super::lanes::Lanes;
use crate::portable::AesKeys;
use std::arch::x86_64::*;

aes_lanes!(
    __m256i,
    _mm256_aesenc_epi128,
    _mm256_aesenclast_epi128,
    _mm256_aesdec_epi128,
    _mm256_aesdeclast_epi128
);

entry_point!("avx2,vaes", [const R: usize], AesKeys<R>, __m256i, 8, 4, Encrypt, Decrypt);
