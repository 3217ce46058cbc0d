//! Listens, gives every connection its thread, and hangs up on all of them when it is time to stop.

use super::host::Host;
use super::subsystem::Subsystem;
use super::{Credentials, Namespace, NvmeError, queue};
use crate::Stop;
use crate::pace::{Waiting, first_to_leave};
use crate::peer::{LocalUsers, Origin, Refusals, may_enter, origin, tune};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Connections that may wait to be let in.
const WAITING: usize = 32;
/// How often those who are connected are looked at: one may have promised something since.
const LOOK: Duration = Duration::from_secs(1);

/// How to serve.
#[derive(Clone)]
pub struct Options {
    /// The subsystem's name, which hosts connect to: at most 223 bytes that begin with `nqn.`.
    pub nqn: String,
    /// Whether an address that other machines reach may be used.
    pub allow_remote: bool,
    /// What a host must prove to know; without it, whose the connection is decides.
    pub credentials: Option<Arc<Credentials>>,
    /// Time a host has from connecting until it has a queue, and has proved itself where it must. After that it may
    /// be silent for as long as it promised, which is for ever where it promised nothing: Linux sends a keep-alive
    /// every few seconds on the admin queue, but nothing on the others.
    pub handshake: Duration,
    /// How long nothing may move in the middle of a message.
    pub stall: Duration,
    /// How long a host must have been silent to lose its place to another one.
    pub idle: Duration,
    /// Who of this machine may connect without credentials.
    pub users: LocalUsers,
    /// Who was refused.
    pub refusals: Arc<Refusals>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            nqn: keyway_store::DRIVE_NQN.into(),
            allow_remote: false,
            credentials: None,
            handshake: Duration::from_secs(10),
            stall: Duration::from_secs(60),
            idle: Duration::from_secs(60),
            users: LocalUsers::default(),
            refusals: Arc::default(),
        }
    }
}

/// A bound server.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    subsystem: Subsystem,
    handshake: Duration,
    stall: Duration,
    /// Where it is not everybody who may connect: who did, and was refused.
    refusals: Option<Arc<Refusals>>,
}

struct Client {
    stream: TcpStream,
    origin: Origin,
    since: Instant,
    let_in: AtomicBool,
    gone: AtomicBool,
}

impl Client {
    fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    fn waits(&self) -> bool {
        !self.is_gone() && !self.let_in.load(Ordering::Acquire)
    }

    fn leave(&self) {
        self.hang_up();
        self.gone.store(true, Ordering::Release);
    }
}

impl Host for Client {
    fn let_in(&self) {
        self.let_in.store(true, Ordering::Release);
    }

    fn is_own(&self) -> bool {
        self.origin == Origin::Own
    }

