//! The part of a volume whose loss loses everything: backing it up, putting it back, checking and repairing it.
//!
//! A VeraCrypt or TrueCrypt volume has a header and a copy of it at the end; a BitLocker volume has three copies of its
//! metadata, and the first sector that names them. What writes ([`backup`], [`restore`], [`repair`]) is a plan first, so that
//! it can be shown and asked about before it runs.

mod backup;
mod check;
mod repair;
mod restore;

pub use backup::{BackedUp, BackupPlan, backup};
pub use check::{BitLockerChecked, Checked, check};
pub use repair::{RepairPlan, RepairedHeader, repair};
pub use restore::{RestorePlan, Restored, RestoredPart, restore};

use crate::error::{Error, Misuse};
use crate::locked::LockedVolume;
use crate::unlock::Family;

/// Which formats' code it is; a key that only BitLocker volumes have says that it should be one.
fn family(volume: &LockedVolume<'_>) -> Result<Family, Error> {
    let family = volume.family()?;
    if family == Family::VeraCrypt && volume.sources.names_bitlocker() {
        return Err(Misuse::NoBitLockerBeginning(volume.path.clone()).into());
    }
    Ok(family)
}
