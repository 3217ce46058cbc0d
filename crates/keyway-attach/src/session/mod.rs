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
//! | `mounted` | a link to where its device was mounted after it was opened |
//! | `inside/` | where that is, of what is mounted for a moment to put files into it |
//! | `trace` | a recording, from its end until it is fetched |
//!
//! A session whose `lock` nobody holds is stale: its process was killed. [`find`] and [`list`] pass
//! over it; [`close`], [`clean_stale`] and the next [`run`] take away what it left. A mapping of the kernel's
//! works without its process: while it is mounted or open it stays, and so does its folder; [`close`] unmounts it.
//! A ublk device waits for another process: while somebody has use for it, it stays; [`run`] takes it over, used or
//! not, [`close`] gives it up.
//!
//! A process whose folder is taken away while it serves ends by itself, in good order: nobody could tell it to.

mod attachment;
mod candidate;
mod claim;
mod control;
mod elsewhere;
mod folder;
mod found;
mod holders;
mod idle;
mod latency;
mod later_mount;
mod medium;
mod mount_open;
mod name;
mod patience;
mod plan;
mod process;
mod reason;
mod sandbox;
mod serve;
mod served;
mod serving;
mod signals;
mod stale;
mod state;
mod vanishing;
mod warden;

pub use crate::mount::MountPlan;
pub use attachment::require_sandbox;
pub use candidate::{CANDIDATES, Candidate, Choice, Lack, LackReason, Layer, Wish, choose, find_program};
pub use elsewhere::SessionElsewhere;
pub use folder::{RUNTIME_VARIABLE, existing_runtime_folder, folder_for_sessions, runtime_folder};
pub use holders::must_be_idle;
pub use latency::{Latencies, Latency, Times};
pub use medium::{Fate, Inode, Medium};
pub use mount_open::{MountedInside, mount_inside, mount_open, mount_open_on_new};
pub use plan::{AttachPlan, Attachment, NbdAddress};
pub use process::started;
pub use reason::{Need, Reason};
pub use sandbox::{Sandbox, SandboxState};
pub use serve::{hand_over, run};
pub use stale::{clean_stale, clean_stale_and_tell, clean_stale_before, killed, waiting, waiting_named};
pub use state::{Buffers, SessionState, SessionStatus, Spared};
pub use warden::{OwnFile, Removal, warden};

use crate::{AttachError, SilentProcess};
use control::{Answer, Request, ask};
use folder::{SessionFolder, lock_runtime};
use found::{FoundSession, found};
use keyway_model::trace::Trace;
use name::Name;
use patience::{Patience, Until};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use stale::take_away;
use std::path::Path;
use std::time::Duration;

/// How long a process may take to end after it has said that all is down: it wipes its keys.
const LAST_BREATH: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// How long a serving process may take to tell its state or to begin a recording,
const ANSWER: Duration = Duration::from_secs(5);
/// and to write one down.
const RECORDING: Duration = Duration::from_secs(60);

/// Every open volume of this user.
pub fn list() -> Result<Vec<SessionState>, AttachError> {
    let found = found()?.into_iter();
    Ok(found.filter(|session| session.alive).map(|session| session.state).collect())
}

/// The open volume that `what` names: a session's id, or the path of a volume, device, file,
/// socket or mount point.
pub fn find(what: impl AsRef<Path>) -> Result<Option<SessionState>, AttachError> {
    Ok(alive(what.as_ref())?.map(|(_, state)| state))
}

/// The open volume that was opened by the path `what`, and whose file has no name any more: another one is there now. Nothing
/// else that a person knows names it, where it is mounted nowhere.
///
/// # Errors
/// This user's sessions can't be looked at.
pub fn find_replaced(what: impl AsRef<Path>) -> Result<Option<SessionState>, AttachError> {
    Ok(replaced(what.as_ref())?.map(|session| session.state))
}

fn replaced(what: &Path) -> Result<Option<FoundSession>, AttachError> {
    let mut named = Name::pick_replaced(what, found()?).into_iter();
    // One that was only moved away has a name of its own.
    Ok(named.find(|session| status(&session.state.id).is_ok_and(|status| status.deleted)))
}

/// The state of an open volume as its serving process tells it.
///
/// # Errors
/// [`AttachError::NotOpen`], or [`AttachError::Silent`] when the process hangs.
pub fn status(what: impl AsRef<Path>) -> Result<SessionStatus, AttachError> {
    let (folder, state) = alive(what.as_ref())?.ok_or_else(|| not_open(what.as_ref()))?;
    match ask_within(&folder, &state, Request::Status, ANSWER)? {
        Answer::Status(mut status) => {
            status.state = later_mount::with_it(&folder, status.state);
            Ok(*status)
        }
        other => Err(no_answer(&state, other)),
    }
}

/// Has the serving process take down every request from now on: where, how long and when.
///
/// # Errors
/// [`AttachError::NotOpen`]; [`AttachError::Silent`] when the process hangs, [`AttachError::NoAnswer`] when it records
/// already.
pub fn start_recording(what: impl AsRef<Path>) -> Result<SessionState, AttachError> {
    let (folder, state) = alive(what.as_ref())?.ok_or_else(|| not_open(what.as_ref()))?;
    match ask_within(&folder, &state, Request::Record, ANSWER)? {
        Answer::Recording => Ok(state),
        other => Err(not_recorded(&state, other)),
    }
}

