//! Why an NBD server could not listen, or had to give up.

use super::not_served;
use crate::address::Listen;
use keyway_error::explain;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a server could not listen, or had to give up.
#[derive(Debug, thiserror::Error)]
pub enum NbdError {
    /// An address other machines reach, without leave.
    #[error("{0} can be reached from other machines and NBD asks for no password")]
    Remote(SocketAddr),
    /// No TLS with these.
    #[error("{path} can't be used: {reason}")]
    Certificates {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Somebody answers on this socket.
    #[error("another server is listening on {0}")]
    InUse(PathBuf),
    /// Something else has this name.
    #[error("{0} exists and is not a socket")]
    NotASocket(PathBuf),
    /// The system said no.
    #[error("could not {doing} {}: {source}", place(at))]
    System {
        /// What was tried.
        doing: &'static str,
        /// The address.
        at: Listen,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

explain! { NbdError {
    Self::Remote(_) => [Failed State, LoopbackOrTls],
    Self::Certificates { path, .. } => [State, NameCertificates; path],
    Self::InUse(path) => [InUse, CloseOrOtherPath; path],
    Self::NotASocket(path) => [State, OtherPath; path],
    Self::System { source, at, .. } => {
        match at {
            Listen::Unix(path) => not_served(source, None).about(path),
            Listen::Tcp(address) => not_served(source, Some(address.port())),
        }
    },
} }

/// As it was asked for: virtual machines listen on such sockets as well, and know no address of NBD's.
fn place(at: &Listen) -> String {
    match at {
        Listen::Unix(path) => format!("the socket {}", path.display()),
        Listen::Tcp(address) => address.to_string(),
    }
}
