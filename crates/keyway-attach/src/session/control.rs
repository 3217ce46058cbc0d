//! The control socket: one JSON line asks, one JSON line answers.

use super::patience::Patience;
use super::state::{SessionState, SessionStatus, Spared};
use crate::{AttachError, User, path_text};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest line either side reads, in bytes.
const LONGEST: usize = 1 << 20;
/// How long a client may take to say what it wants, and either side to take what it is sent.
const PATIENCE: Duration = Duration::from_secs(5);
/// Whoever waits looks so often whether that is still worth it.
const LOOK: Duration = Duration::from_millis(200);

/// What can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(super) enum Request {
    /// Flush, unmount, detach, end.
    Close {
        /// Also where the volume's file was deleted, and what is in it goes with that.
        #[serde(default)]
        deleted: bool,
    },
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
    /// The same, and not all that was written is in it: a write would have damaged the hidden volume, and the volume took
    /// no more from then on.
    ClosedGuarded,
    /// The same, and what was written over the volume's own metadata is not in it.
    ClosedSpared(Spared),
    /// It is still served: its file was deleted, and closing would destroy what is in it.
    Deleted,
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
        /// The same as a path, where it is one.
        #[serde(default, with = "path_text")]
        path: Option<PathBuf>,
        /// By whom.
        users: Vec<User>,
    },
    /// It is gone, but something went wrong on the way, a last write most likely.
    Failed {
        /// What it was.
        reason: String,
    },
    /// The same, after a write would have damaged the hidden volume, and the volume took no more.
    FailedGuarded {
        /// What it was.
        reason: String,
    },
}

/// Asks a serving process, for as long as the patience lasts; the end of the process ends the wait.
pub(super) fn ask(
    socket: &Path,
    state: &SessionState,
    request: Request,
    mut patience: Patience<'_>,
) -> Result<Answer, AttachError> {
    let mut ask = || {
        let mut stream = reach(socket, &mut patience)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        send(&mut stream, &request)?;
        receive(&stream, || patience.goes_on())
    };
    ask().map_err(|e: io::Error| match e.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => patience.is_over(),
        _ => AttachError::NoAnswer { volume: state.volume.display().to_string(), reason: e.to_string() },
    })
}

/// Connects. Where a server does not answer, those who asked before and have gone away may still stand in line for
/// it, and a line has an end.
fn reach(socket: &Path, patience: &mut Patience<'_>) -> io::Result<UnixStream> {
    let address = SocketAddrUnix::new(socket)?;
    loop {
        let stream = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        set_socket_timeout(&stream, Timeout::Send, Some(LOOK))?;
        match connect(&stream, &address) {
            Ok(()) => return Ok(UnixStream::from(stream)),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) if patience.goes_on() => {}
            Err(rustix::io::Errno::INTR) => return Err(io::ErrorKind::TimedOut.into()),
            Err(e) => return Err(e.into()),
        }
    }
}

/// Reads what a client wants; only the user who opened the volume, and root, may want anything.
pub(super) fn hear(stream: &UnixStream) -> io::Result<Request> {
    let peer = keyway_sys::peer_user(stream)?;
    if peer != 0 && peer != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    stream.set_write_timeout(Some(PATIENCE))?;
    let began = Instant::now();
    receive(stream, || began.elapsed() < PATIENCE)
}

/// Writes one line.
pub(super) fn send(stream: &mut UnixStream, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Reads one line, while `goes_on` says that it is worth waiting for.
fn receive<T: for<'de> Deserialize<'de>>(
    mut stream: &UnixStream,
    mut goes_on: impl FnMut() -> bool,
) -> io::Result<T> {
    stream.set_read_timeout(Some(LOOK))?;
    let (mut line, mut piece) = (Vec::new(), [0; 4096]);
    while !line.ends_with(b"\n") && line.len() < LONGEST {
        match stream.read(&mut piece) {
            Ok(0) if line.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(0) => break,
            Ok(read) => line.extend(piece.get(..read).unwrap_or_default()),
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(e) => return Err(e),
        }
        // Who sends a byte now and then does not keep us either.
        if !line.ends_with(b"\n") && !goes_on() {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    Ok(serde_json::from_slice(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::patience::Until;
    use keyway_testkit::PATIENCE as TEST_PATIENCE;
    use rustix::net::{bind, listen};
    use std::os::unix::net::UnixListener;

    fn state(volume: &Path) -> SessionState {
        let state = serde_json::json!({
            "id": "00000000", "volume": volume, "attachment": "nbd", "device": null, "file": null, "socket": null,
            "mountpoint": null, "filesystem": null, "pid": std::process::id(), "pid_started": 0, "opened": 0,
            "size_bytes": 512, "sector_bytes": 512, "read_only": false, "transport": "nbd", "details": null,
        });
        serde_json::from_value(state).expect("a state")
    }

    fn silent(socket: &Path) {
        let state = state(socket);
        let patience = Patience::new(&state, Until::Passed(Duration::from_millis(300)), &|_| ());
        let began = Instant::now();
        let asked = ask(socket, &state, Request::Status, patience);
        assert!(matches!(asked, Err(AttachError::Silent { .. })), "{asked:?}");
        assert!(began.elapsed() < TEST_PATIENCE);
    }

    #[test]
    fn nobody_is_waited_for_in_a_line_that_is_full() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("control");
        let address = SocketAddrUnix::new(&path).expect("short");
        let new =
            |flags| socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).expect("a socket");
        let listener = new(SocketFlags::CLOEXEC);
        bind(&listener, &address).expect("a new path");
        listen(&listener, 1).expect("bound");
        // Those who asked, and whom nobody answers.
        let mut line = Vec::new();
        loop {
            let one = new(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK);
            if connect(&one, &address).is_err() {
                break;
            }
            line.push(one);
        }
        assert!(!line.is_empty());
        silent(&path);
    }

    #[test]
    fn who_answers_a_byte_now_and_then_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("control");
        let listener = UnixListener::bind(&path).expect("a new path");
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody asks");
            while stream.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        silent(&path);
        server.join().expect("it hears that nobody listens any more");
    }
}
