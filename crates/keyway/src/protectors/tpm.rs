//! A protector with a TPM that is to be added to a BitLocker volume.

use crate::secrets::NewTpmSource;
use keyway_volume::bitlocker::{Guid, Protection};
use std::path::PathBuf;

/// A protector with a TPM that is to be added.
#[cfg_attr(not(feature = "tpm"), expect(dead_code, reason = "nobody seals without a TPM"))]
pub(super) struct NewTpmProtector {
    /// The TPM that seals, and where its PIN comes from.
    pub(super) source: NewTpmSource,
    /// It needs a PIN, too.
    pub(super) pin: bool,
    /// It needs a startup key, too, whose file goes into this folder.
    pub(super) startup_key: Option<PathBuf>,
    /// The protector whose place it takes.
    pub(super) replaces: Option<Guid>,
}

impl NewTpmProtector {
    /// One of this kind; its startup key, if it has one, goes into that folder.
    pub(super) fn new(kind: Protection, source: NewTpmSource, to: Option<PathBuf>) -> Self {
        use Protection as P;
        let pin = matches!(kind, P::TpmPin | P::TpmPinStartupKey);
        let startup_key = to.filter(|_| matches!(kind, P::TpmStartupKey | P::TpmPinStartupKey));
        Self { source, pin, startup_key, replaces: None }
    }
}

#[cfg(not(feature = "tpm"))]
impl super::Protectors<'_> {
    /// That there is no TPM to seal a key.
    pub(super) fn add_tpm(
        &mut self,
        _: &NewTpmProtector,
    ) -> Result<(super::bitlocker::Added, crate::tpm::Pcrs), crate::Error> {
        Err(crate::tpm::TpmProtectorError.into())
    }
}
