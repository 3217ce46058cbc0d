//! An NVMe/TCP controller: a namespace as a disk of the kernel's, of this machine's or a virtual one's.
//!
//! [`Server::bind`] takes an address, [`Server::run`] serves a [`Namespace`] there until it is stopped: a
//! volume ([`VolumeNamespace`]), or a drive that encrypts itself, whose Security Send and Receive a kernel's own
//! sed-opal then uses. Linux connects with
//! `nvme connect -t tcp -a 127.0.0.1 -s PORT -n NQN`, or through `/dev/nvme-fabrics`.
//!
//! Sources: NVM Express Base Specification 1.4, NVMe over Fabrics 1.1, NVMe/TCP Transport Specification 1.0.
//!
//! Who may connect: with [`Options::credentials`] who proves to know a secret (see `auth`). What is
//! not there: discovery controllers, digests and TLS. So without credentials it is bound to loopback addresses only,
//! unless [`Options::allow_remote`] says otherwise, and there the kernel is asked whose the connection is: the serving
//! user and root come in, unless [`Options::users`] lets in all. With credentials, what is read and written still
//! crosses the network as it is.
//!
//! Limits, so that no host can take what it likes: 12 controllers (16 of the serving user's) of 4 I/O queues with 128
//! entries, each queue one connection, and 32 connections that wait to be let in; 1 MiB in one command, 4 MiB of writes
//! on their way on each connection; 10 seconds to be let in, 60 in the middle of a message in which nothing moves, and
//! between two messages what the host promised (KATO).

mod auth;
mod command;
mod connection_error;
mod controller;
mod host;
mod identify;
mod pdu;
mod queue;
mod server;
mod stream;
mod subsystem;

pub use crate::NvmeError;
pub use crate::namespace::{Namespace, NamespaceError, SecurityRefusal, VolumeNamespace};
pub use auth::{AuthSecret, Credentials, SecretFault};
pub use connection_error::{ConnectionError, Violation};
pub use server::{Options, Server};

use host::Host;
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;
use subsystem::Subsystem;

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
    let subsystem = Subsystem::new(namespace, nqn, None, Duration::MAX);
    queue::serve(&subsystem, from, to, &(Arc::new(Alone) as Arc<dyn Host>))
}

/// The host of a connection that nothing ends but its stream.
struct Alone;

impl Host for Alone {}
