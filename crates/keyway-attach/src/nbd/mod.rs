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
//! without [`Options::tls`] it is only ever bound to a loopback address, and there the kernel is asked whose the
//! connection is: the serving user and root come in, unless [`Options::users`] lets in all. With it nothing is said in
//! the clear but the wish to start TLS, and only clients with a certificate are let in ([`Certificates`]).
//!
//! Limits, so that no client can take what it likes: requests of 32 MiB, 64 options, 10 seconds
//! for the handshake, 60 in the middle of a message in which nothing moves, 32 connections that are served (64 of the
//! serving user's) and 32 that wait for it, 16 requests at once on each, and memory for them together, not for each.

mod admission;
mod buffer_pool;
mod client;
mod connection_error;
mod context;
mod handshake;
mod listen;
mod protocol;
mod reader;
mod server;
#[cfg_attr(not(feature = "tls"), path = "../absent/tls.rs")]
mod tls;
mod transmission;
mod wire;

pub use crate::NbdError;
pub use crate::address::Listen;
pub use client::Client;
pub use connection_error::{ConnectionError, Violation};
#[cfg(feature = "vhost-user")]
pub(crate) use listen::Listener;
pub use server::{Options, Server, ServerCounters};
pub use tls::Certificates;
pub use wire::Wire;

use buffer_pool::BufferPool;
use handshake::{Outcome, Security};
use keyway_engine::Device;
use transmission::Resources;

/// Memory for the large requests of one connection that is served alone.
const ROOM: usize = 64 << 20;

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
    match handshake::negotiate(wire, device, export, flags, Security::Plain, never, || true)? {
        Outcome::Agreed(agreed) => {
            let room = BufferPool::new(ROOM);
            let resources = Resources { device, room: &room, client: None, workers, closing: &never };
            transmission::serve(wire, agreed, resources)
        }
        Outcome::StartTls | Outcome::Left => Ok(()),
    }
}
