//! Why a trace can't be used.

use crate::trace::names;
use keyway_error::{explain, explain_io};
use keyway_model::trace::{LONGEST_FILE, MOST_RECORDS, TraceFormatError};

/// A trace that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file can't be read.
    #[error("could not read {0}: {1}")]
    Io(String, #[source] std::io::Error),
    /// There is no such file, nor a trace of that name.
    #[error("could not read {0}: {1}")]
    Missing(String, #[source] std::io::Error),
    /// The file is longer than is taken.
    #[error("the trace is longer than {LONGEST_FILE} bytes")]
    TooLarge,
    /// More requests than are taken.
    #[error("the trace holds more than {MOST_RECORDS} requests")]
    TooLong,
    /// A recording of our own that is damaged.
    #[error("the trace can't be used: {0}")]
    Recording(#[from] TraceFormatError),
    /// No kind of trace that we know.
    #[error("this is no trace we know")]
    Unknown,
    /// A log of a version that is not known, as its first line says.
    #[error("line 1 of the trace: {0:?} is not known")]
    Version(String),
    /// A line that makes no sense.
    #[error("line {line} of the trace: {what}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// Nothing to replay.
    #[error("the trace holds no request")]
    Empty,
    /// Times that no recording has.
    #[error("the trace's times reach past ten years")]
    TooLate,
    /// It reaches past the end of the volume it shall be replayed on.
    #[error("the trace reaches to byte {needed}, but the volume ends at {present}")]
    PastEnd {
        /// First byte after the trace's last.
        needed: u64,
        /// The volume's size.
        present: u64,
    },
}

explain! { TraceError {
    Self::TooLarge | Self::TooLong | Self::Recording(TraceFormatError::TooLong) => [Usage Request, CutTrace],
    Self::Recording(TraceFormatError::Record(_)) => [Usage Request, RecordAgain],
    Self::Recording(TraceFormatError::Trailing) => [Usage Request, CopyItAgain],
    Self::Unknown => [Usage Request, GiveTrace],
    Self::Missing(..) => [Usage Request, NameTrace { names: names().join(", ") }],
    Self::Version(_) => [Usage Request, FioVersions],
    Self::TooLate => [Usage Request, MayBeDamaged],
    Self::PastEnd { .. } => [Usage Request, LargerOrFold],
    Self::Io(_, source) => [Request, ..explain_io(source).advice],
    Self::Recording(_) | Self::Empty => [Request, RecordAgain],
    Self::Line { .. } => [Request, ReadTraces],
} }

impl TraceError {
    /// A line that makes no sense.
    pub(crate) fn line(line: usize, what: impl Into<String>) -> Self {
        Self::Line { line, what: what.into() }
    }
}

/// Keeps a text from growing past what is replayed.
pub(crate) fn room(records: usize) -> Result<(), TraceError> {
    if records as u64 >= MOST_RECORDS { Err(TraceError::TooLong) } else { Ok(()) }
}
