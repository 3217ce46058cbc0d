//! A request of the kernel's and its answer, as every file system of ours has them.

use super::abi;
use rustix::io::Errno;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// The largest request, in bytes. The kernel would give four times as much; but the pieces of a
/// larger one are served side by side, and this much stays in a core's own cache from the medium
/// through the cipher to the kernel.
pub(crate) const MAX_TRANSFER: usize = 256 << 10;
/// How long the kernel may keep names and attributes, in seconds: they never change.
pub(crate) const VALID_SECONDS: u64 = 24 * 3600;
/// What the kernel holds in flight at most; its default of 12 would bound the queue depth.
const MAX_BACKGROUND: u16 = 256;

/// One request without its data.
pub(crate) struct Request<'a> {
    pub(crate) header: abi::InHeader,
    /// The operation's fixed structure.
    pub(crate) fixed: &'a [u8],
    /// How many bytes of the buffer belong to the request (a name, or data to write).
    pub(crate) payload_len: usize,
}

/// What to tell the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// So many bytes of the buffer.
    Bytes(usize),
    /// It failed.
    Error(Errno),
    /// The operation has no answer.
    Silence,
}

/// A file system: what requests do to it. Many threads ask at once.
pub(crate) trait FileSystem: Send + Sync + 'static {
    /// The answer to INIT, and whether both sides agree on io_uring.
    fn init(&self, fixed: &[u8], want_uring: bool) -> Result<(abi::InitOut, bool), Errno>;

    /// Does what is asked.
    fn answer(&self, request: &Request<'_>, buffer: &mut [u8]) -> Answer;

    /// A request was answered over `/dev/fuse`: what there is to do before the next one.
    fn after(&self, _request: &Request<'_>) {}
}

/// The answer to INIT for who wants these of the kernel's offers, and which of them there are.
pub(crate) fn agree(fixed: &[u8], wanted: u64) -> Result<(abi::InitOut, u64), Errno> {
    let (theirs, rest) = abi::InitIn::read_from_prefix(fixed).map_err(|_| Errno::PROTO)?;
    if theirs.major != abi::MAJOR {
        return Err(Errno::PROTO);
    }
    let mut offered = u64::from(theirs.flags);
    if offered & abi::INIT_EXT != 0
        && let Ok((upper, _)) = u32::read_from_prefix(rest)
    {
        offered |= u64::from(upper) << 32;
    }
    let flags = offered & (wanted | abi::INIT_MAX_PAGES | abi::INIT_EXT);
    let answer = abi::InitOut {
        major: abi::MAJOR,
        minor: abi::MINOR.min(theirs.minor),
        max_readahead: theirs.max_readahead.min(MAX_TRANSFER as u32),
        flags: flags as u32,
        flags2: (flags >> 32) as u32,
        max_background: MAX_BACKGROUND,
        congestion_threshold: MAX_BACKGROUND,
        max_write: MAX_TRANSFER as u32,
        time_gran: 1,
        max_pages: (MAX_TRANSFER / 4096) as u16,
        ..abi::InitOut::default()
    };
    Ok((answer, flags))
}

/// An operation's fixed structure.
pub(crate) fn parse<T: FromBytes>(fixed: &[u8]) -> Result<T, Errno> {
    T::read_from_prefix(fixed).map(|(value, _)| value).map_err(|_| Errno::INVAL)
}

/// Answers with a structure.
pub(crate) fn reply<T: IntoBytes + Immutable>(buffer: &mut [u8], value: &T) -> Result<Answer, Errno> {
    let bytes = value.as_bytes();
    buffer.get_mut(..bytes.len()).ok_or(Errno::INVAL)?.copy_from_slice(bytes);
    Ok(Answer::Bytes(bytes.len()))
}
