//! The namespace behind a controller: blocks, and security commands where the drive has them.

use keyway_engine::{Device, DeviceError};
use std::sync::Arc;

/// A request for blocks that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamespaceError {
    /// They are locked.
    AccessDenied,
    /// They are not there.
    OutOfRange,
    /// Nothing can be written.
    ReadOnly,
    /// The medium failed.
    Medium,
}

/// A security command that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecurityRefusal {
    /// No such protocol or ComID, or a transfer that is too long.
    Field,
    /// Not now.
    Sequence,
    /// The drive failed.
    Failed,
}

/// Blocks under a number each. Requests are whole blocks.
pub trait Namespace: Send + Sync {
    /// At most 20 characters of ASCII.
    fn serial(&self) -> String;

    /// At most 40 characters of ASCII.
    fn model(&self) -> &str {
        "Keyway volume"
    }

    /// How many blocks.
    fn blocks(&self) -> u64;

    /// Bytes of a block: a power of two, 512 or more.
    fn block_bytes(&self) -> u32;

    /// Whether writes are refused.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Reads from a block on.
    ///
    /// # Errors
    /// Nothing of what was refused is in `buf`.
    fn read(&self, lba: u64, buf: &mut [u8]) -> Result<(), NamespaceError>;

    /// Writes from a block on.
    fn write(&self, lba: u64, bytes: &[u8]) -> Result<(), NamespaceError>;

    /// The same, and may leave other bytes in `bytes`: they can be encrypted where they lie, which spares a copy.
    fn write_and_spoil(&self, lba: u64, bytes: &mut [u8]) -> Result<(), NamespaceError> {
        self.write(lba, bytes)
    }

    /// Puts everything written on the medium.
    fn flush(&self) -> Result<(), NamespaceError>;

    /// Says that blocks are no longer needed.
    fn discard(&self, lba: u64, blocks: u64) -> Result<(), NamespaceError>;

    /// A host resets it, which is no loss of its power: what is under way in security commands ends.
    fn reset(&self) {}

    /// How often it was switched on, the first time left out.
    fn times_switched_on(&self) -> u64 {
        0
    }

    /// Whether there are security commands.
    fn has_security(&self) -> bool {
        false
    }

    /// Security Send.
    fn security_send(&self, _protocol: u8, _com_id: u16, _bytes: &[u8]) -> Result<(), SecurityRefusal> {
        Err(SecurityRefusal::Field)
    }

    /// Security Receive, at most `len` bytes.
    fn security_receive(&self, _protocol: u8, _com_id: u16, _len: usize) -> Result<Vec<u8>, SecurityRefusal> {
        Err(SecurityRefusal::Field)
    }
}

/// An open volume.
pub struct VolumeNamespace {
    device: Arc<Device>,
    serial: String,
}

impl VolumeNamespace {
    /// Serves this device under a serial number.
    pub const fn new(device: Arc<Device>, serial: String) -> Self {
        Self { device, serial }
    }

    fn offset(&self, lba: u64) -> Result<u64, NamespaceError> {
        lba.checked_mul(self.block_bytes().into()).ok_or(NamespaceError::OutOfRange)
    }
}

impl From<DeviceError> for NamespaceError {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::PastEnd { .. } => Self::OutOfRange,
            DeviceError::ReadOnly | DeviceError::HiddenVolume | DeviceError::Metadata(_) => Self::ReadOnly,
            DeviceError::Store(_) | DeviceError::LostWrites | DeviceError::Unwritten(_) => Self::Medium,
        }
    }
}

impl Namespace for VolumeNamespace {
    fn serial(&self) -> String {
        self.serial.clone()
    }

    fn blocks(&self) -> u64 {
        self.device.size() / u64::from(self.block_bytes())
    }

    fn block_bytes(&self) -> u32 {
        self.device.sector_bytes()
    }

    fn is_read_only(&self) -> bool {
        self.device.is_read_only()
    }

    fn read(&self, lba: u64, buf: &mut [u8]) -> Result<(), NamespaceError> {
        Ok(self.device.read_at(buf, self.offset(lba)?)?)
    }

    fn write(&self, lba: u64, bytes: &[u8]) -> Result<(), NamespaceError> {
        Ok(self.device.write_at(bytes, self.offset(lba)?)?)
    }

    fn write_and_spoil(&self, lba: u64, bytes: &mut [u8]) -> Result<(), NamespaceError> {
        Ok(self.device.write_and_spoil(bytes, self.offset(lba)?)?)
    }

    fn flush(&self) -> Result<(), NamespaceError> {
        Ok(self.device.flush()?)
    }

    fn discard(&self, lba: u64, blocks: u64) -> Result<(), NamespaceError> {
        let len = self.offset(blocks)?;
        Ok(self.device.discard(self.offset(lba)?, len)?)
    }
}
