//! The sector device: splits a request by segment, moves the bytes, transforms them in place.
//!
//! Reads decrypt in the caller's own buffer. Writes encrypt into a buffer of the calling thread,
//! because what the caller wrote must stay as it was. Requests that are not whole data units are
//! completed by reading first, one such write at a time.

use crate::{Layout, LayoutError, Mapping};
use keyway_store::{AlignedBuf, Store, StoreError};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// Bytes encrypted at a time: large enough for one system call to cost nothing, small enough to
/// stay in the second-level cache.
const PIECE: usize = 512 * 1024;

/// Whether a device takes writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads only.
    ReadOnly,
    /// Reads and writes.
    ReadWrite,
}

/// A request that failed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The request reaches past the end of the volume.
    #[error("{len} bytes at {offset} are past the end of the volume ({size} bytes)")]
    PastEnd {
        /// First byte.
        offset: u64,
        /// Length.
        len: u64,
        /// The volume's size.
        size: u64,
    },
    /// The volume was opened read-only.
    #[error("the volume is open read-only")]
    ReadOnly,
    /// A write would have damaged the hidden volume. The device takes no more writes.
    #[error("a write to the outer volume would have damaged the hidden one; the volume is now read-only")]
    HiddenVolume,
    /// The bytes belong to the volume's own metadata.
    #[error("the bytes at {0} belong to the volume's metadata and can't be written")]
    Metadata(u64),
}

impl DeviceError {
    /// The errno to hand to an application.
    pub fn errno(&self) -> i32 {
        // Linux's generic numbers: EINVAL, EROFS, EPERM.
        match self {
            Self::Store(e) => e.errno(),
            Self::PastEnd { .. } => 22,
            Self::ReadOnly => 30,
            Self::HiddenVolume | Self::Metadata(_) => 1,
        }
    }
}

/// What has gone through a device since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Read requests.
    pub reads: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Write requests.
    pub writes: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Flushes.
    pub flushes: u64,
}

#[derive(Default)]
struct Counting {
    reads: AtomicU64,
    bytes_read: AtomicU64,
    writes: AtomicU64,
    bytes_written: AtomicU64,
    flushes: AtomicU64,
}

/// A layout over a store: plain sectors in and out.
pub struct Device {
    layout: Layout,
    store: Box<dyn Store>,
    access: Access,
    granule: u64,
    guard_hit: AtomicBool,
    counting: Counting,
    /// Whole-unit writes share it; a write that must read first has it alone.
    partial: RwLock<()>,
}

thread_local! {
    static SCRATCH: RefCell<AlignedBuf> = RefCell::new(AlignedBuf::default());
}

impl Device {
    /// Puts the layout over the store. Refuses a layout that reaches past the store's end.
    pub fn new(store: Box<dyn Store>, layout: Layout, access: Access) -> Result<Self, LayoutError> {
        let (needed, present) = (layout.store_end(), store.size());
        if needed > present {
            return Err(LayoutError::BeyondStore { needed, present });
        }
        let access = if store.is_read_only() { Access::ReadOnly } else { access };
        let granule = layout.granule();
        Ok(Self {
            layout,
            store,
            access,
            granule,
            guard_hit: AtomicBool::new(false),
            counting: Counting::default(),
            partial: RwLock::new(()),
        })
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.layout.size()
    }

    /// Logical sector size in bytes.
    pub fn sector_bytes(&self) -> u32 {
        self.layout.sector_bytes()
    }

    /// Whether writes are refused, from the start or since one nearly hit the hidden volume.
    pub fn is_read_only(&self) -> bool {
        self.access == Access::ReadOnly || self.guard_hit()
    }

    /// Whether a write to the protected range has been refused.
    pub fn guard_hit(&self) -> bool {
        self.guard_hit.load(Ordering::Acquire)
    }

