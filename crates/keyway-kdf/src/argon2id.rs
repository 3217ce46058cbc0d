//! Argon2id (RFC 9106, version 0x13), its memory wiped after use.

use argon2::{Algorithm, Argon2, Params, Version};
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
    /// Lanes (the degree of parallelism), at least 1.
    pub lanes: u32,
}

/// Why a key could not be derived.
#[derive(Debug, thiserror::Error)]
pub enum KdfError {
    /// The machine does not have the memory that the derivation needs.
    #[error(
        "Argon2id needs {needed_kib} KiB of memory and only {available_kib} KiB can be had; \
         close other programs or use a machine with more memory"
    )]
    OutOfMemory {
        /// What the derivation needs.
        needed_kib: u64,
        /// What the system would give.
        available_kib: u64,
    },
    /// RFC 9106 does not allow this cost, salt or output length.
    #[error("these Argon2id parameters are outside RFC 9106: {0}")]
    Parameters(argon2::Error),
}

/// Memory blocks that are wiped when they are dropped.
struct Memory(Vec<argon2::Block>);

impl Memory {
    fn new(cost: &Params) -> Result<Self, KdfError> {
        let count = cost.block_count();
        let needed_kib = count as u64;
        let available_kib = available_memory_kib().unwrap_or(u64::MAX);
        let refused = KdfError::OutOfMemory { needed_kib, available_kib: available_kib.min(needed_kib) };
        if needed_kib > available_kib {
            return Err(KdfError::OutOfMemory { needed_kib, available_kib });
        }
        let mut blocks = Vec::new();
        blocks.try_reserve_exact(count).map_err(|_| refused)?;
        blocks.resize(count, argon2::Block::new());
        Ok(Self(blocks))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
    }
}

/// What the kernel says could be allocated without pushing the machine into swapping itself to
/// death. An allocation beyond it would succeed and then have the process killed (overcommit).
fn available_memory_kib() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let field = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    Some(field("MemAvailable:")?.saturating_add(field("SwapFree:").unwrap_or(0)))
}

/// Derives `out_len` bytes with Argon2id, version 0x13, without secret key or associated data.
///
/// `stop` is looked at before the work begins and after it ends: the implementation underneath
/// gives no way out in between, which is a second or so at the costs disk headers use. `None`
/// means stopped.
///
/// # Errors
/// [`KdfError::OutOfMemory`] when the memory cannot be had, [`KdfError::Parameters`] when the
/// cost, the salt (under 8 bytes) or `out_len` (under 4) is outside the standard.
pub fn argon2id(
    cost: Argon2idCost,
    password: &[u8],
    salt: &[u8],
    out_len: usize,
    stop: &AtomicBool,
) -> Result<Option<SecretBytes>, KdfError> {
    if cost.lanes > Params::MAX_P_COST {
        return Err(KdfError::Parameters(argon2::Error::ThreadsTooMany));
    }
    let params =
        Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(out_len)).map_err(KdfError::Parameters)?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut memory = Memory::new(&params)?;
    let mut out = SecretBytes::zeroed(out_len);
    let derived = Argon2::new(Algorithm::Argon2id, Version::V0x13, params).hash_password_into_with_memory(
        password,
        salt,
        &mut out,
        &mut memory.0[..],
    );
    wipe_stack();
    derived.map_err(KdfError::Parameters)?;
    Ok((!stop.load(Ordering::Relaxed)).then_some(out))
}
