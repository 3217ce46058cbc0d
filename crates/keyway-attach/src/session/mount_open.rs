//! Mounts the file system of a volume that is open already.

use super::state::SessionState;
use super::{alive, not_open};
use crate::AttachError;
use crate::mount::{self, MountPlan};
use std::io;
use std::path::Path;

/// Mounts what is in an open volume on a folder, for root; closing it unmounts that.
///
/// # Errors
/// [`AttachError::NotOpen`]; it has no block device, or is mounted already; or there is nothing that can be mounted.
pub fn mount_open(
    what: impl AsRef<Path>,
    at: &Path,
    options: &str,
    read_only: bool,
) -> Result<SessionState, AttachError> {
    let (folder, state) = alive(what.as_ref())?.ok_or_else(|| not_open(what.as_ref()))?;
    let already = || AttachError::AlreadyOpen { volume: state.volume.clone() };
    let device = state.device.as_deref().filter(|_| state.mountpoint.is_none()).ok_or_else(already)?;
    let fail = |e: io::Error| AttachError::io(format!("mount it on {}", at.display()), e);
    let at = at.canonicalize().map_err(fail)?;
    // What somebody has unmounted by hand.
    match std::fs::remove_file(folder.later_mount()) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(fail(e)),
        _ => {}
    }
    let wanted = MountPlan { at: at.clone(), filesystem: None, options: options.to_owned(), ends_it: false };
    let filesystem = mount::mount(device, &wanted, read_only || state.read_only)?;
    if let Err(e) = std::os::unix::fs::symlink(&at, folder.later_mount()) {
        mount::unmount(&at)?;
        return Err(if e.kind() == io::ErrorKind::AlreadyExists { already() } else { fail(e) });
    }
    Ok(SessionState { mountpoint: Some(at), filesystem: Some(filesystem), ..state })
}
