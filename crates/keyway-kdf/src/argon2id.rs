//! Argon2id (RFC 9106, version 0x13), which can be stopped and wipes its memory.

use crate::kernels::argon2::{Block, Compress};
use crate::kernels::memory::Memory;
use blake2::digest::Digest;
use blake2::digest::block_api::{UpdateCore, VariableOutputCore};
use blake2::digest::block_buffer::LazyBuffer;
use blake2::{Blake2b512, Blake2bVarCore};
use keyway_secret::{SecretBytes, wipe_stack};
use std::sync::atomic::{AtomicBool, Ordering};
use zeroize::Zeroize;

/// What one Argon2id derivation costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argon2idCost {
    /// Memory in KiB, at least 8 for each lane.
    pub memory_kib: u32,
    /// How often the memory is passed over, at least 1.
    pub passes: u32,
    /// Lanes (the degree of parallelism), from 1 to 2^24 - 1. They are computed one after the other.
    pub lanes: u32,
}

/// Why a key could not be derived.
#[derive(Debug, thiserror::Error)]
pub enum KdfError {
    /// The machine, or a limit set for this process, does not grant the memory.
    #[error(
        "Argon2id needs {needed_kib} KiB of memory, more than can be had; \
         close other programs, lift the limit or use a machine with more memory"
    )]
    OutOfMemory {
        /// What the derivation needs.
        needed_kib: u64,
    },
    /// RFC 9106 does not allow this cost, salt or output length.
    #[error("Argon2id (RFC 9106) does not allow this {0}")]
    Parameters(Argon2idParameter),
}

/// A parameter of Argon2id with limits (RFC 9106, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Argon2idParameter {
    /// Memory: at least 8 KiB for each lane.
    #[error("amount of memory")]
    Memory,
    /// Passes: at least 1.
    #[error("number of passes")]
    Passes,
    /// Lanes: from 1 to 2^24 - 1.
    #[error("number of lanes")]
    Lanes,
    /// Salt: from 8 bytes (what the reference implementation demands) to 2^32 - 1.
    #[error("length of the salt")]
    Salt,
    /// Password: up to 2^32 - 1 bytes.
    #[error("length of the password")]
    Password,
    /// Output: from 4 to 2^32 - 1 bytes.
    #[error("length of the output")]
    Output,
}

/// Derives `out_len` bytes with Argon2id, version 0x13, without secret key or associated data.
///
/// Looks at `stop` every hundred blocks or so, well under a millisecond; `None` means stopped.
///
/// # Errors
/// [`KdfError::OutOfMemory`] when the memory cannot be had, [`KdfError::Parameters`] when the
/// cost, the salt or `out_len` is outside the standard.
pub fn argon2id(
    cost: Argon2idCost,
    password: &[u8],
    salt: &[u8],
    out_len: usize,
    stop: &AtomicBool,
) -> Result<Option<SecretBytes>, KdfError> {
    let derived = derive(Compress::best(), cost, password, salt, out_len, stop);
    wipe_stack();
    derived
}

fn derive(
    compress: Compress,
    cost: Argon2idCost,
    password: &[u8],
    salt: &[u8],
    out_len: usize,
    stop: &AtomicBool,
) -> Result<Option<SecretBytes>, KdfError> {
    let length = |bytes: usize, least: u32, what: Argon2idParameter| {
        u32::try_from(bytes).ok().filter(|&len| len >= least).ok_or(KdfError::Parameters(what))
    };
    let password_len = length(password.len(), 0, Argon2idParameter::Password)?;
    let salt_len = length(salt.len(), 8, Argon2idParameter::Salt)?;
    let tag_len = length(out_len, 4, Argon2idParameter::Output)?;
    let shape = Shape::of(cost)?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut memory = allocate(shape.blocks)?;
    // H_0 of section 3.2; the two zeros are the lengths of the secret key and of associated data.
    let mut h0 = Blake2b512::new();
    for number in [cost.lanes, tag_len, cost.memory_kib, cost.passes, VERSION, TYPE, password_len] {
        h0.update(number.to_le_bytes());
    }
    h0.update(password);
    h0.update(salt_len.to_le_bytes());
    h0.update(salt);
    h0.update([0; 8]);
    let mut h0 = h0.finalize();
    for (lane, blocks) in (0u32..).zip(memory.chunks_exact_mut(shape.lane)) {
        for (number, block) in (0u32..2).zip(blocks) {
            let mut bytes = [0; Block::BYTES];
            long_hash(&[&h0, &number.to_le_bytes(), &lane.to_le_bytes()], &mut bytes);
            for (i, word) in bytes.chunks_exact(8).enumerate() {
                *block.word_mut(i) = word.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b));
            }
            bytes.zeroize();
        }
    }
    h0.zeroize();
    for segment in shape.segments() {
        if !fill(compress, &shape, &segment, &mut memory, stop) {
            return Ok(None);
        }
    }
    let mut last = [0; Block::BYTES];
    for lane in memory.chunks_exact(shape.lane) {
        let block = lane.last().unwrap_or(&Block::ZERO);
        for (i, bytes) in last.chunks_exact_mut(8).enumerate() {
            bytes.iter_mut().zip(block.word(i).to_le_bytes()).for_each(|(b, w)| *b ^= w);
        }
    }
    let mut out = SecretBytes::zeroed(out_len);
    long_hash(&[&last], &mut out);
    last.zeroize();
    Ok(Some(out))
}

