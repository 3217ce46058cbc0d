//! The parameters of Argon2id, and which are refused.

use keyway_error::explain;

/// The number of Argon2id among the variants (RFC 9106, section 3.1).
pub(super) const TYPE: u32 = 2;

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
    #[error("Argon2id needs {needed_kib} KiB of memory, more than can be had")]
    OutOfMemory {
        /// What the derivation needs.
        needed_kib: u64,
    },
    /// RFC 9106 does not allow this cost, salt or output length.
    #[error("Argon2id (RFC 9106) does not allow this {0}")]
    Parameters(Argon2idParameter),
}

explain! { KdfError {
    Self::OutOfMemory { .. } => [Failed State, CloseProgramsLiftLimit],
    Self::Parameters(_) => [State, ReportWithDoctor],
} }

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
