//! The words of `lab run` and `lab compare`.

use crate::verbs::*;
use keyway::lab::spelled::{minutes, percent, scale, seconds};
use keyway::lab::{Changes, ExperimentRequest, PathKind};
use std::time::Duration;

/// What is measured, on what, for how long.
#[derive(clap::Args, Debug)]
pub(crate) struct Common {
    /// The drive: model:NAME, a folder (a file is made in it and removed), or a file or device whose bytes may be lost;
    /// they stay with --reads-only. Of several, each is measured by itself
    #[arg(long, value_name = "model:NAME|PATH", default_value = ".")]
    pub(super) drive: Vec<String>,
    /// How requests reach the volumes
    #[arg(long, default_value = "auto", value_parser = choice(PATHS))]
    pub(super) path: Way,
    /// A workload's name, or the file that describes one; `lab run --list` names them. Repeatable
    #[arg(long, value_name = "NAME|FILE")]
    pub(super) workload: Vec<String>,
    /// Short runs without rests: a first look, in a minute instead of a quarter of an hour
    #[arg(long)]
    pub(super) quick: bool,
    /// Touch so many bytes instead of the workload's own
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(super) size: Option<u64>,
    /// Make each run this long, in seconds
    #[arg(long, value_name = "N", value_parser = seconds)]
    pub(super) seconds: Option<f64>,
    /// Make so many runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) runs: Option<u32>,
    /// Of workloads that copy files or make volumes, this part of the files and bytes: 0.01 for a hundredth
    #[arg(long, value_name = "PART", value_parser = scale)]
    pub(super) scale: Option<f64>,
    /// Leave out everything that writes; nothing of a file or device is changed then
    #[arg(long)]
    pub(super) reads_only: bool,
    /// Read back what was written and compare it, after each turn
    #[arg(long)]
    pub(super) verify: bool,
    /// Go through the page cache where a file is read: what many benchmarks do by mistake
    #[arg(long)]
    pub(super) buffered: bool,
    /// Do not measure the drive without Keyway's code between as well
    #[arg(long)]
    pub(super) no_bare: bool,
    /// A change by less than this is none, in percent: 3, and 1 for drives that encrypt by themselves, unless given
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(super) delta: Option<f64>,
    /// Measure for so many minutes at most; unless given, twice what the workload plans. What is undecided after the
    /// workload's own turns is measured on
    #[arg(long, value_name = "N", value_parser = minutes)]
    pub(super) minutes: Option<f64>,
    /// Tell all that is known of each test, in lines of more than 80 columns
    #[arg(long)]
    pub(super) wide: bool,
    /// Overwrite the file or device that is named as the drive, and what other programs attach
    #[arg(long)]
    pub(super) destroy_data: bool,
    /// Write a report with charts: one HTML file that needs nothing else
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Keep everything that was measured, for `lab report`
    #[arg(long, value_name = "FILE.json")]
    pub(super) save: Option<PathBuf>,
}

impl Common {
    /// What is wanted, for the library.
    pub(super) fn request(&self, mut request: ExperimentRequest) -> ExperimentRequest {
        request.path = self.path.0;
        request.delta = self.delta.map(|percent| percent / 100.0);
        request.time = self.minutes.map(|minutes| Duration::from_secs_f64(minutes * 60.0));
        request.workloads.clone_from(&self.workload);
        request.changes = Changes {
            span_bytes: self.size,
            seconds: self.seconds,
            runs: self.runs,
            quick: self.quick,
            reads_only: self.reads_only,
            verify: self.verify,
            scale: self.scale,
        };
        (request.buffered, request.bare) = (self.buffered, !self.no_bare);
        request.destroy_data = self.destroy_data;
        request.command = super::command();
        request
    }
}

/// How requests reach a volume, or as `open` would have them reach it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way(pub(super) Option<PathKind>);

const PATHS: [(&str, Way, &str); 6] = [
    ("auto", Way(None), "As `open` would attach them here; in this process on a modelled drive"),
    ("in-process", Way(Some(PathKind::InProcess)), "The engine is called in this process"),
    ("fuse", Way(Some(PathKind::Fuse)), "Through the file of a FUSE mount"),
    ("fuse-loop", Way(Some(PathKind::FuseLoop)), "Through a loop device on that file (root)"),
    ("ublk", Way(Some(PathKind::Ublk)), "Through a block device of the ublk driver"),
    ("nbd", Way(Some(PathKind::Nbd)), "Through an NBD server and a client of our own"),
];
