//! What FUSE's and ublk's rings have in common.

use io_uring::{IoUring, cqueue, squeue, types};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Among a ring's registered files the place of what requests come from,
pub(crate) const KERNEL: types::Fixed = types::Fixed(0);
/// and that of the file that their bytes are moved from and to.
pub(crate) const FILE: types::Fixed = types::Fixed(1);

/// Registers both, and the rest of `files`: they stay open until the last transfer is over, also when this process
/// is killed.
pub(crate) fn register<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    ring: &IoUring<S, C>,
    kernel: BorrowedFd<'_>,
    files: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let files: Vec<_> = std::iter::once(&kernel).chain(files).map(AsRawFd::as_raw_fd).collect();
    ring.submitter().register_files(&files)
}

/// Looks at what has come back of what was just offered. A refusal is there at once; what was accepted stays silent
/// until a request comes. `WouldBlock` where the kernel has not had the memory to look at it.
pub(crate) fn refuse_answers<S: squeue::EntryMarker>(ring: &mut IoUring<S, cqueue::Entry>) -> io::Result<()> {
    if !ring.submission().is_empty() {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    match ring.completion().next() {
        None => Ok(()),
        Some(done) if done.result() < 0 => Err(io::Error::from_raw_os_error(-done.result())),
        Some(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Tells the kernel of everything that was begun, and waits until so much has come back, or less: a signal ends it.
pub(crate) fn submit<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    ring: &IoUring<S, C>,
    wait_for: usize,
) -> io::Result<()> {
    use io::ErrorKind::{Interrupted, ResourceBusy, WouldBlock};
    match ring.submit_and_wait(wait_for) {
        // EAGAIN and EBUSY: the kernel is short of memory for the moment. What was begun stays begun, and the
        // next call tells it.
        Err(e) if !matches!(e.kind(), Interrupted | ResourceBusy | WouldBlock) => Err(e),
        _ => Ok(()),
    }
}
