//! The host's side: what a program does with a drive that encrypts by itself.
//!
//! A [`Host`] is a drive that we talk to; a [`Session`] is a conversation with one of its two
//! security providers: the Admin SP, where the drive has an owner ([`owner`]), and the Locking SP,
//! where ranges, users and the MBR shadow are ([`ranges`], [`users`], [`shadow`]). [`setup`] is the way from one
//! to the other and back. Drives of the [`enterprise`] SSC are only read.
//!
//! The drive is not trusted. Its bytes are parsed with limits, its answers are awaited in bounded
//! time, and what it announces is asked for only up to a bound ([`error::Misbehaved`]).

mod connection;
pub mod enterprise;
pub mod error;
pub mod owner;
pub mod ranges;
mod session;
pub mod setup;
pub mod shadow;
pub mod single_user;
pub mod users;

pub use connection::{Host, Limits};
pub use error::{HostError, Misbehaved, Operation, Refused, Unfit};
pub use session::{Columns, Credential, Reply, Session};
