//! What an error of the operating system means.

use crate::{Advice, Fault, Kind, Meaning};
use std::io;

/// What an error of the operating system means.
pub fn explain_io(error: &io::Error) -> Meaning {
    use io::ErrorKind as E;
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
    fn system_errors_find_whose_fault_they_are() {
        let of = |errno| explain_io(&io::Error::from_raw_os_error(errno)).fault;
        // Linux's EACCES, EBUSY, ENOSPC, EROFS, EIO.
        assert_eq!(
            [13, 16, 28, 30, 5].map(of),
            [Fault::Machine, Fault::InUse, Fault::State, Fault::Machine, Fault::Medium]
        );
    }
}
