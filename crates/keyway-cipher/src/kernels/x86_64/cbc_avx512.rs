//! CBC with VAES on 512-bit vectors.

use super::cbc::cbc_entry_point;
use std::arch::x86_64::__m512i;

cbc_entry_point!("avx512f,avx512bw,avx512dq,avx512vl,vaes,vpclmulqdq", __m512i, 2);
