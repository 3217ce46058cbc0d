//! Listens, gives every client its thread, and sees all of them off when it is time to stop.

use super::admission::{Admission, Client};
use super::buffer_pool::BufferPool;
use super::handshake::{Outcome, Security};
use super::listen::Listener;
use super::tls::{Certificates, TlsWire};
use super::transmission::Resources;
use super::wire::{Socket, Wire};
use super::{ConnectionError, Listen, NbdError, handshake, transmission};
use crate::Stop;
use crate::peer::{LocalUsers, Origin, Refusals, may_enter, origin, tune};
use keyway_engine::Device;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

/// How long running requests may take to finish, and their answers to be fetched, once the server
/// is stopped.
const FAREWELL: Duration = Duration::from_secs(5);

/// How to serve.
#[derive(Debug, Clone)]
pub struct Options {
    /// The export's name; clients may also leave it empty.
    pub export: String,
    /// TLS, and nothing without it. Needed for addresses that other machines reach.
    pub tls: Option<Certificates>,
    /// Requests carried out at once on one connection; at least 1.
    pub workers: usize,
    /// Time a client has to get from connecting to its first request.
    pub handshake: Duration,
    /// How long nothing may move in the middle of a message.
    pub stall: Duration,
    /// How long a client must have been silent to lose its place to another one.
    pub idle: Duration,
    /// Who may connect to a TCP port without TLS.
    pub users: LocalUsers,
    /// Who was refused.
    pub refusals: Arc<Refusals>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            export: "keyway".into(),
            tls: None,
            workers: 16,
            handshake: Duration::from_secs(10),
            stall: Duration::from_secs(60),
            idle: Duration::from_secs(60),
            users: LocalUsers::default(),
            refusals: Arc::default(),
        }
    }
}

/// Connections so far; readable while the server runs.
#[derive(Debug, Default)]
pub struct ServerCounters {
    open: AtomicU64,
    accepted: AtomicU64,
    broken: AtomicU64,
}

impl ServerCounters {
    /// Clients that are connected.
    pub fn open(&self) -> u64 {
        self.open.load(Ordering::Acquire)
    }

    /// Clients that have been connected at some time.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Connections that ended otherwise than by the client's leave: it broke the protocol, was too
    /// slow, or the stream failed.
    pub fn broken(&self) -> u64 {
        self.broken.load(Ordering::Relaxed)
    }
}

/// A bound server.
pub struct Server {
    listener: Listener,
    options: Options,
    counters: Arc<ServerCounters>,
    places: Admission,
    own_room: BufferPool,
    room: BufferPool,
}

/// Memory for large requests of all clients together: the serving user's and root's, and everybody else's.
const OWN_ROOM: usize = 128 << 20;
const ROOM: usize = 64 << 20;

impl Server {
    /// Takes the address; clients that connect from now on wait until [`Server::run`].
    pub fn bind(listen: &Listen, options: Options) -> Result<Self, NbdError> {
        let listener = Listener::bind(listen, options.tls.is_some())?;
        Ok(Self {
            listener,
            options,
            counters: Arc::default(),
            places: Admission::default(),
            own_room: BufferPool::new(OWN_ROOM),
            room: BufferPool::new(ROOM),
        })
    }

    /// Where it listens, with the port that was chosen.
    pub fn address(&self) -> &Listen {
        &self.listener.at
    }

    /// The same as a URI that clients take.
    pub fn uri(&self) -> String {
        let plain = self.listener.at.to_string();
        match &self.options.tls {
            Some(_) => plain.replacen("nbd", "nbds", 1),
            None => plain,
        }
    }

    /// The connections' counters.
    pub fn counters(&self) -> Arc<ServerCounters> {
        self.counters.clone()
    }

