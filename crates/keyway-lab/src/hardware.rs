//! A modelled drive that encrypts by itself.

use crate::error::LabError;
use keyway_model::{DriveModel, ModelDrive, SparseStore};
use std::sync::Arc;

/// A modelled drive that is made to encrypt by itself.
#[derive(Clone)]
pub(crate) struct Hardware {
    pub(crate) model: DriveModel,
    /// Where its blocks rest.
    pub(crate) bytes: Arc<SparseStore>,
}

impl Hardware {
    /// Such a drive; `None` where this program was built without virtual drives.
    pub(crate) fn of(model: &DriveModel, bytes: &Arc<SparseStore>) -> Option<Self> {
        cfg!(feature = "virtual-drive").then(|| Self { model: model.clone(), bytes: bytes.clone() })
    }

    /// Takes ownership, activates locking, locks and unlocks: a drive that is ready.
    #[cfg(feature = "virtual-drive")]
    pub(crate) fn set_up(&self) -> Result<ModelDrive, LabError> {
        use keyway_model::Clock;
        use keyway_virtual_drive::modelled::{Engine, set_up};
        let made = set_up(self.model.clone(), Clock::real(), Engine::InTheModel, self.bytes.clone());
        Ok(made.map_err(|e| LabError::Volume(e.to_string(), Vec::new()))?.drive)
    }

    /// There is none to set up.
    #[cfg(not(feature = "virtual-drive"))]
    pub(crate) fn set_up(&self) -> Result<ModelDrive, LabError> {
        let _ = (&self.model, &self.bytes);
        Err(LabError::Unsuited("this program was built without virtual drives".to_owned()))
    }
}
