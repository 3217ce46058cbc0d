//! Which volume is meant, and what it is looked for as.

use crate::failure::Failure;
use crate::narrow::NarrowArgs;
use keyway::session::{AttachChoice, SessionPlan};
use keyway::unlock::UnlockArguments;
use std::path::{Path, PathBuf};

/// Which volume, and what it is looked for as.
#[derive(Debug, Clone)]
pub(crate) struct Which {
    /// Its file or device.
    pub(crate) path: PathBuf,
    arguments: UnlockArguments,
}

impl Which {
    /// From the command line.
    pub(crate) fn new(path: &Path, narrow: &NarrowArgs) -> Self {
        Self { path: path.to_owned(), arguments: narrow.arguments() }
    }

    /// A plan to have it served.
    pub(crate) fn to_serve(&self, way: impl Into<AttachChoice>) -> Result<SessionPlan, Failure> {
        Ok(SessionPlan::new(&self.path, self.arguments(), way)?)
    }

    /// The same for the library.
    pub(crate) fn arguments(&self) -> UnlockArguments {
        self.arguments.clone()
    }
}
