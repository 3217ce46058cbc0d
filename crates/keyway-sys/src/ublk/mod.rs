//! ublk: a block device of the kernel's whose requests a process serves, over io_uring.
//!
//! Facts: `Documentation/block/ublk.rst` and `include/uapi/linux/ublk_cmd.h`, commands in their ioctl
//! encoding (Linux 6.3; the features can be asked for since 6.5).

mod control;
mod queue;

pub use control::{
    NewUblk, UBLK_CONTROL, UblkControl, UblkDevice, UblkParameters, UblkState, ublk_character,
};
pub use queue::{UblkEvent, UblkOperation, UblkQueue, UblkRequest};

/// `_IOC_WRITE | _IOC_READ` and `_IOC_READ` of `asm-generic/ioctl.h`, in their place.
const READ_WRITE: u32 = 3 << 30;
const READ: u32 = 2 << 30;

/// A command's number: its direction, its structure's size, the letter `u`, its own number.
const fn command(direction: u32, size: usize, number: u32) -> u32 {
    direction | (size as u32) << 16 | (b'u' as u32) << 8 | number
}
