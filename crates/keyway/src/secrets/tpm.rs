//! A TPM and its PIN among the things that open a BitLocker volume.

use super::password::SecretFrom;
use crate::tpm::{Address, Pcrs};

/// A TPM that is asked for a key.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TpmSource {
    /// Which; this machine's own when left as it is.
    pub address: Address,
    /// Where its PIN comes from; asked for when left out and a protector wants one.
    pub pin: Option<SecretFrom>,
}

impl TpmSource {
    /// The TPM at this address.
    pub fn new(address: Address) -> Self {
        Self { address, pin: None }
    }
}

/// A TPM that is to seal a key.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct NewTpmSource {
    /// Which; this machine's own when left as it is.
    pub address: Address,
    /// The measurements that the key is bound to; Windows' choice for this machine when left out.
    pub pcrs: Option<Pcrs>,
    /// Where the new PIN comes from; asked for when left out.
    pub pin: Option<SecretFrom>,
}

impl NewTpmSource {
    /// The TPM at this address.
    pub fn new(address: Address) -> Self {
        Self { address, pcrs: None, pin: None }
    }

    /// Whether a PIN or measurements were named.
    pub(crate) const fn says_how(&self) -> bool {
        self.pcrs.is_some() || self.pin.is_some()
    }
}

#[cfg(not(feature = "tpm"))]
impl TpmSource {
    /// That there is none.
    pub(super) fn master_key<S>(
        &self,
        _: &super::question::Subject,
        _: &keyway_volume::bitlocker::Locked,
        _: &[keyway_volume::bitlocker::StartupKey],
        _: S,
    ) -> Result<keyway_volume::bitlocker::Secret, crate::Error> {
        Err(crate::tpm::TpmProtectorError.into())
    }
}
