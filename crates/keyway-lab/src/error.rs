//! What can go wrong in the laboratory, sorted by whose fault it is.

use crate::trace::TraceError;
use keyway_engine::{DeviceError, LayoutError};
use keyway_error::{Advice, Explain};
use keyway_store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

/// A measurement that could not be made. The part of the text after "; " says what to do.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A workload's file says something that makes no sense.
    #[error("{file}:{line}: {what}; see docs/reference/laboratory.md for what a workload may say")]
    Workload {
        /// The file's name as it was given.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// No workload of this name is shipped, and no such file is there.
    #[error("there is no workload {0:?}; `keyway lab run --list` names them all, or give a file's path")]
    NoSuchWorkload(String),
    /// No trace of this name is shipped.
    #[error("there is no trace {0:?}; `keyway lab replay --help` says what a trace may be")]
    NoSuchTrace(String),
    /// A target's words make no sense.
    #[error(
        "{0:?} is not a target: {1}; write `plain`, `veracrypt:CIPHER`, `bitlocker:CIPHER` or `hardware:PATH`"
    )]
    Target(String, String),
    /// The subject is smaller than what the workload touches.
    #[error(
        "{what} has {present} bytes and the test needs {needed}; name a larger one, or make the test smaller with --size"
    )]
    TooSmall {
        /// What it is.
        what: String,
        /// Its bytes.
        present: u64,
        /// Bytes needed.
        needed: u64,
    },
    /// The bytes of the subject would be overwritten, and nobody said that they may be.
    #[error(
        "{what} holds data that the test would overwrite; add --destroy-data if nothing in it is needed, or name a folder, in which a file of the test's own is made"
    )]
    WouldDestroy {
        /// What it is.
        what: String,
    },
    /// The subject is in use by something else.
    #[error("{what} is in use: {how}; free it first, or name a folder on it")]
    InUse {
        /// What it is.
        what: String,
        /// By whom.
        how: String,
    },
    /// The subject can't be written to.
    #[error("{0} can only be read; name one that can be written to, or a workload that reads only")]
    ReadOnly(String),
    /// The medium is full.
    #[error(
        "there is no space left for {what} ({needed} bytes); free some, or make the test smaller with --size"
    )]
    NoSpace {
        /// What was written.
        what: String,
        /// Bytes that it needs.
        needed: u64,
    },
    /// What is asked for does not go together.
    #[error("{0}")]
    Unsuited(String),
    /// The system refused.
    #[error("could not {doing} {path}: {source}")]
    Io {
        /// A verb: "open", "write to".
        doing: &'static str,
        /// Of what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The volume failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A trace that can't be used.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A layout that does not fit its store.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// What was read back is not what was written.
    #[error(
        "verification failed: byte {offset} of the measured part is not what was written there; keep no data on this drive or volume before the cause is found"
    )]
    Differs {
        /// The first byte that differs.
        offset: u64,
    },
    /// A test volume could not be made: why, and what helps.
    #[error("the test volume could not be made: {0}")]
    Volume(String, Vec<Advice>),
    /// Stopped by the user.
    #[error("stopped")]
    Stopped,
}

impl LabError {
    /// A refusal of the system, told with what was being done.
    pub fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }

    /// A test volume that could not be made.
    pub(crate) fn volume(error: &dyn Explain) -> Self {
        Self::Volume(error.to_string(), error.advice())
    }

    /// The command line's exit code for it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Workload { .. }
            | Self::NoSuchWorkload(_)
            | Self::NoSuchTrace(_)
            | Self::Target(..)
            | Self::Unsuited(_) => 2,
            Self::WouldDestroy { .. } | Self::Trace(_) => 2,
            Self::ReadOnly(_) => 5,
            Self::InUse { .. } => 6,
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => 5,
                io::ErrorKind::ResourceBusy => 6,
                _ => 1,
            },
            _ => 1,
        }
    }
}
