//! A TPM and its PIN among the things that open a BitLocker volume.

use super::{Question, SecretFrom, Secrets, Subject, Wanted};
use crate::error::{Error, Misuse};
use keyway_tpm::{Address, Pcrs, Tpm};
use keyway_volume::bitlocker::tpm::{Pin, TpmProtectorError, TpmSecrets, unseal_any};
use keyway_volume::bitlocker::{Protection, Secret, Seen, StartupKey};
use std::sync::atomic::AtomicBool;

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

    /// The volume master key as the TPM gives it.
    pub(super) fn master_key(
        &self,
        subject: &Subject,
        seen: &Seen,
        startup_keys: &[StartupKey],
        secrets: &dyn Secrets,
    ) -> Result<Secret, Error> {
        let pinned = |kind| matches!(kind, Protection::TpmPin | Protection::TpmPinStartupKey);
        let typed = match &self.pin {
            Some(from) => Some(from.read()?),
            None if seen.info.key_protectors.iter().any(|p| pinned(p.kind)) => {
                secrets.answer(&Question { wanted: Wanted::Pin, subject })?
            }
            None => None,
        };
        let pin = typed.as_deref().map(Pin::new).transpose().map_err(TpmProtectorError::from)?;
        let given = TpmSecrets { pin: pin.as_ref(), startup_keys, stop: &AtomicBool::new(false) };
        let entries = &seen.metadata.block().dataset.entries;
        let mut tpm = Tpm::open(&self.address).map_err(TpmProtectorError::from)?;
        let (master, _) = unseal_any(entries, None, &mut tpm, &given)?;
        Ok(Secret::MasterKey(master.bytes))
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
            None => {
                secrets.answer(&Question { wanted: Wanted::NewPin, subject })?.ok_or(Misuse::NoPassword)?
            }
        };
        Ok(Pin::new_to_set(&typed).map_err(TpmProtectorError::from)?)
    }
}
