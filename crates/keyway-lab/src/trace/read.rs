//! Reads a trace from a file, whichever of the known kinds it is.

use super::{Trace, blkparse, fio_log};
use keyway_error::{Advice, Explain, Fault, Kind, Meaning};
use keyway_model::trace::{LONGEST_FILE, MOST_RECORDS, TraceFormatError};
use std::io::Read;
use std::path::Path;

/// A trace that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file can't be read.
    #[error("could not read {0}: {1}")]
    Io(String, #[source] std::io::Error),
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

impl Explain for TraceError {
    fn explain(&self) -> Meaning {
        use Advice as A;
        use Fault as F;
        use Kind as K;
        match self {
            Self::TooLarge | Self::TooLong => (K::Usage, F::Request, A::CutTrace).into(),
            Self::Recording(TraceFormatError::TooLong) => (K::Usage, F::Request, A::RecordLess).into(),
            Self::Recording(TraceFormatError::Record(_)) => (K::Usage, F::Request, A::RecordAgain).into(),
            Self::Recording(TraceFormatError::Trailing) => (K::Usage, F::Request, A::CopyTraceAgain).into(),
            Self::Unknown => (K::Usage, F::Request, A::GiveTrace).into(),
            Self::Version(_) => (K::Usage, F::Request, A::FioVersions).into(),
            Self::TooLate => (K::Usage, F::Request, A::TraceDamaged).into(),
            Self::PastEnd { .. } => (K::Usage, F::Request, A::LargerOrFold).into(),
            Self::Io(..) | Self::Recording(_) | Self::Line { .. } | Self::Empty => Meaning::of(F::Request),
        }
    }
}

impl TraceError {
    /// A line that makes no sense.
    pub(super) fn line(line: usize, what: impl Into<String>) -> Self {
        Self::Line { line, what: what.into() }
    }
}

/// Reads a trace's file.
///
/// # Errors
/// See [`TraceError`].
pub fn read(path: &Path) -> Result<Trace, TraceError> {
    let fail = |e| TraceError::Io(path.display().to_string(), e);
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(fail)?;
    file.take(LONGEST_FILE + 1).read_to_end(&mut bytes).map_err(fail)?;
    parse(&bytes)
}

/// Reads a trace from a file's bytes.
///
/// # Errors
/// See [`TraceError`].
pub fn parse(bytes: &[u8]) -> Result<Trace, TraceError> {
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(TraceError::TooLarge);
    }
    let trace = if bytes.starts_with(b"KWTRACE") {
        Trace::from_bytes(bytes)?
    } else {
        let text = std::str::from_utf8(bytes).map_err(|_| TraceError::Unknown)?;
        match text.lines().next() {
            Some(first) if first.starts_with("fio version ") => fio_log::parse(text)?,
            Some(first) if blkparse::is_event(first) => blkparse::parse(text)?,
            _ => return Err(TraceError::Unknown),
        }
    };
    if trace.records.is_empty() {
        return Err(TraceError::Empty);
    }
    Ok(trace)
}

/// Keeps a text from growing past what is replayed.
pub(super) fn room(records: usize) -> Result<(), TraceError> {
    if records as u64 >= MOST_RECORDS { Err(TraceError::TooLong) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_trace_is_told() {
        for bytes in [&b""[..], b"hello\n", b"\xff\xfe", b"1 2 3 4 5 6 7"] {
            assert!(matches!(parse(bytes), Err(TraceError::Unknown)), "{bytes:?}");
        }
        assert!(matches!(parse(b"KWTRACE2"), Err(TraceError::Recording(TraceFormatError::Magic))));
        assert!(matches!(parse(&Trace::default().to_bytes()), Err(TraceError::Empty)));
        assert!(matches!(parse(b"fio version 3 iolog\n"), Err(TraceError::Empty)));
    }

    /// Damaged texts are an error or a trace that can be made ready; never anything else.
    #[test]
    fn damaged_texts_are_told_or_taken() {
        let texts = [
            "fio version 2 iolog\n/a add\n/a read 0 4096\n/a wait 90 0\n/b write 512 512\n/a sync 0 0\n",
            "fio version 3 iolog\n7 /a open\n8 /a read 4096 4096\n99 /a write 8192 512\n99 /a datasync 0 0\n",
            "8,0 3 1 0.000100000 697 D R 64 + 256 [cp]\n8,0 3 2 0.000200000 697 D WS 8 + 8 [x]\n8,0 3 3 0.000300000 0 C R 64 + 256 [0]\n",
        ];
        let mut rng = keyway_testkit::Rng::new(5);
        let (mut taken, mut told) = (0, 0);
        for round in 0..6000 {
            let mut bytes = texts[round % texts.len()].as_bytes().to_vec();
            for _ in 0..=rng.below(3) {
                let at = rng.below(bytes.len() as u64) as usize;
                match rng.below(3) {
                    0 => bytes[at] = b"0123456789 +,./\nDQCRWF-"[rng.below(23) as usize],
                    1 => bytes.truncate(at.max(1)),
                    _ => bytes.insert(at, b'9'),
                }
            }
            match parse(&bytes) {
                Ok(trace) => {
                    taken += 1;
                    let _ = crate::trace::Replay::folded(&trace, 1 << 31, 512);
                    assert!(trace.records.iter().all(|r| r.offset + u64::from(r.len) <= trace.volume_bytes));
                }
                Err(_) => told += 1,
            }
        }
        assert!(taken > 300 && told > 300, "{taken} {told}");
    }
}
