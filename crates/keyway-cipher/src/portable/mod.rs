//! Ciphers in plain Rust, for any machine: what every vector kernel is measured against.
//!
//! AES and Serpent are bit-sliced and take the same time for every key and text. Twofish and
//! Camellia, and Kuznyechik, Blowfish and CAST5 that come from other crates, look S-boxes up in
//! tables at secret indices.

mod aes;
mod camellia;
mod kuznyechik;
mod lrw;
pub(crate) mod serpent;
mod twofish;

pub(crate) use aes::AesKeys;
pub(crate) use camellia::{Camellia, Subkeys as CamelliaSubkeys};
pub(crate) use kuznyechik::{Kuznyechik, PI as KUZNYECHIK_PI, PI_INVERSE as KUZNYECHIK_PI_INVERSE};
#[cfg(target_arch = "x86_64")]
pub(crate) use kuznyechik::{linear as kuznyechik_linear, times as kuznyechik_times};
pub(crate) use lrw::xor_multiples;
pub(crate) use serpent::Serpent;
pub(crate) use twofish::Twofish;

/// Hands `blocks` to `work` in groups of `N`; the last one is filled up with zero blocks.
#[inline(always)]
fn in_groups<const N: usize>(blocks: &mut [[u8; 16]], mut work: impl FnMut(&mut [[u8; 16]; N])) {
    let (groups, rest) = blocks.as_chunks_mut();
    groups.iter_mut().for_each(&mut work);
    if !rest.is_empty() {
        let mut group = [[0; 16]; N];
        group[..rest.len()].copy_from_slice(rest);
        work(&mut group);
        rest.copy_from_slice(&group[..rest.len()]);
    }
}
