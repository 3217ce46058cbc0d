//! What a block device offers beyond reading and writing.
//!
//! Numbers: `include/uapi/linux/fs.h`.

use rustix::ioctl::{Opcode, Setter, ioctl};
use std::io;
use std::os::fd::AsFd;

/// `BLKDISCARD`: `_IO(0x12, 119)`.
const DISCARD: Opcode = 0x1277;

/// Tells a block device that the bytes are not needed any more; what they read as afterwards is
/// undefined. Offset and length are multiples of the device's logical sector.
///
/// # Errors
/// `EOPNOTSUPP` where the device can't, `EINVAL` for a range it does not have.
pub fn discard_blocks(device: impl AsFd, offset: u64, len: u64) -> io::Result<()> {
    // SAFETY: BLKDISCARD reads two 64-bit numbers, start and length, and nothing else.
    let request = unsafe { Setter::<DISCARD, [u64; 2]>::new([offset, len]) };
    // SAFETY: the request is the one above; on a descriptor that is no block device it fails.
    unsafe { ioctl(device, request) }?;
    Ok(())
}
