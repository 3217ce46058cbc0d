//! S-boxes by byte shuffles with four tables of 64 entries, read at no address.

use std::arch::aarch64::*;

/// Some vectors of bytes through a table. They take turns, so that each part of it is loaded once for all.
///
/// # Safety
/// The caller has NEON.
#[inline(always)]
pub(super) unsafe fn look_up<const N: usize>(table: &[u8; 256], mut x: [uint8x16_t; N]) -> [uint8x16_t; N] {
    // SAFETY: the caller's promise; the four loads cover exactly the table.
    unsafe {
        let quarters = table.as_ptr();
        let sixty_four = vdupq_n_u8(64);
        let mut y = x;
        let first = vld1q_u8_x4(quarters);
        for (y, x) in y.iter_mut().zip(&x) {
            // Zero for bytes that are not below 64.
            *y = vqtbl4q_u8(first, *x);
        }
        for quarter in 1..4 {
            let entries = vld1q_u8_x4(quarters.add(64 * quarter));
            for (y, x) in y.iter_mut().zip(&mut x) {
                *x = vsubq_u8(*x, sixty_four);
                // What was there for those.
                *y = vqtbx4q_u8(*y, entries, *x);
            }
        }
        y
    }
}
