//! A trace: the requests that reached a volume while somebody worked with it, with their times.
//!
//! Only where and when, never the bytes. Still, a trace tells which parts of a volume were used and
//! when; it deserves the care of a log file.

mod compact;
mod recorder;
mod requests;

pub use compact::{LONGEST_FILE, MOST_RECORDS, TraceFormatError};
pub use recorder::TraceRecorder;
pub use requests::{Trace, TraceRecord};
