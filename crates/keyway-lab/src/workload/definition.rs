//! What a workload says.

use crate::cell::Cell;
use crate::result::Metric;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What an encryption in place may take beside the bytes that it encrypts: for headers, and for a journal of two segments
/// of 8 MiB.
pub const BESIDE_IN_PLACE: u64 = 32 << 20;

/// A test: what is done, for how long, and whose test it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// The word on the command line.
    pub name: String,
    /// What it is, in one line.
    pub title: String,
    /// Where its definition is from.
    pub source: String,
    /// Where ours differs from the original, a sentence each.
    pub deviations: Vec<String>,
    /// How often and how long.
    pub turns: Turns,
    /// What is done.
    pub kind: Procedure,
}

/// How often and how long.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Turns {
    /// Runs whose best and median are told.
    pub runs: u32,
    /// Length of a run in seconds; 0 where the work itself decides.
    pub seconds: f64,
    /// Rest between cells in seconds.
    pub pause_seconds: f64,
    /// Runs that are made first and thrown away.
    pub discarded: u32,
    /// Parts into which a run is cut when subjects take turns. Even, so that A B B A comes out.
    pub slices: u32,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Procedure {
    /// Requests of one kind at a time, for a time.
    Requests(Requests),
    /// Stretches spread over the whole subject, and single blocks at random.
    Positions(Positions),
    /// Sequential writes until the drive has settled.
    Condition(Condition),
    /// A tree of files, copied and read back.
    Tree(Tree),
    /// One large file, copied in and out.
    Copy(CopyFile),
    /// An operation of Keyway's own, timed.
    Timed(Timed),
    /// Recorded requests, replayed.
    Traces(Traces),
}

/// Bytes that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Data {
    /// Nothing can compress them.
    Random,
    /// Zeros.
    Zero,
    /// A short pattern, again and again: anything can compress it.
    Pattern,
}

/// Cells that share a span and the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    /// The bytes that are touched: `0..span_bytes`.
    pub span_bytes: u64,
    /// What is written.
    pub data: Data,
    /// Whether what was written is read again and compared.
    pub verify: bool,
    /// Whether a task runs on every processor in the meantime, whose score is told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub task: bool,
    /// A run of a cell ends earlier where it has moved so many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_bytes: Option<u64>,
    /// The cells, in the original's order.
    pub cells: Vec<Cell>,
    /// For each cell the metric that the original tells.
    pub metrics: Vec<Metric>,
}

/// GNOME Disks' benchmark: stretches at equal distances, and access times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Positions {
    /// Number of stretches.
    pub samples: u32,
    /// Bytes of a stretch.
    pub sample_bytes: u64,
    /// Whether what was read is written back.
    pub write: bool,
    /// Number of access times.
    pub access_samples: u32,
    /// Bytes of one access.
    pub access_bytes: u64,
}

/// Sequential writes until the drive has settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// Bytes of a request.
    pub block_bytes: u64,
    /// Requests in flight.
    pub queue_depth: u32,
    /// Seconds after which it ends in any case.
    pub at_most_seconds: f64,
    /// How often every byte is written at least before it may be settled.
    pub passes: u32,
    /// Seconds of one round; the speed of the rounds is what has to settle.
    pub round_seconds: f64,
}

/// A tree of files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// Folders, the root not counted.
    pub folders: u32,
    /// Files of each size: how many, and the bytes of all of them together.
    pub files: Vec<FileGroup>,
    /// Bytes of the one large file that is read; 0 for none.
    pub read_bytes: u64,
}

/// Files of about one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileGroup {
    /// How many.
    pub count: u32,
    /// Bytes of all together.
    pub bytes: u64,
}

/// One large file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyFile {
    /// Its bytes.
    pub bytes: u64,
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Making a volume and filling it.
    Format,
    /// From the secret to a device that can be read.
    Unlock,
    /// Encrypting what is on the drive, where it lies.
    InPlace,
}

/// An operation of Keyway's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timed {
    /// Which.
    pub operation: Operation,
    /// Size of the volume in bytes.
    pub bytes: u64,
    /// How many of them hold data, where an encryption in place is to leave the rest as it is if the
    /// format can do that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_bytes: Option<u64>,
}

/// Recorded requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Traces {
    /// Names of shipped traces, or paths of files.
    pub traces: Vec<String>,
    /// Whether the pauses of the recorded program are kept.
    pub think_time: bool,
}

impl Workload {
    /// How long it takes to make all turns of so many sides, and the rests between cells; nothing where the work itself
    /// decides.
    pub(crate) fn planned(&self, sides: usize) -> Duration {
        let Procedure::Requests(Requests { cells, .. }) = &self.kind else { return Duration::ZERO };
        let Turns { runs, seconds, pause_seconds, discarded, slices } = self.turns;
        let rounds = f64::from(runs) + f64::from(discarded.min(1)) / f64::from(slices.max(1));
        let all = (rounds * seconds * sides as f64 + pause_seconds) * cells.len() as f64;
        Duration::from_secs_f64(all.clamp(0.0, 1e9))
    }

    /// Whether any request of it writes to the subject.
    pub fn writes(&self) -> bool {
        match &self.kind {
            Procedure::Requests(requests) => requests.cells.iter().any(|cell| cell.mix.writes()),
            Procedure::Positions(positions) => positions.write,
            Procedure::Timed(timed) => timed.operation != Operation::Unlock,
            Procedure::Condition(_) | Procedure::Tree(_) | Procedure::Copy(_) | Procedure::Traces(_) => true,
        }
    }

    /// Bytes of the subject that the original touches, where it says so.
    pub fn span_bytes(&self) -> Option<u64> {
        match &self.kind {
            Procedure::Requests(requests) => Some(requests.span_bytes),
            Procedure::Timed(Timed { operation: Operation::InPlace, bytes, .. }) => {
                Some(bytes.saturating_add(BESIDE_IN_PLACE))
            }
            Procedure::Timed(timed) => Some(timed.bytes),
            _ => None,
        }
    }
}
