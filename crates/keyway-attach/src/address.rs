//! The address that a server listens on, and whether one does.

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// An address to listen on. Its `Display` is the URI that NBD clients take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// A unix socket at this path. A socket left there by a dead server is replaced.
    Unix(PathBuf),
    /// A TCP address; port 0 chooses a free one.
    Tcp(SocketAddr),
}

impl fmt::Display for Listen {
    /// As in `doc/uri.md` of the protocol's repository.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "nbd://{address}"),
            Self::Unix(path) => {
                f.write_str("nbd+unix:///?socket=")?;
                for byte in path.as_os_str().as_encoded_bytes() {
                    match byte {
                        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                            write!(f, "{}", char::from(*byte))?;
                        }
                        other => write!(f, "%{other:02X}")?,
                    }
                }
                Ok(())
            }
        }
    }
}

/// Whether nobody listens on a socket. One whose line is full has somebody, and is not waited for.
pub(crate) fn is_dead(socket: &Path) -> io::Result<bool> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let client = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match connect(client, &SocketAddrUnix::new(socket)?) {
        Ok(()) | Err(Errno::AGAIN) => Ok(false),
        Err(Errno::CONNREFUSED) => Ok(true),
        Err(e) => Err(e.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_quoted() {
        let unix = Listen::Unix("/run/user/1000/key way/ü.sock".into());
        assert_eq!(unix.to_string(), "nbd+unix:///?socket=/run/user/1000/key%20way/%C3%BC.sock");
        let tcp = Listen::Tcp("[::1]:10809".parse().unwrap());
        assert_eq!(tcp.to_string(), "nbd://[::1]:10809");
    }

    #[test]
    fn a_server_that_lets_clients_wait_is_not_dead() {
        use std::os::unix::net::UnixListener;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        // Nobody takes the one in line, and there is room for one.
        rustix::net::listen(&listener, 0).unwrap();
        assert!((0..8).all(|_| matches!(is_dead(&path), Ok(false))), "its line is full after the first");
        drop(listener);
        assert!(matches!(is_dead(&path), Ok(true)));
    }
}
