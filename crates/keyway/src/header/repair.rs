//! A BitLocker volume's damaged first sector and copies of its metadata, written anew from a good copy.

use crate::error::{Error, Misuse};
use crate::locked::LockedVolume;
use crate::medium;
use crate::searching::Searched;
use crate::unlock::Family;
use keyway_fs::FileSystem;
use keyway_store::FileStore;
use keyway_volume::bitlocker::{self, CopyState, OpenedKeys, UnlockRequest};

/// A repair of a volume that opened. Nothing has been written yet.
pub struct RepairPlan<'a> {
    volume: &'a LockedVolume<'a>,
    store: FileStore,
    opened: OpenedKeys,
}

/// What was written anew.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairedHeader {
    /// The first sector was.
    pub first_sector: bool,
    /// The numbers (from 1 on) of the copies of the metadata that were.
    pub copies: Vec<usize>,
    /// All copies are in order now.
    pub all_good: bool,
}

/// Plans a repair: opens the volume by what is left of its metadata.
///
/// # Errors
/// The volume is no BitLocker one, can't be written, doesn't open; or a file system begins where its first sector was.
pub fn repair<'a>(volume: &'a LockedVolume<'a>) -> Result<RepairPlan<'a>, Error> {
    if super::family(volume)? != Family::BitLocker {
        return Err(Misuse::NothingToRepair(volume.path.clone()).into());
    }
    medium::must_be_writable(&volume.path)?;
    let secrets = volume.bitlocker_key()?;
    let store = volume.to_change()?;
    let request = UnlockRequest { search: true, ..UnlockRequest::new(&secrets) };
    let opened = {
        let searched = Searched::new(&store, volume.progress);
        let opened = bitlocker::unlock(&searched, &request).map_err(Error::from);
        searched.unless_stopped(opened).map_err(|e| volume.said(e))?.opened
    };
    let plan = RepairPlan { volume, store, opened };
    if plan.overwrites_what_is_in_front() {
        // The metadata may be of a volume that was there before.
        if let Some(found) = FileSystem::find(&plan.store).map_err(|e| volume.said(e))? {
            return Err(Error::FileSystemInFront(found.kind.name()));
        }
    }
    Ok(plan)
}

impl RepairPlan<'_> {
    /// Nothing in front speaks for a BitLocker volume: whoever asked for the repair must be sure that it was one, and
    /// nothing else since.
    pub fn overwrites_what_is_in_front(&self) -> bool {
        self.is_lost() && !self.opened.metadata.lost_in_part
    }

    fn is_lost(&self) -> bool {
        self.opened.metadata.lost_boot.is_some()
    }

    /// Writes what is damaged anew, and reads it again.
    ///
    /// # Errors
    /// It can't be written, or is damaged again.
    pub fn run(self) -> Result<RepairedHeader, Error> {
        let written = self.opened.repair(&self.store).map_err(|e| self.volume.said(e))?;
        let again = bitlocker::look(&self.store).map_err(|e| self.volume.said(e))?.metadata;
        let all_good = again.states().iter().all(|state| *state == CopyState::Good);
        if !again.first_sector_is_good(&self.store) || !(all_good || self.is_lost()) {
            return Err(self.volume.said(Error::DamagedAgain));
        }
        Ok(RepairedHeader { first_sector: written.first_sector, copies: written.copies, all_good })
    }
}
