//! The serving process: attach, wait, take everything down again.

use super::claim::Claim;
use super::control::{self, Answer, Request};
use super::folder::{SessionFolder, runtime_folder};
use super::latency::KernelStat;
use super::plan::{AttachPlan, Attachment, MountPlan, NbdAddress};
use super::served::Served;
use super::state::{SessionState, SessionStatus};
use crate::fuse::{FuseMount, Options, Transport};
use crate::nbd::{self, Listen, Server};
use crate::ublk::{self, UblkError, UblkVolume};
use crate::vhost_user::VhostServer;
use crate::{AttachError, Stop, dmcrypt, loopdev, mount, nvme_tcp};
use keyway_engine::{Device, HandOver};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

/// Set to `dev` to do without io_uring, where it causes trouble.
const TRANSPORT_VARIABLE: &str = "KEYWAY_FUSE";

/// SIGHUP, SIGINT and SIGTERM (`asm-generic/signal.h`): asked to end.
const SIGNALS: [i32; 3] = [1, 2, 15];

/// How often an end that was asked for by a signal is tried again while somebody uses the volume.
const RETRY: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Attaches `device` as planned, calls `ready`, and serves until it is told to end: by
/// [`close`](super::close), by a signal, or because its FUSE file system was unmounted. Then
/// flushes, takes everything down and returns.
///
/// A process calls this once, before it has started other threads; it answers to SIGHUP, SIGINT
/// and SIGTERM from then on.
///
/// # Errors
/// [`AttachError::AlreadyOpen`] when another process serves the volume; whatever kept it from
/// being attached, with nothing left behind; [`AttachError::Device`] when the last flush failed.
pub fn run(
    device: Arc<Device>,
    plan: AttachPlan,
    ready: impl FnOnce(&SessionState),
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
    ready: impl FnOnce(&SessionState),
) -> Result<(), AttachError> {
    serve(Served::Waiting(Box::new(volume)), plan, ready)
}

