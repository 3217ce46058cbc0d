//! Sessions in words: why a volume is not served, and how the serving process tells that through the pipe.

use crate::failure::{Exit, Failure};
use crate::output::{Output, bytes, pairs};
use crate::shown::shown;
use keyway::session::{ServingProgram, Session, SessionPlan, SessionSecrets, SessionState, StartError};
use keyway_error::{Advice, Kind};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The hidden verb of the process that serves.
const SERVE: &str = "serve-volume";

/// What is told of keys that may be swapped out.
pub(crate) const NOT_LOCKED: &str =
    "keys could not be locked in memory and may be swapped out: raise `ulimit -l`";

/// A failure as it crosses the pipe.
#[derive(Serialize, Deserialize)]
pub(crate) struct Refusal {
    code: u8,
    kind: Kind,
    message: String,
    hint: String,
    advice: Box<[Advice]>,
    path: Option<String>,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let Failure { exit, kind, message, hint, advice, path, .. } = failure;
        let path = path.map(|path| path.to_string_lossy().into_owned());
        Self { code: exit as u8, kind, message, hint, advice, path }
    }
}

impl From<Refusal> for Failure {
    fn from(Refusal { code, kind, message, hint, advice, path }: Refusal) -> Self {
        let path = path.map(|path| PathBuf::from(path).into());
        Self { kind, advice, path, ..Self::new(Exit::from_code(code), message, hint) }
    }
}

/// Has a process of its own serve the volume, and waits until it does.
pub(crate) fn start(plan: &SessionPlan, secrets: &SessionSecrets) -> Result<Session, Failure> {
    plan.start(secrets, &ServingProgram::this("keyway", SERVE)).map_err(|e| match e {
        StartError::Refused(refusal) => Refusal::into(refusal),
        StartError::Session(error) => error.into(),
    })
}

/// What `open` and `serve` print.
#[derive(Serialize)]
struct Opened<'a> {
    attachment: &'a str,
    device: Option<&'a Path>,
    cache: Option<&'a Path>,
    file: Option<&'a Path>,
    socket: Option<&'a str>,
    mountpoint: Option<&'a Path>,
    pid: u32,
    volume: &'a Path,
    read_only: bool,
    size_bytes: u64,
    sector_bytes: u32,
    filesystem: Option<&'a str>,
    why: Option<&'a str>,
    warnings: &'a [String],
}

/// Tells where a session is.
pub(crate) fn told_of(session: &Session, foreground: bool, out: Output) -> Result<(), Failure> {
    let mut warnings = session.warnings.clone();
    if !session.keys_locked {
        warnings.push(NOT_LOCKED.to_owned());
    }
    tell(&session.state, &warnings, foreground, out)
}

/// The same of a volume that this process serves.
pub(crate) fn tell(
    state: &SessionState,
    warnings: &[String],
    foreground: bool,
    out: Output,
) -> Result<(), Failure> {
    for warning in warnings {
        out.warn(warning);
    }
    let document = Opened {
        attachment: &state.attachment,
        device: state.device.as_deref(),
        cache: state.cache.as_deref(),
        file: state.file.as_deref(),
        socket: state.socket.as_deref(),
        mountpoint: state.mountpoint.as_deref(),
        pid: state.pid,
        volume: &state.volume,
        read_only: state.read_only,
        size_bytes: state.size_bytes,
        sector_bytes: state.sector_bytes,
        filesystem: state.filesystem.as_deref(),
        why: state.why.as_deref(),
        warnings,
    };
    out.result(&document, || {
        let mut text = format!("{} is open ({}).\n", shown(&state.volume), bytes(state.size_bytes));
        text.push_str(&pairs(&places(state)));
        let end = if foreground { "Ctrl-C or " } else { "" };
        text.push_str(&format!("Close it with: {end}keyway close {}\n", shown(&state.volume)));
        text
    })
}

/// Where a session can be reached, for people.
pub(crate) fn places(state: &SessionState) -> Vec<(&'static str, String)> {
    let path = |p: &PathBuf| p.display().to_string();
    let mut rows = Vec::new();
    rows.extend(state.mountpoint.as_ref().map(|p| ("  mounted at", path(p))));
    rows.extend(state.device.as_ref().map(|p| ("  device", path(p))));
    rows.extend(state.file.as_ref().map(|p| ("  file", path(p))));
    let socket = match state.attachment.as_str() {
        "vhost-user" => "  vhost-user socket",
        "nvme-tcp" => "  NVMe/TCP address",
        _ => "  NBD socket",
    };
    rows.extend(state.socket.as_ref().map(|s| (socket, s.clone())));
    if state.read_only {
        rows.push(("  access", "read-only".to_owned()));
    }
    rows.extend(state.cache.as_ref().map(|p| ("  through the cache of", path(p))));
    let mut label = "  attached by";
    for (i, reason) in state.why.iter().flat_map(|why| why.split("; ")).enumerate() {
        let way = if i == 0 { format!("{}: ", state.attachment) } else { String::new() };
        rows.push((label, format!("{way}{reason}")));
        label = "";
    }
    rows
}
