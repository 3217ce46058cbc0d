//! Several requests and several connections at once, addresses, and how the server ends.

use crate::client::{Client, READ, WRITE};
use crate::rig::{Rig, device_on};
use keyway_attach::Stop;
use keyway_attach::nbd::{Listen, NbdError, Options, Server};
use keyway_engine::Access;
use keyway_store::{MemStore, Store, StoreError, pass_on};
use keyway_testkit::{PATIENCE, Rng};
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};

/// Memory whose reads wait until a given number of them are under way at once, and fail where they never are.
struct Meeting {
    inner: MemStore,
    wanted: usize,
    there: Mutex<usize>,
    complete: Condvar,
}

impl Store for Meeting {
    pass_on! { [inner] write_at flush discard size sector_bytes is_read_only }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let mut there = self.there.lock().unwrap();
        *there += 1;
        self.complete.notify_all();
        let waited = self.complete.wait_timeout_while(there, PATIENCE, |n| *n < self.wanted).unwrap();
        assert!(!waited.1.timed_out(), "{} reads never met", self.wanted);
        self.inner.read_at(buf, offset)
    }
}

#[test]
fn the_requests_of_one_connection_run_at_once() {
    let store =
        Meeting { inner: MemStore::new(1 << 20), wanted: 16, there: Mutex::new(0), complete: Condvar::new() };
    let rig = Rig::new(device_on(store, Access::ReadWrite));
    let mut client = rig.client();
    for i in 0..32 {
        client.send(0, READ, i * 4096, 4096, &[]);
    }
    for _ in 0..32 {
        assert_eq!(client.reply().error, 0);
    }
}

#[test]
fn pipelined_requests_of_all_sizes_are_answered_each_once() {
    let rig = Rig::in_memory(24 << 20);
    let mut client = rig.client();
    let mut rng = Rng::new(1);
    // Neighbouring areas, so that no two requests touch the same bytes; the last is a large one.
    let mut areas = Vec::new();
    let mut at = 0;
    for i in 0..200u64 {
        let len = if i == 150 { 9 << 20 } else { 1 + rng.below(100_000) };
        areas.push((at, rng.bytes(len as usize)));
        at += len;
    }
    // Written from another thread: replies must be taken while requests are still being sent.
    let writer = client.stream.try_clone().unwrap();
    let mut expected: HashMap<u64, usize> = HashMap::new();
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let mut sender = Client::talking(writer);
            areas.iter().map(|(at, data)| sender.send(0, WRITE, *at, data.len() as u32, data)).collect()
        });
        let mut answered: Vec<u64> = (0..areas.len()).map(|_| client.reply().cookie).collect();
        let mut sent: Vec<u64> = sender.join().unwrap();
        answered.sort_unstable();
        sent.sort_unstable();
        assert_eq!(answered, sent);
    });
    for (i, (at, data)) in areas.iter().enumerate() {
        let cookie = client.send(0, READ, *at, data.len() as u32, &[]);
        expected.insert(cookie, i);
        if expected.len() == 8 || i + 1 == areas.len() {
            for _ in 0..expected.len() {
                let reply = client.reply();
                let i = expected.remove(&reply.cookie).unwrap();
                assert!(reply.data == areas[i].1, "area {i} came back different");
            }
        }
    }
}

#[test]
fn random_requests_over_several_connections_agree_with_a_model() {
    const CONNECTIONS: usize = 4;
    const SHARE: usize = 1 << 20;
    let rig = Rig::in_memory(CONNECTIONS * SHARE);
    // Every connection owns a quarter, writes there and checks there; odd offsets make the
    // quarters' neighbours share sectors at the borders.
    let shift = 4096 + 77;
    std::thread::scope(|scope| {
        for number in 0..CONNECTIONS {
            let rig = &rig;
            scope.spawn(move || {
                let mut rng = Rng::new(number as u64);
                let mut client =
                    if number % 2 == 0 { rig.client() } else { Client::connect(&rig.socket).go() };
                let start = (number * SHARE + if number == 0 { 0 } else { shift }) as u64;
                let end = ((number + 1) * SHARE + shift).min(CONNECTIONS * SHARE) as u64;
                let mut model = vec![0u8; (end - start) as usize];
                for _ in 0..400 {
                    let len = 1 + rng.below(20_000) as usize;
                    let at = rng.below((model.len() - len) as u64) as usize;
                    match rng.below(8) {
                        0..=2 => {
                            rng.fill(&mut model[at..at + len]);
                            client.write(start + at as u64, &model[at..at + len]);
                        }
                        3 => {
                            model[at..at + len].fill(0);
                            assert_eq!(client.error_of(0, 6, start + at as u64, len as u32), 0);
                        }
                        4 => assert_eq!(client.error_of(0, 3, 0, 0), 0),
                        _ => assert!(client.read(start + at as u64, len) == model[at..at + len]),
                    }
                }
                assert!(client.read(start, model.len()) == model, "connection {number}");
            });
        }
    });
}

