//! Security commands over the kernel's NVMe admin ioctl.

use super::identity::Identity;
use super::security::{NoSecurity, Refusal, SecurityTransport, TransportError};
use super::system::sorted;
use keyway_sys::{NVME_IDENTIFY_BYTES, nvme_identify, nvme_security_receive, nvme_security_send};
use std::fs::File;

/// Identify Controller, byte 256: optional admin commands; bit 0 is Security Send and Receive.
const OACS: usize = 256;
/// The system's number for an invalid argument.
const EINVAL: i32 = 22;
/// Generic status: the opcode is not known.
const INVALID_OPCODE: u16 = 0x001;
/// The status type and code of a status field; the bits above say whether to try again.
const STATUS: u16 = 0x7FF;

/// An NVMe controller, by its own device file or a namespace's.
#[derive(Debug)]
pub struct NvmeTransport {
    file: File,
    identity: Identity,
}

impl NvmeTransport {
    /// Asks the controller who it is.
    ///
    /// # Errors
    /// [`TransportError::NotADrive`] where this is no NVMe device, [`TransportError::NoSecurityCommands`]
    /// where it is one that has no security commands.
    pub fn open(file: File) -> Result<Self, TransportError> {
        let mut page = [0; NVME_IDENTIFY_BYTES];
        judge(nvme_identify(&file, &mut page).map_err(|e| match e.raw_os_error() {
            // What the kernel's SCSI layer says of an ioctl that it does not know, where others say ENOTTY.
            Some(EINVAL) => TransportError::NotADrive,
            _ => sorted(e),
        })?)?;
        if page.get(OACS).is_none_or(|commands| commands & 1 == 0) {
            return Err(TransportError::NoSecurityCommands(NoSecurity::Drive));
        }
        let identity = Identity::from_nvme(&page).ok_or(TransportError::NotADrive)?;
        Ok(Self { file, identity })
    }
}

fn judge(status: u16) -> Result<(), TransportError> {
    match status & STATUS {
        0 => Ok(()),
        INVALID_OPCODE => Err(TransportError::NoSecurityCommands(NoSecurity::Drive)),
        _ => Err(TransportError::Refused(Refusal::Nvme(status))),
    }
}

impl SecurityTransport for NvmeTransport {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn send(&mut self, protocol: u8, com_id: u16, data: &[u8]) -> Result<(), TransportError> {
        judge(nvme_security_send(&self.file, protocol, com_id, data).map_err(sorted)?)
    }

    fn receive(&mut self, protocol: u8, com_id: u16, into: &mut [u8]) -> Result<(), TransportError> {
        into.fill(0);
        judge(nvme_security_receive(&self.file, protocol, com_id, into).map_err(sorted)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_told_apart() {
        assert!(judge(0).is_ok());
        assert!(
            matches!(judge(0x4001), Err(TransportError::NoSecurityCommands(_))),
            "do not retry is no news"
        );
        assert!(matches!(judge(0x0002), Err(TransportError::Refused(Refusal::Nvme(2)))));
    }

    #[test]
    fn another_device_is_no_nvme_drive() {
        let null = File::open("/dev/null").expect("Linux has it");
        assert!(matches!(NvmeTransport::open(null), Err(TransportError::NotADrive)));
    }
}
