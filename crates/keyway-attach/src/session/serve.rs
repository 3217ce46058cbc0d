//! The serving process: attach, wait, take everything down again.

use super::attachment::{self, Attached};
use super::claim::Claim;
use super::control::{self, Answer, Request};
use super::folder::{SessionFolder, folder_for_sessions};
use super::idle::Idle;
use super::latency::KernelStat;
use super::medium::{Fate, Medium};
use super::plan::{AttachPlan, Attachment};
use super::process::started;
use super::sandbox::{Sandbox, SandboxState};
use super::served::Served;
use super::serving::{Serving, keep_first};
use super::signals::ENDS;
use super::stale::{clean_stale_in, waiting_in};
use super::state::{Buffers, SessionState, SessionStatus, Spared};
use super::vanishing::Vanishing;
use super::warden::{Action, Warden};
use crate::cpus::cpus;
use crate::notice::{Notice, tell};
use crate::{AttachError, Stop, UblkError, peer};
use keyway_engine::{Device, HandOver};
use keyway_model::trace::TraceRecorder;
use keyway_sys::MountTable;
use keyway_sys::sandbox::{Role, enter_role, is_confined};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::SIGXFSZ;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// How often an end that was asked for by a signal is tried again while somebody uses the volume.
const RETRY: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Attaches `device` as planned, calls `ready`, and serves until it is told to end: by
/// [`close`](super::close), by a signal, because its FUSE file system, or the one inside, was unmounted
/// ([`MountPlan::ends_it`](super::MountPlan)), or because its folder was taken away. Then flushes, takes everything down and
/// returns. It does so at once where `ready` says that nobody has heard of it.
///
/// A process calls this once, before it has started other threads; it answers to the signals that ask to end
/// (SIGTERM, SIGINT, SIGQUIT and others) from then on.
///
/// # Errors
/// [`AttachError::AlreadyOpen`] when another process serves the volume; whatever kept it from
/// being attached, with nothing left behind; [`AttachError::Device`] when the last flush failed.
pub fn run(
    device: Arc<Device>,
    plan: AttachPlan,
    ready: impl FnOnce(&SessionState) -> bool,
) -> Result<(), AttachError> {
    serve(Served::Ours(device), plan, ready)
}

/// As [`run`], for a volume that the kernel shall decrypt ([`Attachment::DmCrypt`]): the keys are handed over
/// and wiped here; this process stays to answer, and to take the mapping down at the end.
///
/// # Errors
/// As [`run`]; [`AttachError::DmCrypt`] where the kernel can't do it.
pub fn hand_over(
    volume: HandOver,
    plan: AttachPlan,
    ready: impl FnOnce(&SessionState) -> bool,
) -> Result<(), AttachError> {
    serve(Served::Waiting(Box::new(volume)), plan, ready)
}

fn serve(
    served: Served,
    plan: AttachPlan,
    ready: impl FnOnce(&SessionState) -> bool,
) -> Result<(), AttachError> {
    let attached = attachment::of(&plan.attachment)?;
    let sandbox_for = |by: &Sandbox| attachment::sandbox(&plan.attachment, by.required);
    let sandbox = plan.sandbox.as_ref().map(sandbox_for).transpose()?.flatten();
    let volume = plan
        .volume
        .canonicalize()
        .map_err(|e| AttachError::io(format!("find {}", plan.volume.display()), e))?;
    let runtime = folder_for_sessions()?;
    let hands_over = matches!(served, Served::Waiting(_));
    let claim = match served.is_claimed() {
        true => None,
        false => Some(Claim::new(&volume, hands_over && !served.is_read_only())?),
    };
    let by_ublk = plan.attachment == Attachment::Ublk;
    clean_stale_in(&runtime, by_ublk.then_some(&*volume))?;
    if !by_ublk && let Some((_, dead)) = waiting_in(&runtime, &volume).first() {
        // Two would write to it.
        let device = dead.device.as_ref().map_or_else(String::new, |device| device.display().to_string());
        return Err(UblkError::Waiting { volume: volume.to_owned(), device }.into());
    }
    let signals = signals().map_err(|e| AttachError::io("watch for signals", e))?;
    let (folder, lock) = SessionFolder::create(&runtime)?;
    let mut session = Session::new(served, (folder, lock), attached, &plan, sandbox, &volume)?;
    let done = match session.start(&plan, claim.as_ref()) {
        Ok(listener) => {
            let is_wanted = ready(&session.on.state);
            session.serve(&listener, signals, is_wanted)
        }
        Err(e) => {
            // A device that can't be deleted yet must not be forgotten: the session stays, as a dead one.
            if !matches!(e, AttachError::Ublk(UblkError::NotHandedOver { .. })) {
                // The first error is the one to tell; nothing has been written yet.
                let _ = session.take_down();
            }
            drop(session);
            Err(e)
        }
    };
    // Whatever was still in use when its file system went away under it. A warden has done that.
    if !is_confined() {
        clean_stale_in(&runtime, None)?;
    }
    done
}

