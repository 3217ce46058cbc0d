//! The Elephant diffuser on 256-bit vectors.

use super::elephant::{Arithmetic, arithmetic, elephant_entry_point};
use std::arch::x86_64::*;

arithmetic!(__m256i, _mm256_add_epi32, _mm256_sub_epi32);

elephant_entry_point!("avx2", [__m256i], __m128i);