/// Ends what [`start_recording`] began, and hands it over.
///
/// # Errors
/// [`AttachError::NotOpen`], when the volume was closed meanwhile as well; [`AttachError::NoAnswer`]
/// when nothing was recorded, or it can't be read.
pub fn end_recording(what: impl AsRef<Path>) -> Result<Trace, AttachError> {
    let (folder, state) = alive(what.as_ref())?.ok_or_else(|| not_open(what.as_ref()))?;
    match ask_within(&folder, &state, Request::EndRecording, RECORDING)? {
        Answer::Recorded => {}
        other => return Err(not_recorded(&state, other)),
    }
    let path = folder.trace();
    let bytes = std::fs::read(&path).map_err(|e| AttachError::on("read", &path, e))?;
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
    /// A write was refused that would have damaged the hidden volume, and so was all that was written after it.
    pub guard_hit: bool,
    /// It was named by a path at which another file is by now: what was open is the one that was there before.
    pub replaced: bool,
    /// Writes over the volume's own metadata, which are not in it.
    pub spared: Option<Spared>,
}

/// How a volume is closed.
pub struct Closing<'a> {
    /// Also where its file was deleted while it was open, so that what is in it goes.
    pub deleted: bool,
    /// Hears whom it waits for, where that takes long.
    pub tell: &'a (dyn Fn(&SilentProcess) + Sync),
}

/// Flushes, unmounts, detaches and ends what `what` names, and waits until its process is gone.
/// What a killed process left behind is taken away. Returns what was closed.
///
/// # Errors
/// [`AttachError::Busy`] when somebody uses it (it is still served then), [`AttachError::Deleted`] when that
/// destroyed what is in it, [`AttachError::NotOpen`], or what went wrong while closing.
pub fn close(what: impl AsRef<Path>) -> Result<Closed, AttachError> {
    close_so(what, &Closing { deleted: false, tell: &|_| () })
}

/// As [`close`], in that way.
///
/// # Errors
/// As [`close`]; [`AttachError::Silent`] when its process does nothing for too long. It closes when it goes on.
pub fn close_so(what: impl AsRef<Path>, how: &Closing<'_>) -> Result<Closed, AttachError> {
    let mut named = Name::pick(what.as_ref(), found()?);
    named.sort_by_key(|session| !session.alive);
    let (session, replaced) = match named.into_iter().next() {
        Some(session) => (session, false),
        None => (replaced(what.as_ref())?.ok_or_else(|| not_open(what.as_ref()))?, true),
    };
    let FoundSession { folder, state, alive } = session;
    if !alive {
        // What works without its process must not go while somebody uses it; say so.
        let lock = lock_runtime(&runtime_folder()?)?;
        take_away(&state, true)?;
        drop(lock);
        // Whoever else looks for sessions at the same time may have cleared it away.
        clean_stale()?;
        return Ok(Closed { state, killed: true, guard_hit: false, spared: None, replaced });
    }
    let patience = Patience::new(&state, Until::Done, how.tell);
    let answer = ask(&folder.control(), &state, Request::Close { deleted: how.deleted }, patience);
    match answer {
        Ok(answer @ (Answer::Closed | Answer::ClosedGuarded | Answer::ClosedSpared(_))) => {
            wait_for_end(&state);
            let guard_hit = answer == Answer::ClosedGuarded;
            let spared = if let Answer::ClosedSpared(spared) = answer { Some(spared) } else { None };
            Ok(Closed { state, killed: false, guard_hit, spared, replaced })
        }
        Ok(Answer::Busy { what, path, users }) => {
            holders::refuse_further_mounts(&state)?;
            Err(AttachError::Busy { what, path, users })
        }
        Ok(Answer::Deleted) => {
            let before = if replaced { ", as it was before another file had this name," } else { "" };
            Err(AttachError::Deleted { volume: format!("{}{before}", state.volume.display()) })
        }
        Ok(other) => {
            wait_for_end(&state);
            Err(no_answer(&state, other))
        }
        // Killed while we asked, or closed by somebody who asked first: that one takes everything
        // down, and its state too.
        Err(_) if !folder.is_alive(Some(state.pid)) => {
            let cleared = clean_stale()?;
            let killed = cleared.iter().any(|other| other.id == state.id);
            Ok(Closed { state, killed, guard_hit: false, spared: None, replaced })
        }
        Err(e) => Err(e),
    }
}

fn not_open(what: &Path) -> AttachError {
    AttachError::NotOpen(what.display().to_string())
}

fn alive(what: &Path) -> Result<Option<(SessionFolder, SessionState)>, AttachError> {
    let mut sessions = found()?;
    sessions.retain(|session| session.alive);
    let named = Name::pick(what, sessions).into_iter().next();
    Ok(named.map(|session| (session.folder, session.state)))
}

/// Asks a serving process; it gets so long to answer.
fn ask_within(
    folder: &SessionFolder,
    state: &SessionState,
    request: Request,
    limit: Duration,
) -> Result<Answer, AttachError> {
    ask(&folder.control(), state, request, Patience::new(state, Until::Passed(limit), &|_| ()))
}

fn no_answer(state: &SessionState, answer: Answer) -> AttachError {
    let volume = state.volume.display().to_string();
    match answer {
        Answer::Failed { reason } => AttachError::ClosedBadly { volume, reason },
        Answer::FailedGuarded { reason } => AttachError::ClosedGuarded { volume, reason },
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