/// The version number that the hashes take in (section 3.1).
const VERSION: u32 = 0x13;
/// The number of Argon2id among the variants (section 3.1).
const TYPE: u32 = 2;
/// Slices of the memory; segments in the same slice do not depend on each other (section 3.4).
const SLICES: usize = 4;
/// How many addresses one block of them holds, and how many blocks pass between looks at the stop flag.
const ADDRESSES: usize = 128;

/// The memory as lanes and segments, in blocks.
struct Shape {
    passes: u32,
    lanes: usize,
    blocks: usize,
    lane: usize,
    segment: usize,
}

/// The part of a lane in one slice, in one pass.
struct Segment {
    pass: u32,
    slice: usize,
    lane: usize,
}

impl Shape {
    fn of(cost: Argon2idCost) -> Result<Self, KdfError> {
        let check = |good: bool, what| if good { Ok(()) } else { Err(KdfError::Parameters(what)) };
        check((1..1 << 24).contains(&cost.lanes), Argon2idParameter::Lanes)?;
        check(cost.memory_kib >= 8 * cost.lanes, Argon2idParameter::Memory)?;
        check(cost.passes >= 1, Argon2idParameter::Passes)?;
        let (lanes, memory) = (cost.lanes as usize, cost.memory_kib as usize);
        let segment = memory / (SLICES * lanes);
        let lane = segment * SLICES;
        Ok(Self { passes: cost.passes, lanes, blocks: lane * lanes, lane, segment })
    }

    fn segments(&self) -> impl Iterator<Item = Segment> {
        let lanes = self.lanes;
        (0..self.passes).flat_map(move |pass| {
            (0..SLICES).flat_map(move |slice| (0..lanes).map(move |lane| Segment { pass, slice, lane }))
        })
    }
}

fn allocate(blocks: usize) -> Result<Memory, KdfError> {
    let needed_kib = blocks as u64;
    let available_kib = available_memory_kib().unwrap_or(u64::MAX);
    let granted = if needed_kib <= available_kib { Memory::new(blocks) } else { None };
    granted.ok_or(KdfError::OutOfMemory { needed_kib })
}

/// What could be had without driving the machine into the ground. The kernel would promise more
/// and kill the process later (overcommit).
fn available_memory_kib() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let field = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    Some(field("MemAvailable:")?.saturating_add(field("SwapFree:").unwrap_or(0)))
}

/// Fills one segment (section 3.4); false when stopped.
fn fill(
    compress: Compress,
    shape: &Shape,
    segment: &Segment,
    memory: &mut [Block],
    stop: &AtomicBool,
) -> bool {
    let &Segment { pass, slice, lane } = segment;
    // Argon2id: the first half of the first pass takes its addresses from a counter, not from data.
    let mut counted = (pass == 0 && slice < SLICES / 2).then(|| Addresses::new(shape, segment));
    let first_pass = pass == 0;
    // The first two blocks of each lane are there already.
    let begin = if first_pass && slice == 0 { 2 } else { 0 };
    let start = lane * shape.lane;
    let before = slice * shape.segment + begin + shape.lane - 1;
    let mut previous = memory[start + before % shape.lane];
    for block in begin..shape.segment {
        if block % ADDRESSES == 0 && stop.load(Ordering::Relaxed) {
            break;
        }
        let random = match &mut counted {
            Some(addresses) => addresses.at(compress, block),
            None => previous.word(0),
        };
        let other = (random >> 32) as usize % shape.lanes;
        let from = if first_pass && slice == 0 { lane } else { other };
        // What may be referred to: whole slices, and of the own lane what is there of this segment.
        let slices = if first_pass { slice } else { SLICES - 1 };
        let area = slices * shape.segment + if from == lane { block } else { usize::from(block > 0) } - 1;
        let low = random & 0xffff_ffff;
        let back = ((area as u64 * ((low * low) >> 32)) >> 32) as usize;
        let oldest = if first_pass { 0 } else { (slice + 1) % SLICES * shape.segment };
        let reference = from * shape.lane + (oldest + area - 1 - back) % shape.lane;
        let (reference, current) = apart(memory, reference, start + slice * shape.segment + block);
        compress.run(&mut previous, reference, current, !first_pass);
    }
    previous = Block::ZERO;
    std::hint::black_box(&mut previous);
    !stop.load(Ordering::Relaxed)
}

