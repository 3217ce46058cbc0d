//! Chains of SHA-256 over BitLocker's stretch structure, one or two at a time.

use super::sha256;
use zeroize::Zeroize;

/// One chain: the hash so far and what every link takes in besides, as big-endian words.
#[derive(Default)]
pub(crate) struct Chain {
    pub(crate) last: [u32; 8],
    pub(crate) initial: [u32; 8],
    pub(crate) salt: [u32; 4],
}

impl Zeroize for Chain {
    fn zeroize(&mut self) {
        self.last.zeroize();
        self.initial.zeroize();
        self.salt.zeroize();
    }
}

/// How many chains fill the SHA unit of one core: while one waits for a result, the other computes.
pub(crate) const AT_ONCE: usize = 2;

/// Bits of one structure: two hashes, the salt and the count. It ends in the second block.
const BITS: u32 = 8 * (32 + 32 + 16 + 8);

/// The second half of the second block: the count is little-endian and below 2^32, padding follows.
pub(super) const fn tail(count: u32) -> [u32; 12] {
    [count.swap_bytes(), 0, 1 << 31, 0, 0, 0, 0, 0, 0, 0, 0, BITS]
}

/// With RustCrypto's compression function, which takes SHA instructions where it knows them.
pub(super) fn portable(chains: &mut [Chain], from: u32, to: u32) {
    let mut blocks = [[0; 64]; 2];
    for chain in chains {
        for count in from..to {
            let words = chain.last.iter().chain(&chain.initial).chain(&chain.salt);
            let words = words.copied().chain(tail(count));
            for (bytes, word) in blocks.as_flattened_mut().chunks_exact_mut(4).zip(words) {
                bytes.copy_from_slice(&word.to_be_bytes());
            }
            chain.last = sha256::IV;
            sha2::block_api::compress256(&mut chain.last, &blocks);
        }
    }
    blocks.zeroize();
}