    fn hang_up(&self) {
        // Fails only on a socket that is already down.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Server {
    /// Takes the address; port 0 chooses a free one.
    ///
    /// # Errors
    /// [`NvmeError::Remote`] for an address that is not this machine's own, without leave and without credentials; [`NvmeError::Name`]; the system's.
    pub fn bind(
        address: SocketAddr,
        namespace: Arc<dyn Namespace>,
        options: &Options,
    ) -> Result<Self, NvmeError> {
        let guarded = options.allow_remote || options.credentials.is_some();
        if !guarded && !address.ip().to_canonical().is_loopback() {
            return Err(NvmeError::Remote(address));
        }
        let printable = options.nqn.bytes().all(|b| b.is_ascii_graphic());
        if !options.nqn.starts_with("nqn.") || options.nqn.len() > 223 || !printable {
            return Err(NvmeError::Name(options.nqn.clone()));
        }
        let fail = |source| NvmeError::System { doing: "listen on", at: address, source };
        let listener = TcpListener::bind(address).map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let refusals = (!guarded && options.users == LocalUsers::Own).then(|| Arc::clone(&options.refusals));
        Ok(Self {
            refusals,
            listener,
            address,
            subsystem: Subsystem::new(namespace, &options.nqn, options.credentials.clone(), options.idle),
            handshake: options.handshake,
            stall: options.stall,
        })
    }

    /// Where it listens, with the port that was chosen.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The subsystem's name.
    pub fn nqn(&self) -> &str {
        &self.subsystem.nqn
    }

    /// Serves until `stop` is requested, then hangs up. Does not flush; whoever owns the namespace does.
    ///
    /// # Errors
    /// The system's, on the listening socket.
    pub fn run(&self, stop: &Stop) -> Result<(), NvmeError> {
        let fail = |source| NvmeError::System { doing: "serve on", at: self.address, source };
        let mut clients: Vec<Arc<Client>> = Vec::new();
        std::thread::scope(|scope| {
            let result = loop {
                let mut ready = [
                    PollFd::new(&self.listener, PollFlags::IN),
                    PollFd::from_borrowed_fd(stop.as_fd(), PollFlags::IN),
                ];
                match poll(&mut ready, self.see_to(&mut clients).as_ref()) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(e) => break Err(fail(e.into())),
                }
                if stop.is_requested() {
                    break Ok(());
                }
                if ready.first().is_none_or(|fd| fd.revents().is_empty()) {
                    continue;
                }
                let Ok((stream, _)) = self.listener.accept() else {
                    // The client changed its mind, or the process is out of descriptors for a moment.
                    std::thread::sleep(Duration::from_millis(20));
                    continue;
                };
                let Some(client) = self.admit(stream, &clients) else { continue };
                let guest = client.clone();
                let spawned = Builder::new().name("nvme-tcp".into()).spawn_scoped(scope, move || {
                    self.attend(&guest);
                    guest.leave();
                });
                if spawned.is_ok() {
                    clients.push(client);
                }
            };
            for client in &clients {
                client.hang_up();
            }
            result
        })
    }

    /// Hangs up on those whose time is over; says when to look again.
    fn see_to(&self, clients: &mut Vec<Arc<Client>>) -> Option<Timespec> {
        clients.retain(|client| !client.is_gone());
        let mut next = self.subsystem.end_the_silent();
        for client in clients.iter().filter(|client| client.waits()) {
            let left = self.handshake.saturating_sub(client.since.elapsed());
            if left.is_zero() {
                client.hang_up();
            } else {
                next = Some(next.map_or(left, |next| next.min(left)));
            }
        }
        // Rounded up, so that it is over when poll returns.
        let next = next.map(|next| (next + Duration::from_millis(1)).min(LOOK));
        let next = next.or((!clients.is_empty()).then_some(LOOK))?;
        Timespec::try_from(next).ok()
    }

    /// A connection in the waiting room, unless whoever made it may not come in: then nothing is said.
    fn admit(&self, stream: TcpStream, clients: &[Arc<Client>]) -> Option<Arc<Client>> {
        let origin = match &self.refusals {
            Some(refusals) if !may_enter(&stream, refusals) => return None,
            Some(_) => Origin::Own,
            None => origin(&stream),
        };
        let waiting: Vec<_> = clients.iter().filter(|client| client.waits()).collect();
        if waiting.len() >= WAITING {
            let seen: Vec<_> =
                waiting.iter().map(|client| Waiting { origin: client.origin, proved: false }).collect();
            if let Some(first) = first_to_leave(&seen).and_then(|at| waiting.get(at)) {
                first.leave();
            }
        }
        tune(&stream);
        // Fail only for times that are no times.
        let _ = stream.set_read_timeout(Some(self.stall));
        let _ = stream.set_write_timeout(Some(self.stall));
        Some(Arc::new(Client {
            stream,
            origin,
            since: Instant::now(),
            let_in: AtomicBool::new(false),
            gone: AtomicBool::new(false),
        }))
    }

    fn attend(&self, client: &Arc<Client>) {
        // How it ended is the host's affair: it has been told, or is gone.
        let host = client.clone() as Arc<dyn Host>;
        let _ = queue::serve(&self.subsystem, &client.stream, &client.stream, &host);
    }
}
