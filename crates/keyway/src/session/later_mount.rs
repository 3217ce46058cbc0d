//! What is in an open volume, mounted later: nobody is asked for a secret a second time.

use super::error::SessionError;
use super::in_use::{open_name, other_partition};
use super::mount_point::{make_mount_point, mount_point_to_be};
use crate::error::Error;
use keyway_attach::mount::check_options;
use keyway_attach::path_text;
use keyway_attach::session::{self, SessionState, find};
use keyway_sys::is_folder;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// An open volume whose file system is to be mounted. Nothing is mounted yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MountOpenPlan {
    /// The volume.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// Its block device.
    #[serde(with = "path_text")]
    pub device: Option<PathBuf>,
    /// The folder.
    #[serde(with = "path_text")]
    pub mount: PathBuf,
    /// Further options, as `mount -o` takes them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub options: String,
    /// No writes.
    pub read_only: bool,
    #[serde(skip)]
    id: String,
}

/// Plans to mount what is in a volume, or in that partition of an image, that is open, has a block device, and is mounted nowhere; nothing where it is not so.
///
/// # Errors
/// There is no such folder, or this user may mount nothing.
pub fn mount_open(
    volume: &Path,
    partition: Option<u32>,
    at: &Path,
    options: &str,
    read_only: bool,
) -> Result<Option<MountOpenPlan>, Error> {
    let open = find(open_name(volume)?)?.filter(|state| state.mountpoint.is_none());
    let open = open.filter(|state| other_partition(state, partition).is_none());
    let Some(SessionState { id, volume, device: device @ Some(_), read_only: only, .. }) = open else {
        return Ok(None);
    };
    if !rustix::process::geteuid().is_root() {
        return Err(SessionError::MountNeedsRoot.into());
    }
    check_options(options)?;
    let (mount, read_only) = (mount_point_to_be(at)?, read_only || only);
    let options = options.to_owned();
    Ok(Some(MountOpenPlan { volume, device, mount, options, read_only, id }))
}

impl MountOpenPlan {
    /// Mounts it; closing the volume unmounts it again.
    ///
    /// # Errors
    /// There is nothing in it that can be mounted; it was closed, or somebody else has mounted it.
    pub fn run(&self) -> Result<SessionState, Error> {
        let is_new = !is_folder(&self.mount);
        make_mount_point(&self.mount)?;
        let mounted = match is_new {
            true => session::mount_open_on_new(&self.id, &self.mount, &self.options, self.read_only),
            false => session::mount_open(&self.id, &self.mount, &self.options, self.read_only),
        };
        Ok(mounted?)
    }
}
