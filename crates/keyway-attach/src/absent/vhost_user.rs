//! vhost-user of a build without it: no socket is made.

pub use crate::VhostError;

use crate::{Namespace, Stop};
use keyway_engine::Device;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A bound server; there is none.
pub enum VhostServer {}

impl VhostServer {
    /// That there is none.
    ///
    /// # Errors
    /// [`VhostError::System`].
    pub fn bind(path: &Path) -> Result<Self, VhostError> {
        let source = io::Error::new(io::ErrorKind::Unsupported, "this program was built without vhost-user");
        Err(VhostError::System { at: path.to_owned(), source })
    }

    /// Where it listens.
    pub const fn path(&self) -> &Path {
        match *self {}
    }

    /// Serves a volume.
    pub const fn run(&self, _: &Arc<Device>, _: &Stop) -> Result<(), VhostError> {
        match *self {}
    }

    /// Serves a disk behind a SCSI host adapter.
    pub const fn run_scsi(&self, _: &Arc<dyn Namespace>, _: &Stop) -> Result<(), VhostError> {
        match *self {}
    }
}
