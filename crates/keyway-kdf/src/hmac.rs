//! HMAC (RFC 2104) with the two key blocks hashed once, from RustCrypto's hash functions.

use sha2::digest::common::BlockSizeUser;
use sha2::digest::{Digest, Output};
use zeroize::{Zeroize, Zeroizing};

/// Room for the largest input block (SHA-512's) and so for any digest.
pub(crate) const MAX_BLOCK_BYTES: usize = 128;

/// The HMAC key stretched or hashed to one input block.
pub(crate) type KeyBlock = Zeroizing<[u8; MAX_BLOCK_BYTES]>;

/// A hash function whose state after the key block can be kept and used again.
pub(crate) trait Hash: Digest + BlockSizeUser + Clone {}
impl<D: Digest + BlockSizeUser + Clone> Hash for D {}

/// HMAC under one key.
pub(crate) struct Hmac<D> {
    inner: D,
    outer: D,
}

impl<D: Hash> Hmac<D> {
    /// Hashes both key blocks.
    pub(crate) fn new(key: &[u8]) -> Self {
        let mut pad = key_block::<D>(key);
        let pad = &mut pad[..D::block_size()];
        let mut keyed = |mask: u8| {
            pad.iter_mut().for_each(|b| *b ^= mask);
            let state = D::new_with_prefix(&*pad);
            pad.iter_mut().for_each(|b| *b ^= mask);
            state
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

/// The key padded with zeros to a block of the hash; a longer key is hashed first (RFC 2104).
fn key_block<D: Hash>(key: &[u8]) -> KeyBlock {
    let mut block = KeyBlock::new([0; MAX_BLOCK_BYTES]);
    if key.len() > D::block_size() {
        let mut digest = D::digest(key);
        block[..digest.len()].copy_from_slice(&digest);
        digest.zeroize();
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    block
}
