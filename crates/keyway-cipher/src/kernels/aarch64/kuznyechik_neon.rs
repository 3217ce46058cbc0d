//! Kuznyechik with NEON: 16 blocks at a time. The S-box is a table in registers, multiplications are
//! look-ups by nibble.

use super::entry_point::entry_point;
use super::kuznyechik::{Decrypt, Encrypt, Parts, with_parts};
use super::kuznyechik_shuffles::Shuffles;
use super::s_box::look_up;
use crate::portable::{KUZNYECHIK_PI, KUZNYECHIK_PI_INVERSE, Kuznyechik};
use std::arch::aarch64::uint8x16_t;
use std::marker::PhantomData;

static PI: [u8; 256] = KUZNYECHIK_PI;
static PI_INVERSE: [u8; 256] = KUZNYECHIK_PI_INVERSE;

/// Vectors that share a part of the table while it is in registers.
const TOGETHER: usize = 8;

struct Tables;

impl Parts<uint8x16_t> for Tables {
    #[inline(always)]
    unsafe fn substitute(x: &mut [uint8x16_t; 16]) {
        for x in x.as_chunks_mut::<TOGETHER>().0 {
            // SAFETY: the trait's contract.
            *x = unsafe { look_up(&PI, *x) };
        }
    }

    #[inline(always)]
    unsafe fn inverse_substitute(x: &mut [uint8x16_t; 16]) {
        for x in x.as_chunks_mut::<TOGETHER>().0 {
            // SAFETY: the trait's contract.
            *x = unsafe { look_up(&PI_INVERSE, *x) };
        }
    }

    #[inline(always)]
    unsafe fn sum(single: uint8x16_t, p: [uint8x16_t; 5], near: uint8x16_t, last: uint8x16_t) -> uint8x16_t {
        // SAFETY: the trait's contract.
        unsafe { <Shuffles as Parts<uint8x16_t>>::sum(single, p, near, last) }
    }
}

with_parts!(Tables);

entry_point!("neon", [], Kuznyechik, uint8x16_t, 16, 16, encrypt, decrypt);
