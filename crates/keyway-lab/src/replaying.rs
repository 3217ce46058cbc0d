//! A trace replayed on a modelled drive, or on a file or device, with a cipher in between or without.

use crate::calibration;
use crate::error::LabError;
use crate::sectors::{Sectors, Stored};
use crate::trace::{self, Replay, Replayed, Think, ThreadQueue, Trace, TraceError};
use keyway_model::{Clock, DriveModel, LatenessSummary, ModelDrive, SparseStore};
use keyway_store::{Caching, FileStore, OpenMode, Queue, Store};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Threads that keep requests in flight on a file or device.
const MOST_THREADS: usize = 256;
/// A modelled drive has at least this size, however short the trace.
const LEAST_BYTES: u64 = 1 << 30;

/// What a trace is replayed on.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplayMedium {
    /// A modelled drive: its own time, or simulated time, which is exact, at once, and knows no cipher's cost.
    Model {
        /// The drive.
        model: Box<DriveModel>,
        /// Whether time is simulated.
        simulated: bool,
    },
    /// A file or device; where the trace writes, its bytes are lost.
    File(PathBuf),
}

impl ReplayMedium {
    /// The modelled drive of that name.
    ///
    /// # Errors
    /// As [`calibration::model`].
    pub fn model(name: &str, simulated: bool) -> Result<Self, LabError> {
        Ok(Self::Model { model: Box::new(calibration::model(name)?), simulated })
    }
}

/// A trace, and how it is replayed. As it is made: without pauses, one request at a time where the trace does not tell,
/// without a cipher.
#[derive(Debug, Clone)]
pub struct TraceReplay {
    /// The trace's name or file.
    pub name: String,
    /// Its requests.
    pub trace: Trace,
    /// A VeraCrypt volume's cipher in between; `none` for not.
    pub cipher: String,
    /// Whether the pauses of whoever was recorded are kept.
    pub think: Think,
    /// Requests in flight, for traces that do not tell.
    pub depth: usize,
    /// Whether requests past the medium's end are made somewhere inside it.
    pub fold: bool,
}

/// What a replay brought.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReplayReport {
    /// The trace's name or file.
    pub trace: String,
    /// What it was replayed on.
    pub target: String,
    /// The cipher in between, or `none`.
    pub cipher: String,
    /// Whether pauses were kept.
    pub think: bool,
    /// From the first request to the last completion.
    pub seconds: f64,
    /// Time with at least one request in flight.
    pub busy_seconds: f64,
    /// Reads and writes.
    pub requests: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Bytes by busy time, in MB/s.
    pub mb_s: f64,
    /// Mean time of a read or write, in µs.
    pub access_us: f64,
    /// Geometric mean of bandwidth and accesses a second.
    pub score: f64,
    /// How well this machine kept a modelled drive's time.
    pub lateness: Option<ReplayLateness>,
}

/// How late this machine was with a modelled drive's completions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReplayLateness {
    /// How often it waited.
    pub waits: u64,
    /// Half were no later, in µs.
    pub median_us: f64,
    /// 99 of 100 were no later, in µs.
    pub p99_us: f64,
    /// The latest, in µs.
    pub max_us: f64,
    /// The share that was later than 10 µs.
    pub over_10_us: f64,
    /// What that added at most, as a part of the time.
    pub added: f64,
    /// Whether the figures are the drive's.
    pub kept: bool,
}

impl ReplayReport {
    /// What it brought, for people: each figure and its name.
    pub fn told(&self) -> Vec<(&'static str, String)> {
        let bytes = keyway_store::size::words;
        let mut rows = vec![
            ("trace", self.trace.clone()),
            ("on", self.target.clone()),
            ("cipher", self.cipher.clone()),
            ("requests", format!("{} and {} flushes", self.requests, self.flushes)),
            ("read, written", format!("{}, {}", bytes(self.bytes_read), bytes(self.bytes_written))),
            (
                "time",
                format!("{:.2} s, {:.2} s of it with requests in flight", self.seconds, self.busy_seconds),
            ),
            ("bandwidth", format!("{:.1} MB/s", self.mb_s)),
            ("access time", format!("{:.1} µs", self.access_us)),
            ("score", format!("{:.0}", self.score)),
        ];
        if let Some(l) = &self.lateness {
            let (median, p99, max) = (l.median_us, l.p99_us, l.max_us);
            rows.push((
                "lateness",
                format!(
                    "median {median:.1} µs, 99 % within {p99:.1} µs, at most {max:.0} µs: {:.1} % of the time",
                    l.added * 100.0
                ),
            ));
        }
        rows
    }
}

