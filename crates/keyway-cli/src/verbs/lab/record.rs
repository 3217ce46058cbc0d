//! `lab record`: takes down an open volume's requests.

use crate::failure::{Exit, Failure};
use crate::output::{Output, bytes};
use crate::shown::shown;
use keyway_attach::session;
use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The user has seen enough.
const SIGNALS: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];
/// How often it is looked whether the volume is still there.
const LOOK: Duration = Duration::from_millis(200);

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The open volume, its loop device, its file, or the folder it is mounted on
    #[arg(value_name = "VOLUME|DEVICE|MOUNTPOINT")]
    volume: String,
    /// The trace's file; must not exist yet
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// End after this time; otherwise at Ctrl-C
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
}

#[derive(Serialize)]
struct Document {
    trace: PathBuf,
    file_bytes: usize,
    requests: usize,
    lost: u64,
    bytes_read: u64,
    bytes_written: u64,
    seconds: f64,
}

pub(super) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let path = &args.output;
    // Before anything is recorded: a place that can't be written to would be told too late.
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|e| Failure::io("make", path, &e))?;
    let recorded = record(args, out);
    let document = recorded.and_then(|(trace, seconds)| {
        let contents = trace.to_bytes();
        file.write_all(&contents)
            .and_then(|()| file.sync_all())
            .map_err(|e| Failure::io("write", path, &e))?;
        let (bytes_read, bytes_written) = trace.bytes();
        Ok(Document {
            trace: path.clone(),
            file_bytes: contents.len(),
            requests: trace.records.len(),
            lost: trace.lost,
            bytes_read,
            bytes_written,
            seconds,
        })
    });
    let document = document.inspect_err(|_| {
        // It is ours, and holds nothing.
        let _ = std::fs::remove_file(path);
    })?;
    if document.lost > 0 {
        out.warn(&format!("{} requests came after the recording was full", document.lost));
    }
    out.result(&document, || {
        format!(
            "{} requests in {:.1} s ({} read, {} written) are in {} ({}).",
            document.requests,
            document.seconds,
            bytes(document.bytes_read),
            bytes(document.bytes_written),
            shown(&document.trace),
            bytes(document.file_bytes as u64),
        )
    })
}

fn record(args: &Args, out: Output) -> Result<(keyway_model::trace::Trace, f64), Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|e| Failure::new(Exit::Failed, format!("could not watch for signals: {e}"), ""))?;
    }
    let state = session::start_recording(&args.volume)?;
    let began = Instant::now();
    if args.seconds.is_none() {
        out.say(&format!("Recording {}; Ctrl-C ends it.\n", shown(&state.volume)))?;
    }
    let limit = args.seconds.map(Duration::from_secs);
    while !stop.load(Ordering::Relaxed) && limit.is_none_or(|limit| began.elapsed() < limit) {
        std::thread::sleep(limit.map_or(LOOK, |limit| LOOK.min(limit.saturating_sub(began.elapsed()))));
        if session::find(&state.id)?.is_none() {
            let what = format!("{} was closed while it was recorded", state.volume.display());
            return Err(Failure::new(
                Exit::Failed,
                what,
                "end the recording (Ctrl-C) before the volume is closed",
            ));
        }
    }
    let trace = session::end_recording(&state.id)?;
    Ok((trace, began.elapsed().as_secs_f64()))
}
