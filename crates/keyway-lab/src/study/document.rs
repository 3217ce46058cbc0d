//! What studies found.

use super::definition::Study;
use super::verdict::{ClaimVerdict, judged};
use crate::result::Document;
use serde::{Deserialize, Serialize};

/// What an experiment of a study measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The study's name.
    pub study: String,
    /// The experiment's.
    pub experiment: String,
    /// What was measured, turn by turn.
    pub document: Document,
}

/// Everything that studies found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyDocument {
    /// At most five sentences, or pairs of them.
    pub answer: Vec<String>,
    /// Each claim, and what became of it.
    pub verdicts: Vec<ClaimVerdict>,
    /// The studies, whole.
    pub studies: Vec<Study>,
    /// What was measured.
    pub measured: Vec<Measured>,
    /// How long it took.
    pub seconds: f64,
    /// What was not done; empty when all was.
    pub missing: Vec<String>,
}

impl StudyDocument {
    /// Every claim judged anew, from what was measured and simulated alone.
    pub fn judged_again(&self) -> Vec<ClaimVerdict> {
        let mut all = Vec::new();
        for found in &self.measured {
            let Some(study) = self.studies.iter().find(|study| study.name == found.study) else { continue };
            let claims: Vec<_> = study.claims.iter().filter(|c| c.experiment == found.experiment).collect();
            for claim in &claims {
                let told = self.verdicts.iter().find(|v| v.study == study.name && v.claim == **claim);
                let simulated = told.and_then(|told| told.simulated);
                all.push(judged(study, claim, &found.document, simulated, claims.len()));
            }
        }
        all
    }
}
