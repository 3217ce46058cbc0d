//! One process serves one open volume: what it is told, what it says about itself, and how it is
//! found, asked and ended.
//!
//! Every session has a folder of its own in the [runtime folder](runtime_folder):
//!
//! | name | what |
//! |---|---|
//! | `state.json` | the [`SessionState`], written whole or not at all |
//! | `lock` | locked (`flock`) by the serving process for as long as it lives |
//! | `control` | a unix socket; one JSON line asks, one JSON line answers |
//! | `mnt/` | where the FUSE file system is mounted |
//! | `nbd`, `vhost-user` | the server's socket, where the plan does not name another |
//! | `trace` | a recording, from its end until it is fetched |
//!
//! A session whose `lock` nobody holds is stale: its process was killed. [`find`] and [`list`] pass
//! over it; [`close`], [`clean_stale`] and the next [`run`] take away what it left. A mapping of the kernel's
//! works without its process: while it is mounted or open it stays, and so does its folder; [`close`] unmounts it.
//! A ublk device waits for another process: while somebody has use for it, it stays; [`run`] takes it over, used or
//! not, [`close`] gives it up.

mod claim;
mod control;
mod folder;
mod latency;
mod plan;
mod serve;
mod served;
mod state;

pub use folder::{RUNTIME_VARIABLE, runtime_folder};
pub use latency::{Latencies, Latency, Times};
pub use plan::{AttachPlan, Attachment, MountPlan, NbdAddress};
pub use serve::{hand_over, run};
pub use state::{SessionState, SessionStatus};

use crate::ublk::UblkError;
use crate::{AttachError, dmcrypt, fuse, loopdev, mount, ublk};
use control::{Answer, Request, ask};
use folder::{SessionFolder, lock_runtime, session_folders};
use keyway_store::trace::Trace;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::path::Path;
use std::time::Duration;

/// How long a process may take to end after it has said that all is down: it wipes its keys.
const LAST_BREATH: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// Every open volume of this user.
pub fn list() -> Result<Vec<SessionState>, AttachError> {
    let runtime = runtime_folder()?;
    let alive = session_folders(&runtime).into_iter().filter(SessionFolder::is_alive);
    Ok(alive.filter_map(|folder| SessionState::read(&folder.state())).collect())
}

/// The open volume that `what` names: a session's id, or the path of a volume, device, file,
/// socket or mount point.
pub fn find(what: &str) -> Result<Option<SessionState>, AttachError> {
    Ok(list()?.into_iter().find(|state| state.is_named(what)))
}

/// The state of an open volume as its serving process tells it.
///
/// # Errors
/// [`AttachError::NotOpen`], or [`AttachError::NoAnswer`] when the process hangs.
pub fn status(what: &str) -> Result<SessionStatus, AttachError> {
    let (folder, state) = alive(what)?.ok_or_else(|| AttachError::NotOpen(what.to_owned()))?;
    match ask(&folder.control(), &state.volume, Request::Status)? {
        Answer::Status(status) => Ok(*status),
        other => Err(no_answer(&state, other)),
    }
}

/// Has the serving process take down every request from now on: where, how long and when.
///
/// # Errors
/// [`AttachError::NotOpen`]; [`AttachError::NoAnswer`] when the process hangs, or records already.
pub fn start_recording(what: &str) -> Result<SessionState, AttachError> {
    let (folder, state) = alive(what)?.ok_or_else(|| AttachError::NotOpen(what.to_owned()))?;
    match ask(&folder.control(), &state.volume, Request::Record)? {
        Answer::Recording => Ok(state),
        other => Err(not_recorded(&state, other)),
    }
}

/// Ends what [`start_recording`] began, and hands it over.
///
/// # Errors
/// [`AttachError::NotOpen`], when the volume was closed meanwhile as well; [`AttachError::NoAnswer`]
/// when nothing was recorded, or it can't be read.
pub fn end_recording(what: &str) -> Result<Trace, AttachError> {
    let (folder, state) = alive(what)?.ok_or_else(|| AttachError::NotOpen(what.to_owned()))?;
    match ask(&folder.control(), &state.volume, Request::EndRecording)? {
        Answer::Recorded => {}
        other => return Err(not_recorded(&state, other)),
    }
    let path = folder.trace();
    let bytes = std::fs::read(&path).map_err(|e| AttachError::io(format!("read {}", path.display()), e))?;
    // It is in our hands; the session's end would remove it too.
    let _ = std::fs::remove_file(&path);
    Trace::from_bytes(&bytes).map_err(|e| AttachError::NoAnswer {
        volume: state.volume.display().to_string(),
        reason: format!("the recording can't be read: {e}"),
    })
}

