//! An NBD client of the simplest kind: `NBD_OPT_EXPORT_NAME`, simple replies, one request at a time; in the clear or
//! over TLS with a certificate of its own.

use crate::way::PATIENCE;
use keyway_testkit::require_tool;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Numbers of the NBD protocol's document: options and their answer, commands.
const EXPORT_NAME: u32 = 1;
const START_TLS: u32 = 5;
const ACKNOWLEDGED: u32 = 1;
pub(crate) const READ: u16 = 0;
pub(crate) const WRITE: u16 = 1;
pub(crate) const FLUSH: u16 = 3;

trait Wire: Read + Write + Send {}
impl<T: Read + Write + Send> Wire for T {}

/// A connection.
pub(crate) struct Nbd(Box<dyn Wire>);

/// Certificates of an authority, a server and a client, under the names that QEMU gives them.
pub(crate) struct Pki {
    folder: PathBuf,
    config: Arc<ClientConfig>,
}

impl Pki {
    /// Makes them in a new folder; `None` after a visible skip where openssl is missing.
    pub(crate) fn new(folder: &Path) -> Option<Self> {
        let openssl = require_tool("openssl")?;
        std::fs::create_dir(folder).expect("a folder");
        let run = |words: &str| {
            let done = Command::new(&openssl).current_dir(folder).args(words.split_whitespace()).output();
            let done = done.expect("openssl starts");
            assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
        };
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30";
        run(&format!("req -x509 {key} -keyout ca-key.pem -out ca-cert.pem -subj /CN=authority"));
        let extensions = "basicConstraints=CA:FALSE\nsubjectAltName=DNS:localhost\n";
        std::fs::write(folder.join("extensions"), extensions).expect("there is room");
        for who in ["server", "client"] {
            run(&format!("req {key} -keyout {who}-key.pem -out {who}.csr -subj /CN=localhost"));
            let authority = "-CA ca-cert.pem -CAkey ca-key.pem -CAcreateserial -days 30 -extfile extensions";
            run(&format!("x509 -req -in {who}.csr {authority} -out {who}-cert.pem"));
        }
        let certificate =
            |name: &str| CertificateDer::from_pem_file(folder.join(name)).expect("a certificate");
        let mut roots = RootCertStore::empty();
        roots.add(certificate("ca-cert.pem")).expect("an authority");
        let own = PrivateKeyDer::from_pem_file(folder.join("client-key.pem")).expect("a key");
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("the provider has TLS 1.3")
            .with_root_certificates(roots)
            .with_client_auth_cert(vec![certificate("client-cert.pem")], own)
            .expect("they fit");
        Some(Self { folder: folder.to_owned(), config: Arc::new(config) })
    }

    /// For `--tls-certificates`.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Nbd {
    pub(crate) fn unix(socket: &Path) -> io::Result<Self> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        greet(&mut stream)?;
        Self::enter(Box::new(stream))
    }

    pub(crate) fn tls(address: &str, pki: &Pki) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        greet(&mut stream)?;
        stream.write_all(&option(START_TLS))?;
        let mut answer = [0; 20];
        stream.read_exact(&mut answer)?;
        if answer[12..16] != ACKNOWLEDGED.to_be_bytes() {
            return Err(io::Error::other("TLS was refused"));
        }
        let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
        let tls = ClientConnection::new(Arc::clone(&pki.config), name).map_err(io::Error::other)?;
        Self::enter(Box::new(StreamOwned::new(tls, stream)))
    }

    fn enter(mut wire: Box<dyn Wire>) -> io::Result<Self> {
        wire.write_all(&option(EXPORT_NAME))?;
        wire.flush()?;
        // Size and flags.
        wire.read_exact(&mut [0; 10])?;
        Ok(Self(wire))
    }

    pub(crate) fn send(&mut self, command: u16, offset: u64, len: usize, data: &[u8]) -> io::Result<()> {
        let mut request = 0x2560_9513u32.to_be_bytes().to_vec();
        request.extend([0; 2]);
        request.extend(command.to_be_bytes());
        request.extend([7; 8]);
        request.extend(offset.to_be_bytes());
        request.extend((len as u32).to_be_bytes());
        request.extend(data);
        self.0.write_all(&request)?;
        self.0.flush()
    }

    pub(crate) fn ask(&mut self, command: u16, offset: u64, len: usize, data: &[u8]) -> io::Result<Vec<u8>> {
        self.send(command, offset, len, data)?;
        let mut reply = [0; 16];
        self.0.read_exact(&mut reply)?;
        let error = i32::from_be_bytes([reply[4], reply[5], reply[6], reply[7]]);
        if reply[..4] != 0x6744_6698u32.to_be_bytes() || reply[8..] != [7; 8] {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        let mut bytes = vec![0; if command == READ { len } else { 0 }];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Takes the greeting, and gives back the flags that it offers.
fn greet(stream: &mut (impl Read + Write)) -> io::Result<()> {
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting)?;
    stream.write_all(&[0, 0, greeting[16], greeting[17]])
}

/// An option without data; as a name it is the empty one.
fn option(number: u32) -> Vec<u8> {
    [&b"IHAVEOPT"[..], &number.to_be_bytes(), &0u32.to_be_bytes()].concat()
}
