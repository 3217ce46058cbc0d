//! A step of attaching in which the kernel may come back to the process that serves.
//!
//! Putting a loop device on a file flushes that file, and mounting reads and writes the device: both wait for the process that
//! serves it. Whichever of its own threads waited so, and were killed, would stay in the kernel for ever: as long as it is there,
//! so are its files and memory, the connection that it waits for among them, and with it the locks of all loop devices. So
//! another process takes these steps. It holds nothing of ours, and where the one that serves is killed, the kernel tells it so.

use super::client::Warden;
use crate::mount::{self, MountPlan};
use crate::session::sandbox::Sandbox;
use crate::{AttachError, loopdev, path_text};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What is to be done, and on what.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::session) enum Step {
    /// Puts a loop device on the file.
    Loop {
        #[serde(with = "path_text")]
        file: PathBuf,
        sector_bytes: u32,
        read_only: bool,
        /// It is to have discards to offer.
        discards: bool,
    },
    /// Has the loop device learn that its file can't zero ranges.
    ForgoZeroing {
        #[serde(with = "path_text")]
        device: PathBuf,
        sector_bytes: u32,
    },
    /// Puts a loop device with a page cache on the one below.
    Cache {
        #[serde(with = "path_text")]
        below: PathBuf,
        sector_bytes: u32,
        read_only: bool,
    },
    /// Mounts what is on the device.
    Mount {
        #[serde(with = "path_text")]
        device: PathBuf,
        #[serde(with = "path_text")]
        at: PathBuf,
        filesystem: Option<String>,
        options: String,
        read_only: bool,
    },
}

/// What a program is told that is to take one step and to end.
#[derive(Serialize, Deserialize)]
pub(super) struct ToTake {
    pub(super) step: Step,
}

impl Step {
    /// The mounting of a device as planned.
    pub(in crate::session) fn mount(device: &Path, wanted: &MountPlan, read_only: bool) -> Self {
        Self::Mount {
            device: device.to_owned(),
            at: wanted.at.clone(),
            filesystem: wanted.filesystem.clone(),
            options: wanted.options.clone(),
            read_only,
        }
    }

    /// Takes it: another process does, where there is a program for that. What came of it is the device, or the file system's
    /// type; nothing where nothing did.
    ///
    /// # Errors
    /// The step's; or the other process does not start.
    pub(in crate::session) fn take(self, by: Option<&Sandbox>) -> Result<Option<String>, AttachError> {
        match by {
            Some(by) => Warden::once(by, &ToTake { step: self })?.into_made(),
            None => self.take_here(),
        }
    }

    pub(super) fn take_here(self) -> Result<Option<String>, AttachError> {
        let named = |device: PathBuf| Some(device.to_string_lossy().into_owned());
        match self {
            Self::Loop { file, sector_bytes, read_only, discards: true } => {
                loopdev::attach_for_discards(&file, sector_bytes, read_only).map(named)
            }
            Self::Loop { file, sector_bytes, read_only, discards: false } => {
                loopdev::attach(&file, sector_bytes, read_only).map(named)
            }
            Self::ForgoZeroing { device, sector_bytes } => {
                Ok(loopdev::forgo_zeroing(&device, sector_bytes).then(String::new))
            }
            Self::Cache { below, sector_bytes, read_only } => {
                loopdev::cache(&below, sector_bytes, read_only).map(named)
            }
            Self::Mount { device, at, filesystem, options, read_only } => {
                // Who ends it by unmounting is not the kernel's business.
                let wanted = MountPlan { at, filesystem, options, ends_it: false };
                mount::mount(&device, &wanted, read_only).map(Some)
            }
        }
    }
}
