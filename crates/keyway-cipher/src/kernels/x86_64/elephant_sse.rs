//! The Elephant diffuser on 128-bit vectors.

use super::elephant::elephant_entry_point;
use std::arch::x86_64::*;

elephant_entry_point!("sse4.1,pclmulqdq", [], __m128i);
