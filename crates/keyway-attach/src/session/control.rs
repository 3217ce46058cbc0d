//! The control socket: one JSON line asks, one JSON line answers.

use super::state::SessionStatus;
use crate::{AttachError, User};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// The longest line either side reads, in bytes.
const LONGEST: u64 = 1 << 20;
/// How long a client may take to say what it wants, and a server to tell its state.
const PATIENCE: Duration = Duration::from_secs(5);

/// What can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(super) enum Request {
    /// Flush, unmount, detach, end.
    Close,
    /// Tell the state.
    Status,
    /// Begin to take down requests.
    Record,
    /// Write what was taken down into the session's folder.
    EndRecording,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    /// All is gone.
    Closed,
    /// The state.
    Status(Box<SessionStatus>),
    /// Requests are taken down from now on.
    Recording,
    /// What was taken down is in the session's folder.
    Recorded,
    /// Somebody uses it; it is still served.
    Busy {
        /// What is in use.
        what: String,
        /// By whom.
        users: Vec<User>,
    },
    /// It is gone, but something went wrong on the way, a last write most likely.
    Failed {
        /// What it was.
        reason: String,
    },
}

/// Asks a serving process. `Close` takes as long as flushing does; the end of the process ends
/// the wait.
pub(super) fn ask(socket: &Path, volume: &Path, request: Request) -> Result<Answer, AttachError> {
    let fail =
        |e: io::Error| AttachError::NoAnswer { volume: volume.display().to_string(), reason: e.to_string() };
    let ask = || {
        let mut stream = UnixStream::connect(socket)?;
        if request == Request::Status {
            stream.set_read_timeout(Some(PATIENCE))?;
        }
        send(&mut stream, &request)?;
        receive(&stream)
    };
    ask().map_err(fail)
}

/// Reads what a client wants; only the user who opened the volume, and root, may want anything.
pub(super) fn hear(stream: &UnixStream) -> io::Result<Request> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    if !peer.uid.is_root() && peer.uid != rustix::process::geteuid() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    receive(stream)
}

/// Writes one line.
pub(super) fn send(stream: &mut UnixStream, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)
}

fn receive<T: for<'de> Deserialize<'de>>(stream: &UnixStream) -> io::Result<T> {
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST)).read_line(&mut line)?;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_str(&line)?)
}
