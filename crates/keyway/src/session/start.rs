//! The process that serves a volume: how it is started, and its first answer.

use super::Session;
use super::error::SessionError;
use super::pipe;
use super::plan::{SessionPlan, SessionSecrets};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Which program serves: it calls [`serve_as_asked`](super::serve_as_asked) when it is started so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServingProgram {
    /// Its file.
    pub program: PathBuf,
    /// What `ps` calls it.
    pub name: OsString,
    /// How it knows that it is to serve. Never a secret.
    pub arguments: Vec<OsString>,
}

impl ServingProgram {
    /// The program that runs now, by whatever path, with one argument.
    pub fn this(name: impl Into<OsString>, argument: impl Into<OsString>) -> Self {
        Self { program: "/proc/self/exe".into(), name: name.into(), arguments: vec![argument.into()] }
    }
}

/// Why no process serves. `R` is what the front's serving process says of its errors.
#[derive(Debug, thiserror::Error)]
pub enum StartError<R> {
    /// It says so itself.
    #[error("the serving process refused")]
    Refused(R),
    /// It could not be started, or said nothing.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// What the serving process says once it serves, or why it does not: one line of JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Answer<R> {
    Ready(Box<Session>),
    Error(R),
}

impl SessionPlan {
    /// Starts a process of its own that serves the volume, and waits until it does.
    ///
    /// # Errors
    /// [`StartError::Refused`] with what that process says: `R` is what its [`serve_as_asked`](super::serve_as_asked)
    /// makes of an error.
    pub fn start<R: DeserializeOwned>(
        &self,
        secrets: &SessionSecrets,
        by: &ServingProgram,
    ) -> Result<Session, StartError<R>> {
        // Whatever the caller had open besides stays with the caller.
        keyway_sys::close_on_exec_from(3)
            .map_err(SessionError::process("keep open files from the serving process"))?;
        let mut child = Command::new(&by.program)
            .arg0(&by.name)
            .args(&by.arguments)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(SessionError::process("start the serving process"))?;
        let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            let broken = io::ErrorKind::BrokenPipe.into();
            return Err(SessionError::process("talk to the serving process")(broken).into());
        };
        let sent = pipe::send(&mut to, self, secrets);
        let mut line = String::new();
        let heard = sent.and_then(|()| BufReader::new(from).read_line(&mut line));
        // The pipe stays open until here: its end tells the other side that nobody waits any more.
        drop(to);
        if !matches!(heard, Ok(n) if n > 0) {
            return Err(SessionError::NoAnswer(child.wait().ok()).into());
        }
        match serde_json::from_str(&line) {
            Ok(Answer::Ready(session)) => Ok(*session),
            Ok(Answer::Error(refusal)) => Err(StartError::Refused(refusal)),
            Err(e) => Err(SessionError::process("understand the serving process")(e.into()).into()),
        }
    }
}