/// A volume that is served, and how.
struct Session {
    on: Serving,
    /// Held until the folder is gone.
    _lock: File,
    medium: Option<Medium>,
    attached: Box<dyn Attached>,
    /// Takes the device's requests down while somebody wants a trace.
    recorder: Option<Arc<TraceRecorder>>,
    /// Tells that the file system inside was unmounted.
    mounts: Option<MountTable>,
    /// Since when nobody uses it, where that closes it.
    idle: Option<Idle>,
    /// It was opened without a mount point, and may have been mounted since.
    mountable_later: bool,
    /// Unmounting what it has mounted closes it.
    unmounting_ends_it: bool,
    /// Tells that nobody can find it any more.
    vanishing: Option<Vanishing>,
}

impl Session {
    fn new(
        served: Served,
        (folder, lock): (SessionFolder, File),
        attached: Box<dyn Attached>,
        plan: &AttachPlan,
        sandbox: Option<SandboxState>,
        volume: &Path,
    ) -> Result<Self, AttachError> {
        let medium = Medium::watch(volume);
        let state = SessionState {
            id: folder.id(),
            volume: volume.to_owned(),
            inode: medium.as_ref().and_then(Medium::inode),
            attachment: plan.attachment.name().into(),
            device: None,
            file: None,
            socket: None,
            uri: None,
            mountpoint: None,
            filesystem: None,
            pid: std::process::id(),
            pid_started: started(std::process::id()).unwrap_or_default(),
            opened: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
            size_bytes: served.size(),
            sector_bytes: served.sector_bytes(),
            read_only: served.is_read_only(),
            transport: String::new(),
            cache: None,
            close_when_idle_seconds: plan.close_when_idle.map(|time| time.as_secs_f64()),
            reasons: plan.reasons.clone(),
            sandbox,
            details: plan.details.clone(),
        };
        let gone = Stop::new().map_err(|e| AttachError::io("make an event", e))?;
        Ok(Self {
            on: Serving {
                served,
                folder,
                state,
                counts: None,
                counted_before: KernelStat::default(),
                by: plan.sandbox.clone(),
                warden: None,
                gone: Arc::new(gone),
                refusals: Arc::default(),
            },
            _lock: lock,
            medium,
            attached,
            recorder: None,
            mounts: None,
            idle: plan.close_when_idle.map(Idle::new),
            mountable_later: false,
            unmounting_ends_it: false,
            vanishing: None,
        })
    }

    fn start(&mut self, plan: &AttachPlan, claim: Option<&Claim>) -> Result<UnixListener, AttachError> {
        let control = self.on.folder.control();
        let listener = UnixListener::bind(&control)
            .and_then(|listener| {
                std::fs::set_permissions(&control, std::fs::Permissions::from_mode(0o600))?;
                Ok(listener)
            })
            .map_err(|e| AttachError::io(format!("make {}", control.display()), e))?;
        // Written before anything is attached: whoever finds us killed knows whose remains it sees.
        self.on.state.write(&self.on.folder.state())?;
        self.on.state.made().map_or(Ok(()), |at| self.on.folder.keep_made(&at))?;
        self.vanishing = Vanishing::watch(&self.on.folder);
        self.mountable_later = plan.mount.is_none();
        self.unmounting_ends_it = plan.mount.as_ref().is_some_and(|mount| mount.ends_it);
        if plan.mount.is_some() {
            self.mounts = Some(MountTable::open().map_err(|e| AttachError::io("watch for mounts", e))?);
        }
        self.attached.prepare(&mut self.on, plan)?;
        let role = self.on.state.sandbox.as_ref().and_then(|_| self.attached.role());
        if let Some(role) = role
            && self.attached.is_attached_when_prepared()
        {
            // Not one byte that a client sent has been read.
            self.on.state.write(&self.on.folder.state())?;
            self.confine(role, plan)?;
            self.attached.serve(&mut self.on, plan, claim)?;
            self.on.look_inside();
            return Ok(listener);
        }
        self.attached.serve(&mut self.on, plan, claim)?;
        if role.is_none() {
            self.on.look_inside();
        }
        self.on.state.write(&self.on.folder.state())?;
        if let Some(role) = role {
            self.confine(role, plan)?;
            self.on.look_inside();
        } else if plan.attachment == Attachment::Ublk
            && let Some(by) = &plan.sandbox
        {
            // Unmounting writes to the device that this process serves.
            self.on.warden = Some(Warden::start(by, &self.on.record())?);
        }
        Ok(listener)
    }

