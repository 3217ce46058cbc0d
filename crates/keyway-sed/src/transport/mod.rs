//! The ways to a drive's security protocols.
//!
//! Everything above talks to a [`SecurityTransport`]: bytes to a protocol, bytes from a protocol. The
//! commands that carry them are NVMe's, SCSI's or ATA's, by the kernel of Linux; a virtual drive in this process
//! (`keyway-virtual-drive`) needs none.

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "what sends it is Linux's"))]
pub mod ata;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "what sends it is Linux's"))]
pub mod identity;
#[cfg(target_os = "linux")]
pub mod nvme;
#[cfg(target_os = "linux")]
mod open;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "what sends it is Linux's"))]
pub mod scsi;
mod security;
#[cfg(target_os = "linux")]
pub mod sg;
#[cfg(target_os = "linux")]
mod system;

pub use identity::{Identity, Interface};
#[cfg(target_os = "linux")]
pub use open::open_device;
pub use security::{NoSecurity, Refusal, SecurityTransport, TransportError};
