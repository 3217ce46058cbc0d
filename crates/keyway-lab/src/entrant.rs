//! One side of a comparison, ready to be measured.

use crate::judge::EntrantFacts;
use crate::sectors::Subject;
use crate::timed::TimedWork;
use keyway_model::ModelDrive;
use std::path::PathBuf;
use std::sync::Arc;

/// One side of a comparison, ready to be measured.
pub struct Entrant {
    /// The target's words.
    pub name: String,
    /// What is measured.
    pub subject: Subject,
    /// What is known of it.
    pub facts: EntrantFacts,
    /// The modelled drive under it, whose lateness is watched.
    pub model: Option<ModelDrive>,
    /// A folder on it, for workloads that copy files.
    pub folder: Option<PathBuf>,
    /// Makes or unlocks it, for workloads that time that.
    pub timed: Option<Arc<TimedWork>>,
}

impl Entrant {
    /// One with neither a folder nor operations of its own.
    pub fn new(name: impl Into<String>, subject: Subject) -> Self {
        let (name, facts) = (name.into(), EntrantFacts::default());
        Self { name, subject, facts, model: None, folder: None, timed: None }
    }
}
