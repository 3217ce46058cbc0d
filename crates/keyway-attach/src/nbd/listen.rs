//! The sockets on which a server listens.

use crate::NbdError;
use crate::address::{Listen, is_dead};
use keyway_sys::sandbox::is_confined;
use rustix::fs::{Mode, fchmod};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with};
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Clients the kernel lets wait for `accept`.
const BACKLOG: i32 = 32;

/// A listening socket; removes its file when dropped, if it is still the one it made.
pub(crate) struct Listener {
    pub(crate) fd: OwnedFd,
    pub(crate) at: Listen,
    /// Device and inode of the socket file.
    made: Option<(u64, u64)>,
}

impl Listener {
    pub(crate) fn bind(at: &Listen, secure: bool) -> Result<Self, NbdError> {
        match at {
            Listen::Unix(path) => Self::bind_unix(path),
            Listen::Tcp(address) => {
                if !secure && !address.ip().to_canonical().is_loopback() {
                    return Err(NbdError::Remote(*address));
                }
                let fail = |source| NbdError::System { doing: "listen on", at: at.clone(), source };
                let listener = TcpListener::bind(address).map_err(fail)?;
                let at = Listen::Tcp(listener.local_addr().map_err(fail)?);
                Ok(Self { fd: listener.into(), at, made: None })
            }
        }
    }

    fn bind_unix(path: &Path) -> Result<Self, NbdError> {
        let at = Listen::Unix(path.to_owned());
        let fail = |source: io::Error| NbdError::System { doing: "listen on", at: at.clone(), source };
        clear_the_way(path, &at)?;
        let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(|e| fail(e.into()))?;
        // The file takes its mode from the socket, so there is no moment at which others may
        // connect.
        fchmod(&fd, Mode::RUSR | Mode::WUSR).map_err(|e| fail(e.into()))?;
        let address = SocketAddrUnix::new(path).map_err(|e| fail(e.into()))?;
        bind(&fd, &address).map_err(|e| fail(e.into()))?;
        let made = std::fs::symlink_metadata(path).map(|m| (m.dev(), m.ino())).map_err(fail)?;
        let listener = Self { fd, at: at.clone(), made: Some(made) };
        listen(&listener.fd, BACKLOG).map_err(|e| fail(e.into()))?;
        Ok(listener)
    }
}

/// Removes a socket on which nobody listens any more.
fn clear_the_way(path: &Path, at: &Listen) -> Result<(), NbdError> {
    let fail = |doing, source| NbdError::System { doing, at: at.clone(), source };
    match std::fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(fail("look at", e)),
        Ok(found) if !found.file_type().is_socket() => return Err(NbdError::NotASocket(path.to_owned())),
        Ok(_) => {}
    }
    match is_dead(path) {
        Ok(false) => Err(NbdError::InUse(path.to_owned())),
        Ok(true) => std::fs::remove_file(path).map_err(|e| fail("remove the dead socket of", e)),
        Err(e) => Err(fail("look at", e)),
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // In its sandbox a process removes nothing: its warden does.
        if let (Listen::Unix(path), Some(made)) = (&self.at, self.made)
            && !is_confined()
            && std::fs::symlink_metadata(path).is_ok_and(|m| (m.dev(), m.ino()) == made)
        {
            // Nobody is left to tell when this fails; the next server clears it away.
            let _ = std::fs::remove_file(path);
        }
    }
}
