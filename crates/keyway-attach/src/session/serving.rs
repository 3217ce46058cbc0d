//! What every attachment works on: the volume, what the session says of itself, its folder.

use super::folder::SessionFolder;
use super::latency::KernelStat;
use super::plan::MountPlan;
use super::served::Served;
use super::state::SessionState;
use crate::{AttachError, Refusals, Stop, mount};
use std::path::PathBuf;
use std::sync::Arc;

/// A volume on its way to the user.
pub(super) struct Serving {
    pub(super) served: Served,
    pub(super) folder: SessionFolder,
    pub(super) state: SessionState,
    /// What the block device had counted when it became ours.
    pub(super) counted_before: KernelStat,
    pub(super) gone: Arc<Stop>,
    /// Who tried to connect and was refused.
    pub(super) refusals: Arc<Refusals>,
}

impl Serving {
    /// The volume is this block device; its file system is mounted where one wants it.
    pub(super) fn mount(&mut self, device: PathBuf, wanted: Option<&MountPlan>) -> Result<(), AttachError> {
        self.counted_before = KernelStat::of_device(&device).unwrap_or_default();
        self.state.device = Some(device.clone());
        let Some(wanted) = wanted else { return Ok(()) };
        let find = |e| AttachError::io(format!("find {}", wanted.at.display()), e);
        let at = wanted.at.canonicalize().map_err(find)?;
        let name = mount::mount(&device, &at, wanted.filesystem.as_deref(), self.served.is_read_only())?;
        self.state.filesystem = Some(name);
        self.state.mountpoint = Some(at);
        Ok(())
    }
}

/// Lets [`AttachError::Busy`] through; keeps the first of any other errors in `first`.
pub(super) fn keep_first(
    first: &mut Result<(), AttachError>,
    done: Result<(), AttachError>,
) -> Result<(), AttachError> {
    match done {
        Err(e @ AttachError::Busy { .. }) => Err(e),
        Err(e) if first.is_ok() => {
            *first = Err(e);
            Ok(())
        }
        _ => Ok(()),
    }
}
