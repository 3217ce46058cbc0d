//! The NVMe admin commands that identify a controller and carry security protocols.
//!
//! Structure and number: `include/uapi/linux/nvme_ioctl.h`. Opcodes and fields: NVM Express base
//! specification 2.0, sections 5.17 (Identify), 5.25 and 5.26 (Security Receive, Security Send).

use crate::ioctl_result::ReturnsNumber;
use rustix::ioctl::{Opcode, Updater, ioctl};
use std::io;
use std::os::fd::AsFd;

/// `NVME_IOCTL_ADMIN_CMD`: `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const ADMIN: Opcode = 0xC048_4E41;
/// Identify.
const IDENTIFY: u8 = 0x06;
/// Security Send.
const SECURITY_SEND: u8 = 0x81;
/// Security Receive.
const SECURITY_RECEIVE: u8 = 0x82;
/// How long the kernel waits for the drive, in milliseconds: its own default for admin commands.
const TIMEOUT_MS: u32 = 60_000;
/// Bytes of what Identify returns.
pub const NVME_IDENTIFY_BYTES: usize = 4096;

/// `struct nvme_admin_cmd`, without its buffer.
#[repr(C)]
#[derive(Debug, Default, PartialEq, Eq)]
struct Command {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    address: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

impl Command {
    /// Identify, CNS 1: the controller. One page comes back.
    fn identify_controller() -> Self {
        Self { opcode: IDENTIFY, cdw10: 1, timeout_ms: TIMEOUT_MS, ..Self::default() }
    }

    /// Security Send or Receive: protocol and its own 16 bits in dword 10, the length in dword 11.
    fn security(opcode: u8, protocol: u8, specific: u16, len: u32) -> Self {
        let cdw10 = u32::from(protocol) << 24 | u32::from(specific) << 8;
        Self { opcode, cdw10, cdw11: len, timeout_ms: TIMEOUT_MS, ..Self::default() }
    }

    /// Runs it on a buffer of `len` bytes at `address`.
    ///
    /// # Safety
    /// The buffer is valid for what the opcode does with it: Identify and Security Receive write it.
    unsafe fn run(mut self, device: impl AsFd, address: *const u8, len: u32) -> io::Result<u16> {
        self.address = address as u64;
        self.data_len = len;
        // SAFETY: NVME_IOCTL_ADMIN_CMD reads and writes one `struct nvme_admin_cmd`, which this is;
        // the caller vouches for the buffer.
        let status = unsafe { ioctl(device, ReturnsNumber(Updater::<ADMIN, Self>::new(&mut self))) }?;
        Ok(u16::try_from(status).unwrap_or(u16::MAX))
    }
}

/// Reads a controller's Identify data. The answer is the drive's status field: 0 is success, bits
/// 7:0 are the status code and bits 10:8 its type. Needs root.
///
/// # Errors
/// `ENOTTY` where this is no NVMe device, `EACCES` or `EPERM` without the right.
pub fn nvme_identify(device: impl AsFd, into: &mut [u8; NVME_IDENTIFY_BYTES]) -> io::Result<u16> {
    // SAFETY: Identify writes 4096 bytes, which `into` has and lends exclusively.
    unsafe { Command::identify_controller().run(device, into.as_ptr(), NVME_IDENTIFY_BYTES as u32) }
}

/// Security Send: hands `data` to a security protocol of the drive. `specific` is the protocol's own
/// 16 bits, for TCG its ComID. Answer and errors as in [`nvme_identify`].
pub fn nvme_security_send(device: impl AsFd, protocol: u8, specific: u16, data: &[u8]) -> io::Result<u16> {
    let len = length(data.len())?;
    let command = Command::security(SECURITY_SEND, protocol, specific, len);
    // SAFETY: Security Send only reads its `len` bytes.
    unsafe { command.run(device, data.as_ptr(), len) }
}

/// Security Receive: fills `into` from a security protocol of the drive. Answer and errors as in
/// [`nvme_identify`].
pub fn nvme_security_receive(
    device: impl AsFd,
    protocol: u8,
    specific: u16,
    into: &mut [u8],
) -> io::Result<u16> {
    let len = length(into.len())?;
    let command = Command::security(SECURITY_RECEIVE, protocol, specific, len);
    // SAFETY: Security Receive writes at most the `len` bytes it is told of, which `into` has and
    // lends exclusively.
    unsafe { command.run(device, into.as_mut_ptr(), len) }
}

fn length(len: usize) -> io::Result<u32> {
    u32::try_from(len).map_err(|_| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_has_the_kernels_size_and_places() {
        assert_eq!(size_of::<Command>(), 72);
        assert_eq!(std::mem::offset_of!(Command, address), 24);
        assert_eq!(std::mem::offset_of!(Command, cdw10), 40);
        assert_eq!(std::mem::offset_of!(Command, timeout_ms), 64);
    }

    #[test]
    fn commands_are_as_the_specification_has_them() {
        let send = Command::security(SECURITY_SEND, 0x01, 0x07FE, 2048);
        assert_eq!((send.opcode, send.cdw10, send.cdw11), (0x81, 0x0107_FE00, 2048));
        let receive = Command::security(SECURITY_RECEIVE, 0x02, 0x1004, 512);
        assert_eq!((receive.opcode, receive.cdw10, receive.cdw11), (0x82, 0x0210_0400, 512));
        let identify = Command::identify_controller();
        assert_eq!((identify.opcode, identify.cdw10, identify.namespace), (0x06, 1, 0));
    }

    #[test]
    fn what_is_no_nvme_device_is_an_error() {
        let file = tempfile();
        let mut page = [0; NVME_IDENTIFY_BYTES];
        assert!(nvme_identify(&file, &mut page).is_err());
        assert!(nvme_security_send(&file, 1, 1, &[0; 512]).is_err());
        assert!(nvme_security_receive(&file, 1, 1, &mut [0; 512]).is_err());
    }

    fn tempfile() -> std::fs::File {
        std::fs::File::open("/dev/null").expect("Linux has it")
    }
}
