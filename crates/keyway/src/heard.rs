//! Whether somebody hears what is told once: a recovery password that nobody has seen opens nothing.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat, major, minor};
use rustix::io::{Errno, write};
use std::io;
use std::os::fd::AsFd;

/// The numbers of /dev/null.
const NULL: (u32, u32) = (1, 3);

/// Refuses to have a secret told once to what reaches nobody: before what it opens is made. `only` says that nothing else
/// opens that; whoever has another way in may throw the words away, and have them told again.
///
/// # Errors
/// It is full, or nobody reads it.
pub fn must_be_heard(to: impl AsFd, only: bool) -> io::Result<()> {
    let to = to.as_fd();
    let about = fstat(to)?;
    let is_null = (major(about.st_rdev), minor(about.st_rdev)) == NULL;
    if is_null && FileType::from_raw_mode(about.st_mode) == FileType::CharacterDevice {
        return if only { Err(io::Error::other("nobody reads /dev/null")) } else { Ok(()) };
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
        // Some open what throws away for reading as well.
        let open =
            |path: &str, read| OpenOptions::new().read(read).write(true).open(path).expect("Linux has it");
        let full = must_be_heard(open("/dev/full", false), false).expect_err("no room");
        assert_eq!(full.raw_os_error(), Some(Errno::NOSPC.raw_os_error()));
        for read in [false, true] {
            let null = || open("/dev/null", read);
            assert!(must_be_heard(null(), true).is_err(), "nothing else opens it");
            assert!(must_be_heard(null(), false).is_ok(), "thrown away by whoever has another way in");
        }
        let (read, end) = io::pipe().expect("a pipe");
        assert!(must_be_heard(&end, true).is_ok());
        assert!(must_be_heard(&read, true).is_err(), "it is for reading");
        drop(read);
        assert!(must_be_heard(&end, true).is_err(), "nobody reads");
        assert!(must_be_heard(tempfile::tempfile().expect("room"), true).is_ok());
    }
}
