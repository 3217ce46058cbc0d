//! Drives that encrypt by themselves: the protocols of the TCG Storage specifications, for both
//! sides of the wire.
//!
//! What both sides share: [`token`] (the data stream), [`message`] (method calls and answers in
//! it), [`packet`] (what carries it), [`uid`] and [`status`] (the names in it), [`discovery`]
//! (what a drive says of itself), [`protocols`] (which others it speaks), [`enterprise`] (what the Enterprise SSC names otherwise) and [`comid`] (resets and the management of
//! channels).
//! [`host`] is a program that manages a drive, by one of the ways of [`transport`], with a secret made of
//! a [`password`]; [`explain`] says what its refusals mean.
//! [`tper`] is a drive: a complete Opal 2 TPer over a state file and a medium, to test against; with a model's
//! timing ([`modelled`]), to measure.
//!
//! Bytes from the other side are parsed into these types once, with limits ([`token::MAX_DEPTH`],
//! [`token::MAX_VALUES`], [`packet::MAX_COMPACKET`]); nothing here panics on them.
#![forbid(unsafe_code)]

pub mod comid;
pub mod discovery;
pub mod enterprise;
mod error;
pub mod explain;
pub mod host;
pub mod message;
pub mod modelled;
pub mod packet;
pub mod password;
pub mod protocols;
pub mod status;
pub mod token;
pub mod tper;
pub mod transport;
pub mod uid;

pub use error::CodecError;
pub use status::Status;
pub use uid::Uid;
