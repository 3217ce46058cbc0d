//! Where each logical sector of a volume lives, and under which transform.

use keyway_cipher::SectorCipher;
use keyway_error::explain;
use std::ops::Range;
use std::sync::Arc;

/// How a segment's bytes come about.
#[derive(Clone)]
pub enum Mapping {
    /// Stored at `store_offset`, encrypted.
    Encrypted {
        /// First byte in the store.
        store_offset: u64,
        /// Number of the segment's first data unit, as the cipher counts them.
        first_unit: u64,
        /// The keyed cipher.
        cipher: Arc<SectorCipher>,
    },
    /// Stored at `store_offset` as it is.
    Plain {
        /// First byte in the store.
        store_offset: u64,
    },
    /// Reads as zeros; writes of anything else are refused.
    Zero,
}

/// A run of logical bytes under one mapping.
#[derive(Clone)]
pub struct Segment {
    /// First logical byte.
    pub start: u64,
    /// Length in bytes; a multiple of the sector size, not 0.
    pub len: u64,
    /// Where it is.
    pub mapping: Mapping,
}

/// An ordered list of segments that covers `0..size` without gap or overlap.
#[derive(Clone)]
pub struct Layout {
    sector_bytes: u32,
    segments: Vec<Segment>,
    guard: Option<Range<u64>>,
}

/// A layout that makes no sense. Formats check their headers' fields before; this is the wall
/// behind them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Neither 512, 1024, 2048 nor 4096.
    #[error("a sector size of {0} bytes is not supported")]
    SectorSize(u32),
    /// No segments.
    #[error("the volume has no data area")]
    Empty,
    /// A segment does not start where the one before ends, or is not whole sectors.
    #[error("the volume's segment at byte {0} is misplaced")]
    Misplaced(u64),
    /// A segment lies beyond the end of the store.
    #[error("the volume needs {needed} bytes, but the file or device has {present}")]
    BeyondStore {
        /// First byte after the segment in the store.
        needed: u64,
        /// The store's size.
        present: u64,
    },
}

explain!(LayoutError => [Damaged Contents, CheckCopy]);

impl Layout {
    /// Checks and keeps the segments.
    pub fn new(sector_bytes: u32, segments: Vec<Segment>) -> Result<Self, LayoutError> {
        if !matches!(sector_bytes, 512 | 1024 | 2048 | 4096) {
            return Err(LayoutError::SectorSize(sector_bytes));
        }
        let sector = u64::from(sector_bytes);
        let mut at = 0u64;
        for segment in &segments {
            let misplaced = || LayoutError::Misplaced(segment.start);
            let unit_ok = match &segment.mapping {
                Mapping::Encrypted { cipher, first_unit, .. } => {
                    let unit = u64::from(cipher.unit_bytes());
                    segment.start.is_multiple_of(unit)
                        && segment.len.is_multiple_of(unit)
                        && first_unit.checked_add(segment.len / unit).is_some()
                }
                Mapping::Plain { .. } | Mapping::Zero => true,
            };
            let whole = segment.len > 0 && segment.len.is_multiple_of(sector);
            if segment.start != at || !whole || !unit_ok {
                return Err(misplaced());
            }
            at = at.checked_add(segment.len).ok_or_else(misplaced)?;
            if let Some(offset) = segment.store_offset() {
                offset.checked_add(segment.len).ok_or_else(misplaced)?;
            }
        }
        if segments.is_empty() {
            return Err(LayoutError::Empty);
        }
        Ok(Self { sector_bytes, segments, guard: None })
    }

    /// The same layout with a range of logical bytes that must never be written: the hidden
    /// volume inside an outer one.
    #[must_use]
    pub fn guarding(mut self, range: Range<u64>) -> Self {
        self.guard = Some(range);
        self
    }

    /// The protected range, if any.
    pub fn guard(&self) -> Option<&Range<u64>> {
        self.guard.as_ref()
    }

    /// Logical sector size in bytes.
    pub fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    /// Size of the volume in bytes.
    pub fn size(&self) -> u64 {
        self.segments.last().map_or(0, |s| s.start + s.len)
    }

    /// The segments, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// First byte after everything the layout uses in the store.
    pub(crate) fn store_end(&self) -> u64 {
        self.segments.iter().filter_map(|s| Some(s.store_offset()? + s.len)).max().unwrap_or(0)
    }

    /// The segment that holds a logical byte inside the volume.
    pub(crate) fn find(&self, offset: u64) -> Option<&Segment> {
        let index = self.segments.partition_point(|s| s.start + s.len <= offset);
        self.segments.get(index)
    }

    /// The least common alignment of requests that need no read-modify-write.
    pub(crate) fn granule(&self) -> u64 {
        let unit = self.segments.iter().map(|s| match &s.mapping {
            Mapping::Encrypted { cipher, .. } => u64::from(cipher.unit_bytes()),
            Mapping::Plain { .. } | Mapping::Zero => 512,
        });
        unit.max().unwrap_or(512).max(u64::from(self.sector_bytes))
    }
}

impl Segment {
    fn store_offset(&self) -> Option<u64> {
        match &self.mapping {
            Mapping::Encrypted { store_offset, .. } | Mapping::Plain { store_offset } => Some(*store_offset),
            Mapping::Zero => None,
        }
    }
}
