//! A volume behind our NBD server as sectors: a connection per request in flight.

use crate::error::LabError;
use crate::sectors::Sectors;
use keyway_attach::Stop;
use keyway_attach::nbd::{Client, Listen, Options, Server};
use keyway_engine::Device;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Connections at a time; the server takes 32. Requests beyond wait for one that is free.
const CONNECTIONS: usize = 24;

/// The server's thread and the client's connections.
pub(crate) struct NbdSectors {
    socket: PathBuf,
    pool: Mutex<Pool>,
    freed: Condvar,
    device: Arc<Device>,
    start: u64,
    len: u64,
    stop: Arc<Stop>,
    server: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Client>,
    made: usize,
}

impl NbdSectors {
    /// Serves the device at a socket in `folder`.
    pub(crate) fn serve(device: Arc<Device>, start: u64, len: u64, folder: &Path) -> Result<Self, LabError> {
        let socket = folder.join("nbd.sock");
        let fail = |e: io::Error| LabError::io("serve", &socket, e);
        let stop = Arc::new(Stop::new().map_err(fail)?);
        let server = Server::bind(&Listen::Unix(socket.clone()), Options::default())
            .map_err(|e| LabError::Unsuited(e.to_string()))?;
        let (serving, until) = (device.clone(), stop.clone());
        let thread = std::thread::Builder::new().name("nbd".to_owned()).spawn(move || {
            // What it could not do, the client's requests tell.
            let _ = server.run(serving, &until);
        });
        let server = Some(thread.map_err(fail)?);
        let (pool, freed) = (Mutex::default(), Condvar::new());
        Ok(Self { socket, pool, freed, device, start, len, stop, server })
    }

    /// Does something on a connection of its own; one that failed is not used again.
    fn with<T>(&self, work: impl FnOnce(&mut Client) -> io::Result<T>) -> io::Result<T> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let ready = loop {
            if let Some(client) = pool.idle.pop() {
                break Some(client);
            }
            if pool.made < CONNECTIONS {
                pool.made += 1;
                break None;
            }
            pool = self.freed.wait(pool).unwrap_or_else(PoisonError::into_inner);
        };
        drop(pool);
        let client = ready.map_or_else(|| Client::connect(&self.socket), Ok);
        let done = client.and_then(|mut client| Ok((work(&mut client)?, client)));
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let done = match done {
            Ok((value, client)) => {
                pool.idle.push(client);
                Ok(value)
            }
            Err(e) => {
                pool.made -= 1;
                Err(e)
            }
        };
        self.freed.notify_one();
        done
    }
}

impl Sectors for NbdSectors {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.with(|client| client.read_at(buf, self.start + offset))
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.with(|client| client.write_at(buf, self.start + offset))
    }
    fn flush(&self) -> io::Result<()> {
        self.with(Client::flush)
    }
    fn size(&self) -> u64 {
        self.len
    }
    fn sector_bytes(&self) -> u32 {
        self.device.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        self.device.is_read_only()
    }
}

impl Drop for NbdSectors {
    fn drop(&mut self) {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).idle.clear();
        self.stop.request();
        if let Some(server) = self.server.take() {
            // A thread that panicked has printed why.
            let _ = server.join();
        }
    }
}