/// What [`close`] closed.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// The session as it was.
    pub state: SessionState,
    /// Its process had been killed, so nothing was flushed at the end: what was written and not
    /// flushed before that may be lost.
    pub killed: bool,
}

/// Flushes, unmounts, detaches and ends what `what` names, and waits until its process is gone.
/// What a killed process left behind is taken away. Returns what was closed.
///
/// # Errors
/// [`AttachError::Busy`] when somebody uses it (it is still served then),
/// [`AttachError::NotOpen`], or what went wrong while closing.
pub fn close(what: &str) -> Result<Closed, AttachError> {
    // Whoever else looks for sessions at the same time may clear a dead one away before we do.
    let seen = session_folders(&runtime_folder()?).into_iter().find_map(|folder| {
        let state = SessionState::read(&folder.state()).filter(|state| state.is_named(what))?;
        Some(Closed { state, killed: !folder.is_alive() })
    });
    let Some((folder, state)) = alive(what)? else {
        if let Some(Closed { state, killed: true }) = &seen {
            // What works without its process must not go while somebody uses it; say so.
            let _alone = lock_runtime(&runtime_folder()?)?;
            take_away(state, true)?;
        }
        let cleared = clean_stale()?.into_iter().find(|state| state.is_named(what));
        let cleared = cleared.map(|state| Closed { state, killed: true });
        return cleared.or(seen).ok_or_else(|| AttachError::NotOpen(what.to_owned()));
    };
    let answer = ask(&folder.control(), &state.volume, Request::Close);
    match answer {
        Ok(Answer::Closed) => {
            wait_for_end(&state);
            Ok(Closed { state, killed: false })
        }
        Ok(Answer::Busy { what, users }) => Err(AttachError::Busy { what, users }),
        Ok(other) => {
            wait_for_end(&state);
            Err(no_answer(&state, other))
        }
        // Killed while we asked, or closed by somebody who asked first: that one takes everything
        // down, and its state too.
        Err(_) if !folder.is_alive() => {
            let cleared = clean_stale()?;
            let killed = cleared.iter().any(|other| other.id == state.id);
            Ok(Closed { state, killed })
        }
        Err(e) => Err(e),
    }
}

/// Takes away what killed processes left: mounts, loop devices, files. Returns their states as far
/// as they can be read.
pub fn clean_stale() -> Result<Vec<SessionState>, AttachError> {
    clean_stale_in(&runtime_folder()?, None)
}

/// The same for whoever is about to [`run`] `volume`: a block device of it that waits for a server is left to that
/// one to take over, whether or not somebody uses it at this moment.
pub fn clean_stale_before(volume: &Path) -> Result<Vec<SessionState>, AttachError> {
    clean_stale_in(&runtime_folder()?, volume.canonicalize().ok().as_deref())
}

/// What waits for another server of the volume `spared` is left alone.
fn clean_stale_in(runtime: &Path, spared: Option<&Path>) -> Result<Vec<SessionState>, AttachError> {
    let _alone = lock_runtime(runtime)?;
    let mut cleaned = Vec::new();
    for folder in session_folders(runtime) {
        if folder.is_alive() {
            continue;
        }
        let state = SessionState::read(&folder.state());
        let gone = match &state {
            Some(state)
                if spared == Some(&*state.volume) && waiting_device(state, ublk::CLEAN_UP).is_some() =>
            {
                continue;
            }
            Some(state) => take_away(state, false),
            None => dmcrypt::remove_stale(&folder.id()),
        };
        match gone {
            // It works without its process, or waits for another, and only `close` may unmount it; or udev must
            // hand it over first.
            Err(AttachError::Busy { .. } | AttachError::Ublk(UblkError::NotHandedOver { .. })) => continue,
            done => done?,
        }
        cleaned.extend(state);
        let at = folder.mount_point();
        for below in loopdev::devices_on(&at.join(fuse::FILE_NAME)) {
            for device in loopdev::devices_on(&below).iter().chain([&below]) {
                mount::abandon(device);
                loopdev::abandon(device)?;
            }
        }
        if fuse::is_mounted(&at) {
            fuse::disconnect(&at, true)?;
        }
        folder.remove()?;
    }
    Ok(cleaned)
}

/// Removes what a dead session left in the kernel: in use only where told to.
fn take_away(state: &SessionState, in_use: bool) -> Result<(), AttachError> {
    match waiting_device(state, ublk::CLEAN_UP) {
        Some(device) if !in_use && device.is_in_use() => {
            Err(AttachError::Busy { what: device.device().display().to_string(), users: Vec::new() })
        }
        Some(device) => device.give_up(),
        None => {
            if let Some(device) = state.device.as_ref().filter(|_| state.attachment == ublk::ATTACHMENT) {
                ublk::clear(device, &state.volume, state.pid)?;
            }
            take_away_mapping(state, in_use)
        }
    }
}

