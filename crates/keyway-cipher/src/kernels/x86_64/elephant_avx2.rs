//! The Elephant diffuser on 256-bit vectors.

use super::elephant::elephant_entry_point;
use std::arch::x86_64::*;

elephant_entry_point!("avx2", [__m256i], __m128i);
