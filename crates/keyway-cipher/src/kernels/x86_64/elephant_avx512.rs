//! The Elephant diffuser on 512-bit vectors.

use super::elephant::{Arithmetic, arithmetic, elephant_entry_point};
use std::arch::x86_64::*;

arithmetic!(__m512i, _mm512_add_epi32, _mm512_sub_epi32);

elephant_entry_point!("avx512f,avx512bw,avx512dq,avx512vl,vpclmulqdq", [__m512i, __m256i], __m128i);
