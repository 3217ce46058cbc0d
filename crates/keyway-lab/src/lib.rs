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

pub mod bench;
pub mod calibration;
mod cell;
mod error;
mod experiment;
mod histogram;
mod interleave;
mod judge;
pub mod load;
mod machine;
mod procedures;
pub mod report;
mod result;
mod rig;
mod sectors;
pub mod stats;
mod target;
mod timed;
pub mod trace;
pub mod workload;

pub use cell::{Cell, Direction, Mix, Pattern};
pub use error::LabError;
pub use experiment::{Changes, Entrant, Findings, measure};
pub use histogram::{Histogram, Recorder};
pub use interleave::{Outcome, Place, Watch, interleave};
pub use judge::{CellFacts, EntrantFacts, judge};
pub use procedures::measure_procedure;
pub use result::{Comparison, Document, Flag, Machine, Metric, Sample, Series, Verdict};
pub use rig::{Drive, MODEL_WINDOW, Rig, Volume};
pub use sectors::{Sectors, Stored, Subject, Window};
pub use target::{BARE_DRIVE, PathKind, Target};
pub use timed::TimedWork;
pub use workload::Workload;
