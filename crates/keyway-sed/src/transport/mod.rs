//! The ways to a drive's security protocols.
//!
//! Everything above talks to a [`SecurityTransport`]: bytes to a protocol, bytes from a protocol. The
//! commands that carry them are NVMe's ([`nvme`]), SCSI's or ATA's ([`sg`]); a virtual drive in this
//! process (`keyway-virtual-drive`) needs none.

pub mod ata;
pub mod identity;
pub mod nvme;
mod open;
pub mod scsi;
mod security;
pub mod sg;

pub use identity::{Identity, Interface};
pub use open::open_device;
pub use security::{NoSecurity, Refusal, SecurityTransport, TransportError};
