//! How a sector device reaches the user: FUSE, loop, NBD, vhost-user, NVMe/TCP, ublk, or the kernel's dm-crypt.
//!
//! An attachment gets a [`Device`](keyway_engine::Device) and serves it; it never sees a key.
//! [`dmcrypt`] is the exception: it hands the keys over to the kernel, which then does all the work.
//! [`session`] is the whole: one process serves one volume until it is told to stop.
#![forbid(unsafe_code)]

pub mod dmcrypt;
mod error;
pub mod fuse;
pub mod loopdev;
pub mod mount;
pub mod nbd;
pub mod nvme_tcp;
pub mod session;
mod stop;
pub mod ublk;
mod users;
pub mod vhost_user;

pub use error::{AttachError, User};
pub use stop::Stop;
