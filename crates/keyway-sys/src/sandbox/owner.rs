//! Root makes files in a user's folder as that user does.
//!
//! What root copies into somebody's folder would be root's else, which its owner can't read; and without its capabilities
//! root may not even write there.

use rustix::fs::fstat;
use rustix::process::geteuid;
use std::io;
use std::os::fd::BorrowedFd;

/// From now on this thread makes and opens files as the folder's owner, where it is root and the folder is not root's.
///
/// # Errors
/// The folder can't be looked at.
pub(super) fn become_owner_of(folder: BorrowedFd<'_>) -> io::Result<()> {
    let about = fstat(folder)?;
    if !geteuid().is_root() || about.st_uid == 0 {
        return Ok(());
    }
    // The group first: whoever is not root may not change it. Both say only what held before, and a refusal shows at
    // the first file.
    // SAFETY: a number, for this thread alone (setfsgid(2)).
    unsafe { libc::setfsgid(about.st_gid) };
    // SAFETY: as above (setfsuid(2)).
    unsafe { libc::setfsuid(about.st_uid) };
    Ok(())
}
