//! Sessions in words: why a volume is not served, and how the serving process tells that through the pipe.

use crate::failure::{Exit, Failure};
use keyway::session::{ServingProgram, Session, SessionError, SessionPlan, SessionSecrets, StartError};
use keyway_error::Explain;
use keyway_error::Kind;
use serde::{Deserialize, Serialize};

/// The hidden verb of the process that serves.
const SERVE: &str = "serve-volume";

/// What is told of keys that may be swapped out.
pub(crate) const NOT_LOCKED: &str =
    "keys could not be locked in memory and may be swapped out: raise `ulimit -l`";

/// A failure as it crosses the pipe.
#[derive(Serialize, Deserialize)]
pub(crate) struct Refusal {
    code: u8,
    /// The word for scripts.
    kind: String,
    message: String,
    hint: String,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let Failure { exit, kind, message, hint, .. } = failure;
        Self { code: exit as u8, kind: kind.word().to_owned(), message, hint }
    }
}

impl From<Refusal> for Failure {
    fn from(Refusal { code, kind, message, hint }: Refusal) -> Self {
        let failure = Self::new(Exit::from_code(code), message, hint);
        match Kind::from_word(&kind) {
            Some(kind) => failure.kind(kind),
            None => failure,
        }
    }
}

/// Has a process of its own serve the volume, and waits until it does.
pub(crate) fn start(plan: &SessionPlan, secrets: &SessionSecrets) -> Result<Session, Failure> {
    plan.start(secrets, &ServingProgram::this("keyway", SERVE)).map_err(|e| match e {
        StartError::Refused(refusal) => Refusal::into(refusal),
        StartError::Session(error) => error.into(),
    })
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        let message = error.to_string();
        match error {
            SessionError::DiscardsInHidden => Self::usage(
                "this is a hidden volume, and discards inside it would show everybody who sees the medium that it is there",
                "leave out --allow-discards",
            ),
            SessionError::HostSecret(error) => Self::meant(&error.explain(), message),
            SessionError::NoAnswer(_) => Self::new(
                Exit::Failed,
                message,
                "look at the system's log (`dmesg`), for instance for too little memory",
            ),
            SessionError::NoRequest(_) => Self::usage(message, "use `keyway open` or `keyway serve`"),
            _ => Self::new(Exit::Failed, message, "try it again"),
        }
    }
}
