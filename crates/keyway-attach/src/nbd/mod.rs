//! A volume as an NBD export, for virtual machines, other tools and the kernel's own client.
//!
//! [`Server::bind`] takes an address, [`Server::run`] serves a [`Device`]
//! there until it is stopped. The newstyle handshake in its fixed form is spoken, with structured
//! replies for clients that ask for them, holes in them where a volume's layout has bytes that are zeros by
//! nature, and the context `base:allocation` that tells where these are; there is one export, and every client sees the same
//! bytes: a flush or a write with `FUA` on one connection covers what all of them have been told
//! is written.
//!
//! Who may connect: a unix socket is made for its owner alone (mode 0600). TCP has no such thing;
//! without [`Options::tls`] it is only ever bound to a loopback address, and even there every user of the
//! machine may read and write the open volume. With it nothing is said in the clear but the wish to start
//! TLS, and only clients with a certificate are let in ([`Certificates`]).
//!
//! Limits, so that no client can take what it likes: requests of 32 MiB, 64 options, 10 seconds
//! for the handshake, 32 connections, 16 requests at once on each.

mod context;
mod handshake;
mod listen;
mod protocol;
mod server;
mod tls;
mod transmission;
mod wire;

pub use listen::Listen;
pub(crate) use listen::Listener;
pub use server::{Options, Server, ServerCounters};
pub use tls::Certificates;
pub use wire::Wire;

use handshake::{Outcome, Security};
use keyway_engine::Device;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a server could not listen, or had to give up.
#[derive(Debug, thiserror::Error)]
pub enum NbdError {
    /// An address other machines reach, without leave.
    #[error(
        "{0} can be reached from other machines and NBD asks for no password; use a loopback address, or TLS"
    )]
    Remote(SocketAddr),
    /// No TLS with these.
    #[error(
        "{path} can't be used: {reason}; a folder of certificates has ca-cert.pem, server-cert.pem and server-key.pem"
    )]
    Certificates {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Somebody answers on this socket.
    #[error("another server is listening on {0}; close it or choose another path")]
    InUse(PathBuf),
    /// Something else has this name.
    #[error("{0} exists and is not a socket; choose another path")]
    NotASocket(PathBuf),
    /// The system said no.
    #[error("could not {doing} {at}: {source}")]
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

/// What the client did that the protocol forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// Handshake flags that the server did not offer.
    #[error("the client set unknown handshake flags {0:#x}")]
    ClientFlags(u32),
    /// Not the head of an option.
    #[error("the client sent something that is not an option")]
    OptionMagic,
    /// Option data of an absurd length.
    #[error("the client announced an option of {0} bytes")]
    OptionLength(usize),
    /// It never chose.
    #[error("the client sent options without end")]
    TooManyOptions,
    /// An export that is not here, asked for in the way that knows no error reply.
    #[error("the client asked for an export that does not exist")]
    UnknownExport,
    /// It chose an export in the clear, in the way that knows no error reply.
    #[error("the client did not start TLS, without which nothing is served here")]
    NoTls,
    /// Not the head of a request.
    #[error("the client sent something that is not a request")]
    RequestMagic,
}

/// Why a connection ended before its time. The server goes on.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The client broke the protocol.
    #[error(transparent)]
    Client(#[from] Breach),
    /// The stream failed or ended in mid-message.
    #[error("the connection was lost: {0}")]
    Wire(#[from] io::Error),
}

/// Serves one client that is already connected, from the greeting to its end, with at most
/// `workers` requests at once. With one worker no thread is started.
pub fn serve_client(
    wire: &impl Wire,
    device: &Device,
    export: &str,
    workers: usize,
) -> Result<(), ConnectionError> {
    let never = || false;
    let flags = handshake::greet(wire)?;
    match handshake::negotiate(wire, device, export, flags, Security::Plain, never)? {
        Outcome::Agreed(agreed) => transmission::serve(wire, device, agreed, workers, &never),
        Outcome::StartTls | Outcome::Left => Ok(()),
    }
}
