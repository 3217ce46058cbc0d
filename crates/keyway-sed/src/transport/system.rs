//! System errors of a command that did not reach the drive.

use super::security::TransportError;
use rustix::io::Errno;
use std::io;

/// A failed system call, sorted.
pub(super) fn sorted(error: io::Error) -> TransportError {
    match error.kind() {
        io::ErrorKind::PermissionDenied => TransportError::NotPermitted(error),
        io::ErrorKind::TimedOut => TransportError::TimedOut,
        _ => match Errno::from_io_error(&error) {
            // The device does not know the ioctl.
            Some(Errno::NOTTY | Errno::OPNOTSUPP) => TransportError::NotADrive,
            _ => TransportError::Io(error),
        },
    }
}
