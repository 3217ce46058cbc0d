//! Another size for a BitLocker volume: what its metadata says, and where that lies.
//!
//! Metadata behind the file system goes with the end of the volume; within NTFS it moves where the file system
//! is to end before it. Each step leaves a whole volume, so the same plan goes on after whatever stopped it.

use super::error::ResizeError;
use super::plan::{MetadataPlan, ResizeFacts, ResizePlan};
use crate::conversion::claim;
use crate::error::{Error, about};
use crate::medium;
use crate::progress::{Progress, Stage};
use keyway_convert::bitlocker::{mend, place_below, relocate_below};
use keyway_engine::{Access, Device};
use keyway_error::Advice;
use keyway_fs::FoundFileSystem;
use keyway_store::Store;
use keyway_volume::Stage as Filled;
use keyway_volume::bitlocker::{
    CreateError, MetadataLocations, Resizable, SMALLEST_VOLUME, Secret, UnlockRequest, unlock,
};
use std::path::Path;
use std::sync::Arc;

/// A volume that opened.
struct Opened {
    store: Arc<dyn Store>,
    volume: Resizable,
    used_space_only: bool,
}

impl Opened {
    fn new(path: &Path, keys: &[Secret], access: Access) -> Result<Self, Error> {
        let store: Arc<dyn Store> = match access {
            Access::ReadOnly => Arc::new(medium::look(path)?),
            Access::ReadWrite => Arc::new(claim(path)?),
        };
        let unlocked = unlock(&store, &UnlockRequest::new(keys)).map_err(about(path))?;
        let used_space_only = unlocked.info.used_space_only;
        let volume = Resizable::of(unlocked).map_err(about(path))?;
        Ok(Self { store, volume, used_space_only })
    }

    fn device(&self) -> Result<Device, Error> {
        let layout = self.volume.layout(self.store.size())?;
        Ok(Device::new(Box::new(Arc::clone(&self.store)), layout, Access::ReadOnly)?)
    }

    fn file_system(&self) -> Result<Option<FoundFileSystem>, Error> {
        Ok(FoundFileSystem::find(&self.device()?)?)
    }
}

/// The file system that lies open in it.
pub(super) fn file_system(path: &Path, keys: &[Secret]) -> Result<Option<FoundFileSystem>, Error> {
    Opened::new(path, keys, Access::ReadOnly)?.file_system()
}

/// Looks at it, finds places for its metadata, and refuses a size that it can't get.
pub(super) fn look(path: &Path, keys: &[Secret], new: u64) -> Result<ResizeFacts, Error> {
    let opened = Opened::new(path, keys, Access::ReadOnly)?;
    plan(&opened, new).map_err(|e| e.at(path))
}

fn plan(opened: &Opened, new: u64) -> Result<ResizeFacts, Error> {
    let Opened { store, volume, used_space_only } = opened;
    let old = volume.bytes();
    if new < SMALLEST_VOLUME {
        return Err(CreateError::TooSmall { size: new, least: SMALLEST_VOLUME }.into());
    }
    let filesystem = opened.file_system()?;
    if let Some(fs) = filesystem.filter(|fs| fs.bytes > old) {
        return Err(ResizeError::ReachesBehind(fs.kind).into());
    }
    let (taken, there) = (volume.taken(), MetadataLocations::at_the_end(old, volume.boot_bytes()));
    let behind = match filesystem {
        Some(fs) => taken.iter().all(|range| range.start >= fs.bytes),
        None => taken.iter().all(|range| range.start >= there.start),
    };
    let places = MetadataLocations::at_the_end(new, volume.boot_bytes());
    let there = taken.iter().zip(places.copies).all(|(range, at)| range.start == at);
    let room = if behind { places.start } else { new };
    let metadata = if behind && !there {
        volume.may_have(new, Some(&places))?;
        MetadataPlan::ToTheEnd(places)
    } else if taken.iter().any(|range| range.end > new) {
        place_below(store, volume, new)?;
        MetadataPlan::Within
    } else {
        volume.may_have(new, None)?;
        MetadataPlan::Stays
    };
    let device = opened.device()?;
    Ok(ResizeFacts {
        data_bytes_before: old,
        data_bytes: new,
        filesystem,
        too_full: filesystem.and_then(|fs| fs.kind.too_full(&device, room)),
        room,
        metadata: Some(metadata),
        used_space_only: *used_space_only,
    })
}

/// Moves what must be moved, makes the file system inside smaller where it is to be, and writes the new size. Whether
/// everything that is new was filled.
pub(super) fn run(plan: &ResizePlan<'_>, keys: &[Secret], progress: &dyn Progress) -> Result<bool, Error> {
    let path = &*plan.volume;
    let open = || Opened::new(path, keys, Access::ReadWrite);
    plan.enlarge_file()?;
    if matches!(plan.metadata, Some(MetadataPlan::Within)) {
        let Opened { store, mut volume, .. } = open()?;
        relocate_below(&store, &mut volume, plan.size_bytes).map_err(about(path))?;
    }
    if plan.filesystem.is_some_and(|fs| fs.follows) {
        // What can't be mended, its own tool refuses, and says why.
        let Opened { store, volume, .. } = open()?;
        mend(&store, &volume).unwrap_or_default();
    }
    plan.shrink_inside(progress)?;
    progress.stage(Stage::Resizing);
    let changed = open().and_then(|opened| change(plan, opened, progress));
    changed.map_err(|e| e.leaving(Advice::ResizeAgain { path: path.to_owned(), bytes: plan.size_bytes }))
}

fn change(plan: &ResizePlan<'_>, opened: Opened, progress: &dyn Progress) -> Result<bool, Error> {
    let (path, new) = (&*plan.volume, plan.size_bytes);
    plan.must_fit(opened.file_system()?)?;
    let Opened { store, mut volume, .. } = opened;
    let mut filled = false;
    if new > plan.data_bytes_before {
        if plan.fill {
            let watch = |_: Filled, done, total| progress.at(done, total);
            filled = volume.fill(&store, new, &watch).map_err(about(path))?;
        }
        volume.set_bytes(&store, new).map_err(about(path))?;
    }
    if let Some(MetadataPlan::ToTheEnd(places)) = &plan.metadata {
        volume.relocate(&store, places).map_err(about(path))?;
    }
    if new < plan.data_bytes_before {
        volume.set_bytes(&store, new).map_err(about(path))?;
    }
    Ok(filled)
}
