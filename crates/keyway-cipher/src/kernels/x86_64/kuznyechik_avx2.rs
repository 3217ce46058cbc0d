//! Kuznyechik with AVX2: 32 blocks, a unit of 512 bytes, at a time.

use super::entry_point::entry_point;
use super::kuznyechik::{Decrypt, Encrypt, with_parts};
use super::kuznyechik_shuffles::Shuffles;
use crate::portable::Kuznyechik;
use std::arch::x86_64::*;
use std::marker::PhantomData;

with_parts!(Shuffles);

entry_point!("avx2", [], Kuznyechik, __m256i, 16, 16, encrypt, decrypt);
