//! A server on a thread, on a unix socket in a folder of its own, stopped when dropped.

use crate::client::Client;
use keyway_attach::Stop;
use keyway_attach::nbd::{Listen, Options, Server, ServerCounters};
use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_store::{MemStore, Store};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

pub(crate) struct Rig {
    pub(crate) socket: PathBuf,
    pub(crate) uri: String,
    pub(crate) stop: Arc<Stop>,
    pub(crate) counters: Arc<ServerCounters>,
    thread: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

/// All of a store, as it is.
pub(crate) fn device_on(store: impl Store + 'static, access: Access) -> Device {
    let whole = Segment { start: 0, len: store.size(), mapping: Mapping::Plain { store_offset: 0 } };
    let layout = Layout::new(store.sector_bytes(), vec![whole]).unwrap();
    Device::new(Box::new(store), layout, access).unwrap()
}

impl Rig {
    pub(crate) fn new(device: Device) -> Self {
        Self::with(device, Options::default())
    }

    pub(crate) fn in_memory(bytes: usize) -> Self {
        Self::new(device_on(MemStore::new(bytes), Access::ReadWrite))
    }

    pub(crate) fn with(device: Device, options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("nbd");
        let server = Server::bind(&Listen::Unix(socket.clone()), options).unwrap();
        let uri = server.uri();
        let counters = server.counters();
        let stop = Arc::new(Stop::new().unwrap());
        let told = stop.clone();
        let device = Arc::new(device);
        let thread = std::thread::spawn(move || server.run(device, &told).unwrap());
        Self { socket, uri, stop, counters, thread: Some(thread), _folder: folder }
    }

    /// A client with structured replies.
    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.socket).structured().go()
    }

    pub(crate) fn finish(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            let done = thread.join();
            if !std::thread::panicking() {
                done.unwrap();
            }
        }
    }
}
