//! Derives header keys from passwords and salts.

use super::params::{Derivation, HashName};
use keyway_kdf::{Argon2idCost, Block, KdfError, Prf};
use keyway_secret::SecretBytes;
use std::sync::atomic::AtomicBool;

impl HashName {
    /// The pseudorandom function under PBKDF2; `None` for Argon2id.
    pub const fn prf(self) -> Option<Prf> {
        match self {
            Self::Sha512 => Some(Prf::Sha512),
            Self::Whirlpool => Some(Prf::Whirlpool),
            Self::Sha256 => Some(Prf::Sha256),
            Self::Blake2s => Some(Prf::Blake2s),
            Self::Streebog => Some(Prf::Streebog),
            Self::Ripemd160 => Some(Prf::Ripemd160),
            Self::Sha1 => Some(Prf::Sha1),
            Self::Argon2id => None,
        }
    }
}

/// Derives the first `len` bytes of a header key. `password` is what
/// [`Secrets::header_password`](crate::Secrets::header_password) gave. `Ok(None)`: `stop` was set.
///
/// # Errors
/// Argon2id could not have its memory.
pub fn derive_header_key(
    hash: HashName,
    cost: Derivation,
    password: &[u8],
    salt: &[u8],
    len: usize,
    stop: &AtomicBool,
) -> Result<Option<SecretBytes>, KdfError> {
    match (cost, hash.prf()) {
        (Derivation::Pbkdf2 { iterations }, Some(prf)) => {
            let count = u32::try_from(len.div_ceil(prf.digest_bytes())).unwrap_or(u32::MAX);
            let blocks: Vec<Block<'_>> = (1..=count).map(|index| Block { salt, index }).collect();
            let mut key = SecretBytes::zeroed(len);
            for some in blocks.chunks(keyway_kdf::lanes(prf).max(1)) {
                let Some(done) = keyway_kdf::pbkdf2_blocks(prf, password, iterations, some, stop) else {
                    return Ok(None);
                };
                for (block, bytes) in some.iter().zip(&done) {
                    let at = (block.index as usize - 1) * prf.digest_bytes();
                    for (to, from) in key.iter_mut().skip(at).zip(bytes.iter()) {
                        *to = *from;
                    }
                }
            }
            Ok(Some(key))
        }
        (Derivation::Argon2id { memory_kib, passes }, _) => {
            // One lane whatever the PIM (VeraCrypt's documentation, "Header Key Derivation").
            let cost = Argon2idCost { memory_kib, passes, lanes: 1 };
            keyway_kdf::argon2id(cost, password, salt, len, stop)
        }
        // Derivation::of never pairs these; an empty key opens nothing.
        (Derivation::Pbkdf2 { .. }, None) => Ok(Some(SecretBytes::zeroed(0))),
    }
}