    /// Leaves what takes paths to a warden, and gives up everything that serving does not need.
    fn confine(&mut self, role: Role, plan: &AttachPlan) -> Result<(), AttachError> {
        let Some(sandbox) = &plan.sandbox else { return Ok(()) };
        // Where the kernel does not say whose a connection is when it is asked, its table does.
        peer::tables();
        cpus();
        let warden = Warden::start(sandbox, &self.on.record())?;
        self.on.warden = Some(warden);
        enter_role(role, &[]).map_err(|e| AttachError::io("enter the sandbox", e))
    }

    fn serve(
        mut self,
        listener: &UnixListener,
        mut signals: UnixStream,
        is_wanted: bool,
    ) -> Result<(), AttachError> {
        let mut ending = !is_wanted;
        loop {
            let gone = self.on.gone.is_requested();
            if ending || gone {
                match self.take_down() {
                    Err(AttachError::Busy { .. }) if !gone => {}
                    done => return done,
                }
            }
            // However often somebody asks for its state.
            if self.is_idle() {
                match self.take_down() {
                    Err(AttachError::Busy { .. }) => self.idle.iter_mut().for_each(Idle::begin_again),
                    done => return done,
                }
            }
            let mut ready = vec![
                PollFd::new(listener, PollFlags::IN),
                PollFd::new(&signals, PollFlags::IN),
                PollFd::new(&*self.on.gone, PollFlags::IN),
            ];
            ready.extend(self.mounts.as_ref().map(|mounts| PollFd::new(mounts, PollFlags::PRI)));
            ready.extend(self.vanishing.as_ref().map(|folder| PollFd::new(folder, PollFlags::IN)));
            let wait = if ending { Some(RETRY) } else { self.idle.as_ref().map(Idle::next_look) };
            match poll(&mut ready, wait.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(e) => return self.take_down().and(Err(AttachError::io("wait", e))),
            }
            let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
            let (asked, signalled) = (is_ready(&ready[0]), is_ready(&ready[1]));
            let more = ready.iter().skip(3).any(is_ready);
            let unmounted = more && self.mounts.as_ref().is_some_and(|table| self.on.is_unmounted(table));
            if more && self.vanishing.take_if(|folder| folder.is_gone()).is_some() {
                tell(&Notice::Vanished(self.on.state.volume.clone()));
                ending = true;
            }
            if unmounted {
                self.on.state.mountpoint = None;
                self.mounts = None;
                ending |= self.unmounted();
            }
            if signalled {
                if self.fate() == Fate::Deleted {
                    tell(&Notice::Deleted(self.on.state.volume.clone()));
                }
                // One byte per signal; what matters is that there was one.
                let _ = signals.read(&mut [0; 16]);
                ending = true;
            }
            // A client that goes away or talks nonsense is not our trouble.
            if asked
                && let Ok((mut stream, _)) = listener.accept()
                && let Ok(request) = control::hear(&stream)
            {
                match request {
                    Request::Status => {
                        let status = Answer::Status(Box::new(self.status()));
                        let _ = control::send(&mut stream, &status);
                    }
                    Request::Record => {
                        let refuse = |reason: &str| Answer::Failed { reason: reason.into() };
                        let answer = match self.start_recording() {
                            Ok(true) => Answer::Recording,
                            Ok(false) => refuse("a recording is under way already"),
                            Err(_) => refuse("the kernel serves it, and nothing passes through here"),
                        };
                        let _ = control::send(&mut stream, &answer);
                    }
                    Request::EndRecording => {
                        let _ = control::send(&mut stream, &self.end_recording());
                    }
                    Request::Close { deleted: false } if self.fate() == Fate::Deleted => {
                        let _ = control::send(&mut stream, &Answer::Deleted);
                    }
                    Request::Close { .. } => {
                        let done = self.take_down();
                        let answer = match &done {
                            Ok(()) if self.on.served.guard_hit() => Answer::ClosedGuarded,
                            Ok(()) => self.on.served.spared().map_or(Answer::Closed, Answer::ClosedSpared),
                            Err(AttachError::Busy { what, path, users }) => {
                                Answer::Busy { what: what.clone(), path: path.clone(), users: users.clone() }
                            }
                            Err(e) => self.not_clean(e),
                        };
                        let _ = control::send(&mut stream, &answer);
                        match done {
                            Err(AttachError::Busy { .. }) => {}
                            done => return done,
                        }
                    }
                }
            }
        }
    }

