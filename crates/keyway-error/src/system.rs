//! What an error of the operating system means, and errors of ours on their way through one.

use crate::{Advice, Explain, Fault, Kind, Meaning};
use std::{fmt, io};

/// An error of ours inside an [`io::Error`], which is all that other people's libraries and a store pass on.
#[derive(Debug)]
struct Carried(Box<dyn Explain + Send + Sync>);

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Carried {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// Puts an error into an [`io::Error`]; [`explain_io`] says what it means all the same.
pub fn carry(error: impl Explain + Send + Sync + 'static) -> io::Error {
    io::Error::other(Carried(Box::new(error)))
}

/// Whether the error is one that was put in with [`carry`]: its text says where it happened.
pub fn is_carried(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Carried>())
}

/// What an error of the operating system means.
pub fn explain_io(error: &io::Error) -> Meaning {
    use io::ErrorKind as E;
    if let Some(Carried(inner)) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
        return inner.explain();
    }
    let (kind, fault, step) = match error.kind() {
        E::NotFound => (Kind::NotFound, Fault::State, Advice::CheckPath),
        E::PermissionDenied => (Kind::NotPermitted, Fault::Machine, Advice::BecomeRoot),
        E::ReadOnlyFilesystem => (Kind::ReadOnly, Fault::Machine, Advice::OpenReadOnly),
        E::ResourceBusy | E::ExecutableFileBusy => (Kind::Busy, Fault::InUse, Advice::CloseUsers),
        E::AlreadyExists => (Kind::Exists, Fault::State, Advice::ChooseAnotherName),
        E::StorageFull | E::QuotaExceeded => (Kind::NoSpace, Fault::State, Advice::FreeSpace),
        E::UnexpectedEof => (Kind::TooShort, Fault::Contents, Advice::CheckCopiedFile),
        E::OutOfMemory => (Kind::NoMemory, Fault::Machine, Advice::FreeMemory),
        E::IsADirectory => (Kind::NotSuitable, Fault::State, Advice::NameFileNotFolder),
        E::InvalidInput => (Kind::NotSuitable, Fault::State, Advice::NameFileOrDevice),
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
        let carried = carry(Taken);
        assert!(is_carried(&carried) && !is_carried(&io::Error::other("it is taken")));
        assert_eq!((explain_io(&carried), carried.to_string()), (Taken.explain(), "it is taken".to_owned()));
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
