//! PBKDF2 (RFC 8018, section 5.2) over batches of independent output blocks.

use crate::hmac::{Hash, Hmac};
use crate::prf::Prf;
use keyway_secret::{Locked, SecretBytes, wipe_stack};
use sha2::digest::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use zeroize::Zeroize;

/// How many iterations pass between two looks at the stop flag: well under a millisecond to a few.
const ITERATIONS_PER_STEP: u32 = 1000;

/// One output block of PBKDF2: `T_index` of RFC 8018 for this salt.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The salt; public.
    pub salt: &'a [u8],
    /// Which block of the output, counted from 1.
    pub index: u32,
}

/// How many blocks are best computed at once on this machine: fewer cost as much as this many.
pub fn lanes(_prf: Prf) -> usize {
    1
}

/// Computes PBKDF2 output blocks under one password, each [`Prf::digest_bytes`] long, in the order asked.
///
/// Looks at `stop` every thousand iterations or so; once it is set, the answer is `None` and what
/// was computed so far is wiped.
pub fn pbkdf2_blocks(
    prf: Prf,
    password: &[u8],
    iterations: u32,
    blocks: &[Block<'_>],
    stop: &AtomicBool,
) -> Option<Vec<SecretBytes>> {
    let done = match prf {
        Prf::Sha512 => chains::<sha2::Sha512>(password, iterations, blocks, stop),
        Prf::Sha256 => chains::<sha2::Sha256>(password, iterations, blocks, stop),
        Prf::Blake2s => chains::<blake2::Blake2s256>(password, iterations, blocks, stop),
        Prf::Whirlpool => chains::<whirlpool::Whirlpool>(password, iterations, blocks, stop),
        Prf::Streebog => chains::<streebog::Streebog512>(password, iterations, blocks, stop),
        Prf::Ripemd160 => chains::<ripemd::Ripemd160>(password, iterations, blocks, stop),
        Prf::Sha1 => chains::<sha1::Sha1>(password, iterations, blocks, stop),
    };
    wipe_stack();
    done
}

fn chains<D: Hash>(
    password: &[u8],
    iterations: u32,
    blocks: &[Block<'_>],
    stop: &AtomicBool,
) -> Option<Vec<SecretBytes>> {
    let hmac = Locked::new(|| Hmac::<D>::new(password));
    blocks.iter().map(|block| chain(&hmac, iterations, block, stop)).collect()
}

fn chain<D: Hash>(
    hmac: &Hmac<D>,
    iterations: u32,
    block: &Block<'_>,
    stop: &AtomicBool,
) -> Option<SecretBytes> {
    let mut link = Output::<D>::default();
    hmac.mac(&[block.salt, &block.index.to_be_bytes()], &mut link);
    let mut sum = SecretBytes::copy_of(&link);
    for i in 1..iterations {
        if i % ITERATIONS_PER_STEP == 0 && stop.load(Ordering::Relaxed) {
            link.zeroize();
            return None;
        }
        let previous = link.clone();
        hmac.mac(&[&previous], &mut link);
        sum.iter_mut().zip(&link).for_each(|(s, l)| *s ^= l);
    }
    link.zeroize();
    (!stop.load(Ordering::Relaxed)).then_some(sum)
}

/// PBKDF2 of RFC 8018: `out_len` bytes from one password and one salt.
pub fn pbkdf2(prf: Prf, password: &[u8], salt: &[u8], iterations: u32, out_len: usize) -> SecretBytes {
    let count = out_len.div_ceil(prf.digest_bytes());
    let blocks: Vec<Block<'_>> =
        (1..=u32::try_from(count).unwrap_or(u32::MAX)).map(|index| Block { salt, index }).collect();
    let mut out = SecretBytes::zeroed(out_len);
    let derived = pbkdf2_blocks(prf, password, iterations, &blocks, &AtomicBool::new(false));
    let bytes = derived.iter().flatten().flat_map(|block| block.iter());
    out.iter_mut().zip(bytes).for_each(|(o, b)| *o = *b);
    out
}
