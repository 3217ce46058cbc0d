//! Whose header it is.

use crate::error::{Error, Misuse};
use crate::locked::LockedVolume;
use crate::unlock::Family;

/// Which formats' code it is; a key that only BitLocker volumes have says that it should be one.
pub(super) fn family(volume: &LockedVolume<'_>) -> Result<Family, Error> {
    let family = volume.family()?;
    if family == Family::VeraCrypt && volume.sources.names_bitlocker() {
        return Err(Misuse::NoBitLockerBeginning(volume.path.clone()).into());
    }
    Ok(family)
}
