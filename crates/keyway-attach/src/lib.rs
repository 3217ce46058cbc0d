//! How a sector device reaches the user: FUSE, files in a folder, loop, NBD, vhost-user, NVMe/TCP, ublk, or the kernel's dm-crypt.
//!
//! An attachment gets a [`Device`](keyway_engine::Device) and serves it; it never sees a key.
//! [`dmcrypt`] is the exception: it hands the keys over to the kernel, which then does all the work.
//! [`session`] is the whole: one process serves one volume until it is told to stop.
#![forbid(unsafe_code)]

mod address;
mod cpus;
#[cfg_attr(not(feature = "dm-crypt"), path = "absent/dm_crypt.rs")]
pub mod dmcrypt;
mod error;
mod files;
pub mod fuse;
mod host_secrets;
pub mod loopdev;
pub mod mount;
#[cfg_attr(not(feature = "mountd"), path = "absent/mountd.rs")]
pub mod mountd;
mod namespace;
pub mod nbd;
mod notice;
#[cfg_attr(not(feature = "nvme-tcp"), path = "absent/nvme_tcp.rs")]
pub mod nvme_tcp;
mod on_panic;
mod on_signals;
mod pace;
pub mod path_text;
mod peer;
mod retry;
pub mod session;
mod sock_diag;
mod stop;
#[cfg_attr(not(feature = "ublk"), path = "absent/ublk.rs")]
pub mod ublk;
pub mod user_mount;
mod users;
#[cfg_attr(not(feature = "vhost-user"), path = "absent/vhost_user.rs")]
pub mod vhost_user;

pub use address::Listen;
pub use error::{
    AttachError, DmCryptError, NbdError, NvmeError, Silence, SilentProcess, UblkError, Unmappable, User,
    VhostError,
};
pub use keyway_sys::{HeldSignals, is_asked_to_stop, stop_on_signals};
pub use namespace::{Namespace, NamespaceError, SecurityRefusal, VolumeNamespace};
pub use notice::{Notice, on_notice};
pub use on_signals::on_signals;
pub use peer::{LocalUsers, Refusals, Refused};
pub use stop::Stop;
