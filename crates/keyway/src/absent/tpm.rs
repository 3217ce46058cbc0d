//! Stands for TPMs in a program that was built without them: what names one is taken, and none is asked.

use keyway_error::explain;
use std::fmt;
use std::str::FromStr;

/// No TPM is asked here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this program was built without TPMs")]
pub struct TpmProtectorError;

explain!(TpmProtectorError => [Missing Machine, UseRecoveryPassword]);

/// A TPM's address, which nobody goes to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Address;

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("none")
    }
}

impl FromStr for Address {
    type Err = TpmProtectorError;

    fn from_str(_: &str) -> Result<Self, TpmProtectorError> {
        Ok(Self)
    }
}

/// Measurements that no key is bound to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pcrs;

impl Pcrs {
    /// None.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        std::iter::empty()
    }
}

impl FromStr for Pcrs {
    type Err = TpmProtectorError;

    fn from_str(_: &str) -> Result<Self, TpmProtectorError> {
        Ok(Self)
    }
}

impl fmt::Display for Pcrs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("none")
    }
}
