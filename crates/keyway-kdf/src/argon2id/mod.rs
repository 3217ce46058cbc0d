//! Argon2id (RFC 9106, version 0x13), which can be stopped and wipes its memory.

mod fill;
mod long_hash;
mod parameters;

pub use parameters::{Argon2idCost, Argon2idParameter, KdfError};

use crate::kernels::argon2::{Block, Compress};
use crate::kernels::memory::Memory;
use blake2::Blake2b512;
use blake2::digest::Digest;
use fill::{ADDRESSES, Filling, Shape};
use keyway_secret::{SecretBytes, wipe_stack};
use long_hash::long_hash;
use parameters::TYPE;
use std::sync::atomic::{AtomicBool, Ordering};
use zeroize::Zeroize;

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
    Ok(argon2id_many(cost, password, &[salt], out_len, stop)?.and_then(|mut keys| keys.pop()))
}

/// [`argon2id`] of one password with several salts, in the order asked, on the calling thread.
///
/// Several are filled side by side: while one waits for its memory, the others compute, and two
/// take little longer than one. Each needs memory of its own, so beyond the first no more of them
/// are begun at once than fit into half of what is free; the others follow.
pub fn argon2id_many(
    cost: Argon2idCost,
    password: &[u8],
    salts: &[&[u8]],
    out_len: usize,
    stop: &AtomicBool,
) -> Result<Option<Vec<SecretBytes>>, KdfError> {
    let derived = derive(Compress::best(), cost, password, salts, out_len, stop);
    wipe_stack();
    derived
}

fn derive(
    compress: Compress,
    cost: Argon2idCost,
    password: &[u8],
    salts: &[&[u8]],
    out_len: usize,
    stop: &AtomicBool,
) -> Result<Option<Vec<SecretBytes>>, KdfError> {
    let length = |bytes: usize, least: u32, what: Argon2idParameter| {
        u32::try_from(bytes).ok().filter(|&len| len >= least).ok_or(KdfError::Parameters(what))
    };
    length(password.len(), 0, Argon2idParameter::Password)?;
    length(out_len, 4, Argon2idParameter::Output)?;
    for salt in salts {
        length(salt.len(), 8, Argon2idParameter::Salt)?;
    }
    let shape = Shape::of(cost)?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut memories = allocate(shape.blocks(), salts.len().min(AT_ONCE))?;
    let mut keys = Vec::with_capacity(salts.len());
    for salts in salts.chunks(memories.len().max(1)) {
        for (salt, memory) in salts.iter().zip(&mut memories) {
            begin(&shape, cost, password, salt, out_len, memory);
        }
        let memories = memories.iter_mut().take(salts.len());
        let mut fillings: Vec<_> = memories.map(|memory| Filling::new(compress, &shape, memory)).collect();
        // All have the same number of steps.
        while fillings.iter().any(Filling::is_unfinished) {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            for _ in 0..ADDRESSES {
                fillings.iter_mut().for_each(Filling::step);
            }
        }
        keys.extend(fillings.iter().map(|filling| end(&shape, filling.memory(), out_len)));
    }
    Ok(Some(keys))
}

/// The version number that the hashes take in (section 3.1).
const VERSION: u32 = 0x13;
/// How many derivations are filled side by side: a fifth gained nothing where it was measured.
const AT_ONCE: usize = 4;

/// The first two blocks of each lane (section 3.2, steps 1, 3 and 4).
fn begin(
    shape: &Shape,
    cost: Argon2idCost,
    password: &[u8],
    salt: &[u8],
    out_len: usize,
    memory: &mut [Block],
) {
    let mut h0 = Blake2b512::new();
    for number in [cost.lanes, out_len as u32, cost.memory_kib, cost.passes, VERSION, TYPE] {
        h0.update(number.to_le_bytes());
    }
    // The empty ones are the secret key and the associated data.
    for bytes in [password, salt, &[], &[]] {
        h0.update((bytes.len() as u32).to_le_bytes());
        h0.update(bytes);
    }
    let mut h0 = h0.finalize();
    for (lane, blocks) in (0u32..).zip(shape.lanes_of(memory)) {
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
}

/// The hash of the sum of each lane's last block (section 3.2, steps 7 and 8).
fn end(shape: &Shape, memory: &[Block], out_len: usize) -> SecretBytes {
    let mut last = [0; Block::BYTES];
    for block in shape.last_blocks(memory) {
        for (i, bytes) in last.chunks_exact_mut(8).enumerate() {
            bytes.iter_mut().zip(block.word(i).to_le_bytes()).for_each(|(b, w)| *b ^= w);
        }
    }
    let mut out = SecretBytes::zeroed(out_len);
    long_hash(&[&last], &mut out);
    last.zeroize();
    out
}

/// From one to `wanted` memories. All but the first only while they leave half of what is free.
fn allocate(blocks: usize, wanted: usize) -> Result<Vec<Memory>, KdfError> {
    let needed_kib = blocks as u64;
    let available_kib = available_memory_kib().unwrap_or(u64::MAX);
    let first = if needed_kib <= available_kib { Memory::new(blocks) } else { None };
    let mut memories = vec![first.ok_or(KdfError::OutOfMemory { needed_kib })?];
    let fitting = usize::try_from(available_kib / 2 / needed_kib.max(1)).unwrap_or(usize::MAX);
    memories.extend((1..wanted.min(fitting)).map_while(|_| Memory::new(blocks)));
    Ok(memories)
}

fn available_memory_kib() -> Option<u64> {
    crate::free_memory().map(|free| free.ram_kib.saturating_add(free.swap_kib))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One salt, and it among several.
    fn check(cost: Argon2idCost, password: &[u8], salt: &[u8], out_len: usize) {
        let salts = [&b"another salt"[..], &[9; 64], salt, &[8; 8], &[7; 9], b"the last one"];
        let expected = salts.map(|salt| {
            let mut expected = vec![0; out_len];
            let params = argon2::Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(out_len));
            let (kind, version) = (argon2::Algorithm::Argon2id, argon2::Version::V0x13);
            argon2::Argon2::new(kind, version, params.expect("allowed"))
                .hash_password_into(password, salt, &mut expected)
                .expect("derives");
            expected
        });
        for compress in Compress::all() {
            for some in [2..3, 0..3, 0..6] {
                let never = AtomicBool::new(false);
                let got = derive(compress, cost, password, &salts[some.clone()], out_len, &never);
                let got = got.expect("allowed").expect("not stopped");
                assert_eq!(got.len(), some.len());
                let same = got.iter().zip(&expected[some.clone()]).all(|(got, key)| got.same_as(key));
                assert!(same, "{cost:?} {out_len} {some:?}");
            }
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
