//! Bytes to and from a drive's security protocols, and why they did not get through.

use super::identity::Identity;
use crate::SecurityError;
use std::io;

/// Bytes to and from a drive's security protocols (SPC-4, SECURITY PROTOCOL IN and OUT; ATA TRUSTED
/// SEND and RECEIVE; NVMe Security Send and Receive).
pub trait SecurityTransport {
    /// Which drive this is.
    fn identity(&self) -> &Identity;

    /// Sends a protocol `data`, whose length is a multiple of 512 bytes.
    ///
    /// # Errors
    /// Where the drive refuses the command or can't be reached.
    fn send(&mut self, protocol: u8, com_id: u16, data: &[u8]) -> Result<(), TransportError>;

    /// Asks a protocol for as many bytes as `into` has, a multiple of 512. What the drive does not
    /// send is zero.
    ///
    /// # Errors
    /// Where the drive refuses the command or can't be reached.
    fn receive(&mut self, protocol: u8, com_id: u16, into: &mut [u8]) -> Result<(), TransportError>;
}

/// Why bytes did not get through.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// It is not a drive that takes security commands by any way we know.
    #[error("this is no drive that takes security commands")]
    NotADrive,
    /// The command is not known to the drive, or the way to it swallows it.
    #[error("{0}")]
    NoSecurityCommands(NoSecurity),
    /// The system refuses.
    #[error("the system does not let this user send commands to the drive")]
    NotPermitted(#[source] io::Error),
    /// The drive does not answer in time.
    #[error("the drive did not answer in time")]
    TimedOut,
    /// The drive refuses this command.
    #[error("the drive refused the command: {0}")]
    Refused(Refusal),
    /// The system could not do it.
    #[error("the command did not reach the drive: {0}")]
    Io(#[source] io::Error),
}

/// Why a drive's security commands can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSecurity {
    /// The drive says it has none.
    #[error(
        "the drive has no security commands: it does not encrypt by itself, or not in a way that can be managed"
    )]
    Drive,
    /// libata lets none through.
    #[error("the kernel holds back ATA security commands")]
    Libata,
    /// A bridge does.
    #[error("the drive's USB bridge lets no security commands through")]
    Bridge,
}

/// How a drive refused a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// NVMe: the status field, without its phase bit.
    #[error("NVMe status {:#05x}", .0 & 0x7FF)]
    Nvme(u16),
    /// SCSI: sense key, additional sense code and qualifier.
    #[error("SCSI sense {key:x}/{asc:02x}/{ascq:02x}")]
    Sense {
        /// The sense key.
        key: u8,
        /// The additional sense code.
        asc: u8,
        /// Its qualifier.
        ascq: u8,
    },
    /// SCSI: another status than GOOD, without sense.
    #[error("SCSI status {0:#04x}")]
    Scsi(u8),
    /// A virtual drive.
    #[error("{0}")]
    Virtual(SecurityError),
}
