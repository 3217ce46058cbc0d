//! Camellia with GFNI on 512-bit vectors: 64 blocks, two units of 512 bytes, at a time.

use super::camellia::{Boxes, Sliced, gfni::*, gfni_boxes};
use super::entry_point;
use crate::portable::Camellia;
use std::arch::x86_64::*;

gfni_boxes!(
    Gfni,
    __m512i,
    _mm512_set1_epi64,
    _mm512_gf2p8affine_epi64_epi8,
    _mm512_gf2p8affineinv_epi64_epi8
);

#[inline(always)]
fn encrypt(keys: &Camellia) -> Sliced<'_, Gfni> {
    Sliced::new(&keys.encrypt_bytes)
}

#[inline(always)]
fn decrypt(keys: &Camellia) -> Sliced<'_, Gfni> {
    Sliced::new(&keys.decrypt_bytes)
}

entry_point!(
    "avx512f,avx512bw,avx512dq,avx512vl,gfni,vpclmulqdq",
    [],
    Camellia,
    __m512i,
    16,
    encrypt,
    decrypt
);
