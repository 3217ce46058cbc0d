//! The process that serves a volume: how it is started, and its first answer.

use super::Session;
use super::error::SessionError;
use super::pipe;
use super::plan::{SessionPlan, SessionSecrets};
use super::program::ServingProgram;
use super::refusal::SessionRefusal;
use keyway_store::hand_on;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What the serving process says once it serves, or why it does not: one line of JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Answer {
    Ready(Box<Session>),
    Error(SessionRefusal),
}

/// What whoever asked says to that: it has come. The end of the pipe without it says that nobody knows of the open volume.
const HEARD: &[u8] = b"\n";

fn command(by: &ServingProgram) -> Command {
    let mut command = Command::new(&by.program);
    command.arg0(&by.name).args(&by.arguments).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

impl SessionPlan {
    /// Starts a process of its own that serves the volume, and waits until it does.
    ///
    /// # Errors
    /// It could not be started, said nothing, or says itself why it does not serve ([`SessionError::Refused`]).
    pub fn start(&self, secrets: &SessionSecrets, by: &ServingProgram) -> Result<Session, SessionError> {
        self.start_to_tell(secrets, by, || ())
    }

    /// The same for who has to tell a person. `opened` is called when the volume is open: until it returns, the end of this process
    /// closes the volume again; from then on a signal should not end it before it has told.
    ///
    /// # Errors
    /// As [`SessionPlan::start`].
    pub fn start_to_tell(
        &self,
        secrets: &SessionSecrets,
        by: &ServingProgram,
        opened: impl FnOnce(),
    ) -> Result<Session, SessionError> {
        // Whatever the caller had open besides stays with the caller.
        keyway_sys::close_on_exec_from(3)
            .map_err(SessionError::process("keep open files from the serving process"))?;
        let (child, held) = hand_on(&self.volume, |held| (command(by).spawn(), held))
            .map_err(SessionError::process("hand the volume on to the serving process"))?;
        let mut child = child.map_err(SessionError::process("start the serving process"))?;
        let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            let broken = io::ErrorKind::BrokenPipe.into();
            return Err(SessionError::process("talk to the serving process")(broken));
        };
        let mut plan = self.clone().served_by(by);
        plan.held = held;
        let sent = pipe::send(&mut to, &plan, secrets);
        let mut line = String::new();
        let heard = sent.and_then(|()| BufReader::new(from).read_line(&mut line));
        if !matches!(heard, Ok(n) if n > 0) {
            drop(to);
            return Err(SessionError::NoAnswer(child.wait().ok()));
        }
        // The pipe stays open meanwhile: its end tells the other side that nobody waits any more.
        match serde_json::from_str(&line) {
            Ok(Answer::Ready(session)) => {
                opened();
                to.write_all(HEARD).map_err(SessionError::process("talk to the serving process"))?;
                Ok(*session)
            }
            Ok(Answer::Error(refusal)) => Err(refusal.into()),
            Err(e) => Err(SessionError::process("understand the serving process")(e.into())),
        }
    }
}
