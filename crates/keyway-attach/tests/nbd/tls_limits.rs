//! Who has no certificate and stops anywhere on the way to one: whoever has one is served all the while.

use crate::tls::{Served, certificates, must};
use keyway_attach::nbd::Options;
use keyway_testkit::{PATIENCE, require_root, require_tool, wait_until};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

/// NBD's own words up to TLS: client flags, and the wish for it.
const START_TLS: &[u8] = b"\0\0\0\x03IHAVEOPT\0\0\0\x05\0\0\0\0";

/// Nothing moves the clock on but clients.
fn patient() -> Options {
    Options { handshake: PATIENCE * 10, idle: PATIENCE * 10, stall: PATIENCE * 10, ..Options::default() }
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream
}

/// Where TLS begins.
fn started(port: u16) -> TcpStream {
    try_started(port).expect("answered")
}

/// The same, for one of many who come at once: it may be seen off.
fn try_started(port: u16) -> io::Result<TcpStream> {
    let mut stream = connect(port);
    stream.write_all(START_TLS)?;
    // The greeting, and the agreement.
    let mut answer = [0; 18 + 20];
    stream.read_exact(&mut answer)?;
    assert_eq!(answer[30..34], [0, 0, 0, 1]);
    Ok(stream)
}

/// The other end of TLS, which takes our certificate and has none.
fn without_certificate(folder: &Path) -> ClientConnection {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(folder.join("ca-cert.pem")).expect("ours")).expect("good");
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("1.3")
        .with_root_certificates(roots)
        .with_no_client_auth();
    ClientConnection::new(Arc::new(config), "localhost".try_into().expect("a name")).expect("a client")
}

/// The first that a client says in TLS.
fn client_hello(folder: &Path) -> Vec<u8> {
    let mut hello = Vec::new();
    without_certificate(folder).write_tls(&mut hello).expect("memory");
    hello
}

/// Whether the other side hangs up, with or without a word.
fn ends(stream: &mut TcpStream) -> bool {
    loop {
        match stream.read(&mut [0; 4096]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(e) => return e.kind() == ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn who_stops_on_the_way_keeps_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let (Some(()), Some(nbdinfo)) = (certificates(folder.path()), require_tool("nbdinfo")) else { return };
    let served = Served::with(folder.path(), patient());
    let hello = client_hello(folder.path());
    let says = |bytes: &[u8]| {
        let mut stream = started(served.port);
        stream.write_all(bytes).expect("sent");
        stream
    };
    // Nothing; that TLS shall begin; the first byte of it; half and all of the first message.
    let stops: [&dyn Fn() -> TcpStream; 5] = [
        &|| connect(served.port),
        &|| started(served.port),
        &|| says(&hello[..1]),
        &|| says(&hello[..hello.len() / 2]),
        &|| says(&hello),
    ];
    let mut all = Vec::new();
    for (n, stop) in stops.iter().enumerate() {
        for many in [32, 200] {
            all.extend((0..many).map(|_| stop()));
            assert!(must(&nbdinfo, &["--json", &served.uri]).contains(r#""TLS": true"#), "{n}, {many}");
        }
    }
    // All of the handshake, and no certificate.
    for _ in 0..200 {
        let mut stream = started(served.port);
        let mut tls = without_certificate(folder.path());
        // For the client it is over before the server has looked.
        while tls.is_handshaking() {
            tls.complete_io(&mut stream).expect("a handshake");
        }
        all.push(stream);
    }
    must(&nbdinfo, &[&served.uri]);
    for stream in all.iter_mut().rev().take(200) {
        assert!(ends(stream), "without a certificate nobody stays");
    }
}

#[test]
fn who_says_a_byte_now_and_then_keeps_nobody_out_and_does_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (Some(()), Some(nbdinfo)) = (certificates(folder.path()), require_tool("nbdinfo")) else { return };
    let served = Served::with(folder.path(), patient());
    let hello = client_hello(folder.path());
    let done = AtomicBool::new(false);
    // A flood of new clients can see off one that is still shaking hands; those who are there and slow can not.
    let there = Barrier::new(5);
    std::thread::scope(|scope| {
        let (served, hello, done, there) = (&served, &hello, &done, &there);
        for _ in 0..4 {
            scope.spawn(move || {
                let mut slow: Vec<_> = (0..50).filter_map(|_| try_started(served.port).ok()).collect();
                there.wait();
                for byte in hello {
                    if done.load(Ordering::Acquire) {
                        return;
                    }
                    // Some were seen off meanwhile.
                    slow.retain_mut(|stream| stream.write_all(&[*byte]).is_ok());
                    std::thread::sleep(Duration::from_millis(100));
                }
            });
        }
        there.wait();
        for _ in 0..10 {
            must(&nbdinfo, &[&served.uri]);
        }
        done.store(true, Ordering::Release);
    });
    // Each byte has its time, and all of them together have theirs.
    let handshake = Duration::from_secs(1);
    let served = Served::with(folder.path(), Options { handshake, ..patient() });
    let (mut slow, mut bytes) = (started(served.port), hello.iter().cycle());
    slow.set_nodelay(true).expect("a socket");
    wait_until("it is hung up on", || {
        std::thread::sleep(Duration::from_millis(20));
        slow.write_all(&[*bytes.next().expect("for ever")]).is_err()
    });
}

/// Another user of this machine, who connects again and again as fast as can be, and ends with this.
struct Stranger(Child);

impl Stranger {
    fn new(port: u16) -> Self {
        let script = format!(
            "for n in {{1..200}}; do exec {{fd}}<>/dev/tcp/127.0.0.1/{port}; done; echo
             while :; do exec {{fd}}<>/dev/tcp/127.0.0.1/{port}; exec {{fd}}>&-; done"
        );
        let mut child = Command::new("bash")
            .args(["-c", &script])
            .current_dir("/")
            .uid(65534)
            .gid(65534)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("bash starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("200 are connected");
        Self(child)
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.0.kill().expect("ours");
        self.0.wait().expect("ended");
    }
}

#[test]
fn who_comes_all_the_time_keeps_nobody_else_out() {
    if !require_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (Some(()), Some(nbdinfo)) = (certificates(folder.path()), require_tool("nbdinfo")) else { return };
    let served = Served::with(folder.path(), patient());
    let _stranger = Stranger::new(served.port);
    // It takes its time, and is not seen off meanwhile.
    let mut slow = started(served.port);
    for _ in 0..20 {
        must(&nbdinfo, &[&served.uri]);
    }
    slow.write_all(&client_hello(folder.path())).expect("sent");
    let mut record = [0; 5];
    slow.read_exact(&mut record).expect("it is answered");
    assert_eq!(record[0], 22, "a TLS handshake");
}
