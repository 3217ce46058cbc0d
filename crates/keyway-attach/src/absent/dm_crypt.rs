//! The dm-crypt attachment of a build without it: nothing can be had, and nothing is removed.

pub use crate::{DmCryptError, Unmappable};

use crate::AttachError;
use keyway_engine::HandOver;
use std::fs::File;
use std::path::Path;

const WITHOUT: &str = "this program was built without dm-crypt";

pub(crate) const ATTACHMENT: &str = "dm-crypt";

/// That there is none.
///
/// # Errors
/// [`DmCryptError::Missing`].
pub fn available() -> Result<(), DmCryptError> {
    Err(DmCryptError::Missing(WITHOUT.to_owned()))
}

/// A volume that the kernel decrypts; there is none.
pub enum Mapping {}

impl Mapping {
    /// Wipes the keys, and no more.
    ///
    /// # Errors
    /// [`AttachError::DmCrypt`].
    pub fn new(_: HandOver, _: &File, _: &Path, _: &str) -> Result<Self, AttachError> {
        Err(DmCryptError::Missing(WITHOUT.to_owned()).into())
    }

    /// The block device.
    pub const fn device(&self) -> &Path {
        match *self {}
    }

    /// Takes it away.
    pub const fn remove(&self) -> Result<(), AttachError> {
        match *self {}
    }
}

pub(crate) const fn remove_stale(_: &str) -> Result<(), AttachError> {
    Ok(())
}
