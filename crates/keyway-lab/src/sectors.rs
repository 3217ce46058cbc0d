//! What a cell is run on: a file or device, or sectors that live in this process.

use keyway_store::{Queue, Store};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Sectors in this process: an engine's device, a store, a modelled drive.
///
/// One call is one request, and the thread that calls waits for it: a queue of depth N is N threads.
pub trait Sectors: Send + Sync {
    /// Fills `buf` from `offset`.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes `buf` at `offset`.
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()>;
    /// Puts everything on the medium.
    fn flush(&self) -> io::Result<()>;
    /// Bytes.
    fn size(&self) -> u64;
    /// Smallest unit that is written in one piece, in bytes.
    fn sector_bytes(&self) -> u32;
    /// Whether writes are refused.
    fn is_read_only(&self) -> bool;
}

/// The kind of an errno, so that "no space" stays "no space", with the words of the error itself.
fn refused(errno: i32, error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::Error::from_raw_os_error(errno).kind(), error)
}

/// The sectors of a store, or of an open volume's device, as they are.
pub struct Stored(pub Arc<dyn Store>);

impl Sectors for Stored {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_at(buf, offset).map_err(|e| refused(e.errno(), e))
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_at(buf, offset).map_err(|e| refused(e.errno(), e))
    }
    fn flush(&self) -> io::Result<()> {
        self.0.flush().map_err(|e| refused(e.errno(), e))
    }
    fn size(&self) -> u64 {
        self.0.size()
    }
    fn sector_bytes(&self) -> u32 {
        self.0.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        self.0.is_read_only()
    }
}

/// A part of other sectors, counted from 0: where a volume keeps its data and nothing else.
pub struct Window {
    inner: Arc<dyn Sectors>,
    start: u64,
    len: u64,
}

impl Window {
    /// The bytes `start..start + len`, cut off at the end.
    pub fn new(inner: Arc<dyn Sectors>, start: u64, len: u64) -> Self {
        let len = len.min(inner.size().saturating_sub(start));
        Self { inner, start, len }
    }

    fn place(&self, offset: u64, len: usize) -> io::Result<u64> {
        match offset.checked_add(len as u64) {
            Some(end) if end <= self.len => Ok(self.start + offset),
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "past the end of the measured part")),
        }
    }
}

impl Sectors for Window {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.inner.read_at(buf, self.place(offset, buf.len())?)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.inner.write_at(buf, self.place(offset, buf.len())?)
    }
    fn flush(&self) -> io::Result<()> {
        self.inner.flush()
    }
    fn size(&self) -> u64 {
        self.len
    }
    fn sector_bytes(&self) -> u32 {
        self.inner.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }
}

/// Makes a queue for the thread that calls it.
pub(crate) type OpenQueue = dyn Fn() -> Box<dyn Queue> + Send + Sync;

/// What a cell is run on.
#[derive(Clone)]
pub enum Subject {
    /// A file or device, driven through io_uring.
    File {
        /// Where.
        path: PathBuf,
        /// First byte that may be touched.
        start: u64,
        /// Bytes that may be touched.
        len: u64,
        /// Past the page cache (`O_DIRECT`).
        direct: bool,
    },
    /// Sectors in this process, driven by as many threads as requests are in flight.
    InProcess(Arc<dyn Sectors>),
    /// A store, or a volume on one, that takes many requests from one thread.
    Queued {
        /// Makes a queue for the thread that calls it.
        open: Arc<OpenQueue>,
        /// First byte that may be touched.
        start: u64,
        /// Bytes that may be touched.
        len: u64,
    },
}

impl Subject {
    /// Bytes that may be touched.
    pub fn size(&self) -> u64 {
        match self {
            Self::File { len, .. } | Self::Queued { len, .. } => *len,
            Self::InProcess(sectors) => sectors.size(),
        }
    }
}
