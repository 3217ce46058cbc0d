//! What an error of the operating system means, and errors of ours on their way through one.

use crate::{Advice, Explain, Fault, Kind, Meaning};
use std::{fmt, io};

/// An error of ours inside an [`io::Error`], which is all that other people's libraries and a store pass on.
#[derive(Debug)]
struct Carried {
    error: Box<dyn Explain + Send + Sync>,
    errno: i32,
}

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Carried {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

fn carried(error: &io::Error) -> Option<&Carried> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

/// Puts an error into an [`io::Error`]; [`explain_io`] says what it means all the same, and [`carried_errno`] which
/// errno an application gets for it.
pub fn carry(error: impl Explain + Send + Sync + 'static, errno: i32) -> io::Error {
    io::Error::other(Carried { error: Box::new(error), errno })
}

/// The errno of an error that was put in with [`carry`], whose text says where it happened; `None` for any other.
pub fn carried_errno(error: &io::Error) -> Option<i32> {
    carried(error).map(|inner| inner.errno)
}

/// What ended too early, in words: the standard library's speak of a buffer.
pub fn ended_early(error: io::Error) -> io::Error {
    let plain = error.kind() == io::ErrorKind::UnexpectedEof && error.get_ref().is_none();
    if plain { io::Error::new(error.kind(), "it ends too early") } else { error }
}

/// Links without end, which has no [`io::ErrorKind`] of its own yet: on Linux.
const ELOOP: i32 = 40;
/// Too many files are open, in this process or on this machine, which have none either.
const EMFILE: i32 = 24;
const ENFILE: i32 = 23;

/// What an error of the operating system means.
pub fn explain_io(error: &io::Error) -> Meaning {
    use io::ErrorKind as E;
    if let Some(inner) = carried(error) {
        return inner.error.explain();
    }
    let (kind, fault, step) = match error.kind() {
        E::NotFound => (Kind::NotFound, Fault::State, Advice::CheckPath),
        E::PermissionDenied => (Kind::NotPermitted, Fault::Machine, Advice::BecomeRoot),
        E::ReadOnlyFilesystem => (Kind::ReadOnly, Fault::Machine, Advice::OpenReadOnly),
        E::ResourceBusy | E::ExecutableFileBusy => (Kind::Busy, Fault::InUse, Advice::CloseUsers),
        E::AlreadyExists => (Kind::Exists, Fault::State, Advice::ChooseAnotherName),
        E::AddrInUse => (Kind::Busy, Fault::InUse, Advice::OtherPort),
        E::FileTooLarge => (Kind::NoSpace, Fault::State, Advice::SmallerOrOtherDisk),
        E::StorageFull | E::QuotaExceeded => (Kind::NoSpace, Fault::State, Advice::FreeSpace),
        E::UnexpectedEof => (Kind::TooShort, Fault::Contents, Advice::CheckCopy),
        E::OutOfMemory => (Kind::NoMemory, Fault::Machine, Advice::FreeMemory),
        E::NotADirectory => (Kind::NotSuitable, Fault::State, Advice::PathThroughFile),
        E::InvalidFilename => (Kind::NotSuitable, Fault::State, Advice::CheckPath),
        E::IsADirectory => (Kind::NotSuitable, Fault::State, Advice::NameFileNotFolder),
        E::InvalidInput => (Kind::NotSuitable, Fault::State, Advice::NameFileOrDevice),
        _ if [EMFILE, ENFILE].map(Some).contains(&error.raw_os_error()) => {
            (Kind::NotPermitted, Fault::Machine, Advice::AllowMoreFiles)
        }
        _ if error.raw_os_error() == Some(ELOOP) => (Kind::NotSuitable, Fault::State, Advice::CheckPath),
        // No drive has a part in what ends between two programs.
        E::BrokenPipe | E::ConnectionReset | E::ConnectionRefused | E::ConnectionAborted => {
            return Meaning::new(Kind::Io, Fault::State);
        }
        _ => (Kind::Io, Fault::Medium, Advice::ReadSystemLog),
    };
    Meaning::new(kind, fault).advise(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_keeps_its_meaning_on_its_way() {
        #[derive(Debug)]
        struct Taken;
        impl fmt::Display for Taken {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("it is taken")
            }
        }
        impl std::error::Error for Taken {}
        impl Explain for Taken {
            fn explain(&self) -> Meaning {
                (Kind::Exists, Fault::State, Advice::ChooseAnotherName).into()
            }
        }
        let carried = carry(Taken, 17);
        assert_eq!(
            (carried_errno(&carried), carried_errno(&io::Error::other("it is taken"))),
            (Some(17), None)
        );
        assert_eq!((explain_io(&carried), carried.to_string()), (Taken.explain(), "it is taken".to_owned()));
    }

    #[test]
    fn nobody_reads_of_a_buffer() {
        let short = io::Read::read_exact(&mut &b"ab"[..], &mut [0; 3]).expect_err("two bytes");
        let told = ended_early(short);
        assert_eq!(
            (told.kind(), told.to_string()),
            (io::ErrorKind::UnexpectedEof, "it ends too early".to_owned())
        );
        assert_eq!(ended_early(io::Error::from_raw_os_error(5)).raw_os_error(), Some(5));
    }

    #[test]
    fn only_what_a_drive_says_is_looked_for_in_its_report() {
        let steps = |errno| explain_io(&io::Error::from_raw_os_error(errno)).advice;
        // Linux's ENOTDIR, ENAMETOOLONG, ELOOP: paths that can't be; EPIPE, ECONNRESET: other programs.
        assert_eq!(
            [20, 36, 40].map(steps),
            [vec![Advice::PathThroughFile], vec![Advice::CheckPath], vec![Advice::CheckPath]]
        );
        assert_eq!([32, 104].map(steps), [vec![], vec![]]);
        // EFBIG: what a file may have at most on that file system.
        assert_eq!(steps(27), [Advice::SmallerOrOtherDisk]);
        // EMFILE, ENFILE: as many files are open as may be.
        assert_eq!([24, 23].map(steps), [vec![Advice::AllowMoreFiles], vec![Advice::AllowMoreFiles]]);
        // EIO, ENXIO, ENODATA, ETIMEDOUT, EREMOTEIO.
        for errno in [5, 6, 61, 110, 121] {
            assert_eq!(steps(errno), [Advice::ReadSystemLog], "{errno}");
        }
    }

    #[test]
    fn of_a_device_that_is_not_there_it_is_told_what_lists_them() {
        let steps = |path: &str| explain_io(&io::Error::from_raw_os_error(2)).about(path).advice;
        assert_eq!(steps("/dev/sdx1"), [Advice::CheckPath, Advice::ListDevices]);
        for path in ["sdx1", "/dev/shm/v.hc", "/dev/fd/9", "/devices/v.hc"] {
            assert_eq!(steps(path), [Advice::CheckPath], "{path}");
        }
        // What is there needs no list.
        assert_eq!(
            explain_io(&io::Error::from_raw_os_error(13)).about("/dev/sda").advice,
            [Advice::BecomeRoot]
        );
    }

    #[test]
    fn system_errors_find_whose_fault_they_are() {
        let of = |errno| explain_io(&io::Error::from_raw_os_error(errno)).fault;
        // Linux's EACCES, EBUSY, ENOSPC, EROFS, EIO.
        assert_eq!(
            [13, 16, 28, 30, 5].map(of),
            [Fault::Machine, Fault::InUse, Fault::State, Fault::Machine, Fault::Medium]
        );
    }
}
