//! A BitLocker volume's damaged first sector and copies of its metadata, written anew from a good copy.

use super::family::family;
use crate::detect::must_be_noise;
use crate::disk::Part;
use crate::error::{Error, Misuse};
use crate::locked::LockedVolume;
use crate::log_file;
use crate::searching::Searched;
use crate::unlock::Family;
use keyway_attach::path_text;
use keyway_engine::Access;
use keyway_fs::FoundFileSystem;
use keyway_volume::bitlocker::{self, CopyState, OpenedKeys, UnlockRequest};
use serde::Serialize;
use std::path::PathBuf;

/// A repair of a volume that opened. Nothing has been written yet.
#[derive(Serialize)]
#[non_exhaustive]
pub struct RepairPlan<'a> {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// The first sector is not what it must be.
    pub first_sector: bool,
    /// The state of each copy of the metadata: what is not good is written anew.
    pub metadata_copies: Vec<CopyState>,
    /// Nothing in front speaks for a BitLocker volume: whoever asked for the repair must be sure that it was one, and
    /// nothing else since.
    pub overwrites_what_is_in_front: bool,
    #[serde(skip)]
    locked: &'a LockedVolume<'a>,
    #[serde(skip)]
    store: Part,
    #[serde(skip)]
    opened: Option<OpenedKeys>,
}

/// What was written anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RepairedHeader {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// The first sector was.
    pub first_sector: bool,
    /// The numbers (from 1 on) of the copies of the metadata that were.
    pub repaired: Vec<usize>,
    /// All copies are in order now.
    #[serde(skip)]
    pub all_good: bool,
}

/// Plans a repair: opens the volume by what is left of its metadata.
///
/// # Errors
/// The volume is no BitLocker one, can't be written, doesn't open; or a file system begins where its first sector was.
pub fn repair<'a>(volume: &'a LockedVolume<'a>) -> Result<RepairPlan<'a>, Error> {
    if family(volume)? != Family::BitLocker {
        must_be_noise(&volume.path, &volume.arguments)?;
        return Err(Misuse::NothingToRepair(volume.path.clone()).into());
    }
    volume.must_be_free(Access::ReadWrite)?;
    // What is in order needs no secret; one that was named also finds out whether the metadata is authentic.
    if !volume.sources.is_given()
        && let Some(plan) = nothing_to_repair(volume)?
    {
        return Ok(plan);
    }
    let secrets = volume.bitlocker_key()?;
    let store = volume.to_change()?;
    let request = UnlockRequest { search: true, ..UnlockRequest::new(&secrets) };
    let opened = {
        let searched = Searched::new(&store, volume.progress);
        let opened = bitlocker::unlock(&searched, &request).map_err(Error::from);
        searched.unless_stopped(opened).map_err(|e| volume.said(e))?.opened
    };
    let metadata = &opened.metadata;
    let overwrites_what_is_in_front = metadata.lost_boot.is_some() && !metadata.lost_in_part;
    if overwrites_what_is_in_front {
        // The metadata may be of a volume that was there before.
        if let Some(found) = FoundFileSystem::find(&store).map_err(|e| volume.said(e))? {
            return Err(Error::FileSystemInFront(found.kind.name()));
        }
    }
    Ok(RepairPlan {
        volume: volume.path.clone(),
        first_sector: !metadata.first_sector_is_good(&store),
        metadata_copies: metadata.states().to_vec(),
        overwrites_what_is_in_front,
        locked: volume,
        store,
        opened: Some(opened),
    })
}

/// The plan of a volume whose first sector and copies of the metadata are in order, as far as that shows without a secret.
fn nothing_to_repair<'a>(volume: &'a LockedVolume<'a>) -> Result<Option<RepairPlan<'a>>, Error> {
    let store = volume.to_change()?;
    let Ok(seen) = bitlocker::look(&store) else { return Ok(None) };
    let states = seen.metadata.states();
    if !seen.metadata.first_sector_is_good(&store) || states.iter().any(|state| *state != CopyState::Good) {
        return Ok(None);
    }
    Ok(Some(RepairPlan {
        volume: volume.path.clone(),
        first_sector: false,
        metadata_copies: states.to_vec(),
        overwrites_what_is_in_front: false,
        locked: volume,
        store,
        opened: None,
    }))
}

impl RepairPlan<'_> {
    /// Writes what is damaged anew, and reads it again.
    ///
    /// # Errors
    /// It can't be written, or is damaged again.
    pub fn run(self) -> Result<RepairedHeader, Error> {
        let path = self.volume.clone();
        log_file::step(
            "header repair",
            &path,
            || self.mend(),
            |mended| format!("first sector {}, copies {:?}", mended.first_sector, mended.repaired),
        )
    }

    fn mend(self) -> Result<RepairedHeader, Error> {
        let Some(opened) = self.opened else {
            let (first_sector, repaired) = (false, Vec::new());
            return Ok(RepairedHeader { volume: self.volume, first_sector, repaired, all_good: true });
        };
        let written = opened.repair(&self.store).map_err(|e| self.locked.said(e))?;
        let again = bitlocker::look(&self.store).map_err(|e| self.locked.said(e))?.metadata;
        let all_good = again.states().iter().all(|state| *state == CopyState::Good);
        let was_lost = opened.metadata.lost_boot.is_some();
        if !again.first_sector_is_good(&self.store) || !(all_good || was_lost) {
            return Err(self.locked.said(Error::DamagedAgain));
        }
        let (first_sector, repaired) = (written.first_sector, written.copies);
        Ok(RepairedHeader { volume: self.volume, first_sector, repaired, all_good })
    }
}
