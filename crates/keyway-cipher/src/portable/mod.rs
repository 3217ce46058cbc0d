//! Ciphers in plain Rust, for any machine: what every kernel is measured against, and what the
//! old 64-bit ciphers always use.
//!
//! Constant time: AES and DES are as good as their crates; Twofish, Camellia, Kuznyechik,
//! Blowfish and CAST5 look their S-boxes up in tables at secret indices.

mod twofish;

pub(crate) use twofish::Twofish;

use crate::Algorithm;
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

/// One keyed block cipher. Lives inside `Locked`; the variants wipe themselves besides.
#[allow(clippy::large_enum_variant, reason = "each lives alone in locked pages of its own")]
pub(crate) enum Cipher {
    Aes128(aes::Aes128),
    Aes256(aes::Aes256),
    Serpent(serpent::Serpent),
    Twofish(Twofish),
    Camellia(camellia::Camellia256),
    Kuznyechik(kuznyechik::Kuznyechik),
    /// TrueCrypt reads and writes Blowfish's 32-bit halves little-endian.
    Blowfish(blowfish::BlowfishLE),
    Cast5(cast5::Cast5),
    TripleDes(des::TdesEde3),
}

impl Cipher {
    /// None when the key does not have the algorithm's length.
    pub(crate) fn new(algorithm: Algorithm, key: &[u8]) -> Option<Self> {
        if key.len() != algorithm.key_bytes() {
            return None;
        }
        Some(match algorithm {
            Algorithm::Aes128 => Self::Aes128(aes::Aes128::new_from_slice(key).ok()?),
            Algorithm::Aes256 => Self::Aes256(aes::Aes256::new_from_slice(key).ok()?),
            Algorithm::Serpent => Self::Serpent(serpent::Serpent::new_from_slice(key).ok()?),
            Algorithm::Twofish => Self::Twofish(Twofish::new(key.try_into().ok()?)),
            Algorithm::Camellia => Self::Camellia(camellia::Camellia256::new_from_slice(key).ok()?),
            Algorithm::Kuznyechik => Self::Kuznyechik(kuznyechik::Kuznyechik::new_from_slice(key).ok()?),
            Algorithm::Blowfish => Self::Blowfish(blowfish::BlowfishLE::new_from_slice(key).ok()?),
            Algorithm::Cast5 => Self::Cast5(cast5::Cast5::new_from_slice(key).ok()?),
            Algorithm::TripleDes => Self::TripleDes(des::TdesEde3::new_from_slice(key).ok()?),
        })
    }

    /// 16, or 8 for the old ones.
    pub(crate) fn block_bytes(&self) -> usize {
        match self {
            Self::Blowfish(_) | Self::Cast5(_) | Self::TripleDes(_) => 8,
            _ => 16,
        }
    }

    /// Encrypts each block on its own, in place; the length is a whole number of blocks.
    pub(crate) fn encrypt(&self, blocks: &mut [u8]) {
        match self {
            Self::Aes128(c) => c.encrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::Aes256(c) => c.encrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::Serpent(c) => c.encrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::Twofish(c) => c.encrypt(blocks),
            Self::Camellia(c) => c.encrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::Kuznyechik(c) => c.encrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::Blowfish(c) => c.encrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::Cast5(c) => c.encrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::TripleDes(c) => c.encrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
        }
    }

    /// Decrypts each block on its own, in place; the length is a whole number of blocks.
    pub(crate) fn decrypt(&self, blocks: &mut [u8]) {
        match self {
            Self::Aes128(c) => c.decrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::Aes256(c) => c.decrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::Serpent(c) => c.decrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::Twofish(c) => c.decrypt(blocks),
            Self::Camellia(c) => c.decrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::Kuznyechik(c) => c.decrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::Blowfish(c) => c.decrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::Cast5(c) => c.decrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
            Self::TripleDes(c) => c.decrypt_blocks(Array::slice_as_chunks_mut(blocks).0),
        }
    }
}
