//! The laboratory: what encryption costs on a drive, measured so that it can be believed.
//!
//! A [`Workload`] is data: which requests, over which bytes, for how long. Its smallest part is a
//! [`Cell`], such as *RND4K Q32T1 read*. A [`Subject`] is what a cell is run on: a file or device
//! driven through io_uring, or anything in this process that has [`Sectors`]. One cell on one
//! subject for one turn gives a [`Sample`]. Turns of the subjects are interleaved (A B B A), and a
//! [`Comparison`] is what the samples of two subjects say about each other, with an interval and a
//! verdict.
//!
//! Measuring, statistics and drawing do not know each other: [`load`] makes requests and times
//! them, [`stats`] sees numbers only, and a report is drawn from the serialised [`Document`].
//!
//! Units are in the names: bytes, seconds, microseconds; MB are 10^6 bytes.
#![forbid(unsafe_code)]

mod attached_program;
pub mod bench;
pub mod calibration;
mod cell;
mod changes;
mod circumstances;
mod entrant;
mod error;
mod experiment;
mod findings;
mod foreground;
mod hardware;
mod histogram;
mod interleave;
mod judge;
pub mod load;
mod looks;
mod machine;
mod nbd_sectors;
mod order;
mod other_program;
mod output_file;
mod pacing;
mod plan;
mod procedures;
mod program_guard;
mod program_process;
mod recording;
mod replaying;
pub mod report;
mod result;
mod resumed;
mod rig;
mod run;
mod sectors;
mod setup;
mod several;
mod signed_rank;
mod start_of_drive;
pub mod stats;
pub mod study;
mod sysfs;
mod table;
mod tail;
mod target;
mod test_volume;
mod timed;
pub mod trace;
mod trace_error;
pub mod workload;

pub use cell::{Cell, Direction, Mix, Pattern};
pub use changes::Changes;
pub use circumstances::Circumstances;
pub use entrant::Entrant;
pub use error::LabError;
pub use experiment::measure;
pub use findings::Findings;
pub use histogram::Histogram;
pub use interleave::{Outcome, Sides, Slot, Watch, interleave};
pub use judge::{CellFacts, EntrantFacts, Judging, judge};
pub use other_program::{NamedCommand, OtherProgram};
pub use output_file::OutputFile;
pub use plan::{ExperimentPlan, ExperimentRequest};
pub use procedures::measure_procedure;
pub use program_guard::ProgramGuard;
pub use recording::{Recorded, record};
pub use replaying::{ReplayLateness, ReplayMedium, ReplayReport, TraceReplay};
pub use result::{Comparison, Document, Flag, Machine, Metric, Sample, Series, Verdict};
pub use rig::{Drive, MARGIN, Rig, Volume};
pub use sectors::{Sectors, Stored, Subject, Window};
pub use several::{Experiments, Found};
pub use start_of_drive::StartOfDrive;
pub use sysfs::drive_identity;
pub use table::Table;
pub use tail::Tail;
pub use target::{PathKind, Target};
pub use test_volume::bitlocker_method;
pub use timed::{EncryptInPlace, TimedWork};
pub use workload::Workload;
