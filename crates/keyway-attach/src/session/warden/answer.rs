//! What a warden answers.

use crate::mount::NOT_TAKEN;
use crate::{AttachError, User, path_text};
use keyway_error::Advice;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// How the record, and an answer, may be long, in bytes.
pub(super) const LONGEST: usize = 64 << 10;

/// How it went.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Done {
    /// It is done.
    Well,
    /// It is, and this came of it.
    Made(String),
    /// Somebody uses it, and nothing has changed.
    Busy {
        what: String,
        #[serde(with = "path_text")]
        path: Option<PathBuf>,
        users: Vec<User>,
    },
    /// It is not.
    Failed { reason: String, code: Option<i32> },
    /// The machine lacks something.
    Missing { what: String, advice: Advice },
    /// What the volume holds is not mounted.
    NotMounted {
        found: String,
        #[serde(with = "path_text")]
        at: PathBuf,
        why: NotMounted,
    },
}

/// Why what a volume holds is not mounted.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum NotMounted {
    Refused(Reason),
    Damaged(Reason),
    EndsTooSoon { claims: u64, present: u64 },
    NoDriver,
    Option { option: String },
}

/// The system's reason: its number, or what a program said.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Reason {
    Number(i32),
    Words(String),
}

impl Reason {
    fn of(error: &io::Error) -> Self {
        error.raw_os_error().map_or_else(|| Self::Words(error.to_string()), Self::Number)
    }

    fn into_error(self) -> io::Error {
        match self {
            Self::Number(number) => io::Error::from_raw_os_error(number),
            Self::Words(words) => io::Error::other(words),
        }
    }
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
            AttachError::Missing { what, advice } => {
                Self::Missing { what: what.clone(), advice: advice.clone() }
            }
            AttachError::Mount { found, at, source } => {
                Self::not_mounted(found, at, NotMounted::Refused(Reason::of(source)))
            }
            AttachError::Unmountable { found, at, source } => {
                Self::not_mounted(found, at, NotMounted::Damaged(Reason::of(source)))
            }
            AttachError::EndsTooSoon { found, at, claims, present } => {
                let (claims, present) = (*claims, *present);
                Self::not_mounted(found, at, NotMounted::EndsTooSoon { claims, present })
            }
            AttachError::NoFileSystem { filesystem, at } => {
                Self::not_mounted(filesystem, at, NotMounted::NoDriver)
            }
            AttachError::MountOption { option, .. } => {
                Self::not_mounted("", Path::new(""), NotMounted::Option { option: option.clone() })
            }
            e => Self::Failed { reason: e.to_string(), code: None },
        }
    }

    fn not_mounted(found: &str, at: &Path, why: NotMounted) -> Self {
        Self::NotMounted { found: found.to_owned(), at: at.to_owned(), why }
    }

    pub(super) fn into_result(self) -> Result<(), AttachError> {
        self.into_made().map(drop)
    }

    /// What came of it, where something did.
    pub(super) fn into_made(self) -> Result<Option<String>, AttachError> {
        match self {
            Self::Well => Ok(None),
            Self::Made(made) => Ok(Some(made)),
            Self::Missing { what, advice } => Err(AttachError::Missing { what, advice }),
            Self::NotMounted { found, at, why } => Err(match why {
                NotMounted::Refused(reason) => AttachError::Mount { found, at, source: reason.into_error() },
                NotMounted::Damaged(reason) => {
                    AttachError::Unmountable { found, at, source: reason.into_error() }
                }
                NotMounted::EndsTooSoon { claims, present } => {
                    AttachError::EndsTooSoon { found, at, claims, present }
                }
                NotMounted::NoDriver => AttachError::NoFileSystem { filesystem: found, at },
                NotMounted::Option { option } => AttachError::MountOption { option, why: NOT_TAKEN },
            }),
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