impl From<LatenessSummary> for ReplayLateness {
    fn from(s: LatenessSummary) -> Self {
        let LatenessSummary { waits, median_us, p99_us, max_us, over_10_us, added, .. } = s;
        Self { waits, median_us, p99_us, max_us, over_10_us, added, kept: s.is_kept() }
    }
}

impl TraceReplay {
    /// The shipped trace of that name, or the one in the file of that path.
    ///
    /// # Errors
    /// There is neither, or it makes no sense.
    pub fn find(name: &str) -> Result<Self, LabError> {
        let trace = match trace::named(name) {
            Some(trace) => trace,
            None => trace::read(Path::new(name))?,
        };
        let (name, cipher) = (name.to_owned(), "none".to_owned());
        Ok(Self { name, trace, cipher, think: Think::Removed, depth: 1, fold: false })
    }

    /// Whether anything on the medium is overwritten.
    pub fn writes(&self) -> bool {
        self.trace.bytes().1 > 0
    }

    /// Replays it.
    ///
    /// # Errors
    /// The medium can't be opened, is too small, or fails; the cipher is not known; it was stopped.
    pub fn run(&self, medium: ReplayMedium, stop: &AtomicBool) -> Result<ReplayReport, LabError> {
        match medium {
            ReplayMedium::Model { model, simulated } => self.on_model(*model, simulated, stop),
            ReplayMedium::File(path) => self.on_file(&path, stop),
        }
    }

    fn on_model(
        &self,
        model: DriveModel,
        simulated: bool,
        stop: &AtomicBool,
    ) -> Result<ReplayReport, LabError> {
        let title = model.title.clone();
        let clock = if simulated { Clock::simulated() } else { Clock::real() };
        let size = model.capacity_bytes.min(self.trace.volume_bytes.max(LEAST_BYTES));
        let store = SparseStore::new(size, model.sector_bytes);
        let drive = ModelDrive::over(model, clock, Box::new(store));
        let mut queue = self.encrypted(Box::new(drive.queue()), drive.size())?;
        let mut replay = self.prepared(drive.size(), drive.sector_bytes())?;
        if !simulated {
            // Memory is touched for the first time in this one; it is not counted.
            replay.run(queue.as_mut(), stop)?;
            drive.forget_lateness();
        }
        let replayed = replay.run(queue.as_mut(), stop)?;
        Ok(self.report(title, &replayed, (!simulated).then(|| drive.lateness().into())))
    }

    fn on_file(&self, path: &Path, stop: &AtomicBool) -> Result<ReplayReport, LabError> {
        let mode = if self.writes() { OpenMode::ReadWrite } else { OpenMode::ReadOnly };
        let store = FileStore::open(path, mode, Caching::Direct)?;
        let sectors: Arc<dyn Sectors> = Arc::new(Stored(Arc::new(store)));
        let size = sectors.size();
        let mut replay = self.prepared(size, sectors.sector_bytes())?;
        let queue = ThreadQueue::new(&sectors, replay.most_in_flight().min(MOST_THREADS));
        let queue = queue.map_err(|e| LabError::system("use", path, e))?;
        let replayed = replay.run(self.encrypted(Box::new(queue), size)?.as_mut(), stop)?;
        Ok(self.report(path.display().to_string(), &replayed, None))
    }

    fn prepared(&self, size: u64, unit: u32) -> Result<Replay, TraceError> {
        let make = if self.fold { Replay::folded } else { Replay::new };
        Ok(make(&self.trace, size, unit)?.with_think(self.think).with_depth(self.depth))
    }

    fn encrypted(&self, queue: Box<dyn Queue>, size: u64) -> Result<Box<dyn Queue>, LabError> {
        match self.cipher.as_str() {
            "none" => Ok(queue),
            cipher => trace::encrypted(queue, cipher, size),
        }
    }

    fn report(&self, target: String, r: &Replayed, lateness: Option<ReplayLateness>) -> ReplayReport {
        ReplayReport {
            trace: self.name.clone(),
            target,
            cipher: self.cipher.clone(),
            think: self.think == Think::Kept,
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
}