    /// Whether the session ends now that nothing is mounted. Where it goes on, it may be mounted again.
    fn unmounted(&mut self) -> bool {
        if self.unmounting_ends_it {
            // Another file system may be there by now.
            self.on.state.filesystem = None;
            return true;
        }
        self.mountable_later = true;
        false
    }

    /// Takes down what is there, from the top. Stops at the first thing that is in use, with the
    /// rest still serving; any other error is told at the end, with everything gone.
    fn take_down(&mut self) -> Result<(), AttachError> {
        let mut first = Ok(());
        if !self.on.gone.is_requested() {
            self.attached.drain(&self.on)?;
        }
        // What is mounted without a device is ours, and goes below.
        if self.on.state.device.is_some() && (self.on.state.mountpoint.is_some() || self.mountable_later) {
            keep_first(&mut first, self.on.perform(Action::Unmount))?;
            self.on.state.mountpoint = None;
            self.on.state.filesystem = None;
        }
        keep_first(&mut first, self.attached.tear_down(&mut self.on))?;
        self.on.state.device = None;
        keep_first(&mut first, self.on.served.flush().map_err(AttachError::from))?;
        keep_first(&mut first, self.on.remove())?;
        first
    }

    /// What went wrong on the way, and what is behind it: whoever wrote heard "Input/output error" at most.
    fn not_clean(&self, error: &AttachError) -> Answer {
        match (self.on.served.guard_hit(), self.on.served.first_failed_write()) {
            (true, _) => Answer::FailedGuarded { reason: error.to_string() },
            (false, Some(why)) => Answer::Failed { reason: format!("{why} ({error})") },
            (false, None) => Answer::Failed {
                reason: match self.on.served.spared() {
                    Some(Spared { writes, .. }) => format!(
                        "{writes} of the writes went over the volume's own metadata and were refused there ({error})"
                    ),
                    None => error.to_string(),
                },
            },
        }
    }

    /// Begins to take down every request; false where that is under way already.
    fn start_recording(&mut self) -> Result<bool, AttachError> {
        let device = self.on.served.device()?;
        let recorder = Arc::new(TraceRecorder::new(device.size()));
        let notes = Arc::clone(&recorder);
        let new = device
            .observe(Arc::new(move |action, offset, len, start| notes.note(action, offset, len, start)));
        if new {
            self.recorder = Some(recorder);
        }
        Ok(new)
    }

    /// Writes the recording into the session's folder, where only this user can read it.
    fn end_recording(&mut self) -> Answer {
        let Some(recorder) = self.recorder.take() else {
            return Answer::Failed { reason: "no recording is under way".into() };
        };
        if let Ok(device) = self.on.served.device() {
            device.end_observation();
        }
        let written = self.on.trace().and_then(|mut file| {
            let trace = recorder.take().to_bytes();
            file.write_all(&trace).map_err(|e| AttachError::io("write it", e))
        });
        match written {
            Ok(()) => Answer::Recorded,
            Err(e) => Answer::Failed { reason: format!("the recording could not be written: {e}") },
        }
    }

    /// Whether nobody has used it for as long as it shall wait. What would be lost with it is not closed by itself.
    fn is_idle(&mut self) -> bool {
        let asked = self.on.served.counters();
        let over = self.idle.as_mut().is_some_and(|idle| idle.is_over(asked));
        over && self.recorder.is_none() && self.fate() != Fate::Deleted
    }

    /// What has become of the volume's file.
    fn fate(&self) -> Fate {
        self.medium.as_ref().map_or(Fate::Kept, |medium| medium.fate(&self.on.state.volume))
    }

    fn status(&self) -> SessionStatus {
        let (counters, fate, guard_hit) =
            (self.on.served.counters(), self.fate(), self.on.served.guard_hit());
        SessionStatus {
            state: SessionState { read_only: self.on.state.read_only || guard_hit, ..self.on.state.clone() },
            reads: counters.reads,
            bytes_read: counters.bytes_read,
            writes: counters.writes,
            bytes_written: counters.bytes_written,
            flushes: counters.flushes,
            writes_refused: counters.writes_refused,
            latency: self.on.served.latencies(self.on.counts.as_ref(), &self.on.counted_before),
            buffers: Buffers::of_this_process(),
            guard_hit,
            first_failed_write: self.on.served.first_failed_write(),
            deleted: fate == Fate::Deleted,
            moved_to: match fate {
                Fate::Moved(path) => Some(path),
                Fate::Kept | Fate::Deleted => None,
            },
            refused: self.on.refusals.counts(),
        }
    }
}

/// A stream that becomes readable when a signal asks this process to end.
fn signals() -> io::Result<UnixStream> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    for signal in ENDS {
        signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
    }
    // A write beyond the largest file that this user may make is an error of that write, not our end.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    Ok(ours)
}