/// Two different blocks, the second to be written.
fn apart(memory: &mut [Block], read: usize, write: usize) -> (&Block, &mut Block) {
    if read < write {
        let (low, high) = memory.split_at_mut(write);
        (&low[read], &mut high[0])
    } else {
        let (low, high) = memory.split_at_mut(read);
        (&high[0], &mut low[write])
    }
}

/// The addresses of data-independent segments (section 3.4.1.2).
struct Addresses {
    input: Block,
    block: Block,
}

impl Addresses {
    fn new(shape: &Shape, segment: &Segment) -> Self {
        let mut input = Block::ZERO;
        let numbers = [
            u64::from(segment.pass),
            segment.lane as u64,
            segment.slice as u64,
            shape.blocks as u64,
            u64::from(shape.passes),
            u64::from(TYPE),
        ];
        for (i, number) in numbers.into_iter().enumerate() {
            *input.word_mut(i) = number;
        }
        Self { input, block: Block::ZERO }
    }

    /// The two random numbers for a block of the segment; to be asked for in order.
    fn at(&mut self, compress: Compress, block: usize) -> u64 {
        let counter = (block / ADDRESSES) as u64 + 1;
        if self.input.word(6) != counter {
            *self.input.word_mut(6) = counter;
            let mut once = self.input;
            let mut ignored = Block::ZERO;
            compress.run(&mut once, &Block::ZERO, &mut ignored, false);
            compress.run(&mut once, &Block::ZERO, &mut self.block, false);
        }
        self.block.word(block % ADDRESSES)
    }
}

/// The variable-length hash H' (section 3.3).
fn long_hash(parts: &[&[u8]], out: &mut [u8]) {
    let len = (out.len() as u32).to_le_bytes();
    let parts = || std::iter::once(&len[..]).chain(parts.iter().copied());
    if out.len() <= 64 {
        return short_hash(parts(), out);
    }
    let mut hash = Blake2b512::new();
    parts().for_each(|part| hash.update(part));
    let mut link = hash.finalize();
    let mut rest = out;
    // Every link gives its first half; the last gives all that is left, between 33 and 64 bytes.
    loop {
        let (half, more) = rest.split_at_mut(32);
        half.copy_from_slice(&link[..32]);
        rest = more;
        if rest.len() <= 64 {
            break;
        }
        link = Blake2b512::digest(link);
    }
    short_hash(std::iter::once(&link[..]), rest);
    link.zeroize();
}

/// BLAKE2b with `out.len()` bytes of digest, from 1 to 64.
fn short_hash<'a>(parts: impl Iterator<Item = &'a [u8]>, out: &mut [u8]) {
    let Ok(mut hash) = Blake2bVarCore::new(out.len()) else { return };
    let mut buffer = LazyBuffer::default();
    for part in parts {
        buffer.digest_blocks(part, |blocks| hash.update_blocks(blocks));
    }
    let mut full = Default::default();
    hash.finalize_variable_core(&mut buffer, &mut full);
    out.iter_mut().zip(&full).for_each(|(o, f)| *o = *f);
    full.zeroize();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cost: Argon2idCost, password: &[u8], salt: &[u8], out_len: usize) {
        let mut expected = vec![0; out_len];
        let params = argon2::Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(out_len));
        argon2::Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params.expect("allowed"))
            .hash_password_into(password, salt, &mut expected)
            .expect("derives");
        for compress in Compress::all() {
            let never = AtomicBool::new(false);
            let got = derive(compress, cost, password, salt, out_len, &never).expect("allowed");
            assert!(got.expect("not stopped").same_as(&expected), "{cost:?} {out_len}");
        }
    }

    #[test]
    fn every_kernel_agrees_with_the_argon2_crate() {
        for lanes in 1..=5 {
            for memory_kib in [8 * lanes, 8 * lanes + 3, 37 * lanes + 1, 700] {
                for passes in 1..=3 {
                    check(Argon2idCost { memory_kib, passes, lanes }, b"password", b"somesalt", 32);
                }
            }
        }
        // Segments longer than one block of addresses.
        check(Argon2idCost { memory_kib: 2500, passes: 2, lanes: 2 }, b"", &[7; 64], 192);
    }

    #[test]
    fn every_output_length_agrees_with_the_argon2_crate() {
        for out_len in (4..70).chain([95, 96, 97, 128, 129, 192, 1024]) {
            check(Argon2idCost { memory_kib: 8, passes: 1, lanes: 1 }, &[1; 128], b"12345678", out_len);
        }
    }

    #[test]
    fn a_running_derivation_stops() {
        let stop = AtomicBool::new(false);
        let cost = Argon2idCost { memory_kib: 1024, passes: u32::MAX, lanes: 1 };
        std::thread::scope(|scope| {
            let running = scope.spawn(|| argon2id(cost, b"p", b"somesalt", 32, &stop));
            std::thread::sleep(std::time::Duration::from_millis(20));
            stop.store(true, Ordering::Relaxed);
            assert!(running.join().expect("no panic").expect("allowed").is_none());
        });
    }
}
