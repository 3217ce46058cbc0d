//! Listens, gives every client its thread, and sees all of them off when it is time to stop.

use super::handshake::{Outcome, Security};
use super::listen::Listener;
use super::tls::{Certificates, TlsWire};
use super::wire::{Socket, Wire};
use super::{ConnectionError, Listen, NbdError, handshake, transmission};
use crate::Stop;
use keyway_engine::Device;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::set_tcp_nodelay;
use rustix::net::{SocketFlags, accept_with};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

/// Clients at a time; those that parallelise use four to sixteen connections each.
const MAX_CLIENTS: usize = 32;

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
}

impl Default for Options {
    fn default() -> Self {
        Self { export: "keyway".into(), tls: None, workers: 16, handshake: Duration::from_secs(10) }
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
}

const NEGOTIATING: u8 = 0;
const SERVED: u8 = 1;
const GONE: u8 = 2;

struct Client {
    socket: Socket,
    since: Instant,
    state: AtomicU8,
}

impl Server {
    /// Takes the address; clients that connect from now on wait until [`Server::run`].
    pub fn bind(listen: &Listen, options: Options) -> Result<Self, NbdError> {
        let listener = Listener::bind(listen, options.tls.is_some())?;
        Ok(Self { listener, options, counters: Arc::default() })
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
        let mut clients: Vec<Arc<Client>> = Vec::new();
        std::thread::scope(|scope| {
            let result = loop {
                let wait = self.drop_the_slow(&clients);
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
                clients.retain(|client| client.state.load(Ordering::Acquire) != GONE);
                if ready.first().is_some_and(|fd| !fd.revents().is_empty()) {
                    match accept_with(&self.listener.fd, SocketFlags::CLOEXEC) {
                        // Dropping it is all one can say to one client too many.
                        Ok(fd) if clients.len() >= MAX_CLIENTS => drop(fd),
                        Ok(fd) => {
                            if matches!(self.address(), Listen::Tcp(_)) {
                                // Only makes it faster.
                                let _ = set_tcp_nodelay(&fd, true);
                            }
                            let client = Arc::new(Client {
                                socket: Socket::new(fd),
                                since: Instant::now(),
                                state: AtomicU8::new(NEGOTIATING),
                            });
                            if self.welcome(scope, &client, &device, stop) {
                                clients.push(client);
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
            see_off(&clients);
            result
        })
    }

    /// Hangs up on clients whose time for the handshake is over; says how long until the next one's.
    fn drop_the_slow(&self, clients: &[Arc<Client>]) -> Option<Timespec> {
        let negotiating = clients.iter().filter(|c| c.state.load(Ordering::Acquire) == NEGOTIATING);
        let left = negotiating.filter_map(|client| {
            let left = self.options.handshake.saturating_sub(client.since.elapsed());
            if left.is_zero() {
                client.socket.hang_up();
                return None;
            }
            Some(left)
        });
        // Rounded up, so that the deadline has passed when poll returns.
        let left = left.min()? + Duration::from_millis(1);
        Timespec::try_from(left).ok()
    }

    /// Starts the client's thread; whether there was one to be had.
    fn welcome<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        client: &Arc<Client>,
        device: &Arc<Device>,
        stop: &'s Stop,
    ) -> bool {
        self.counters.accepted.fetch_add(1, Ordering::Relaxed);
        self.counters.open.fetch_add(1, Ordering::Relaxed);
        let guest = (client.clone(), device.clone());
        let spawned = Builder::new().name("nbd".into()).spawn_scoped(scope, move || {
            let (client, device) = guest;
            let result = self.attend(&client, &device, stop);
            if result.is_err() && !stop.is_requested() {
                self.counters.broken.fetch_add(1, Ordering::Relaxed);
            }
            client.socket.hang_up();
            client.state.store(GONE, Ordering::Release);
            // Last: who sees that a place is free must get it.
            self.counters.open.fetch_sub(1, Ordering::Release);
        });
        if spawned.is_err() {
            self.counters.open.fetch_sub(1, Ordering::Relaxed);
        }
        spawned.is_ok()
    }

    fn attend(&self, client: &Client, device: &Device, stop: &Stop) -> Result<(), ConnectionError> {
        let closing = || stop.is_requested();
        let (name, workers) = (&self.options.export, self.options.workers.max(1));
        let socket = &client.socket;
        let served = || client.state.store(SERVED, Ordering::Release);
        let flags = handshake::greet(socket)?;
        let Some(certificates) = &self.options.tls else {
            let outcome = handshake::negotiate(socket, device, name, flags, Security::Plain, closing)?;
            served();
            return match outcome {
                Outcome::Agreed(agreed) => transmission::serve(socket, device, agreed, workers, &closing),
                Outcome::StartTls | Outcome::Left => Ok(()),
            };
        };
        let first = handshake::negotiate(socket, device, name, flags, Security::TlsFirst, closing)?;
        if first != Outcome::StartTls {
            return Ok(());
        }
        let wire = TlsWire::accept(socket, certificates)?;
        let outcome = handshake::negotiate(&wire, device, name, flags, Security::Tls, closing)?;
        served();
        let done = match outcome {
            Outcome::Agreed(agreed) => transmission::serve(&wire, device, agreed, workers, &closing),
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
    while Instant::now() < deadline && clients.iter().any(|c| c.state.load(Ordering::Acquire) != GONE) {
        std::thread::sleep(Duration::from_millis(2));
    }
    for client in clients {
        client.socket.hang_up();
    }
}
