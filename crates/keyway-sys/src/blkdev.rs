//! What a block device offers beyond reading and writing.
//!
//! Numbers: `include/uapi/linux/fs.h`.

use rustix::ioctl::{Getter, NoArg, Opcode, Setter, ioctl};
use std::io;
use std::os::fd::AsFd;

/// `BLKDISCARD`: `_IO(0x12, 119)`.
const DISCARD: Opcode = 0x1277;

/// `BLKZEROOUT`: `_IO(0x12, 127)`.
const ZERO: Opcode = 0x127F;

/// `BLKROGET`: `_IO(0x12, 94)`, into an `int`.
const READ_ONLY: Opcode = 0x125E;

/// `BLKRRPART`: `_IO(0x12, 95)`.
const REREAD_PARTITIONS: Opcode = 0x125F;

/// Has the kernel read a disk's partition table again, as it must when the disk shows other blocks
/// than before. Needs root.
///
/// # Errors
/// `EBUSY` where a partition is in use, `ENOTTY` or `EINVAL` where this is no whole disk.
pub fn reread_partitions(device: impl AsFd) -> io::Result<()> {
    // SAFETY: the operation takes no argument and touches no memory.
    unsafe { ioctl(device, NoArg::<REREAD_PARTITIONS>::new()) }?;
    Ok(())
}

/// Whether the device takes no writes: a memory card whose switch is set, a loop device on a file that is only read. Such
/// a one can be opened for writing all the same, and each write fails.
///
/// # Errors
/// It is no block device.
pub fn is_write_protected(device: impl AsFd) -> io::Result<bool> {
    // SAFETY: BLKROGET writes one `int`, and nothing else.
    let request = unsafe { Getter::<READ_ONLY, i32>::new() };
    // SAFETY: the request is the one above; on a descriptor that is no block device it fails.
    Ok(unsafe { ioctl(device, request) }? != 0)
}

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

/// Makes a range of a block device read as zeros: by the device itself where it can, else by writing them.
/// Offset and length are multiples of the device's logical sector.
///
/// # Errors
/// The medium's; `EINVAL` for a range that the device does not have.
pub fn zero_blocks(device: impl AsFd, offset: u64, len: u64) -> io::Result<()> {
    // SAFETY: BLKZEROOUT reads two 64-bit numbers, start and length, and nothing else.
    let request = unsafe { Setter::<ZERO, [u64; 2]>::new([offset, len]) };
    // SAFETY: the request is the one above; on a descriptor that is no block device it fails.
    unsafe { ioctl(device, request) }?;
    Ok(())
}
