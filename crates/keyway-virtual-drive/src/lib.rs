//! A virtual drive that encrypts itself: an Opal 2 TPer and its blocks, over one store.
//!
//! [`Drive`] has what a controller needs: [`Drive::security_send`] and [`Drive::security_receive`] (IF-SEND
//! and IF-RECV), [`Drive::read`], [`Drive::write`], [`Drive::flush`], and [`Drive::power_cycle`].
//!
//! # What is honest about it
//! Blocks are encrypted with AES-256-XTS under media keys. A range that is locked has its key nowhere
//! but on the medium, under keys that come from PINs (see `keys`): without a PIN that may unlock it
//! nobody reads it, this program included. A range that asks for no PIN after a power cycle has its key
//! on the medium as it is, as in any drive. The MBR and DataStore tables are not encrypted: the specification
//! guards them by access control alone, and so does this drive.
//!
//! # What is not there
//! Trusted sessions, and more than one session at a time. What is written to byte tables in a transaction stays
//! when the transaction is aborted.
//!
//! # Where to begin
//! [`Drive::create`] with a [`DriveConfig`] or a [`Profile`] on any [`Store`](keyway_store::Store); a host of
//! [`keyway_sed::host`] talks to it through a [`VirtualTransport`], and its blocks are a store of their own:
//! [`DriveStore`]. With a drive model's timing: the module `modelled`, behind a feature of that name.
//!
//! ```
//! use keyway_sed::host::Host;
//! use keyway_store::MemStore;
//! use keyway_virtual_drive::{Drive, DriveConfig, Label, VirtualTransport};
//! use std::sync::Arc;
//!
//! let label = Label { serial: "KW1".into(), msid: "MSID-OF-KW1".into(), psid: "PSID-OF-KW1".into() };
//! let config = DriveConfig::opal(4096, 512, label);
//! let medium = Arc::new(MemStore::new(config.medium_bytes() as usize));
//! let drive = Arc::new(Drive::create(medium, &config)?);
//! let host = Host::open(Box::new(VirtualTransport::new(drive)))?;
//! assert_eq!(host.discovery().base_com_id(), Some(config.firmware.com_id));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod cell;
mod config;
mod discovery;
mod drive;
mod enterprise;
mod error;
mod fault;
mod keys;
mod life;
mod locking;
mod media;
mod methods;
mod misbehave;
#[cfg(feature = "modelled")]
pub mod modelled;
mod profile;
mod session;
mod slots;
mod state;
mod store;
mod tables;
mod tper;
mod transport;

pub use config::{DriveConfig, Firmware, Label, SscKind};
pub use drive::Drive;
pub use error::DriveError;
pub use fault::{Fault, NoFault};
pub use keyway_sed::SecurityError;
pub use media::IoError;
pub use profile::Profile;
pub use store::DriveStore;
pub use transport::VirtualTransport;