    /// What has gone through so far.
    pub fn counters(&self) -> Counters {
        let c = &self.counting;
        let get = |n: &AtomicU64| n.load(Ordering::Relaxed);
        Counters {
            reads: get(&c.reads),
            bytes_read: get(&c.bytes_read),
            writes: get(&c.writes),
            bytes_written: get(&c.bytes_written),
            flushes: get(&c.flushes),
        }
    }

    /// Fills `buf` with the plain bytes at `offset`.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), DeviceError> {
        self.check(offset, buf.len() as u64)?;
        self.counting.reads.fetch_add(1, Ordering::Relaxed);
        self.counting.bytes_read.fetch_add(buf.len() as u64, Ordering::Relaxed);
        if self.is_whole(offset, buf.len()) {
            return self.read_whole(buf, offset);
        }
        let (from, to) = self.widen(offset, buf.len());
        with_scratch((to - from) as usize, |scratch| {
            self.read_whole(scratch, from)?;
            let skip = (offset - from) as usize;
            buf.copy_from_slice(&scratch[skip..skip + buf.len()]);
            Ok(())
        })
    }

    /// Writes `buf` at `offset`.
    pub fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), DeviceError> {
        self.check_write(offset, buf.len() as u64)?;
        self.counting.writes.fetch_add(1, Ordering::Relaxed);
        self.counting.bytes_written.fetch_add(buf.len() as u64, Ordering::Relaxed);
        if self.is_whole(offset, buf.len()) {
            let _shared = self.partial.read().unwrap_or_else(PoisonError::into_inner);
            return self.write_whole(offset, buf.len(), |piece, at| {
                piece.copy_from_slice(&buf[at..at + piece.len()])
            });
        }
        let _alone = self.partial.write().unwrap_or_else(PoisonError::into_inner);
        let (from, to) = self.widen(offset, buf.len());
        let mut whole = AlignedBuf::zeroed((to - from) as usize);
        self.read_whole(&mut whole, from)?;
        let skip = (offset - from) as usize;
        whole[skip..skip + buf.len()].copy_from_slice(buf);
        self.write_whole(from, whole.len(), |piece, at| piece.copy_from_slice(&whole[at..at + piece.len()]))
    }

    /// Makes `len` bytes at `offset` read as zeros (encrypted zeros on the medium).
    pub fn write_zeroes(&self, offset: u64, len: u64) -> Result<(), DeviceError> {
        self.check_write(offset, len)?;
        let zeros = [0u8; 4096];
        let mut at = offset;
        let end = offset + len;
        while at < end {
            let aligned = at.is_multiple_of(self.granule) && (end - at) >= self.granule;
            let n = if aligned {
                let whole = (end - at) / self.granule * self.granule;
                let n = whole.min(PIECE as u64);
                let _shared = self.partial.read().unwrap_or_else(PoisonError::into_inner);
                self.write_whole(at, n as usize, |piece, _| piece.fill(0))?;
                n
            } else {
                let n = (self.granule - at % self.granule).min(end - at).min(zeros.len() as u64);
                self.write_at(&zeros[..n as usize], at)?;
                n
            };
            at += n;
        }
        Ok(())
    }

    /// Puts everything written before this call on the medium.
    pub fn flush(&self) -> Result<(), DeviceError> {
        self.counting.flushes.fetch_add(1, Ordering::Relaxed);
        Ok(self.store.flush()?)
    }

    /// Tells the medium that the bytes are not needed. Only whole units inside stored segments.
    pub fn discard(&self, offset: u64, len: u64) -> Result<(), DeviceError> {
        self.check_write(offset, len)?;
        let from = offset.next_multiple_of(self.granule);
        let to = (offset + len) / self.granule * self.granule;
        let mut at = from;
        while at < to {
            let Some((segment, n)) = self.piece(at, to) else { break };
            if let Mapping::Encrypted { store_offset, .. } | Mapping::Plain { store_offset } =
                &segment.mapping
            {
                self.store.discard(store_offset + (at - segment.start), n)?;
            }
            at += n;
        }
        Ok(())
    }

    fn check(&self, offset: u64, len: u64) -> Result<(), DeviceError> {
        match offset.checked_add(len) {
            Some(end) if end <= self.size() => Ok(()),
            _ => Err(DeviceError::PastEnd { offset, len, size: self.size() }),
        }
    }

    fn check_write(&self, offset: u64, len: u64) -> Result<(), DeviceError> {
        self.check(offset, len)?;
        if self.guard_hit() {
            return Err(DeviceError::HiddenVolume);
        }
        if self.access == Access::ReadOnly {
            return Err(DeviceError::ReadOnly);
        }
        let (from, to) = self.widen(offset, len as usize);
        if let Some(guard) = self.layout.guard()
            && len > 0
            && from < guard.end
            && to > guard.start
        {
            self.guard_hit.store(true, Ordering::Release);
            return Err(DeviceError::HiddenVolume);
        }
        Ok(())
    }

    fn is_whole(&self, offset: u64, len: usize) -> bool {
        offset.is_multiple_of(self.granule) && (len as u64).is_multiple_of(self.granule)
    }

    /// The smallest run of whole units around a range inside the volume.
    fn widen(&self, offset: u64, len: usize) -> (u64, u64) {
        let from = offset / self.granule * self.granule;
        let to = (offset + len as u64).div_ceil(self.granule) * self.granule;
        (from, to.min(self.size()))
    }

    /// The segment at `at`, and how many bytes of `at..end` lie in it.
    fn piece(&self, at: u64, end: u64) -> Option<(&crate::Segment, u64)> {
        let segment = self.layout.find(at)?;
        Some((segment, (segment.start + segment.len).min(end) - at))
    }

    fn read_whole(&self, buf: &mut [u8], offset: u64) -> Result<(), DeviceError> {
        let end = offset + buf.len() as u64;
        let mut rest = buf;
        let mut at = offset;
        while let Some((segment, n)) = self.piece(at, end).filter(|(_, n)| *n > 0) {
            let (part, tail) = rest.split_at_mut(n as usize);
            let within = at - segment.start;
            match &segment.mapping {
                Mapping::Encrypted { store_offset, first_unit, cipher } => {
                    self.store.read_at(part, store_offset + within)?;
                    cipher.decrypt_sectors(part, first_unit + within / u64::from(cipher.unit_bytes()));
                }
                Mapping::Plain { store_offset } => self.store.read_at(part, store_offset + within)?,
                Mapping::Zero => part.fill(0),
            }
            rest = tail;
            at += n;
            if at >= end {
                break;
            }
        }
        Ok(())
    }

    /// Writes whole units; `fill(piece, at)` puts the plain bytes from `at` on into `piece`.
    fn write_whole(
        &self,
        offset: u64,
        len: usize,
        fill: impl Fn(&mut [u8], usize),
    ) -> Result<(), DeviceError> {
        let end = offset + len as u64;
        let mut at = offset;
        while at < end {
            let Some((segment, n)) = self.piece(at, end) else { break };
            let n = n.min(PIECE as u64);
            let within = at - segment.start;
            with_scratch(n as usize, |scratch| {
                fill(scratch, (at - offset) as usize);
                match &segment.mapping {
                    Mapping::Encrypted { store_offset, first_unit, cipher } => {
                        cipher.encrypt_sectors(scratch, first_unit + within / u64::from(cipher.unit_bytes()));
                        Ok(self.store.write_at(scratch, store_offset + within)?)
                    }
                    Mapping::Plain { store_offset } => {
                        Ok(self.store.write_at(scratch, store_offset + within)?)
                    }
                    Mapping::Zero => Err(DeviceError::Metadata(at)),
                }
            })?;
            at += n;
        }
        Ok(())
    }
}

/// Lends the calling thread's own aligned buffer; nothing is allocated once it has grown.
fn with_scratch<R>(len: usize, work: impl FnOnce(&mut [u8]) -> R) -> R {
    SCRATCH.with_borrow_mut(|buf| {
        buf.resize(len);
        work(buf)
    })
}
