//! What went wrong on the medium: the operation, where, and the system's own reason.

use keyway_error::{Advice, Explain, Meaning, carried_errno, ended_early, explain_io};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// What was being done when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Opening the file or device.
    Open,
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Putting data on the medium.
    Flush,
    /// Telling the medium that data is not needed.
    Discard,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Discard => "discard",
        })
    }
}

/// Bytes that are not the user's to write.
#[derive(Debug, thiserror::Error)]
#[error("they belong to the volume's metadata")]
struct Reserved;

/// The medium ends earlier than when it was opened.
#[derive(Debug, thiserror::Error)]
#[error("it has become shorter than the {0} bytes it had when it was opened")]
struct Shorter(u64);

/// What an operation on a store failed on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Medium {
    /// A file or device.
    Path(PathBuf),
    /// A kind of store.
    Named(String),
}

impl Medium {
    /// The file or device, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Named(_) => None,
        }
    }
}

impl fmt::Display for Medium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(f),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl From<&Path> for Medium {
    fn from(path: &Path) -> Self {
        Self::Path(path.to_owned())
    }
}

impl From<String> for Medium {
    fn from(name: String) -> Self {
        Self::Named(name)
    }
}

impl From<&str> for Medium {
    fn from(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

/// A failed operation on a store.
#[derive(Debug)]
pub struct StoreError {
    /// The operation that failed.
    pub operation: Operation,
    /// The file, device or kind of store.
    pub what: Medium,
    /// First byte of the request.
    pub offset: u64,
    /// Length of the request.
    pub len: u64,
    /// The system's reason; `ErrorKind::UnexpectedEof` for a request past the end.
    pub source: io::Error,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match carried_errno(&self.source) {
            // The error of a floor above says itself what it could not do.
            Some(_) => self.source.fmt(f),
            None => write!(f, "could not {} {}{}: {}", self.operation, self.range(), self.what, self.source),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl Explain for StoreError {
    fn explain(&self) -> Meaning {
        let mut meaning = explain_io(&self.source);
        meaning.path = self.what.path().map(Path::to_owned);
        if self.is_shorter() {
            meaning.advice = vec![Advice::WaitForItsSize];
        }
        #[cfg(target_os = "linux")]
        if let Some(by) = self.source.get_ref().and_then(|inner| inner.downcast_ref::<crate::InUse>()) {
            meaning.advice = vec![by.advice()];
        }
        meaning
    }
}

impl StoreError {
    /// Puts an I/O error in its place.
    pub fn new(
        operation: Operation,
        what: impl Into<Medium>,
        offset: u64,
        len: usize,
        source: io::Error,
    ) -> Self {
        Self { operation, what: what.into(), offset, len: len as u64, source: ended_early(source) }
    }

    /// A request that reaches past the end of the store.
    pub fn past_end(
        operation: Operation,
        what: impl Into<Medium>,
        offset: u64,
        len: usize,
        size: u64,
    ) -> Self {
        let reason = format!("it ends at {size}");
        Self::new(operation, what, offset, len, io::Error::new(io::ErrorKind::UnexpectedEof, reason))
    }

    /// A write to bytes that are not the user's: refused alone, the rest of its request has been written.
    pub fn reserved(what: impl Into<Medium>, offset: u64, len: usize) -> Self {
        let reason = io::Error::new(io::ErrorKind::PermissionDenied, Reserved);
        Self::new(Operation::Write, what, offset, len, reason)
    }

    /// Whether it is [`StoreError::reserved`]; its offset is the first such byte.
    pub fn is_reserved(&self) -> bool {
        self.source.get_ref().is_some_and(|source| source.is::<Reserved>())
    }

    /// The system's reason for what lies behind the new end of a store that had `size` bytes when it was opened.
    #[cfg(target_os = "linux")]
    pub(crate) fn shorter(size: u64) -> io::Error {
        io::Error::new(io::ErrorKind::UnexpectedEof, Shorter(size))
    }

    /// Whether somebody has made the medium shorter since it was opened. What it is now, only another look tells.
    pub(crate) fn is_shorter(&self) -> bool {
        self.source.get_ref().is_some_and(|source| source.is::<Shorter>())
    }

    /// Refuses what reaches past the end of a store of `size` bytes.
    ///
    /// # Errors
    /// [`StoreError::past_end`].
    pub fn within(operation: Operation, what: &str, offset: u64, len: u64, size: u64) -> Result<(), Self> {
        match offset.checked_add(len) {
            Some(end) if end <= size => Ok(()),
            _ => {
                let len = usize::try_from(len).unwrap_or(usize::MAX);
                Err(Self::past_end(operation, what, offset, len, size))
            }
        }
    }

    /// What an operation on some bytes is about; opening and flushing are about all of it.
    fn range(&self) -> String {
        match self.operation {
            Operation::Open | Operation::Flush => String::new(),
            Operation::Read | Operation::Write | Operation::Discard => {
                format!("{} bytes at offset {} of ", self.len, self.offset)
            }
        }
    }

    /// The errno to hand to an application: the system's own where there is one, or that of the error of a floor
    /// above; else EPERM for what is reserved, and EIO.
    pub fn errno(&self) -> i32 {
        // Linux's generic numbers.
        let ours = if self.is_reserved() { 1 } else { 5 };
        self.source.raw_os_error().or_else(|| carried_errno(&self.source)).unwrap_or(ours)
    }
}
