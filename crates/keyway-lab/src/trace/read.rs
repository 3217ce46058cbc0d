//! Reads a trace from a file, whichever of the known kinds it is.

use super::{blkparse, fio_log};
use crate::trace_error::TraceError;
use keyway_model::trace::{LONGEST_FILE, Trace};
use std::io::Read;
use std::path::Path;

/// Reads a trace's file.
///
/// # Errors
/// See [`TraceError`].
pub fn read(path: &Path) -> Result<Trace, TraceError> {
    let name = || path.display().to_string();
    let fail = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => TraceError::Missing(name(), e),
        _ => TraceError::Io(name(), e),
    };
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

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_model::trace::TraceFormatError;

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
