//! Workloads are data: one readable file each, shipped ones in the program, anybody's own beside it.

mod definition;
mod parse;
mod shipped;
mod size;

pub use definition::{
    BESIDE_IN_PLACE, Condition, CopyFile, Data, FileGroup, Operation, Positions, Procedure, Requests, Timed,
    Traces, Tree, Turns, Workload,
};
pub use parse::parse;
pub use shipped::{find, shipped};
pub(crate) use size::{parse_bytes, short_bytes};
