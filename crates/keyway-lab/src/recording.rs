//! An open volume's requests, taken down into a trace's file.

use crate::error::LabError;
use keyway_attach::session::{self, SessionState};
use keyway_model::trace::Trace;
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often it is looked whether the volume is still there.
const LOOK: Duration = Duration::from_millis(200);

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Recorded {
    /// The trace's file.
    #[serde(with = "keyway_attach::path_text")]
    pub trace: PathBuf,
    /// Its length in bytes.
    pub file_bytes: usize,
    /// Requests in it.
    pub requests: usize,
    /// Requests that came when the recording was full.
    pub lost: u64,
    /// Bytes that they read.
    pub bytes_read: u64,
    /// Bytes that they wrote.
    pub bytes_written: u64,
    /// How long it was recorded.
    pub seconds: f64,
}

/// Takes down the requests of an open volume into a new file, until `stop` is set or the limit is reached. `begun` is
/// called once it is recorded.
///
/// # Errors
/// The file is there already or can't be written; the volume is not open, is recorded already, or is closed meanwhile.
/// Then no file is left.
pub fn record(
    volume: &str,
    path: &Path,
    limit: Option<Duration>,
    stop: &AtomicBool,
    begun: impl FnOnce(&SessionState),
) -> Result<Recorded, LabError> {
    // Before anything is recorded: a place that can't be written to would be told too late.
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = file.map_err(|e| LabError::system("make", path, e))?;
    let recorded = listen(volume, limit, stop, begun).and_then(|(trace, seconds)| {
        let contents = trace.to_bytes();
        let written = file.write_all(&contents).and_then(|()| file.sync_all());
        written.map_err(|e| LabError::system("write", path, e))?;
        let (bytes_read, bytes_written) = trace.bytes();
        let (requests, lost) = (trace.records.len(), trace.lost);
        let (trace, file_bytes) = (path.to_owned(), contents.len());
        Ok(Recorded { trace, file_bytes, requests, lost, bytes_read, bytes_written, seconds })
    });
    recorded.inspect_err(|_| {
        // It is ours, and holds nothing.
        let _ = std::fs::remove_file(path);
    })
}

fn listen(
    volume: &str,
    limit: Option<Duration>,
    stop: &AtomicBool,
    begun: impl FnOnce(&SessionState),
) -> Result<(Trace, f64), LabError> {
    let state = session::start_recording(volume)?;
    let began = Instant::now();
    begun(&state);
    while !stop.load(Ordering::Relaxed) && limit.is_none_or(|limit| began.elapsed() < limit) {
        std::thread::sleep(limit.map_or(LOOK, |limit| LOOK.min(limit.saturating_sub(began.elapsed()))));
        if session::find(&state.id)?.is_none() {
            return Err(LabError::ClosedMeanwhile(state.volume));
        }
    }
    Ok((session::end_recording(&state.id)?, began.elapsed().as_secs_f64()))
}
