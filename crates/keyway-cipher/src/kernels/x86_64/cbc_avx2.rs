//! CBC with VAES on 256-bit vectors.

use super::cbc::cbc_entry_point;
use std::arch::x86_64::__m256i;

cbc_entry_point!("avx2,vaes", __m256i, 4);
