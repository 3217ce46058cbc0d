//! HMAC (RFC 2104) with the two key blocks hashed once, from RustCrypto's hash functions.

use crate::kernels::KeyBlock;
use sha2::digest::common::BlockSizeUser;
use sha2::digest::{Digest, Output};
use zeroize::{Zeroize, Zeroizing};

/// A hash function whose state after the key block can be kept and used again.
pub(crate) trait Hash: Digest + BlockSizeUser + Clone {}
impl<D: Digest + BlockSizeUser + Clone> Hash for D {}

/// HMAC under one key.
pub(crate) struct Hmac<D> {
    inner: D,
    outer: D,
}

impl<D: Hash> Hmac<D> {
    /// Hashes both masked key blocks.
    pub(crate) fn new(key: &KeyBlock) -> Self {
        let keyed = |mask: u8| {
            let masked = Zeroizing::new(key.map(|k| k ^ mask));
            D::new_with_prefix(masked.get(..D::block_size()).unwrap_or_default())
        };
        // RFC 2104: ipad is 0x36 repeated, opad 0x5c.
        Self { inner: keyed(0x36), outer: keyed(0x5c) }
    }

    /// The MAC of the parts strung together.
    pub(crate) fn mac(&self, parts: &[&[u8]], out: &mut Output<D>) {
        let mut hash = self.inner.clone();
        parts.iter().for_each(|part| hash.update(part));
        hash.finalize_into(out);
        let mut hash = self.outer.clone();
        hash.update(&*out);
        hash.finalize_into(out);
    }
}

/// Fills in the key, hashed first if it is longer than a block of the hash (RFC 2104), and zeros.
pub(crate) fn key_block<D: Hash>(key: &[u8], block: &mut KeyBlock) {
    block.zeroize();
    if key.len() > D::block_size() {
        let mut digest = D::digest(key);
        block.iter_mut().zip(&digest).for_each(|(b, d)| *b = *d);
        digest.zeroize();
    } else {
        block.iter_mut().zip(key).for_each(|(b, k)| *b = *k);
    }
}
