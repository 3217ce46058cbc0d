//! Camellia with GFNI on 256-bit vectors: 64 blocks at a time, in two groups that take turns.

use super::camellia::{Boxes, Sliced};
use super::camellia_gfni::{gfni::*, gfni_boxes};
use super::entry_point::entry_point;
use crate::portable::Camellia;
use std::arch::x86_64::*;

gfni_boxes!(
    Gfni,
    __m256i,
    _mm256_set1_epi64x,
    _mm256_gf2p8affine_epi64_epi8,
    _mm256_gf2p8affineinv_epi64_epi8
);

#[inline(always)]
fn encrypt(keys: &Camellia) -> Sliced<'_, Gfni> {
    Sliced::new(&keys.encrypt_bytes)
}

#[inline(always)]
fn decrypt(keys: &Camellia) -> Sliced<'_, Gfni> {
    Sliced::new(&keys.decrypt_bytes)
}

entry_point!("avx2,gfni", [], Camellia, __m256i, 32, 16, encrypt, decrypt);
