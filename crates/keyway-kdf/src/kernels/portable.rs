//! One chain at a time with RustCrypto's SHA compression functions.
//!
//! They use the processor's SHA instructions where there are any (x86-64, aarch64).

use super::lane::{KeyBlock, Lane};
use super::{ripemd160, sha256, sha512};
use zeroize::Zeroize;

macro_rules! chains {
    ($($name:ident: [$word:ty; $words:literal], $block:literal, $iv:expr, $compress:path;)*) => { $(
        pub(super) fn $name(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
            const WORD: usize = size_of::<$word>();
            const DIGEST: usize = $words * WORD;
            // RFC 2104: the inner key block is masked with 0x36, the outer with 0x5c.
            let midstates = [0x36, 0x5c].map(|mask: u8| {
                let mut block = [mask; $block];
                block.iter_mut().zip(key.iter()).for_each(|(b, k)| *b ^= k);
                let mut state: [$word; $words] = $iv;
                $compress(&mut state, &[block]);
                block.zeroize();
                state
            });
            // A block that holds one digest and the padding behind it and the key block.
            let mut block = [0; $block];
            block[DIGEST] = 0x80;
            block[$block - 8..].copy_from_slice(&(8 * ($block + DIGEST) as u64).to_be_bytes());
            for lane in lanes {
                block[..DIGEST].copy_from_slice(&lane.link[..DIGEST]);
                for _ in 0..iterations {
                    for midstate in &midstates {
                        let mut state = *midstate;
                        $compress(&mut state, &[block]);
                        for (bytes, word) in block.chunks_exact_mut(WORD).zip(state) {
                            bytes.copy_from_slice(&word.to_be_bytes());
                        }
                    }
                    lane.sum.iter_mut().zip(&block[..DIGEST]).for_each(|(s, l)| *s ^= l);
                }
                lane.link[..DIGEST].copy_from_slice(&block[..DIGEST]);
            }
            block.zeroize();
        }
    )* };
}

chains! {
    sha512: [u64; 8], 128, sha512::IV, sha2::block_api::compress512;
    sha256: [u32; 8], 64, sha256::IV, sha2::block_api::compress256;
    // SHA-1 starts from the same words as RIPEMD-160, both MD4's and one more.
    sha1: [u32; 5], 64, ripemd160::IV, sha1::block_api::compress;
}
