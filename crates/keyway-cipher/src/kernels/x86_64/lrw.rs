//! LRW's tweaks, as wide as each instruction set goes.

use super::rounds::lrw::xor;
use std::arch::x86_64::*;

#[target_feature(enable = "sse4.1")]
pub(super) fn xor_sse(blocks: &mut [[u8; 16]], multiples: &[[u8; 16]], base: &[u8; 16]) {
    // SAFETY: the features that the vector needs are on in this function.
    unsafe { xor::<__m128i>(blocks, multiples, base) }
}

#[target_feature(enable = "avx2")]
pub(super) fn xor_avx2(blocks: &mut [[u8; 16]], multiples: &[[u8; 16]], base: &[u8; 16]) {
    // SAFETY: the features that the vector needs are on in this function.
    unsafe { xor::<__m256i>(blocks, multiples, base) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn xor_avx512(blocks: &mut [[u8; 16]], multiples: &[[u8; 16]], base: &[u8; 16]) {
    // SAFETY: the features that the vector needs are on in this function.
    unsafe { xor::<__m512i>(blocks, multiples, base) }
}