/// The ublk device of a dead session, if it still is there.
fn waiting_device(state: &SessionState, patience: Duration) -> Option<ublk::Waiting> {
    let device = state.device.as_ref().filter(|_| state.attachment == ublk::ATTACHMENT)?;
    ublk::waiting(device, &state.volume, state.pid, patience)
}

/// The block device of this volume that waits for a server, because its own was killed; [`run`] takes it over
/// where the plan is [`Attachment::Ublk`], and refuses to attach the volume otherwise.
pub fn waiting(volume: &Path) -> Result<Option<SessionState>, AttachError> {
    let Ok(volume) = volume.canonicalize() else { return Ok(None) };
    let found = waiting_in(&runtime_folder()?, &volume).into_iter().next();
    Ok(found.map(|(_, state)| state))
}

/// What waits as [`waiting`] says, of every volume, or of the one that `what` names as in [`find`].
pub fn waiting_named(what: Option<&str>) -> Result<Vec<SessionState>, AttachError> {
    let named = |state: &SessionState| what.is_none_or(|what| state.is_named(what));
    // Whoever only looks waits for nothing.
    Ok(all_waiting(&runtime_folder()?, Duration::ZERO, named).into_iter().map(|(_, state)| state).collect())
}

/// The dead sessions of the volume that have left a ublk device.
fn waiting_in(runtime: &Path, volume: &Path) -> Vec<(SessionFolder, SessionState)> {
    all_waiting(runtime, ublk::CLEAN_UP, |state| state.volume == volume)
}

/// What dead sessions of ublk said of themselves.
fn dead_states(runtime: &Path) -> Vec<SessionState> {
    let dead = session_folders(runtime).into_iter().filter(|folder| !folder.is_alive());
    let states = dead.filter_map(|folder| SessionState::read(&folder.state()));
    states.filter(|state| state.attachment == ublk::ATTACHMENT).collect()
}

fn all_waiting(
    runtime: &Path,
    patience: Duration,
    wanted: impl Fn(&SessionState) -> bool,
) -> Vec<(SessionFolder, SessionState)> {
    let dead = session_folders(runtime).into_iter().filter(|folder| !folder.is_alive());
    dead.filter_map(|folder| {
        let state = SessionState::read(&folder.state()).filter(&wanted)?;
        waiting_device(&state, patience).is_some().then_some((folder, state))
    })
    .collect()
}

/// Removes the kernel's mapping of a dead session, in good order; unmounts it before that only where told to.
fn take_away_mapping(state: &SessionState, unmount: bool) -> Result<(), AttachError> {
    if state.attachment != dmcrypt::ATTACHMENT {
        return Ok(());
    }
    let mounted = keyway_sys::mounts().unwrap_or_default();
    // Only where it is still this device's: somebody else may use the folder by now.
    if let (true, Some(device), Some(at)) = (unmount, &state.device, &state.mountpoint)
        && mounted.iter().any(|mount| mount.at == *at && mount.source == *device)
    {
        mount::unmount(at)?;
    }
    dmcrypt::remove_stale(&state.id)
}

fn alive(what: &str) -> Result<Option<(SessionFolder, SessionState)>, AttachError> {
    let runtime = runtime_folder()?;
    for folder in session_folders(&runtime) {
        if let Some(state) = SessionState::read(&folder.state())
            && state.is_named(what)
            && folder.is_alive()
        {
            return Ok(Some((folder, state)));
        }
    }
    Ok(None)
}

fn no_answer(state: &SessionState, answer: Answer) -> AttachError {
    let volume = state.volume.display().to_string();
    match answer {
        Answer::Failed { reason } => AttachError::ClosedBadly { volume, reason },
        other => AttachError::NoAnswer { volume, reason: format!("it said {other:?}") },
    }
}

/// The session goes on; only the recording did not come about.
fn not_recorded(state: &SessionState, answer: Answer) -> AttachError {
    match answer {
        Answer::Failed { reason } => {
            AttachError::NoAnswer { volume: state.volume.display().to_string(), reason }
        }
        other => no_answer(state, other),
    }
}

/// The volume can be opened again once the process is gone; waiting longer would help nobody.
fn wait_for_end(state: &SessionState) {
    if let Some(pid) = i32::try_from(state.pid).ok().and_then(Pid::from_raw)
        && let Ok(process) = pidfd_open(pid, PidfdFlags::empty())
        && state.process_exists()
    {
        let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&LAST_BREATH));
    }
}
