//! Loop devices: put one on a file, ask what it is on, take it off.
//!
//! Numbers and structures: `include/uapi/linux/loop.h`.

use crate::ioctl_result::ReturnsNumber;
use rustix::ioctl::{Getter, IntegerSetter, NoArg, Opcode, Setter, ioctl};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

/// `LOOP_CONFIGURE` (Linux 5.8).
const CONFIGURE: Opcode = 0x4C0A;
/// `LOOP_CLR_FD`.
const CLEAR: Opcode = 0x4C01;
/// `LOOP_GET_STATUS64`.
const GET_STATUS: Opcode = 0x4C05;
/// `LOOP_SET_DIRECT_IO`.
const SET_DIRECT_IO: Opcode = 0x4C08;
/// `LOOP_CTL_GET_FREE`; returns the device's number.
const GET_FREE: Opcode = 0x4C82;

/// `LO_FLAGS_READ_ONLY`.
const READ_ONLY: u32 = 1;
/// `LO_FLAGS_AUTOCLEAR`.
const UNTIL_CLOSED: u32 = 4;
/// `LO_FLAGS_DIRECT_IO`.
const DIRECT_IO: u32 = 16;

/// How often a free device is looked for again when somebody else took it first.
const TRIES: u32 = 64;

/// `struct loop_info64`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Info {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct Config {
    fd: u32,
    block_size: u32,
    info: Info,
    reserved: [u64; 8],
}

const NO_INFO: Info = Info {
    device: 0,
    inode: 0,
    rdevice: 0,
    offset: 0,
    size_limit: 0,
    number: 0,
    encrypt_type: 0,
    encrypt_key_size: 0,
    flags: 0,
    file_name: [0; 64],
    crypt_name: [0; 64],
    encrypt_key: [0; 32],
    init: [0; 2],
};

/// What a loop device is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopStatus {
    /// The backing file's inode number.
    pub inode: u64,
    /// The device number of the file system that the backing file is in.
    pub device: u64,
    /// The backing file's own device number: 0 unless it is a device.
    pub shown_device: u64,
    /// Whether it bypasses the page cache of the backing file.
    pub direct_io: bool,
    /// Whether it refuses writes.
    pub read_only: bool,
}

/// Puts a free loop device on `backing`, with direct I/O and sectors of `sector_bytes`.
/// Needs root.
pub fn loop_attach(backing: &File, sector_bytes: u32, read_only: bool) -> io::Result<PathBuf> {
    attach(backing, sector_bytes, read_only, 0).map(|(path, _)| path)
}

/// As [`loop_attach`], for a device that the kernel takes off the file when nobody has it open any more,
/// device-mapper included. Until somebody has, hold the file that is returned.
pub fn loop_attach_until_closed(
    backing: &File,
    sector_bytes: u32,
    read_only: bool,
) -> io::Result<(PathBuf, File)> {
    attach(backing, sector_bytes, read_only, UNTIL_CLOSED)
}

fn attach(backing: &File, sector_bytes: u32, read_only: bool, more: u32) -> io::Result<(PathBuf, File)> {
    let control = OpenOptions::new().read(true).write(true).open("/dev/loop-control")?;
    let mut tries = TRIES;
    loop {
        // SAFETY: the operation takes no argument and touches no memory.
        let number = unsafe { ioctl(&control, ReturnsNumber(NoArg::<GET_FREE>::new())) }?;
        let path = PathBuf::from(format!("/dev/loop{number}"));
        match configure(&path, backing, sector_bytes, read_only, more) {
            Ok(device) => return Ok((path, device)),
            // EBUSY: somebody was faster.
            Err(e) if e.kind() == io::ErrorKind::ResourceBusy && tries > 0 => tries -= 1,
            Err(e) => return Err(e),
        }
    }
}

fn configure(path: &Path, backing: &File, sector_bytes: u32, read_only: bool, more: u32) -> io::Result<File> {
    let device = OpenOptions::new().read(true).write(!read_only).open(path)?;
    let flags = more | if read_only { DIRECT_IO | READ_ONLY } else { DIRECT_IO };
    let config = Config {
        fd: backing.as_fd().as_raw_fd() as u32,
        block_size: sector_bytes,
        info: Info { flags, ..NO_INFO },
        reserved: [0; 8],
    };
    // SAFETY: LOOP_CONFIGURE reads one `struct loop_config`, which `Config` is.
    unsafe { ioctl(&device, Setter::<CONFIGURE, Config>::new(config)) }?;
    Ok(device)
}

/// What the loop device is on; `None` when it is on nothing.
pub(crate) fn loop_status(device: &File) -> io::Result<Option<LoopStatus>> {
    // SAFETY: LOOP_GET_STATUS64 writes one `struct loop_info64`, which `Info` is; any bytes are
    // a valid one.
    match unsafe { ioctl(device, Getter::<GET_STATUS, Info>::new()) } {
        Ok(info) => Ok(Some(LoopStatus {
            inode: info.inode,
            device: info.device,
            shown_device: info.rdevice,
            direct_io: info.flags & DIRECT_IO != 0,
            read_only: info.flags & READ_ONLY != 0,
        })),
        Err(rustix::io::Errno::NXIO) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Has the loop device read and write past the page cache of its file, or through it.
pub fn loop_set_direct(device: &File, direct: bool) -> io::Result<()> {
    // SAFETY: LOOP_SET_DIRECT_IO takes a number in place of a pointer and touches no memory.
    Ok(unsafe { ioctl(device, IntegerSetter::<SET_DIRECT_IO>::new_usize(usize::from(direct))) }?)
}

/// Takes the loop device off its file. Where others still have it open, the kernel does it when
/// the last of them closes it.
pub fn loop_detach(device: &File) -> io::Result<()> {
    // SAFETY: the operation takes no argument and touches no memory.
    match unsafe { ioctl(device, NoArg::<CLEAR>::new()) } {
        // ENXIO: it is off already.
        Ok(()) | Err(rustix::io::Errno::NXIO) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes as in the kernel's header.
    #[test]
    fn structures_have_the_kernels_sizes() {
        assert_eq!(size_of::<Info>(), 232);
        assert_eq!(size_of::<Config>(), 304);
    }
}
