//! The Elephant diffuser on 128-bit vectors.

use super::elephant::{Arithmetic, arithmetic, elephant_entry_point};
use std::arch::x86_64::*;

arithmetic!(__m128i, _mm_add_epi32, _mm_sub_epi32);

elephant_entry_point!("sse4.1,pclmulqdq", [], __m128i);
