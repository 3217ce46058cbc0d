//! Kuznyechik's S-box by look-ups of nibbles.
//!
//! It is computed from its hidden structure (Biryukov, Perrin, Udovenko, "Reverse-Engineering
//! the S-Box of Streebog, Kuznyechik and STRIBOBr1", 2016): two linear maps, alpha and omega, and
//! between them on nibbles l and r of GF(2^4), modulo x^4 + x^3 + 1,
//! l' = nu1(l / r), or nu0(l) where r is zero; r' = sigma(r * phi(l')).
//! Everything on nibbles is a table of 16 for one shuffle, with logarithms to multiply. Zero's
//! logarithm is 0xc0: a sum with it keeps its highest bit, for which a shuffle gives zero.

use super::nibbles::Nibbles;

// Matrices for GFNI.
pub(in crate::kernels) const ALPHA: i64 = 0x201a_448a_ef43_4108;
pub(in crate::kernels) const OMEGA_INVERSE: i64 = 0x0188_4008_1a20_448a;

// Tables by nibble. Logarithms are to the base x; tables called `EXP` take a logarithm.
const LOG: u128 = 0x0608_0b0e_050a_0403_070d_0902_0c01_00c0;
const LOG_INVERSE: u128 = 0x0907_0401_0a05_0b0c_0802_060d_030e_00c0;
/// L' is kept plus nu1 of zero, 7, so that a shuffle's zero is right too.
const NU0: u128 = 0x000b_0a0f_0608_0307_0d09_0e01_0c04_0205;
const NU1_EXP: u128 = 0x000a_0f0e_050c_0804_060d_0902_0307_0b01;
const LOG_PHI: u128 = 0x0d0c_0903_080c_0d05_0501_0503_0e02_000e;
/// Omega on the left nibble, plus omega of sigma of zero, which is missing in the next table.
const OMEGA_LEFT: u128 = 0xcede_eefe_cada_eafa_dccc_fcec_d8c8_f8e8;
const OMEGA_SIGMA_EXP: u128 = 0x0093_d698_dd99_d70a_920b_4e45_4f44_dc01;

const LOG_SIGMA_INVERSE: u128 = 0x0e07_00c0_090d_0402_0608_0a0c_0305_0b01;
const LOG_INVERSE_PHI: u128 = 0x0a02_0307_0c06_0302_0100_0d01_0c0a_0e0a;
const LOG_NU1_INVERSE: u128 = 0x0905_0e01_0a06_0c0d_c000_0403_080b_0702;
/// The inverse of alpha on the left nibble.
const ALPHA_INVERSE_NU0_INVERSE: u128 = 0x0a44_0bdc_d701_934e_99d6_45dd_9200_4f98;
const ALPHA_INVERSE_LEFT_EXP: u128 = 0x004e_44d7_0b0a_93dc_0199_4fdd_98d6_9245;
const ALPHA_INVERSE_RIGHT_EXP: u128 = 0x0084_5175_e1d5_2494_34f1_b0a0_c541_1065;

/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn look_up<L: Nibbles>(table: u128, x: L) -> L {
    // SAFETY: the caller's promise.
    unsafe { L::table(&table).look_up(x) }
}

/// The logarithm of a product: the sum modulo 15, or something with its highest bit set.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn add_logarithms<L: Nibbles>(a: L, b: L) -> L {
    // SAFETY: the caller's promise.
    unsafe {
        let sum = a.add_saturating(b);
        sum.min(sum.sub(L::splat1(15)))
    }
}

/// Vectors that take turns: more of them share a table, fewer find room in registers.
pub(in crate::kernels) const TOGETHER: usize = 4;

/// The same for each of some vectors. They take turns, so that each table is loaded once for all.
macro_rules! each {
    ($x:ident, $i:ident, $value:expr) => {{
        let mut values = $x;
        for $i in 0..$x.len() {
            values[$i] = $value;
        }
        values
    }};
}

/// The S-box after [`ALPHA`].
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
pub(in crate::kernels) unsafe fn substitute<L: Nibbles, const N: usize>(x: [L; N]) -> [L; N] {
    // SAFETY: the caller's promise.
    unsafe {
        let l = each!(x, i, x[i].nibbles().1);
        let r = each!(x, i, x[i].nibbles().0);
        let log_l = each!(x, i, look_up(LOG, l[i]));
        let log_inverse_r = each!(x, i, look_up(LOG_INVERSE, r[i]));
        let quotient = each!(x, i, add_logarithms(log_l[i], log_inverse_r[i]));
        let nu1 = each!(x, i, look_up(NU1_EXP, quotient[i]));
        let nu0 = each!(x, i, look_up(NU0, l[i]));
        // The highest bit of the logarithm says that r is zero.
        let l = each!(x, i, nu1[i].or_else(nu0[i], log_inverse_r[i]));
        let log_r = each!(x, i, look_up(LOG, r[i]));
        let product = each!(x, i, look_up(LOG_PHI, l[i]));
        let product = each!(x, i, add_logarithms(log_r[i], product[i]));
        let left = each!(x, i, look_up(OMEGA_LEFT, l[i]));
        each!(x, i, left[i].xor(look_up(OMEGA_SIGMA_EXP, product[i])))
    }
}

/// The inverse S-box after [`OMEGA_INVERSE`].
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
pub(in crate::kernels) unsafe fn inverse_substitute<L: Nibbles, const N: usize>(x: [L; N]) -> [L; N] {
    // SAFETY: the caller's promise.
    unsafe {
        let l = each!(x, i, x[i].nibbles().1);
        let r = each!(x, i, x[i].nibbles().0);
        let log_r = each!(x, i, look_up(LOG_SIGMA_INVERSE, r[i]));
        let r = each!(x, i, look_up(LOG_INVERSE_PHI, l[i]));
        let r = each!(x, i, add_logarithms(log_r[i], r[i]));
        let product = each!(x, i, look_up(LOG_NU1_INVERSE, l[i]));
        let product = each!(x, i, add_logarithms(product[i], r[i]));
        let zero = each!(x, i, look_up(ALPHA_INVERSE_NU0_INVERSE, l[i]));
        let left = each!(x, i, look_up(ALPHA_INVERSE_LEFT_EXP, product[i]));
        // The highest bit of r's logarithm says that r is zero.
        let left = each!(x, i, left[i].or_else(zero[i], r[i]));
        each!(x, i, left[i].xor(look_up(ALPHA_INVERSE_RIGHT_EXP, r[i])))
    }
}
