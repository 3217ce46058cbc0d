//! Why a volume could not be served, beyond what attaching it says.

use keyway_attach::nvme_tcp::SecretFault;
use keyway_store::StoreError;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why a volume could not be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// Discards inside a hidden volume would show everybody who sees the medium that it is there.
    #[error("this is a hidden volume, and discards inside it would show that it is there")]
    DiscardsInHidden,
    /// Somebody has the volume's bytes, by its name or by another one.
    #[error("{error}")]
    Taken {
        /// Who, and where.
        #[source]
        error: StoreError,
        /// The open volume that it is, by its own name.
        volume: Option<PathBuf>,
    },
    /// What hosts must prove can't be read.
    #[error(transparent)]
    HostSecret(#[from] SecretFault),
    /// The serving process could not be started or talked to.
    #[error("could not {doing}: {source}")]
    Process {
        /// What was being done: a verb.
        doing: &'static str,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The serving process ended before it said anything.
    #[error("the serving process ended without an answer ({})", .0.map(|how| how.to_string()).unwrap_or_default())]
    NoAnswer(Option<ExitStatus>),
    /// Whoever started this process to serve a volume did not say which.
    #[error("no request on standard input: {0}")]
    NoRequest(#[source] io::Error),
    /// The pipe to whoever started this process.
    #[error("the pipe to the caller broke: {0}")]
    CallerGone(#[source] io::Error),
}

impl SessionError {
    /// The serving process could not be started or talked to.
    pub(super) fn process(doing: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Process { doing, source }
    }
}
