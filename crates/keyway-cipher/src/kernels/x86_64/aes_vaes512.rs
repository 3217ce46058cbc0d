//! AES with VAES on 512-bit vectors: a unit of 512 bytes in eight registers.

use super::aes::{AesLanes, Decrypt, Encrypt};
use super::aes_lanes::{aes_lanes, any_order};
use super::entry_point::entry_point;
use super::lanes::Lanes;
use crate::portable::AesKeys;
use std::arch::x86_64::*;

aes_lanes!(
    __m512i,
    _mm512_aesenc_epi128,
    _mm512_aesenclast_epi128,
    _mm512_aesdec_epi128,
    _mm512_aesdeclast_epi128,
    any_order
);

entry_point!(
    "avx512f,avx512bw,avx512dq,avx512vl,vaes,vpclmulqdq",
    [const R: usize],
    AesKeys<R>,
    __m512i,
    8, 2,
    Encrypt,
    Decrypt
);