#[test]
fn a_unix_socket_belongs_to_its_owner_and_goes_with_the_server() {
    let mut rig = Rig::in_memory(65536);
    let mode = std::fs::metadata(&rig.socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    rig.finish();
    assert!(!rig.socket.exists());
}

#[test]
fn a_dead_socket_is_replaced_and_a_living_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listen = Listen::Unix(path.clone());
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "what a killed server leaves");
    let server = Server::bind(&listen, Options::default()).unwrap();
    let second = Server::bind(&listen, Options::default());
    assert!(matches!(second, Err(NbdError::InUse(_))));
    drop(second);
    drop(UnixStream::connect(&path).unwrap());
    drop(server);
    assert!(!path.exists());
    std::fs::write(&path, b"precious").unwrap();
    assert!(matches!(Server::bind(&listen, Options::default()), Err(NbdError::NotASocket(_))));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}

#[test]
fn tcp_listens_on_loopback_only() {
    let refused = Server::bind(&Listen::Tcp("0.0.0.0:0".parse().unwrap()), Options::default());
    assert!(matches!(refused, Err(NbdError::Remote(_))));
    let mapped = Server::bind(&Listen::Tcp("[::ffff:10.0.0.1]:0".parse().unwrap()), Options::default());
    assert!(matches!(mapped, Err(NbdError::Remote(_))));
    let server = Server::bind(&Listen::Tcp("127.0.0.1:0".parse().unwrap()), Options::default()).unwrap();
    let Listen::Tcp(address) = server.address() else { panic!("a TCP address") };
    assert_ne!(address.port(), 0);
}

/// Memory whose writes say that they have begun, and then wait until they may go on.
struct Held(MemStore, Mutex<Sender<()>>, Mutex<Receiver<()>>);

impl Store for Held {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.0.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.1.lock().unwrap().send(()).unwrap();
        self.2.lock().unwrap().recv_timeout(PATIENCE).expect("the write may go on");
        self.0.write_at(buf, offset)
    }
    fn flush(&self) -> Result<(), StoreError> {
        self.0.flush()
    }
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.0.discard(offset, len)
    }
    fn size(&self) -> u64 {
        self.0.size()
    }
    fn sector_bytes(&self) -> u32 {
        self.0.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        self.0.is_read_only()
    }
}

#[test]
fn a_stop_lets_running_requests_finish_and_then_hangs_up() {
    let ((begun, begins), (go_on, goes_on)) = (channel(), channel());
    let store = Held(MemStore::new(65536), Mutex::new(begun), Mutex::new(goes_on));
    let mut rig = Rig::new(device_on(store, Access::ReadWrite));
    let mut busy = rig.client();
    let mut idle = rig.client();
    let mut undecided = Client::connect(&rig.socket);
    let cookie = busy.send(0, WRITE, 0, 4096, &[1; 4096]);
    begins.recv_timeout(PATIENCE).expect("the write reaches the store");
    rig.stop.request();
    // Silent clients go while the write is still held. Were they waited for, all would be hung up on at once, and the
    // write would never be answered.
    idle.expect_end();
    undecided.expect_end();
    go_on.send(()).unwrap();
    let reply = busy.reply();
    assert_eq!((reply.cookie, reply.error), (cookie, 0));
    busy.expect_end();
    rig.finish();
}

#[test]
fn a_stop_before_the_run_ends_it_at_once() {
    let server = Server::bind(&Listen::Tcp("127.0.0.1:0".parse().unwrap()), Options::default()).unwrap();
    let stop = Stop::new().unwrap();
    stop.request();
    stop.request();
    server.run(Arc::new(device_on(MemStore::new(4096), Access::ReadWrite)), &stop).unwrap();
}
