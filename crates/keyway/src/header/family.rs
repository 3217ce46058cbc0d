//! Whose header it is.

use crate::detect::must_be_noise;
use crate::error::{Error, Misuse};
use crate::locked::LockedVolume;
use crate::unlock::Family;

/// Which formats' code it is; a key that only BitLocker volumes have says that it should be one.
pub(super) fn family(volume: &LockedVolume<'_>) -> Result<Family, Error> {
    let family = volume.family()?;
    if family == Family::VeraCrypt && volume.sources.names_bitlocker() {
        must_be_noise(&volume.path, &volume.arguments)?;
        return Err(Misuse::NoBitLockerBeginning(volume.path.clone()).into());
    }
    Ok(family)
}
