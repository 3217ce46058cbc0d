//! Kuznyechik with SSE4.1: 16 blocks at a time.

use super::entry_point::entry_point;
use super::kuznyechik::{Decrypt, Encrypt, with_parts};
use super::kuznyechik_shuffles::Shuffles;
use crate::portable::Kuznyechik;
use std::arch::x86_64::*;
use std::marker::PhantomData;

with_parts!(Shuffles);

entry_point!("sse4.1,pclmulqdq", [], Kuznyechik, __m128i, 16, 16, encrypt, decrypt);
