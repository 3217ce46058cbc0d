//! SCSI commands handed straight to a device: the version 3 interface of the generic driver.
//!
//! Structure and number: `include/scsi/sg.h`.

use rustix::ioctl::{Opcode, Updater, ioctl};
use std::io;
use std::os::fd::AsFd;

/// `SG_IO`.
const SG_IO: Opcode = 0x2285;
/// `SG_DXFER_NONE`.
const NO_DATA: i32 = -1;
/// `SG_DXFER_TO_DEV`.
const TO_DEVICE: i32 = -2;
/// `SG_DXFER_FROM_DEV`.
const FROM_DEVICE: i32 = -3;
/// How long the kernel waits for the device, in milliseconds.
const TIMEOUT_MS: u32 = 60_000;
/// Most bytes of sense data that are asked for.
const SENSE_BYTES: usize = 64;

/// `struct sg_io_hdr`.
#[repr(C)]
struct Header {
    interface: i32,
    direction: i32,
    cdb_len: u8,
    sense_max: u8,
    vectors: u16,
    data_len: u32,
    data: *mut u8,
    cdb: *mut u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    id: i32,
    user: *mut u8,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    residual: i32,
    duration_ms: u32,
    info: u32,
}

/// Where a command's data comes from or goes to.
#[derive(Debug)]
pub enum ScsiData<'a> {
    /// There is none.
    None,
    /// The device reads it.
    ToDevice(&'a [u8]),
    /// The device writes it.
    FromDevice(&'a mut [u8]),
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScsiDone {
    /// The SCSI status byte: 0 is GOOD, 2 CHECK CONDITION.
    pub status: u8,
    /// The host adapter's own verdict: 0 is good, 3 a timeout (`DID_*` of the kernel).
    pub host_status: u16,
    /// The sense data, as long as the device made it.
    pub sense: Vec<u8>,
}

/// Runs one SCSI command. Needs root, or the right to write to the device for what the kernel's
/// filter lets through.
///
/// # Errors
/// `ENOTTY` where this device takes no SCSI commands, `EPERM` without the right, `EINVAL` for a
/// CDB longer than 16 bytes.
pub fn scsi_command(device: impl AsFd, cdb: &[u8], data: ScsiData<'_>) -> io::Result<ScsiDone> {
    let mut command = [0u8; 16];
    let place = command.get_mut(..cdb.len()).ok_or(io::ErrorKind::InvalidInput)?;
    place.copy_from_slice(cdb);
    let (direction, data, len) = match data {
        ScsiData::None => (NO_DATA, std::ptr::null_mut(), 0),
        // The kernel copies from it and never writes there.
        ScsiData::ToDevice(bytes) => (TO_DEVICE, bytes.as_ptr().cast_mut(), bytes.len()),
        ScsiData::FromDevice(bytes) => (FROM_DEVICE, bytes.as_mut_ptr(), bytes.len()),
    };
    let mut sense = [0u8; SENSE_BYTES];
    let mut header = Header {
        interface: i32::from(b'S'),
        direction,
        cdb_len: cdb.len() as u8,
        sense_max: SENSE_BYTES as u8,
        vectors: 0,
        data_len: u32::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?,
        data,
        cdb: command.as_mut_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: TIMEOUT_MS,
        flags: 0,
        id: 0,
        user: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_written: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: SG_IO reads and writes one `struct sg_io_hdr`, which `Header` is. Its three pointers
    // are to buffers of the lengths beside them that live until the call returns; data and sense are
    // written only where they are ours alone (the direction says that data is only read otherwise).
    unsafe { ioctl(device, Updater::<SG_IO, Header>::new(&mut header)) }?;
    let written = usize::from(header.sense_written).min(SENSE_BYTES);
    Ok(ScsiDone {
        status: header.status,
        host_status: header.host_status,
        sense: sense.get(..written).unwrap_or_default().to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn the_structure_has_the_kernels_size() {
        assert_eq!(size_of::<Header>(), 88);
        assert_eq!(std::mem::offset_of!(Header, residual), 72);
    }

    #[test]
    fn what_takes_no_scsi_commands_is_an_error() {
        let null = std::fs::File::open("/dev/null").expect("Linux has it");
        assert!(scsi_command(&null, &[0; 6], ScsiData::None).is_err());
        let long = scsi_command(&null, &[0; 17], ScsiData::None).expect_err("too long");
        assert_eq!(long.kind(), io::ErrorKind::InvalidInput);
    }
}
