//! TPMs that seal a BitLocker volume's key.

pub use keyway_tpm::{Address, Pcrs, Tpm};
pub use keyway_volume::bitlocker::tpm::{Pin, TpmProtectorError};
