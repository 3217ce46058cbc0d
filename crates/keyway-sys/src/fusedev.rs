//! `/dev/fuse`: another descriptor for the same connection.

use rustix::ioctl::{Opcode, Setter, ioctl, opcode};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// `FUSE_DEV_IOC_CLONE` of `include/uapi/linux/fuse.h`: group 229, number 0, reads a `u32`.
const CLONE: Opcode = opcode::read::<u32>(229, 0);

/// Opens `/dev/fuse` once more and binds it to the connection of `fuse`. Each such descriptor has
/// its own list of requests in progress, so that threads do not contend for one.
pub fn fuse_clone(fuse: impl AsFd) -> io::Result<OwnedFd> {
    let clone: OwnedFd = std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse")?.into();
    let number = fuse.as_fd().as_raw_fd() as u32;
    // SAFETY: the operation reads one `u32` that is passed by pointer, which is what a `Setter`
    // for a `u32` does, and has no other effect on memory.
    unsafe { ioctl(&clone, Setter::<CLONE, u32>::new(number)) }?;
    Ok(clone)
}
