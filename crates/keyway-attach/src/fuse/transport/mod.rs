//! How requests come from the kernel and answers go back: `/dev/fuse`, or rings.

mod cpu_placement;
pub(crate) mod device;
pub(crate) mod helpers;
mod pace;
mod permit;
pub(crate) mod rings;
mod watch;

use super::abi::OutHeader;
use super::request::Answer;

/// The header and the length of the data for an answer; `None` where there is none to give.
pub(crate) fn out_header(unique: u64, answer: Answer) -> Option<(OutHeader, usize)> {
    let (error, len) = match answer {
        Answer::Bytes(len) => (0, len),
        Answer::Error(e) => (-e.raw_os_error(), 0),
        Answer::Silence => return None,
    };
    Some((OutHeader { len: (size_of::<OutHeader>() + len) as u32, error, unique }, len))
}
