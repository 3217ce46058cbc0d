//! PBKDF2 (RFC 8018, section 5.2) over batches of independent output blocks.

use crate::hmac::{Hash, Hmac, key_block};
use crate::kernels::{Kernel, KeyBlock, Lane, Steps};
use crate::prf::Prf;
use keyway_secret::{Locked, SecretBytes, wipe_stack};
use sha2::digest::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use zeroize::Zeroize;

/// How many iterations pass between two looks at the stop flag: a few milliseconds at most.
const ITERATIONS_PER_STEP: u32 = 1000;

/// As many chains as the widest kernel computes at once.
const WIDEST: usize = 32;

/// One output block of PBKDF2: `T_index` of RFC 8018 for this salt.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The salt; public.
    pub salt: &'a [u8],
    /// Which block of the output, counted from 1.
    pub index: u32,
}

/// How many blocks are best computed at once on this machine: fewer cost nearly as much.
pub fn lanes(prf: Prf) -> usize {
    Steps::best(prf).widest()
}

/// Computes PBKDF2 output blocks under one password, each [`Prf::digest_bytes`] long, in the order asked.
///
/// All on the calling thread; give each thread [`lanes`] blocks or fewer. Looks at `stop` every
/// thousand iterations; once it is set, the answer is `None` and what was computed is wiped.
/// Zero iterations are taken for one, the fewest that RFC 8018 allows.
pub fn pbkdf2_blocks(
    prf: Prf,
    password: &[u8],
    iterations: u32,
    blocks: &[Block<'_>],
    stop: &AtomicBool,
) -> Option<Vec<SecretBytes>> {
    batches(prf, Steps::best(prf), password, iterations, blocks, stop)
}

/// [`pbkdf2_blocks`] with a kernel of the caller's choice, for measuring and testing.
///
/// `None` also when the kernel is not among [`Kernel::available`].
pub fn pbkdf2_blocks_with(
    kernel: Kernel,
    prf: Prf,
    password: &[u8],
    iterations: u32,
    blocks: &[Block<'_>],
    stop: &AtomicBool,
) -> Option<Vec<SecretBytes>> {
    batches(prf, Steps::of(prf, kernel), password, iterations, blocks, stop)
}

/// PBKDF2 of RFC 8018: `out_len` bytes from one password and one salt.
pub fn pbkdf2(prf: Prf, password: &[u8], salt: &[u8], iterations: u32, out_len: usize) -> SecretBytes {
    let count = u32::try_from(out_len.div_ceil(prf.digest_bytes())).unwrap_or(u32::MAX);
    let blocks: Vec<Block<'_>> = (1..=count).map(|index| Block { salt, index }).collect();
    let mut out = SecretBytes::zeroed(out_len);
    let derived = pbkdf2_blocks(prf, password, iterations, &blocks, &AtomicBool::new(false));
    let bytes = derived.iter().flatten().flat_map(|block| block.iter());
    out.iter_mut().zip(bytes).for_each(|(o, b)| *o = *b);
    out
}

/// What a batch works on, all of it secret.
struct Batch {
    key: KeyBlock,
    lanes: [Lane; WIDEST],
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.key.zeroize();
        self.lanes.zeroize();
    }
}

fn batches(
    prf: Prf,
    steps: Steps,
    password: &[u8],
    iterations: u32,
    blocks: &[Block<'_>],
    stop: &AtomicBool,
) -> Option<Vec<SecretBytes>> {
    let begin = match prf {
        Prf::Sha512 => begin::<sha2::Sha512>,
        Prf::Sha256 => begin::<sha2::Sha256>,
        Prf::Blake2s => begin::<blake2::Blake2s256>,
        Prf::Whirlpool => begin::<whirlpool::Whirlpool>,
        Prf::Streebog => begin::<streebog::Streebog512>,
        Prf::Ripemd160 => begin::<ripemd::Ripemd160>,
        Prf::Sha1 => begin::<sha1::Sha1>,
    };
    let mut derived = Vec::with_capacity(blocks.len());
    let mut rest = blocks;
    while !rest.is_empty() {
        let step = steps.fitting(rest.len())?;
        let (now, later) = rest.split_at(step.lanes.min(rest.len()));
        let mut batch = Locked::new(|| Batch { key: [0; _], lanes: [Lane::EMPTY; WIDEST] });
        let Batch { key, lanes } = &mut *batch;
        let lanes = lanes.get_mut(..now.len())?;
        begin(password, now, key, lanes);
        let mut left = iterations.saturating_sub(1);
        while left > 0 && !stop.load(Ordering::Relaxed) {
            let few = left.min(ITERATIONS_PER_STEP);
            step.run(key, lanes, few);
            left -= few;
        }
        wipe_stack();
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        derived.extend(
            lanes.iter().filter_map(|lane| lane.sum.get(..prf.digest_bytes())).map(SecretBytes::copy_of),
        );
        rest = later;
    }
    Some(derived)
}

/// The key block and the first link of each chain, which is the HMAC of salt and block number.
fn begin<D: Hash>(password: &[u8], blocks: &[Block<'_>], key: &mut KeyBlock, lanes: &mut [Lane]) {
    key_block::<D>(password, key);
    let hmac = Locked::new(|| Hmac::<D>::new(key));
    let mut mac = Output::<D>::default();
    for (block, lane) in blocks.iter().zip(lanes) {
        hmac.mac(&[block.salt, &block.index.to_be_bytes()], &mut mac);
        lane.link.iter_mut().zip(&mac).for_each(|(link, m)| *link = *m);
        lane.sum = lane.link;
    }
    mac.zeroize();
}
