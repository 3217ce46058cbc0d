//! A protector with a TPM that is to be added to a BitLocker volume.

use crate::secrets::NewTpmSource;
use std::path::PathBuf;

/// A protector with a TPM that is to be added.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct NewTpmProtector {
    /// The TPM that seals, and where its PIN comes from.
    pub source: NewTpmSource,
    /// It needs a PIN, too.
    pub pin: bool,
    /// It needs a startup key, too, whose file goes into this folder.
    pub startup_key: Option<PathBuf>,
}

#[cfg(not(feature = "tpm"))]
impl super::Protectors<'_> {
    /// That there is no TPM to seal a key.
    ///
    /// # Errors
    /// [`TpmProtectorError`](crate::tpm::TpmProtectorError).
    pub fn add_tpm(&mut self, _: &NewTpmProtector) -> Result<(super::Added, crate::tpm::Pcrs), crate::Error> {
        Err(crate::tpm::TpmProtectorError.into())
    }
}
