//! What the serving process says of an error, as it crosses the pipe.

use keyway_error::{Explain, Meaning, explain};
use serde::{Deserialize, Serialize};

/// Why the serving process does not serve: its error's words, and what they mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct SessionRefusal {
    message: String,
    meaning: Meaning,
}

impl<E: Explain> From<&E> for SessionRefusal {
    fn from(error: &E) -> Self {
        Self { message: error.to_string(), meaning: error.explain() }
    }
}

explain! { SessionRefusal {
    Self { meaning, .. } => { meaning.clone() },
} }
