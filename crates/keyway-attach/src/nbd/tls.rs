//! TLS under NBD, for clients on other machines: the server shows a certificate, and so must every
//! client.
//!
//! The certificates lie in a folder under the names that QEMU and nbdkit use: `ca-cert.pem`,
//! `server-cert.pem`, `server-key.pem`, and where certificates have been revoked `ca-crl.pem`. A client is
//! let in when `ca-cert.pem` signed its certificate. TLS 1.3 alone is spoken; shared keys (PSK) are not
//! offered, because rustls has none.

use super::wire::{Socket, Wire, send_all};
use super::{ConnectionError, NbdError};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};
use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

/// Bytes received from the socket at a time, and encrypted at a time.
const RECEIVED: usize = 64 << 10;
const SENT: usize = 256 << 10;

/// Largest file of certificates that is read, in bytes.
const LARGEST_FILE: u64 = 1 << 20;

/// Who we are, and who may come in.
#[derive(Clone)]
pub struct Certificates(Arc<ServerConfig>);

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificates")
    }
}

/// A file of a folder of certificates.
struct Pem {
    path: PathBuf,
    bytes: Zeroizing<Vec<u8>>,
}

impl Pem {
    fn read(folder: &Path, name: &str) -> Result<Self, NbdError> {
        let path = folder.join(name);
        let mut bytes = Zeroizing::new(Vec::new());
        let read =
            std::fs::File::open(&path).and_then(|file| file.take(LARGEST_FILE).read_to_end(&mut bytes));
        match read {
            Ok(_) => Ok(Self { path, bytes }),
            // What QEMU and nbdkit call a file of shared keys.
            Err(_) if folder.join("keys.psk").exists() => {
                let reason = "shared keys (keys.psk) are not offered, only certificates".to_owned();
                Err(NbdError::Certificates { path, reason })
            }
            Err(e) => Err(NbdError::Certificates { path, reason: e.to_string() }),
        }
    }

    fn bad(&self, reason: impl fmt::Display) -> NbdError {
        NbdError::Certificates { path: self.path.clone(), reason: reason.to_string() }
    }

    /// Every certificate in it; at least one.
    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, NbdError> {
        let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.bytes).collect();
        match all {
            Ok(all) if !all.is_empty() => Ok(all),
            Ok(_) => Err(self.bad("there is no certificate in it")),
            Err(e) => Err(self.bad(e)),
        }
    }
}

impl Certificates {
    /// Reads them from a folder.
    pub fn from_folder(folder: &Path) -> Result<Self, NbdError> {
        let (ca, own, key) = (
            Pem::read(folder, "ca-cert.pem")?,
            Pem::read(folder, "server-cert.pem")?,
            Pem::read(folder, "server-key.pem")?,
        );
        let mut roots = RootCertStore::empty();
        for certificate in ca.certificates()? {
            roots.add(certificate).map_err(|e| ca.bad(e))?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        if folder.join("ca-crl.pem").exists() {
            let revoked = Pem::read(folder, "ca-crl.pem")?;
            let lists: Result<Vec<_>, _> =
                CertificateRevocationListDer::pem_slice_iter(&revoked.bytes).collect();
            verifier = verifier.with_crls(lists.map_err(|e| revoked.bad(e))?);
        }
        let verifier = verifier.build().map_err(|e| ca.bad(e))?;
        let secret = PrivateKeyDer::from_pem_slice(&key.bytes).map_err(|e| key.bad(e))?;
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|e| key.bad(e))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(own.certificates()?, secret)
            .map_err(|e| key.bad(format!("it does not fit server-cert.pem, or is no key: {e}")))?;
        Ok(Self(Arc::new(config)))
    }
}

/// A socket with TLS on it.
pub(crate) struct TlsWire<'a> {
    socket: &'a Socket,
    tls: Mutex<ServerConnection>,
    incoming: Mutex<Incoming>,
    /// What is being sent. Locked before `tls` by those that need both, so that what is
    /// encrypted first is sent first.
    outgoing: Mutex<Vec<u8>>,
}

/// Received and not yet decrypted.
struct Incoming {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn broken(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl<'a> TlsWire<'a> {
    /// Carries the handshake out. A client without a certificate that we accept is told so.
    pub(crate) fn accept(socket: &'a Socket, who: &Certificates) -> Result<Self, ConnectionError> {
        let tls = ServerConnection::new(Arc::clone(&who.0)).map_err(broken)?;
        let bytes = vec![0; RECEIVED].into_boxed_slice();
        let wire = Self {
            socket,
            tls: Mutex::new(tls),
            incoming: Mutex::new(Incoming { bytes, start: 0, end: 0 }),
            outgoing: Mutex::new(Vec::new()),
        };
        while lock(&wire.tls).is_handshaking() {
            let more = wire.take_in(&mut lock(&wire.incoming));
            // Also after an error: it is what the client is told.
            let sent = wire.send_pending(&mut lock(&wire.outgoing));
            if !more? {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            sent?;
        }
        Ok(wire)
    }

    /// Gives received bytes to TLS, after waiting for some where there are none; `false` at the end.
    fn take_in(&self, incoming: &mut Incoming) -> io::Result<bool> {
        if incoming.start == incoming.end {
            (incoming.start, incoming.end) = (0, self.socket.receive(&mut incoming.bytes)?);
            if incoming.end == 0 {
                return Ok(false);
            }
        }
        let mut held = incoming.bytes.get(incoming.start..incoming.end).unwrap_or_default();
        let mut tls = lock(&self.tls);
        let taken = tls.read_tls(&mut held)?;
        incoming.start += taken;
        tls.process_new_packets().map_err(broken)?;
        Ok(true)
    }

    /// Sends what TLS has to say.
    fn send_pending(&self, outgoing: &mut Vec<u8>) -> io::Result<()> {
        outgoing.clear();
        let mut tls = lock(&self.tls);
        while tls.wants_write() {
            tls.write_tls(outgoing)?;
        }
        drop(tls);
        send_all(self.socket, &mut [IoSlice::new(outgoing)])
    }

    /// Says that nothing more will come, so that the client knows that nothing was cut off.
    pub(crate) fn say_goodbye(&self) {
        lock(&self.tls).send_close_notify();
        // The client may have left already.
        let _ = self.send_pending(&mut lock(&self.outgoing));
    }
}

impl Wire for TlsWire<'_> {
    fn receive(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut incoming = lock(&self.incoming);
        loop {
            match lock(&self.tls).reader().read(buf) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                // Many clients leave without a word; what they cut off is found out by whoever reads.
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                other => return other,
            }
            if !self.take_in(&mut incoming)? {
                return Ok(0);
            }
            // New keys are answered with new keys. Whoever is sending just now sends that, too.
            if lock(&self.tls).wants_write()
                && let Ok(mut outgoing) = self.outgoing.try_lock()
            {
                self.send_pending(&mut outgoing)?;
            }
        }
    }

    fn send(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut outgoing = lock(&self.outgoing);
        outgoing.clear();
        let mut room = SENT;
        let mut tls = lock(&self.tls);
        for part in parts {
            // TLS holds only so much until it is sent.
            for piece in part.get(..part.len().min(room)).unwrap_or_default().chunks(RECEIVED / 2) {
                tls.writer().write_all(piece)?;
                while tls.wants_write() {
                    tls.write_tls(&mut *outgoing)?;
                }
                room -= piece.len();
            }
        }
        drop(tls);
        send_all(self.socket, &mut [IoSlice::new(&outgoing)])?;
        Ok(SENT - room)
    }

    fn hang_up(&self) {
        self.socket.hang_up();
    }
}
