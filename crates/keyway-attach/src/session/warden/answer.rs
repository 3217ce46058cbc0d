//! What a warden answers.

use crate::{AttachError, User};
use serde::{Deserialize, Serialize};
use std::io;

/// How the record, and an answer, may be long, in bytes.
pub(super) const LONGEST: usize = 64 << 10;

/// How it went.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Done {
    /// It is done.
    Well,
    /// Somebody uses it, and nothing has changed.
    Busy { what: String, users: Vec<User> },
    /// It is not.
    Failed { reason: String, code: Option<i32> },
}

impl Done {
    pub(super) fn of(error: &AttachError) -> Self {
        match error {
            AttachError::Busy { what, users } => Self::Busy { what: what.clone(), users: users.clone() },
            AttachError::Io { doing, source, .. } if source.raw_os_error().is_some() => {
                Self::Failed { reason: doing.clone(), code: source.raw_os_error() }
            }
            e => Self::Failed { reason: e.to_string(), code: None },
        }
    }

    pub(super) fn into_result(self) -> Result<(), AttachError> {
        match self {
            Self::Well => Ok(()),
            Self::Busy { what, users } => Err(AttachError::Busy { what, users }),
            Self::Failed { reason, code: Some(code) } => {
                Err(AttachError::Io { doing: reason, path: None, source: io::Error::from_raw_os_error(code) })
            }
            Self::Failed { reason, code: None } => {
                Err(AttachError::io("take everything down", io::Error::other(reason)))
            }
        }
    }
}
