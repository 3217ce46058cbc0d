//! Whether somebody hears what is told once: a recovery password that nobody has seen opens nothing.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, major, minor};
use rustix::io::{Errno, write};
use std::io;
use std::os::fd::AsFd;

/// The numbers of /dev/null.
const NULL: (u32, u32) = (1, 3);

/// Refuses to have a secret told once to what reaches nobody: before what it opens is made. `only` says that nothing else
/// opens that; whoever has another way in may throw the words away, and have them told again.
///
/// # Errors
/// It is closed, full, or nobody reads it.
pub fn must_be_heard(to: impl AsFd, only: bool) -> io::Result<()> {
    let to = to.as_fd();
    let about = fstat(to)?;
    let is_null = (major(about.st_rdev), minor(about.st_rdev)) == NULL;
    if is_null && FileType::from_raw_mode(about.st_mode) == FileType::CharacterDevice {
        // Rust opens it, for reading as well, in the place of what was closed; a shell opens it for writing alone.
        let is_closed = fcntl_getfl(to)? & OFlags::RWMODE == OFlags::RDWR;
        return match (is_closed, only) {
            (true, _) => Err(io::Error::other("it is closed")),
            (false, true) => Err(io::Error::other("nobody reads /dev/null")),
            (false, false) => Ok(()),
        };
    }
    // No byte is written; a full device says so all the same.
    write(to, &[])?;
    let mut end = [PollFd::new(&to, PollFlags::empty())];
    poll(&mut end, Some(&Timespec::default()))?;
    let gone = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
    if end.iter().any(|end| end.revents().intersects(gone)) { Err(Errno::PIPE.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    #[test]
    fn what_reaches_nobody_is_told_before() {
        let open =
            |path: &str, read| OpenOptions::new().read(read).write(true).open(path).expect("Linux has it");
        let full = must_be_heard(open("/dev/full", false), false).expect_err("no room");
        assert_eq!(full.raw_os_error(), Some(Errno::NOSPC.raw_os_error()));
        assert!(must_be_heard(open("/dev/null", true), false).is_err(), "what was closed");
        assert!(must_be_heard(open("/dev/null", false), true).is_err(), "nothing else opens it");
        assert!(
            must_be_heard(open("/dev/null", false), false).is_ok(),
            "thrown away by whoever has another way in"
        );
        let (read, end) = io::pipe().expect("a pipe");
        assert!(must_be_heard(&end, true).is_ok());
        assert!(must_be_heard(&read, true).is_err(), "it is for reading");
        drop(read);
        assert!(must_be_heard(&end, true).is_err(), "nobody reads");
        assert!(must_be_heard(tempfile::tempfile().expect("room"), true).is_ok());
    }
}
