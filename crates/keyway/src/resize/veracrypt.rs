//! Another size for a VeraCrypt or TrueCrypt volume: two headers, and the noise between them.

use super::plan::{ResizeFacts, ResizePlan};
use crate::error::Error;
use crate::locked::LockedVolume;
use crate::progress::{Progress, Stage};
use keyway_engine::{Access, Device};
use keyway_fs::FoundFileSystem;
use keyway_volume::Secrets as VeraCryptSecret;
use keyway_volume::Stage as Filled;
use keyway_volume::veracrypt::{BACKUP_GROUP_BYTES, HEADERS_BYTES, ResizeError, Unlocked, resize, unlock};

/// Looks at it, and refuses a size that it can't get.
pub(super) fn look(
    volume: &LockedVolume<'_>,
    secret: &VeraCryptSecret,
    wanted: u64,
) -> Result<ResizeFacts, Error> {
    let room = wanted.saturating_sub(HEADERS_BYTES + BACKUP_GROUP_BYTES);
    let (data_bytes_before, device) = open(volume, secret, |opened| opened.may_fill(wanted))?;
    let filesystem = FoundFileSystem::find(&device)?;
    Ok(ResizeFacts {
        data_bytes_before,
        data_bytes: room,
        filesystem,
        too_full: filesystem.and_then(|fs| fs.kind.too_full(&device, room)),
        room,
        metadata: None,
        used_space_only: false,
    })
}

/// The file system that lies open in it.
pub(super) fn file_system(
    volume: &LockedVolume<'_>,
    secret: &VeraCryptSecret,
) -> Result<Option<FoundFileSystem>, Error> {
    let (_, device) = open(volume, secret, |_| Ok(()))?;
    Ok(FoundFileSystem::find(&device)?)
}

/// Bytes of the data area, and its sectors.
fn open(
    volume: &LockedVolume<'_>,
    secret: &VeraCryptSecret,
    check: impl FnOnce(&Unlocked) -> Result<(), ResizeError>,
) -> Result<(u64, Device), Error> {
    let store = volume.to_look()?;
    let request = volume.arguments.veracrypt_request(secret, None, None, &volume.progress);
    let opened = unlock(&store, &request).map_err(|e| volume.said(e))?;
    check(&opened).map_err(|e| volume.said(e))?;
    Ok((opened.info.data_bytes, Device::new(Box::new(store), opened.layout, Access::ReadOnly)?))
}

/// Makes the file system inside smaller and the file larger, where they are to be, and writes the headers. Whether
/// everything that is new was filled.
pub(super) fn run(
    plan: &ResizePlan<'_>,
    secret: &VeraCryptSecret,
    progress: &dyn Progress,
) -> Result<bool, Error> {
    let volume = plan.locked;
    plan.shrink_inside(progress)?;
    if plan.shrinks().is_some() {
        plan.must_fit(file_system(volume, secret)?)?;
    }
    progress.stage(Stage::Resizing);
    // As long as the headers are the old ones the file may have its old size again.
    let mut untouched = true;
    let mut change = || {
        plan.enlarge_file()?;
        let store = volume.to_change()?;
        let request = volume.arguments.veracrypt_request(secret, None, None, &volume.progress);
        let watch = |_: Filled, done, total| progress.at(done, total);
        let done = resize(&store, &request, plan.size_bytes, plan.fill, &watch);
        untouched = !matches!(done, Err(ResizeError::Store(_)));
        done.map(|done| done.filled).map_err(|e| volume.said(e))
    };
    let changed = change();
    changed.map_err(|error| {
        let error = if untouched { plan.restore_file(error) } else { error };
        plan.restore_inside(error)
    })
}
