//! The Elephant diffuser on 512-bit vectors.

use super::elephant::elephant_entry_point;
use std::arch::x86_64::*;

elephant_entry_point!("avx512f,avx512bw,avx512dq,avx512vl,vpclmulqdq", [__m512i, __m256i], __m128i);
