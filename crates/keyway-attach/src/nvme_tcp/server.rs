//! Listens, gives every connection its thread, and hangs up on all of them when it is time to stop.

use super::controller::Controller;
use super::{Credentials, Namespace, NvmeError, queue};
use crate::Stop;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::sockopt;
use std::collections::BTreeMap;
use std::io::BufReader;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// Connections at a time: a controller has up to five.
const MAX_CONNECTIONS: usize = 64;
/// Controllers at a time.
const MAX_CONTROLLERS: usize = 12;
/// How long a host may be silent before it has connected a queue. After that it may be for ever: Linux sends a
/// keep-alive every 5 s on the admin queue, but nothing on the others.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// A host that vanished is found out by TCP's own probes: the first after so long a silence, and so long between
/// two of them.
const PROBE_AFTER: Duration = Duration::from_secs(30);
const PROBE_EVERY: Duration = Duration::from_secs(10);

/// How to serve.
#[derive(Clone)]
pub struct Options {
    /// The subsystem's name, which hosts connect to: at most 223 bytes that begin with `nqn.`.
    pub nqn: String,
    /// Whether an address that other machines reach may be used.
    pub allow_remote: bool,
    /// What a host must prove to know; nothing lets everybody in.
    pub credentials: Option<Arc<Credentials>>,
}

impl Default for Options {
    fn default() -> Self {
        Self { nqn: "nqn.2026-11.keyway:drive".into(), allow_remote: false, credentials: None }
    }
}

/// What hosts connect to: one namespace, and the controllers that they have been given.
pub(super) struct Subsystem {
    pub(super) nqn: Arc<str>,
    pub(super) credentials: Option<Arc<Credentials>>,
    namespace: Arc<dyn Namespace>,
    controllers: Mutex<(u16, BTreeMap<u16, Arc<Controller>>)>,
}

impl Subsystem {
    pub(super) fn new(
        namespace: Arc<dyn Namespace>,
        nqn: &str,
        credentials: Option<Arc<Credentials>>,
    ) -> Self {
        Self { nqn: nqn.into(), credentials, namespace, controllers: Mutex::default() }
    }

    /// A new controller, if there is room.
    pub(super) fn admit(&self) -> Option<Arc<Controller>> {
        let mut controllers = self.controllers.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, all) = &mut *controllers;
        if all.len() >= MAX_CONTROLLERS {
            return None;
        }
        // Identifiers above 0xffef are reserved (Fabrics 1.1, 4.2).
        let id = (1..=u16::MAX)
            .map(|n| last.wrapping_add(n) % 0xfff0)
            .find(|id| *id > 0 && !all.contains_key(id))?;
        *last = id;
        let controller = Arc::new(Controller::new(id, self.namespace.clone(), self.nqn.clone()));
        all.insert(id, controller.clone());
        Some(controller)
    }

    pub(super) fn find(&self, id: u16) -> Option<Arc<Controller>> {
        self.controllers.lock().unwrap_or_else(PoisonError::into_inner).1.get(&id).cloned()
    }

    pub(super) fn forget(&self, id: u16) {
        self.controllers.lock().unwrap_or_else(PoisonError::into_inner).1.remove(&id);
    }
}

/// A bound server.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    subsystem: Subsystem,
}

struct Client {
    stream: TcpStream,
    gone: AtomicBool,
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
        Ok(Self {
            listener,
            address,
            subsystem: Subsystem::new(namespace, &options.nqn, options.credentials.clone()),
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
                match poll(&mut ready, None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(e) => break Err(fail(e.into())),
                }
                if stop.is_requested() {
                    break Ok(());
                }
                clients.retain(|client| !client.gone.load(Ordering::Acquire));
                if ready.first().is_none_or(|fd| fd.revents().is_empty()) {
                    continue;
                }
                let Ok((stream, _)) = self.listener.accept() else {
                    // The client changed its mind, or the process is out of descriptors for a moment.
                    std::thread::sleep(Duration::from_millis(20));
                    continue;
                };
                if clients.len() >= MAX_CONNECTIONS {
                    continue;
                }
                // They only make it faster, and find out about hosts that vanished.
                let _ = stream.set_nodelay(true);
                let _ = sockopt::set_socket_keepalive(&stream, true);
                let _ = sockopt::set_tcp_keepidle(&stream, PROBE_AFTER);
                let _ = sockopt::set_tcp_keepintvl(&stream, PROBE_EVERY);
                let client = Arc::new(Client { stream, gone: AtomicBool::new(false) });
                let guest = client.clone();
                let spawned = Builder::new().name("nvme-tcp".into()).spawn_scoped(scope, move || {
                    self.attend(&guest.stream);
                    let _ = guest.stream.shutdown(Shutdown::Both);
                    guest.gone.store(true, Ordering::Release);
                });
                if spawned.is_ok() {
                    clients.push(client);
                }
            };
            for client in &clients {
                // Fails only on a socket that is already down.
                let _ = client.stream.shutdown(Shutdown::Both);
            }
            result
        })
    }

    fn attend(&self, stream: &TcpStream) {
        // Who connects and says nothing does not stay.
        let _ = stream.set_read_timeout(Some(HANDSHAKE));
        let from = BufReader::with_capacity(64 * 1024, stream);
        // How it ended is the host's affair: it has been told, or is gone.
        let _ = queue::serve(&self.subsystem, from, stream, || {
            let _ = stream.set_read_timeout(None);
        });
    }
}
