//! `lab replay`: makes a trace's requests again.

use super::models::model;
use crate::failure::Failure;
use crate::output::{Output, bytes, pairs};
use keyway_error::Explain;
use keyway_lab::trace::{self, Replay, Replayed, Think, ThreadQueue, Trace};
use keyway_lab::{LabError, Sectors, Stored};
use keyway_model::{Clock, LatenessSummary, ModelDrive, SparseStore};
use keyway_store::{Caching, FileStore, OpenMode, Queue, Store};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A shipped trace, or a file: a recording, a fio iolog (version 2 or 3), blkparse's text
    #[arg(value_name = "TRACE|FILE")]
    trace: String,
    /// A modelled drive
    #[arg(long, value_name = "model:NAME", required_unless_present = "on")]
    drive: Option<String>,
    /// A file or device instead; its bytes are overwritten where the trace writes
    #[arg(long, value_name = "FILE|DEVICE", conflicts_with = "drive")]
    on: Option<PathBuf>,
    /// Encrypt in between, as a VeraCrypt volume with this cipher would; `none` for not
    #[arg(long = "with", value_name = "CIPHER", default_value = "none")]
    cipher: String,
    /// Keep the pauses of whoever was recorded
    #[arg(long)]
    think: bool,
    /// Requests in flight, for traces that do not tell (fio's)
    #[arg(long, value_name = "N", default_value_t = 1)]
    depth: usize,
    /// Put requests past the volume's end somewhere inside it
    #[arg(long)]
    fold: bool,
    /// Of a modelled drive: simulated time, exact and at once, which knows no cipher's cost
    #[arg(long, requires = "drive")]
    simulated: bool,
}

#[derive(Serialize)]
struct Document {
    trace: String,
    target: String,
    cipher: String,
    think: bool,
    seconds: f64,
    busy_seconds: f64,
    requests: u64,
    flushes: u64,
    bytes_read: u64,
    bytes_written: u64,
    mb_s: f64,
    access_us: f64,
    score: f64,
    /// How well this machine kept a modelled drive's time.
    lateness: Option<Lateness>,
}

#[derive(Serialize)]
struct Lateness {
    waits: u64,
    median_us: f64,
    p99_us: f64,
    max_us: f64,
    over_10_us: f64,
    kept: bool,
}

impl From<LatenessSummary> for Lateness {
    fn from(s: LatenessSummary) -> Self {
        let LatenessSummary { waits, median_us, p99_us, max_us, over_10_us, .. } = s;
        Self { waits, median_us, p99_us, max_us, over_10_us, kept: s.is_kept() }
    }
}

pub(super) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let failure = |e: LabError| Failure::meant(&e.explain(), e.to_string());
    let read = |e: trace::TraceError| failure(e.into());
    let trace = match trace::named(&args.trace) {
        Some(trace) => trace,
        None => trace::read(Path::new(&args.trace)).map_err(read)?,
    };
    let stop = AtomicBool::new(false);
    let (replayed, target, lateness) = match (&args.drive, &args.on) {
        (Some(name), _) => {
            let model = model(name)?;
            let title = model.title.clone();
            let clock = if args.simulated { Clock::simulated() } else { Clock::real() };
            let size = model.capacity_bytes.min(trace.volume_bytes.max(1 << 30));
            let store = SparseStore::new(size, model.sector_bytes);
            let drive = ModelDrive::over(model, clock, Box::new(store));
            let mut queue = encrypted(Box::new(drive.queue()), &args.cipher, drive.size())?;
            let mut replay = prepared(args, &trace, drive.size(), drive.sector_bytes()).map_err(read)?;
            if drive.clock().is_real() {
                // Memory is touched for the first time in this one; it is not counted.
                replay.run(queue.as_mut(), &stop).map_err(failure)?;
                drive.forget_lateness();
            }
            let replayed = replay.run(queue.as_mut(), &stop).map_err(failure)?;
            let lateness = drive.clock().is_real().then(|| drive.lateness().into());
            (replayed, title, lateness)
        }
        (None, Some(path)) => {
            let mode = match trace.bytes().1 {
                0 => OpenMode::ReadOnly,
                _ => {
                    out.confirm(&format!("overwrite bytes of {} where the trace writes", path.display()))?;
                    OpenMode::ReadWrite
                }
            };
            let store = FileStore::open(path, mode, Caching::Direct)?;
            let sectors: Arc<dyn Sectors> = Arc::new(Stored(Arc::new(store)));
            let size = sectors.size();
            let mut replay = prepared(args, &trace, size, sectors.sector_bytes()).map_err(read)?;
            let threads = replay.most_in_flight().min(256);
            let queue = ThreadQueue::new(&sectors, threads).map_err(|e| Failure::io("use", path, &e))?;
            let mut queue = encrypted(Box::new(queue), &args.cipher, size)?;
            (replay.run(queue.as_mut(), &stop).map_err(failure)?, path.display().to_string(), None)
        }
        (None, None) => return Err(Failure::usage("nothing to replay on", "give --drive or --on")),
    };
    let document = document(args, target, &replayed, lateness);
    if document.lateness.as_ref().is_some_and(|l| !l.kept) {
        out.warn("this machine was too busy to keep the drive's time; the figures are too slow");
    }
    out.result(&document, || words(&document))
}

fn prepared(args: &Args, trace: &Trace, size: u64, unit: u32) -> Result<Replay, trace::TraceError> {
    let replay = if args.fold { Replay::folded(trace, size, unit) } else { Replay::new(trace, size, unit) }?;
    let think = if args.think { Think::Kept } else { Think::Removed };
    Ok(replay.with_think(think).with_depth(args.depth))
}

fn encrypted(queue: Box<dyn Queue>, cipher: &str, size: u64) -> Result<Box<dyn Queue>, Failure> {
    if cipher == "none" {
        return Ok(queue);
    }
    trace::encrypted(queue, cipher, size).map_err(Failure::from)
}

fn document(args: &Args, target: String, r: &Replayed, lateness: Option<Lateness>) -> Document {
    Document {
        trace: args.trace.clone(),
        target,
        cipher: args.cipher.clone(),
        think: args.think,
        seconds: r.seconds,
        busy_seconds: r.busy_seconds,
        requests: r.operations,
        flushes: r.flushes,
        bytes_read: r.bytes_read,
        bytes_written: r.bytes_written,
        mb_s: r.mb_s(),
        access_us: r.access_us,
        score: r.score(),
        lateness,
    }
}

fn words(d: &Document) -> String {
    let mut rows = vec![
        ("trace", d.trace.clone()),
        ("on", d.target.clone()),
        ("cipher", d.cipher.clone()),
        ("requests", format!("{} and {} flushes", d.requests, d.flushes)),
        ("read, written", format!("{}, {}", bytes(d.bytes_read), bytes(d.bytes_written))),
        ("time", format!("{:.2} s, {:.2} s of it with requests in flight", d.seconds, d.busy_seconds)),
        ("bandwidth", format!("{:.1} MB/s", d.mb_s)),
        ("access time", format!("{:.1} µs", d.access_us)),
        ("score", format!("{:.0}", d.score)),
    ];
    if let Some(l) = &d.lateness {
        let text = format!(
            "median {:.1} µs, 99 % within {:.1} µs, at most {:.0} µs",
            l.median_us, l.p99_us, l.max_us
        );
        rows.push(("lateness", text));
    }
    pairs(&rows)
}
