//! The file system inside a BitLocker volume: looked at, and made smaller by its own tool on the attached volume.

use super::observer::Observer;
use super::space::not_smaller;
use crate::error::{Error, about};
use crate::medium;
use crate::session::SessionSecrets;
use keyway_engine::{Access, Device};
use keyway_fs::FileSystem;
use keyway_volume::bitlocker::{Secret, UnlockRequest, unlock};
use std::path::Path;

/// The file system that is in the volume.
pub(super) fn file_system(path: &Path, key: &[Secret]) -> Result<Option<FileSystem>, Error> {
    let store = medium::look(path)?;
    let unlocked = unlock(&store, &UnlockRequest::new(key)).map_err(about(path))?;
    let device = Device::new(Box::new(store), unlocked.layout, Access::ReadOnly)?;
    Ok(FileSystem::find(&device)?)
}

/// Has the volume attached, makes its file system `to` bytes large, and closes it again.
pub(super) fn resize(
    path: &Path,
    secrets: &SessionSecrets,
    fs: &FileSystem,
    to: u64,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let session = observer.serve(path, secrets)?;
    // A loop device where this user may have one; otherwise the file that it would be made of.
    let place = session.state.device.as_ref().or(session.state.file.as_ref());
    let resized = place.map_or(Ok(()), |place| fs.kind.resize(place, to));
    let closed = session.close();
    resized.map_err(|e| not_smaller(path, fs, to, e))?;
    closed.map(drop)
}