fn serve(served: Served, plan: AttachPlan, ready: impl FnOnce(&SessionState)) -> Result<(), AttachError> {
    let volume = plan
        .volume
        .canonicalize()
        .map_err(|e| AttachError::io(format!("find {}", plan.volume.display()), e))?;
    let runtime = runtime_folder()?;
    let hands_over = matches!(served, Served::Waiting(_));
    let claim = match served.is_claimed() {
        true => None,
        false => Some(Claim::new(&volume, hands_over && !served.is_read_only())?),
    };
    let by_ublk = plan.attachment == Attachment::Ublk;
    super::clean_stale_in(&runtime, by_ublk.then_some(&*volume))?;
    if !by_ublk && let Some((_, dead)) = super::waiting_in(&runtime, &volume).first() {
        // Two would write to it.
        let device = dead.device.as_ref().map_or_else(String::new, |device| device.display().to_string());
        return Err(UblkError::Waiting { volume: volume.display().to_string(), device }.into());
    }
    let signals = signals().map_err(|e| AttachError::io("watch for signals", e))?;
    let (folder, lock) = SessionFolder::create(&runtime)?;
    let mut session = Session::new(served, folder, lock, &plan, &volume)?;
    let done = match session.start(&plan, claim.as_ref()) {
        Ok(listener) => {
            ready(&session.state);
            session.serve(&listener, signals)
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
    // Whatever was still in use when its file system went away under it.
    super::clean_stale_in(&runtime, None)?;
    done
}

/// Everything that is attached, in the order in which it was.
struct Session {
    served: Served,
    folder: SessionFolder,
    /// Held until the folder is gone.
    _lock: File,
    state: SessionState,
    /// What the block device had counted when it became ours.
    counted_before: KernelStat,
    gone: Arc<Stop>,
    fuse: Option<FuseMount>,
    ublk: Option<UblkVolume>,
    server: Option<JoinHandle<Result<(), AttachError>>>,
}

impl Session {
    fn new(
        served: Served,
        folder: SessionFolder,
        lock: File,
        plan: &AttachPlan,
        volume: &Path,
    ) -> Result<Self, AttachError> {
        let state = SessionState {
            id: folder.id(),
            volume: volume.to_owned(),
            attachment: match plan.attachment {
                Attachment::Fuse { .. } => "fuse".into(),
                Attachment::Nbd(_) => "nbd".into(),
                Attachment::VhostUser(_) => "vhost-user".into(),
                Attachment::NvmeTcp(_) => "nvme-tcp".into(),
                Attachment::DmCrypt => dmcrypt::ATTACHMENT.into(),
                Attachment::Ublk => ublk::ATTACHMENT.into(),
            },
            device: None,
            file: None,
            socket: None,
            mountpoint: None,
            filesystem: None,
            pid: std::process::id(),
            pid_started: super::state::started(std::process::id()).unwrap_or_default(),
            opened: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
            size_bytes: served.size(),
            sector_bytes: served.sector_bytes(),
            read_only: served.is_read_only(),
            transport: String::new(),
            cache: None,
            why: plan.why.clone(),
            details: plan.details.clone(),
        };
        let gone = Stop::new().map_err(|e| AttachError::io("make an event", e))?;
        Ok(Self {
            served,
            folder,
            _lock: lock,
            state,
            counted_before: KernelStat::default(),
            gone: Arc::new(gone),
            fuse: None,
            ublk: None,
            server: None,
        })
    }

    fn start(&mut self, plan: &AttachPlan, claim: Option<&Claim>) -> Result<UnixListener, AttachError> {
        let control = self.folder.control();
        let listener = UnixListener::bind(&control)
            .and_then(|listener| {
                std::fs::set_permissions(&control, std::fs::Permissions::from_mode(0o600))?;
                Ok(listener)
            })
            .map_err(|e| AttachError::io(format!("make {}", control.display()), e))?;
        // Written before anything is attached: whoever finds us killed knows whose remains it sees.
        self.state.write(&self.folder.state())?;
        match &plan.attachment {
            Attachment::Fuse { loop_device } => self.start_fuse(plan, *loop_device)?,
            Attachment::Nbd(address) => self.start_nbd(address)?,
            Attachment::VhostUser(path) => self.start_vhost_user(path.as_deref())?,
            Attachment::NvmeTcp(address) => self.start_nvme_tcp(*address, plan.credentials.clone())?,
            Attachment::DmCrypt => self.start_dm_crypt(plan, claim)?,
            Attachment::Ublk => self.start_ublk(plan)?,
        }
        self.state.write(&self.folder.state())?;
        Ok(listener)
    }

    fn start_fuse(&mut self, plan: &AttachPlan, loop_device: bool) -> Result<(), AttachError> {
        // Memory that we need must not wait for pages that only we can write out. Needs root;
        // without root there is no loop device whose pages could wait.
        let _ = rustix::process::configure_io_flusher_behavior(true);
        let transport =
            (std::env::var_os(TRANSPORT_VARIABLE).is_some_and(|v| v == "dev")).then_some(Transport::Device);
        let at = self.folder.mount_point();
        let options = Options { transport, cached: plan.cache };
        let fuse = FuseMount::serve(Arc::clone(self.served.device()?), &at, options, Arc::clone(&self.gone))?;
        let file = fuse.file();
        self.state.transport = fuse.transport().to_string();
        self.state.file = Some(file.clone());
        self.fuse = Some(fuse);
        if loop_device || plan.mount.is_some() {
            let (sector_bytes, read_only) = (self.served.sector_bytes(), self.served.is_read_only());
            let device = loopdev::attach(&file, sector_bytes, read_only)?;
            if self.served.device()?.passes_discards()
                && self.fuse.as_ref().is_some_and(|fuse| !fuse.pass_discards(&device))
            {
                eprintln!(
                    "keyway: warning: this kernel's loop devices can't tell discards from zeroing, so none are passed on"
                );
            }
            let device = match plan.cache {
                false => device,
                true => {
                    let below = self.state.cache.insert(device);
                    loopdev::cache(below, sector_bytes, read_only)?
                }
            };
            self.mount(device, plan.mount.as_ref())?;
        }
        Ok(())
    }

    fn start_dm_crypt(&mut self, plan: &AttachPlan, claim: Option<&Claim>) -> Result<(), AttachError> {
        let mapping = self.served.hand_over(claim.map(Claim::file), &self.state)?;
        self.state.transport = mapping.name().to_owned();
        let device = mapping.device().to_owned();
        self.mount(device, plan.mount.as_ref())
    }

    fn start_ublk(&mut self, plan: &AttachPlan) -> Result<(), AttachError> {
        self.state.transport = ublk::ATTACHMENT.into();
        let engine = Arc::clone(self.served.device()?);
        let runtime = runtime_folder()?;
        let dead = super::waiting_in(&runtime, &self.state.volume);
        let found =
            dead.first().and_then(|(_, state)| Some((state, super::waiting_device(state, ublk::CLEAN_UP)?)));
        let Some((old, waiting)) = found else { return self.new_ublk(&engine, plan) };
        let protected = |details: &serde_json::Value| details["hidden_protected"] == true;
        let unprotected = dead.iter().any(|(_, old)| protected(&old.details)) && !protected(&plan.details);
        if (unprotected || !waiting.is_like(&engine)) && !waiting.is_in_use() {
            // Nobody has seen the old one who would see the new one.
            super::clean_stale_in(&runtime, None)?;
            // Unless somebody has opened it at this moment: then it still waits.
            if super::waiting_in(&runtime, &self.state.volume).is_empty() {
                return self.new_ublk(&engine, plan);
            }
        }
        if unprotected {
            return Err(UblkError::Unprotected(waiting.device().display().to_string()).into());
        }
        let taken_over = UblkVolume::recover(&waiting, &engine, &self.gone)?;
        let device = self.ublk.insert(taken_over).device().to_owned();
        // What was mounted still is.
        let mounted = keyway_sys::mounts().unwrap_or_default();
        let still = |at: &PathBuf| mounted.iter().any(|mount| mount.at == *at && mount.source == device);
        let old_mount = old.mountpoint.clone().filter(still);
        let wanted = plan.mount.as_ref().filter(|wanted| {
            let at = wanted.at.canonicalize().ok();
            at.is_none_or(|at| old_mount.as_ref() != Some(&at))
        });
        self.state.mountpoint = old_mount;
        self.state.filesystem = old.filesystem.clone();
        self.mount(device, wanted)?;
        self.state.write(&self.folder.state())?;
        for (folder, _) in dead {
            folder.remove()?;
        }
        Ok(())
    }

    fn new_ublk(&mut self, engine: &Arc<Device>, plan: &AttachPlan) -> Result<(), AttachError> {
        // Each try would leave another one.
        let theirs = |state: &SessionState| ublk::not_handed_over(state.device.as_ref()?);
        if let Some(node) = super::dead_states(&runtime_folder()?).iter().find_map(theirs) {
            return Err(UblkError::NotHandedOver { node: node.display().to_string() }.into());
        }
        let (state, path) = (&mut self.state, self.folder.state());
        let volume = state.volume.clone();
        let made = UblkVolume::new(engine, &volume, &self.gone, |device| {
            state.device = Some(device.to_owned());
            state.write(&path)
        })?;
        let device = self.ublk.insert(made).device().to_owned();
        self.mount(device, plan.mount.as_ref())
    }

    /// The volume is this block device; its file system is mounted where one wants it.
    fn mount(&mut self, device: PathBuf, wanted: Option<&MountPlan>) -> Result<(), AttachError> {
        self.counted_before = KernelStat::of_device(&device).unwrap_or_default();
        self.state.device = Some(device.clone());
        let Some(wanted) = wanted else { return Ok(()) };
        let find = |e| AttachError::io(format!("find {}", wanted.at.display()), e);
        let at = wanted.at.canonicalize().map_err(find)?;
        let name = mount::mount(&device, &at, wanted.filesystem.as_deref(), self.served.is_read_only())?;
        self.state.filesystem = Some(name);
        self.state.mountpoint = Some(at);
        Ok(())
    }

    fn start_nbd(&mut self, address: &NbdAddress) -> Result<(), AttachError> {
        let (address, tls) = match address {
            NbdAddress::Tls { at, certificates } => {
                (&**at, Some(nbd::Certificates::from_folder(certificates)?))
            }
            plain => (plain, None),
        };
        let listen = match address {
            NbdAddress::Unix(path) => Listen::Unix(path.clone()),
            NbdAddress::Tcp(address) => Listen::Tcp(*address),
            NbdAddress::Session | NbdAddress::Tls { .. } => Listen::Unix(self.folder.nbd()),
        };
        let server = Server::bind(&listen, nbd::Options { tls, ..nbd::Options::default() })?;
        self.state.transport = "nbd".into();
        self.state.socket = Some(match server.address() {
            Listen::Unix(path) => path.display().to_string(),
            Listen::Tcp(address) => address.to_string(),
        });
        self.start_server("keyway-nbd", move |device, gone| Ok(server.run(device, gone)?))
    }

    fn start_vhost_user(&mut self, path: Option<&Path>) -> Result<(), AttachError> {
        let own = self.folder.vhost_user();
        let server = VhostServer::bind(path.unwrap_or(&own))?;
        self.state.transport = "vhost-user".into();
        self.state.socket = Some(server.path().display().to_string());
        self.start_server("keyway-vhost", move |device, gone| Ok(server.run(&device, gone)?))
    }

    fn start_nvme_tcp(
        &mut self,
        address: SocketAddr,
        credentials: Option<Arc<nvme_tcp::Credentials>>,
    ) -> Result<(), AttachError> {
        // The session's name is the volume's: the same volume is the same disk.
        let serial = self.state.id.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
        let namespace = nvme_tcp::VolumeNamespace::new(Arc::clone(self.served.device()?), serial);
        let options = nvme_tcp::Options {
            nqn: "nqn.2026-11.keyway:volume".into(),
            credentials,
            ..nvme_tcp::Options::default()
        };
        let server = nvme_tcp::Server::bind(address, Arc::new(namespace), &options)?;
        self.state.transport = "nvme-tcp".into();
        self.state.socket = Some(server.address().to_string());
        self.start_server("keyway-nvme", move |_, gone| Ok(server.run(gone)?))
    }

    /// Serves in a thread until the session's end; where it ends by itself, the session does.
    fn start_server(
        &mut self,
        name: &str,
        run: impl FnOnce(Arc<Device>, &Stop) -> Result<(), AttachError> + Send + 'static,
    ) -> Result<(), AttachError> {
        let (device, gone) = (Arc::clone(self.served.device()?), Arc::clone(&self.gone));
        let thread = std::thread::Builder::new()
            .name(name.into())
            .spawn(move || {
                let result = run(device, &gone);
                // However it ended, it is over.
                gone.request();
                result
            })
            .map_err(|e| AttachError::io("start a thread", e))?;
        self.server = Some(thread);
        Ok(())
    }

    fn serve(mut self, listener: &UnixListener, mut signals: UnixStream) -> Result<(), AttachError> {
        let mut ending = false;
        loop {
            let gone = self.gone.is_requested();
            if ending || gone {
                match self.take_down() {
                    Err(AttachError::Busy { .. }) if !gone => {}
                    done => return done,
                }
            }
            let mut ready = [
                PollFd::new(listener, PollFlags::IN),
                PollFd::new(&signals, PollFlags::IN),
                PollFd::new(&*self.gone, PollFlags::IN),
            ];
            match poll(&mut ready, ending.then_some(&RETRY)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(e) => return self.take_down().and(Err(AttachError::io("wait", e))),
            }
            let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
            let (asked, signalled) = (is_ready(&ready[0]), is_ready(&ready[1]));
            if signalled {
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
                        let answer = match self.served.device().map(|device| device.start_recording()) {
                            Ok(true) => Answer::Recording,
                            Ok(false) => refuse("a recording is under way already"),
                            Err(_) => refuse("the kernel serves it, and nothing passes through here"),
                        };
                        let _ = control::send(&mut stream, &answer);
                    }
                    Request::EndRecording => {
                        let _ = control::send(&mut stream, &self.end_recording());
                    }
                    Request::Close => {
                        let done = self.take_down();
                        let answer = match &done {
                            Ok(()) => Answer::Closed,
                            Err(AttachError::Busy { what, users }) => {
                                Answer::Busy { what: what.clone(), users: users.clone() }
                            }
                            Err(e) => Answer::Failed { reason: e.to_string() },
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

    /// Takes down what is there, from the top. Stops at the first thing that is in use, with the
    /// rest still serving; any other error is told at the end, with everything gone.
    fn take_down(&mut self) -> Result<(), AttachError> {
        let mut first = Ok(());
        // Found out only below the other loop device, it would come when that one is gone already.
        if let Some(below) = &self.state.cache
            && !self.gone.is_requested()
        {
            loopdev::refuse_while_open(below)?;
        }
        if let Some(at) = &self.state.mountpoint {
            keep_first(&mut first, mount::unmount(at))?;
            self.state.mountpoint = None;
            self.state.filesystem = None;
        }
        keep_first(&mut first, self.served.take_back())?;
        if let Some(ublk) = &mut self.ublk {
            keep_first(&mut first, ublk.remove())?;
            self.ublk = None;
        }
        if let Some(device) = &self.state.device {
            if self.fuse.is_some() {
                keep_first(&mut first, loopdev::detach(device))?;
            }
            self.state.device = None;
        }
        if let Some(below) = &self.state.cache {
            keep_first(&mut first, loopdev::detach(below))?;
            self.state.cache = None;
        }
        if let Some(fuse) = &mut self.fuse {
            keep_first(&mut first, fuse.unmount())?;
            self.fuse = None;
        }
        if let Some(server) = self.server.take() {
            self.gone.request();
            let panicked = || Err(AttachError::io("serve", io::Error::other("the server's thread panicked")));
            keep_first(&mut first, server.join().unwrap_or_else(|_| panicked()))?;
        }
        keep_first(&mut first, self.served.flush().map_err(AttachError::from))?;
        keep_first(&mut first, self.folder.remove())?;
        first
    }

    /// Writes the recording into the session's folder, where only this user can read it.
    fn end_recording(&self) -> Answer {
        let trace = self.served.device().ok().and_then(|device| device.end_recording());
        let Some(trace) = trace else {
            return Answer::Failed { reason: "no recording is under way".into() };
        };
        match std::fs::write(self.folder.trace(), trace.to_bytes()) {
            Ok(()) => Answer::Recorded,
            Err(e) => Answer::Failed { reason: format!("the recording could not be written: {e}") },
        }
    }

    fn status(&self) -> SessionStatus {
        let counters = self.served.counters();
        SessionStatus {
            state: self.state.clone(),
            reads: counters.reads,
            bytes_read: counters.bytes_read,
            writes: counters.writes,
            bytes_written: counters.bytes_written,
            flushes: counters.flushes,
            latency: self.served.latencies(self.state.device.as_deref(), &self.counted_before),
            guard_hit: self.served.guard_hit(),
        }
    }
}

/// Lets [`AttachError::Busy`] through; keeps the first of any other errors in `first`.
fn keep_first(first: &mut Result<(), AttachError>, done: Result<(), AttachError>) -> Result<(), AttachError> {
    match done {
        Err(e @ AttachError::Busy { .. }) => Err(e),
        Err(e) if first.is_ok() => {
            *first = Err(e);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A stream that becomes readable when a signal asks this process to end.
fn signals() -> io::Result<UnixStream> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    for signal in SIGNALS {
        signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
    }
    Ok(ours)
}
