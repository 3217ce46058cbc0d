//! Input and output of a step: the key's block and the chains.

use zeroize::Zeroize;

/// The HMAC key, hashed if it was longer than a block, with zeros behind it.
pub(crate) type KeyBlock = [u8; MAX_BLOCK_BYTES];

/// Room for the largest input block, SHA-512's.
pub(crate) const MAX_BLOCK_BYTES: usize = 128;

/// One chain: its last link and the exclusive or of all links so far. Shorter digests use the front.
#[derive(Clone, Copy)]
pub(crate) struct Lane {
    pub(crate) link: [u8; 64],
    pub(crate) sum: [u8; 64],
}

impl Lane {
    pub(crate) const EMPTY: Self = Self { link: [0; 64], sum: [0; 64] };
}

impl Zeroize for Lane {
    fn zeroize(&mut self) {
        self.link.zeroize();
        self.sum.zeroize();
    }
}
