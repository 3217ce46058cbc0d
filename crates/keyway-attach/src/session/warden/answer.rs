//! What a warden answers.

use crate::{AttachError, User, path_text};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;

/// How the record, and an answer, may be long, in bytes.
pub(super) const LONGEST: usize = 64 << 10;

/// How it went.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Done {
    /// It is done.
    Well,
    /// Somebody uses it, and nothing has changed.
    Busy {
        what: String,
        #[serde(with = "path_text")]
        path: Option<PathBuf>,
        users: Vec<User>,
    },
    /// It is not.
    Failed { reason: String, code: Option<i32> },
}

impl Done {
    pub(super) fn of(error: &AttachError) -> Self {
        match error {
            AttachError::Busy { what, path, users } => {
                Self::Busy { what: what.clone(), path: path.clone(), users: users.clone() }
            }
            AttachError::Io { doing, source, .. } if source.raw_os_error().is_some() => {
                Self::Failed { reason: doing.clone(), code: source.raw_os_error() }
            }
            e => Self::Failed { reason: e.to_string(), code: None },
        }
    }

    pub(super) fn into_result(self) -> Result<(), AttachError> {
        match self {
            Self::Well => Ok(()),
            Self::Busy { what, path, users } => Err(AttachError::Busy { what, path, users }),
            Self::Failed { reason, code: Some(code) } => {
                Err(AttachError::Io { doing: reason, path: None, source: io::Error::from_raw_os_error(code) })
            }
            Self::Failed { reason, code: None } => {
                Err(AttachError::io("take everything down", io::Error::other(reason)))
            }
        }
    }
}
