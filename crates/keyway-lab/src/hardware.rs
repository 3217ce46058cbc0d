//! A modelled drive that encrypts by itself.

use crate::error::LabError;
use keyway_model::{Clock, DriveModel, ModelDrive, SparseStore};
use keyway_virtual_drive::modelled::{self, Engine};
use std::sync::Arc;

/// A modelled drive that is made to encrypt by itself.
#[derive(Clone)]
pub(crate) struct Hardware {
    pub(crate) model: DriveModel,
    /// Where its blocks rest.
    pub(crate) bytes: Arc<SparseStore>,
}

impl Hardware {
    /// Takes ownership, activates locking, locks and unlocks: a drive that is ready.
    pub(crate) fn set_up(&self) -> Result<ModelDrive, LabError> {
        let made =
            modelled::set_up(self.model.clone(), Clock::real(), Engine::InTheModel, self.bytes.clone());
        Ok(made.map_err(|e| LabError::Volume(e.to_string(), Vec::new()))?.drive)
    }
}
