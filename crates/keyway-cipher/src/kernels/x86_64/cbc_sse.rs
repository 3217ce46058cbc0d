//! CBC with AES-NI.

use super::cbc::cbc_entry_point;
use std::arch::x86_64::__m128i;

cbc_entry_point!("sse4.1,aes,pclmulqdq", __m128i, 8);