    /// Serves until `stop` is requested, then lets running requests finish and returns. Does not
    /// flush the device; whoever closes it does. The socket's file goes with the server.
    pub fn run(&self, device: Arc<Device>, stop: &Stop) -> Result<(), NbdError> {
        let fail =
            |e: Errno| NbdError::System { doing: "serve", at: self.address().clone(), source: e.into() };
        std::thread::scope(|scope| {
            let result = loop {
                // Rounded up, so that the deadline has passed when poll returns.
                let wait = self.places.drop_the_slow(self.options.handshake);
                let wait = wait.and_then(|left| Timespec::try_from(left + Duration::from_millis(1)).ok());
                let mut ready = [
                    PollFd::new(&self.listener.fd, PollFlags::IN),
                    PollFd::from_borrowed_fd(stop.as_fd(), PollFlags::IN),
                ];
                match poll(&mut ready, wait.as_ref()) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(e) => break Err(fail(e)),
                }
                if stop.is_requested() {
                    break Ok(());
                }
                if ready.first().is_some_and(|fd| !fd.revents().is_empty()) {
                    match accept_with(&self.listener.fd, SocketFlags::CLOEXEC) {
                        Ok(fd) => {
                            if let Some(client) = self.let_in(fd) {
                                self.welcome(scope, &client, &device, stop);
                            }
                        }
                        // The client changed its mind, or this process or machine is out of
                        // descriptors or memory for a moment; pause, or the loop would spin.
                        Err(Errno::CONNABORTED | Errno::INTR | Errno::AGAIN) => {}
                        Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                            std::thread::sleep(Duration::from_millis(50));
                        }
                        Err(e) => break Err(fail(e)),
                    }
                }
            };
            see_off(&self.places.all());
            result
        })
    }

    /// A connection as a client, unless whoever made it may not come in: then nothing is said.
    fn let_in(&self, fd: OwnedFd) -> Option<Arc<Client>> {
        let origin = match self.address() {
            // Its file lets in nobody else.
            Listen::Unix(_) => Origin::Own,
            Listen::Tcp(_) => {
                tune(&fd);
                let all = self.options.tls.is_some() || self.options.users == LocalUsers::Any;
                if !all && !may_enter(&fd, &self.options.refusals) {
                    return None;
                }
                if all { origin(&fd) } else { Origin::Own }
            }
        };
        Some(Client::new(Socket::new(fd, self.options.stall), origin))
    }

    /// Starts the client's thread, where there is one to be had.
    fn welcome<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        client: &Arc<Client>,
        device: &Arc<Device>,
        stop: &'s Stop,
    ) {
        self.places.admit(client);
        self.counters.accepted.fetch_add(1, Ordering::Relaxed);
        self.counters.open.fetch_add(1, Ordering::Relaxed);
        let guest = (client.clone(), device.clone());
        let spawned = Builder::new().name("nbd".into()).spawn_scoped(scope, move || {
            let (client, device) = guest;
            let result = self.attend(&client, &device, stop);
            if result.is_err() && !stop.is_requested() {
                self.counters.broken.fetch_add(1, Ordering::Relaxed);
            }
            client.leave();
            // Last: who sees that a place is free must get it.
            self.counters.open.fetch_sub(1, Ordering::Release);
        });
        if spawned.is_err() {
            client.leave();
            self.counters.open.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn attend(&self, client: &Client, device: &Device, stop: &Stop) -> Result<(), ConnectionError> {
        let closing = || stop.is_requested();
        let (name, workers) = (&self.options.export, self.options.workers.max(1));
        let socket = &client.socket;
        let seat = || self.places.seat(client, self.options.idle);
        let room = if client.is_own() { &self.own_room } else { &self.room };
        let resources = Resources { device, room, client: Some(client), workers, closing: &closing };
        let flags = handshake::greet(socket)?;
        let Some(certificates) = &self.options.tls else {
            let outcome = handshake::negotiate(socket, device, name, flags, Security::Plain, closing, seat)?;
            return match outcome {
                Outcome::Agreed(agreed) => transmission::serve(socket, agreed, resources),
                Outcome::StartTls | Outcome::Left => Ok(()),
            };
        };
        let first = handshake::negotiate(socket, device, name, flags, Security::TlsFirst, closing, seat)?;
        if first != Outcome::StartTls {
            return Ok(());
        }
        let wire = TlsWire::accept(socket, certificates)?;
        client.prove();
        let outcome = handshake::negotiate(&wire, device, name, flags, Security::Tls, closing, seat)?;
        let done = match outcome {
            Outcome::Agreed(agreed) => transmission::serve(&wire, agreed, resources),
            Outcome::StartTls | Outcome::Left => Ok(()),
        };
        if done.is_ok() {
            wire.say_goodbye();
        }
        done
    }
}

/// Lets the clients' running requests finish, then hangs up.
fn see_off(clients: &[Arc<Client>]) {
    for client in clients {
        client.socket.stop_receiving();
    }
    let deadline = Instant::now() + FAREWELL;
    while Instant::now() < deadline && clients.iter().any(|c| !c.is_gone()) {
        std::thread::sleep(Duration::from_millis(2));
    }
    for client in clients {
        client.socket.hang_up();
    }
}
