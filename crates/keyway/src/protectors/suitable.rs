//! Whether a new secret suits a protector of its kind: looked at before anyone types one.

use crate::error::{Error, Misuse};
use crate::key_file::{must_be_new, must_take_files_in};
use crate::secrets::{NewTpmSource, PasswordSource};
use keyway_volume::bitlocker::Protection;
use std::path::Path;

/// Refuses a PIN or measurements for what has no TPM, and a password for what has one: it would be left out in silence.
pub(super) fn must_be_the_tpms(
    kind: Protection,
    tpm: &NewTpmSource,
    password: &PasswordSource,
) -> Result<(), Error> {
    match kind.needs_tpm() {
        false if tpm.says_how() => Err(Misuse::NoTpmInIt(kind).into()),
        true if password.is_given() => Err(Misuse::NoPasswordInIt(kind).into()),
        _ => Ok(()),
    }
}

/// Whether a secret of this kind can be set, with a place to write it to or without one.
pub(super) fn may_be_new(
    kind: Protection,
    to: Option<&Path>,
    password: &PasswordSource,
) -> Result<(), Error> {
    use Protection as P;
    match kind {
        P::StartupKey | P::TpmStartupKey | P::TpmPinStartupKey => {
            to.map_or_else(|| Err(Misuse::NoFolder.into()), must_take_files_in)
        }
        P::RecoveryPassword => to.map_or(Ok(()), must_be_new),
        P::Password if !password.keyfiles.is_empty() || password.pim.is_some() => {
            Err(Misuse::PasswordOnly.into())
        }
        P::Password | P::Tpm | P::TpmPin => Ok(()),
        other => Err(Misuse::Unchangeable(other).into()),
    }
}
