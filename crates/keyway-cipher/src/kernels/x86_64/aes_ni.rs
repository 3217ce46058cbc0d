//! AES with AES-NI: eight blocks in flight, which hides an instruction's latency of three to
//! seven cycles at one or two a cycle.

use super::aes::{AesLanes, Decrypt, Encrypt};
use super::aes_lanes::{aes_lanes, any_order};
use super::entry_point::entry_point;
use super::lanes::Lanes;
use crate::portable::AesKeys;
use std::arch::x86_64::*;

aes_lanes!(
    __m128i,
    _mm_aesenc_si128,
    _mm_aesenclast_si128,
    _mm_aesdec_si128,
    _mm_aesdeclast_si128,
    any_order
);

entry_point!("sse4.1,aes,pclmulqdq", [const R: usize], AesKeys<R>, __m128i, 8, 8, Encrypt, Decrypt);
