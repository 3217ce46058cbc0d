//! What the serving process says of an error, as it crosses the pipe.

use keyway_error::{Explain, Meaning};
use serde::{Deserialize, Serialize};

/// Why the serving process does not serve: its error's words, and what they mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    message: String,
    meaning: Meaning,
}

impl<E: Explain> From<&E> for Refusal {
    fn from(error: &E) -> Self {
        Self { message: error.to_string(), meaning: error.explain() }
    }
}

impl Explain for Refusal {
    fn explain(&self) -> Meaning {
        self.meaning.clone()
    }
}
