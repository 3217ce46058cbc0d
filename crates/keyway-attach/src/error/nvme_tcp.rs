//! Why an NVMe/TCP controller could not listen, or had to give up.

use super::not_served;
use keyway_error::explain;
use std::io;
use std::net::SocketAddr;

/// Why a server could not listen, or had to give up.
#[derive(Debug, thiserror::Error)]
pub enum NvmeError {
    /// An address other machines reach, without leave.
    #[error("{0} can be reached from other machines and nothing here asks for a password")]
    Remote(SocketAddr),
    /// Not a name for a subsystem.
    #[error("{0:?} is no NVMe qualified name")]
    Name(String),
    /// The system said no.
    #[error("could not {doing} {at}: {source}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// The address.
        at: SocketAddr,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

explain! { NvmeError {
    Self::Remote(_) => [Failed State, LoopbackOrSecret],
    Self::Name(_) => [Failed State, WriteNqn],
    Self::System { source, at, .. } => { not_served(source, Some(at.port())) },
} }
