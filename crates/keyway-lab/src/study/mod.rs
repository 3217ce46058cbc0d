//! The experiments of published articles, made again: what they measured on the drives they used, as models, beside what
//! they published, with a verdict for each thing they claim.
//!
//! Two things are asked of a claim. *Was it so?* The software of the time is a cost for each request, taken from another of
//! the article's own pairs of figures, on the simulated clock. *Is it so with Keyway?* That is measured, turn by turn.

mod answer;
mod definition;
mod document;
mod run;
mod simulated;
mod slow_queue;
mod tables;
mod verdict;

pub use answer::answer;
pub use definition::{Claim, CostModel, HeldAgainst, Study, StudyExperiment, names, shipped};
pub use document::{Measured, StudyDocument};
pub use run::StudyPlan;
pub use simulated::Simulated;
pub use tables::{list, tables};
pub(crate) use tables::{published_words, said_words};
pub use verdict::{ClaimVerdict, Reproduced, Said, Standing};
