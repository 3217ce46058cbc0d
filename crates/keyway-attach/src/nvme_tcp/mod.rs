//! An NVMe/TCP controller: a namespace as a disk of the kernel's, of this machine's or a virtual one's.
//!
//! [`Server::bind`] takes an address, [`Server::run`] serves a [`Namespace`] there until it is stopped: a
//! volume ([`VolumeNamespace`]), or a drive that encrypts itself, whose Security Send and Receive a kernel's own
//! sed-opal then uses. Linux connects with
//! `nvme connect -t tcp -a 127.0.0.1 -s PORT -n NQN`, or through `/dev/nvme-fabrics`.
//!
//! Sources: NVM Express Base Specification 1.4, NVMe over Fabrics 1.1, NVMe/TCP Transport Specification 1.0.
//!
//! Who may connect: everybody, or with [`Options::credentials`] who proves to know a secret (see `auth`). What is
//! not there: discovery controllers, digests and TLS. So without credentials it is bound to loopback addresses only,
//! unless [`Options::allow_remote`] says otherwise, and even there every user of the machine may connect; with them,
//! what is read and written still crosses the network as it is.
//!
//! Limits, so that no host can take what it likes: 64 connections, 12 controllers of 4 I/O queues with 128
//! entries, 1 MiB in one command, 8 writes at once on each connection.

mod auth;
mod command;
mod controller;
mod identify;
mod namespace;
mod pdu;
mod queue;
mod server;

pub use auth::{AuthSecret, Credentials, SecretFault};
pub use namespace::{Namespace, NamespaceError, SecurityRefusal, VolumeNamespace};
pub use server::{Options, Server};

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;

/// Why a server could not listen, or had to give up.
#[derive(Debug, thiserror::Error)]
pub enum NvmeError {
    /// An address other machines reach, without leave.
    #[error(
        "{0} can be reached from other machines and nothing here asks for a password; use a loopback address, or have hosts prove a secret"
    )]
    Remote(SocketAddr),
    /// Not a name for a subsystem.
    #[error("{0:?} is no NVMe qualified name; write nqn.YEAR-MONTH.DOMAIN:NAME")]
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

/// What the host did that the transport forbids, or that is not spoken here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// A PDU that a host does not send, or not now.
    #[error("the host sent a PDU of type {0:#04x}")]
    PduType(u8),
    /// Lengths that do not fit.
    #[error("the host sent a PDU of {0} bytes, which does not fit its type")]
    PduLength(usize),
    /// A PDU format of the future.
    #[error("the host speaks PDU format {0}")]
    Format(u16),
    /// Data that must be aligned.
    #[error("the host wants its data aligned")]
    Alignment,
    /// The host gave up.
    #[error("the host ended the connection with an error")]
    Terminated,
    /// Two commands of the same identifier, or data for none.
    #[error("command identifier {0:#06x} does not belong to a command that waits for data")]
    Identifier(u16),
    /// Who did not prove to know the secret.
    #[error("the host did not prove that it knows the secret")]
    Unproved,
    /// Data that is not what was asked for.
    #[error("the host sent data for offset {0}, which was not asked for")]
    DataOffset(u32),
}

/// Why a connection ended. The server goes on.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The host broke the protocol.
    #[error(transparent)]
    Host(#[from] Breach),
    /// The stream failed or ended.
    #[error("the connection was lost: {0}")]
    Wire(#[from] io::Error),
}

/// Serves one connection to a namespace of its own controller, until its end: for tests and fuzzing.
///
/// # Errors
/// How it ended; every connection ends in one.
pub fn serve_connection(
    namespace: Arc<dyn Namespace>,
    nqn: &str,
    from: impl Read,
    to: impl Write,
) -> Result<(), ConnectionError> {
    queue::serve(&server::Subsystem::new(namespace, nqn, None), from, to, || {})
}
