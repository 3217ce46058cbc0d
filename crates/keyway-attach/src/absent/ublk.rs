//! ublk of a build without it: nothing can be had, and nothing is found.

pub use crate::UblkError;

use crate::{AttachError, Stop};
use keyway_engine::Device;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const ATTACHMENT: &str = "ublk";
pub(crate) const CLEAN_UP: Duration = Duration::ZERO;

/// That there is none.
///
/// # Errors
/// [`UblkError::Missing`].
pub fn available() -> Result<(), UblkError> {
    Err(missing())
}

fn missing() -> UblkError {
    UblkError::Missing("this program was built without it".to_owned())
}

/// Whether devices outlive their server: there are none.
pub const fn outlives_its_server() -> bool {
    false
}

/// Whose a device is: nobody's that is known here.
pub const fn owner(_: &str) -> Option<(u32, u32)> {
    None
}

/// A volume as a block device; there is none.
pub enum UblkVolume {}

impl UblkVolume {
    /// None is made.
    ///
    /// # Errors
    /// [`UblkError::Missing`].
    pub fn for_now(_: &Arc<Device>, _: &Arc<Stop>) -> Result<Self, AttachError> {
        Err(missing().into())
    }

    /// The block device.
    pub const fn device(&self) -> &Path {
        match *self {}
    }

    /// Removes it.
    ///
    /// # Errors
    /// None: there is none.
    pub const fn remove(&mut self) -> Result<(), AttachError> {
        match *self {}
    }
}

/// A device whose server died; there is none.
pub enum Waiting {}

impl Waiting {
    /// The block device.
    pub const fn device(&self) -> &Path {
        match *self {}
    }

    pub(crate) const fn is_in_use(&self) -> bool {
        match *self {}
    }

    pub(crate) const fn give_up(&self) -> Result<(), AttachError> {
        match *self {}
    }
}

/// What a dead session left: nothing that is known here.
pub const fn waiting(_: &Path, _: &Path, _: u32, _: Duration) -> Option<Waiting> {
    None
}

pub(crate) const fn clear(_: &Path, _: &Path, _: u32) -> Result<(), AttachError> {
    Ok(())
}
