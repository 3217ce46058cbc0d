//! Drives that encrypt by themselves: the protocols of the TCG Storage specifications, and a host that speaks them.
//!
//! *The messages*, which both sides of the wire share: [`token`] (the data stream), [`message`] (method calls and answers
//! in it), [`packet`] (what carries it), [`uid`] and [`status`] (the names in it), [`discovery`] (what a drive says of
//! itself), [`protocols`] (which others it speaks), [`enterprise`] (what the Enterprise SSC names otherwise) and [`comid`]
//! (resets and the management of channels).
//!
//! *The host's side*: [`host`] is a program that manages a drive, by one of the ways of [`transport`], with a secret made of
//! a [`password`]; [`diagnosis`] says what its refusals mean. The drive's side is a crate of its own, `keyway-virtual-drive`:
//! each side parses what the other says as if it came from a stranger.
//!
//! Bytes from the other side are parsed into these types once, with limits ([`token::MAX_DEPTH`],
//! [`token::MAX_VALUES`], [`packet::MAX_COMPACKET`]); nothing here panics on them.
#![forbid(unsafe_code)]

mod authority;
pub mod comid;
pub mod diagnosis;
pub mod discovery;
pub mod enterprise;
mod error;
pub mod host;
pub mod message;
pub mod packet;
pub mod password;
pub mod protocols;
mod security_error;
pub mod status;
pub mod token;
pub mod transport;
pub mod uid;

pub use authority::{Authority, NoAuthority, name_of};
pub use error::CodecError;
pub use security_error::SecurityError;
pub use status::Status;
pub use uid::Uid;
