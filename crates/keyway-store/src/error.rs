//! What went wrong on the medium: the operation, where, and the system's own reason.

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

/// A failed operation on a store.
#[derive(Debug, thiserror::Error)]
#[error("could not {operation} {}{what}: {source}", self.range())]
pub struct StoreError {
    /// The operation that failed.
    pub operation: Operation,
    /// The file, device or kind of store.
    pub what: String,
    /// First byte of the request.
    pub offset: u64,
    /// Length of the request.
    pub len: u64,
    /// The system's reason; `ErrorKind::UnexpectedEof` for a request past the end.
    #[source]
    pub source: io::Error,
}

impl StoreError {
    /// Puts an I/O error in its place.
    pub fn new(
        operation: Operation,
        what: impl Into<String>,
        offset: u64,
        len: usize,
        source: io::Error,
    ) -> Self {
        Self { operation, what: what.into(), offset, len: len as u64, source }
    }

    /// A request that reaches past the end of the store.
    pub fn past_end(
        operation: Operation,
        what: impl Into<String>,
        offset: u64,
        len: usize,
        size: u64,
    ) -> Self {
        let reason = format!("it ends at {size}");
        Self::new(operation, what, offset, len, io::Error::new(io::ErrorKind::UnexpectedEof, reason))
    }

    /// Refuses what reaches past the end of a store of `size` bytes.
    pub(crate) fn within(
        operation: Operation,
        what: &str,
        offset: u64,
        len: u64,
        size: u64,
    ) -> Result<(), Self> {
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

    /// The errno to hand to an application: the system's own where there is one, else EIO.
    pub fn errno(&self) -> i32 {
        self.source.raw_os_error().unwrap_or(rustix::io::Errno::IO.raw_os_error())
    }
}
