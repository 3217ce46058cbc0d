//! The TPM's defence against guessing: how often an authorization may still be wrong.

use std::time::Duration;

/// The state of the protection against dictionary attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lockout {
    /// Wrong authorizations that the TPM remembers.
    pub failures: u32,
    /// How many lock it.
    pub limit: u32,
    /// One is forgotten after this time without a further one.
    pub forgets_one_after: Duration,
    /// A lockout of the lockout authorization itself lasts this long.
    pub recovers_after: Duration,
}

impl Lockout {
    /// Wrong authorizations until the TPM locks itself.
    pub fn tries_left(&self) -> u32 {
        self.limit.saturating_sub(self.failures)
    }
}
