//! SHA-256 (FIPS 180-4) compression in lanes.

use super::chain::LaneHash;
use super::fips180::sha2;
use super::lanes::Lanes;

/// The initial state (section 5.3.3): the upper halves of SHA-512's.
pub(super) const IV: [u32; 8] = {
    let mut iv = [0; 8];
    let mut i = 0;
    while i < iv.len() {
        iv[i] = (super::sha512::IV[i] >> 32) as u32;
        i += 1;
    }
    iv
};

/// The round constants (section 4.2.2): the upper halves of SHA-512's first 64.
pub(super) const K: [u32; 64] = {
    let mut k = [0; 64];
    let mut i = 0;
    while i < k.len() {
        k[i] = (super::sha512::K[i] >> 32) as u32;
        i += 1;
    }
    k
};

/// SHA-256 (FIPS 180-4).
pub(crate) struct Sha256;

sha2!(Sha256, u32, IV, K, 2 13 22, 6 11 25, 7 18 3, 17 19 10);
