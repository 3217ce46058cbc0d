//! What a TPM is asked: the key of a volume, and to seal one.

use super::{NewTpmSource, Question, SecretRole, Secrets, Subject, TpmSource, Wanted};
use crate::error::{Error, Misuse};
use crate::tpm::{Pin, Tpm, TpmProtectorError};
use keyway_volume::bitlocker::tpm::{TpmSecrets, unseal_any};
use keyway_volume::bitlocker::{Locked, Protection, Secret, StartupKey};
use std::sync::atomic::AtomicBool;

impl TpmSource {
    /// The volume master key as the TPM gives it.
    pub(super) fn master_key(
        &self,
        subject: &Subject,
        seen: &Locked,
        startup_keys: &[StartupKey],
        secrets: &dyn Secrets,
    ) -> Result<Secret, Error> {
        let by_tpm = |kind| {
            use Protection::{Tpm, TpmPin, TpmPinStartupKey, TpmStartupKey};
            matches!(kind, Tpm | TpmPin | TpmStartupKey | TpmPinStartupKey)
        };
        // Before a TPM is looked for, which there need not be, or a PIN is asked for.
        if !seen.info.key_protectors.iter().any(|p| by_tpm(p.kind)) {
            return Err(TpmProtectorError::NoProtector.into());
        }
        let pinned = |kind| matches!(kind, Protection::TpmPin | Protection::TpmPinStartupKey);
        let typed = match &self.pin {
            Some(from) => Some(from.read()?),
            None if seen.info.key_protectors.iter().any(|p| pinned(p.kind)) => {
                secrets.answer(&Question::new(Wanted::Pin, subject))?
            }
            None => None,
        };
        let pin = typed.as_deref().map(Pin::new).transpose().map_err(TpmProtectorError::from)?;
        let given = TpmSecrets { pin: pin.as_ref(), startup_keys, stop: &AtomicBool::new(false) };
        let entries = &seen.metadata.block().dataset.entries;
        let mut tpm = Tpm::open(&self.address).map_err(TpmProtectorError::from)?;
        let (master, by) = unseal_any(entries, None, &mut tpm, &given)?;
        Ok(Secret::MasterKey(master.bytes, Some(by)))
    }
}

impl NewTpmSource {
    /// The TPM that seals.
    ///
    /// # Errors
    /// There is none, or it can't be used.
    pub fn open(&self) -> Result<Tpm, Error> {
        Tpm::open(&self.address).map_err(|e| TpmProtectorError::from(e).into())
    }

    /// The new PIN.
    ///
    /// # Errors
    /// It can't be read, no TPM takes it, or nobody answers.
    pub fn new_pin(&self, subject: &Subject, secrets: &dyn Secrets) -> Result<Pin, Error> {
        let typed = match &self.pin {
            Some(from) => from.read()?,
            None => secrets
                .answer(&Question::new(Wanted::NewPin, subject))?
                .ok_or(Misuse::NoPassword(SecretRole::New))?,
        };
        Ok(Pin::new_to_set(&typed).map_err(TpmProtectorError::from)?)
    }
}
