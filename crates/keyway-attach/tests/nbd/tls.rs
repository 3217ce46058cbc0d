//! TLS, judged by the clients people use: libnbd's tools and QEMU, with certificates that openssl made.

use crate::client::Client;
use crate::rig::{Rig, device_on};
use keyway_attach::Stop;
use keyway_attach::nbd::{Certificates, Listen, NbdError, Options, Server};
use keyway_engine::Access;
use keyway_store::MemStore;
use keyway_testkit::{Rng, require_tool};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

const SIZE: usize = 9 << 20;

/// A certification authority in a folder, with certificates of a server and of a client in the layout of
/// QEMU and nbdkit.
pub(crate) fn certificates(folder: &Path) -> Option<()> {
    let openssl = require_tool("openssl")?;
    let run = |words: &str| {
        let done =
            Command::new(&openssl).current_dir(folder).args(words.split_whitespace()).output().unwrap();
        assert!(done.status.success(), "openssl {words}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
    run(&format!("req -x509 {key} -keyout ca-key.pem -out ca-cert.pem -subj /CN=authority"));
    for (who, usage) in [("server", "serverAuth"), ("client", "clientAuth")] {
        run(&format!("req {key} -keyout {who}-key.pem -out {who}.csr -subj /CN=localhost"));
        fs::write(
            folder.join("extensions"),
            format!("basicConstraints=CA:FALSE\nsubjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage={usage}\n"),
        )
        .unwrap();
        run(&format!(
            "x509 -req -in {who}.csr -CA ca-cert.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile extensions -out {who}-cert.pem"
        ));
    }
    Some(())
}

/// A server with TLS on a TCP port of this machine.
pub(crate) struct Served {
    pub(crate) port: u16,
    pub(crate) uri: String,
    stop: Arc<Stop>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    fn new(folder: &Path) -> Self {
        Self::with(folder, Options::default())
    }

    pub(crate) fn with(folder: &Path, options: Options) -> Self {
        let tls = Some(Certificates::from_folder(folder).unwrap());
        let at = Listen::Tcp("127.0.0.1:0".parse().unwrap());
        let server = Server::bind(&at, Options { tls, ..options }).unwrap();
        let Listen::Tcp(address) = *server.address() else { panic!("a TCP address") };
        assert!(server.uri().starts_with("nbds://"));
        let uri = format!("nbds://localhost:{}?tls-certificates={}", address.port(), folder.display());
        let stop = Arc::new(Stop::new().unwrap());
        let told = stop.clone();
        let device = Arc::new(device_on(MemStore::new(SIZE), Access::ReadWrite));
        let thread = std::thread::spawn(move || server.run(device, &told).unwrap());
        Self { port: address.port(), uri, stop, thread: Some(thread) }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    Command::new("timeout").arg("60").arg(program).args(arguments).output().unwrap()
}

pub(crate) fn must(program: &Path, arguments: &[&str]) -> String {
    let done = run(program, arguments);
    let err = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{} {arguments:?}: {err}", program.display());
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn libnbds_tools_speak_tls_with_us() {
    let folder = tempfile::tempdir().unwrap();
    let (Some(()), Some(nbdinfo), Some(nbdcopy)) =
        (certificates(folder.path()), require_tool("nbdinfo"), require_tool("nbdcopy"))
    else {
        return;
    };
    let served = Served::new(folder.path());
    let info = must(&nbdinfo, &["--json", &served.uri]);
    assert!(info.contains(r#""TLS": true"#) && info.contains(r#""structured": true"#), "{info}");
    let (there, back) = (folder.path().join("there"), folder.path().join("back"));
    let mut image = Rng::new(8).bytes(SIZE);
    image[1 << 20..3 << 20].fill(0);
    fs::write(&there, &image).unwrap();
    // Several connections, each with many requests at once.
    must(&nbdcopy, &["--flush", "--connections=4", there.to_str().unwrap(), &served.uri]);
    must(&nbdcopy, &["--connections=4", &served.uri, back.to_str().unwrap()]);
    assert!(fs::read(&back).unwrap() == image, "the image came back different");
    must(&nbdcopy, &["--request-size=33554432", &served.uri, back.to_str().unwrap()]);
    assert!(fs::read(&back).unwrap() == image, "the image came back different, in large pieces");
}

#[test]
fn qemu_speaks_tls_with_us() {
    let folder = tempfile::tempdir().unwrap();
    let (Some(()), Some(qemu_img)) = (certificates(folder.path()), require_tool("qemu-img")) else { return };
    let served = Served::new(folder.path());
    let object = format!("tls-creds-x509,id=t,endpoint=client,dir={}", folder.path().display());
    let image = format!("driver=nbd,host=localhost,port={},tls-creds=t", served.port);
    let file = folder.path().join("image");
    fs::write(&file, Rng::new(3).bytes(SIZE)).unwrap();
    let file = file.to_str().unwrap();
    must(
        &qemu_img,
        &["convert", "-n", "--object", &object, "--target-image-opts", "-f", "raw", file, &image],
    );
    let source = format!("driver=raw,file.filename={file}");
    let compare = ["compare", "--object", &object, "--image-opts", &source, &image];
    assert!(must(&qemu_img, &compare).contains("identical"));
}

#[test]
fn nobody_comes_in_without_our_authoritys_certificate() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (Some(()), Some(()), Some(nbdinfo)) =
        (certificates(folder.path()), certificates(other.path()), require_tool("nbdinfo"))
    else {
        return;
    };
    let served = Served::new(folder.path());
    let refused = |uri: &str| {
        let done = run(&nbdinfo, &[uri]);
        assert!(!done.status.success(), "{uri}: {}", String::from_utf8_lossy(&done.stdout));
    };
    // In the clear; with no certificate; with one that another authority signed, for a client that takes
    // ours.
    refused(&format!("nbd://localhost:{}", served.port));
    let bare: PathBuf = other.path().join("bare");
    fs::create_dir(&bare).unwrap();
    fs::copy(folder.path().join("ca-cert.pem"), bare.join("ca-cert.pem")).unwrap();
    refused(&format!("nbds://localhost:{}?tls-certificates={}", served.port, bare.display()));
    fs::copy(folder.path().join("ca-cert.pem"), other.path().join("ca-cert.pem")).unwrap();
    refused(&format!("nbds://localhost:{}?tls-certificates={}", served.port, other.path().display()));
    // The server's own certificate is none for clients.
    for name in ["cert", "key"] {
        let of = |who: &str| format!("{who}-{name}.pem");
        fs::copy(folder.path().join(of("server")), other.path().join(of("client"))).unwrap();
    }
    refused(&format!("nbds://localhost:{}?tls-certificates={}", served.port, other.path().display()));
    // Ours still gets in.
    must(&nbdinfo, &[&served.uri]);
}

#[test]
fn nothing_is_told_in_the_clear() {
    let folder = tempfile::tempdir().unwrap();
    let Some(()) = certificates(folder.path()) else { return };
    let tls = Some(Certificates::from_folder(folder.path()).unwrap());
    let device = device_on(MemStore::new(SIZE), Access::ReadWrite);
    let rig = Rig::with(device, Options { tls, ..Options::default() });
    assert!(rig.uri.starts_with("nbds+unix:///"), "{}", rig.uri);
    let mut client = Client::connect(&rig.socket);
    // INFO, GO, LIST, structured replies, contexts, and one that does not exist.
    for number in [6, 7, 3, 8, 9, 99] {
        assert_eq!(client.option(number, &[])[0].kind, (1 << 31) + 5, "option {number}");
    }
    assert_eq!(client.option(2, &[])[0].kind, 1);
    client.expect_end();
    let mut client = Client::connect(&rig.socket);
    client.send_option(1, b"");
    client.expect_end();
    // What is no TLS ends the connection, and no other.
    let mut client = Client::connect(&rig.socket);
    assert_eq!(client.option(5, &[])[0].kind, 1);
    std::io::Write::write_all(&mut client.stream, b"IHAVEOPT\0\0\0\x07\0\0\0\0").unwrap();
    let mut alert = Vec::new();
    let _ = std::io::Read::read_to_end(&mut client.stream, &mut alert);
    // A TLS alert, record type 21, or nothing: no NBD.
    assert!(alert.is_empty() || alert[0] == 21, "{alert:02x?}");
    // Without certificates there is no TLS.
    let plain = Rig::in_memory(SIZE);
    assert_eq!(Client::connect(&plain.socket).option(5, &[])[0].kind, (1 << 31) + 1);
}

#[test]
fn bad_folders_are_refused_by_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let fault = || match Certificates::from_folder(folder.path()) {
        Err(NbdError::Certificates { path, .. }) => path.file_name().unwrap().to_str().unwrap().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(), "ca-cert.pem");
    let Some(()) = certificates(folder.path()) else { return };
    let key = fs::read(folder.path().join("server-key.pem")).unwrap();
    fs::copy(folder.path().join("client-key.pem"), folder.path().join("server-key.pem")).unwrap();
    assert_eq!(fault(), "server-key.pem");
    fs::write(folder.path().join("server-key.pem"), &key).unwrap();
    fs::write(folder.path().join("server-cert.pem"), b"nothing").unwrap();
    assert_eq!(fault(), "server-cert.pem");
}

#[test]
fn shared_keys_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("keys.psk"), "ann:00112233445566778899aabbccddeeff\n").unwrap();
    let refused = Certificates::from_folder(folder.path()).expect_err("there is no certificate");
    assert!(refused.to_string().contains("shared keys (keys.psk) are not offered"), "{refused}");
}
