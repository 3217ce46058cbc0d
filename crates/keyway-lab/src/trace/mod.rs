//! Traces: real work's requests, taken down once and replayed on any volume.
//!
//! A [`Trace`] comes from a recording of Keyway's own (`keyway lab record`), from fio's iologs or
//! from blkparse's text; some are shipped. A [`Replay`] makes its requests again, in the same order
//! and with the same dependencies, with the think time kept or left out.

mod blkparse;
mod encrypted;
mod fio_log;
mod read;
mod replay;
mod shipped;
mod threads;

pub use crate::trace_error::TraceError;
pub use encrypted::{encrypted, layout};
pub use keyway_model::trace::{Trace, TraceRecord};
pub use read::{parse, read};
pub use replay::{Replay, Replayed, Think};
pub use shipped::{TraceMix, mix, mixes, named, names};
pub use threads::ThreadQueue;
