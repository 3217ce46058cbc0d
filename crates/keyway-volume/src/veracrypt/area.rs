//! Where a header says the data lies, checked against the file or device it lies in.

use super::header::{Header, HeaderFault};
use super::header_location::{
    BACKUP_GROUP_BYTES, HEADER_BYTES, HEADERS_BYTES, HeaderLocation, OLD_HIDDEN_FROM_END,
};
use super::suite::Suite;
use crate::VolumeError;
use keyway_cipher::{Mode, SectorCipher};
use keyway_engine::{Layout, LayoutError, Mapping, Segment};
use std::ops::Range;
use std::sync::Arc;

impl Header {
    /// The data area that the header describes, decrypted, when it was found at `place` of a
    /// store of `store_bytes`. [`super::unlock`] adds what lies around it in a system drive.
    ///
    /// # Errors
    /// The fields can't be true of such a store.
    pub fn layout(
        &self,
        place: HeaderLocation,
        suite: Suite,
        store_bytes: u64,
    ) -> Result<Layout, VolumeError> {
        let damaged = |fault| VolumeError::DamagedHeader { place, fault };
        let area = Area::of(self, place, suite.mode, store_bytes).map_err(damaged)?;
        area.must_end_by(store_bytes).map_err(damaged)?;
        Ok(area.layout(self.sector_bytes, suite.cipher(&self.key_area)?)?)
    }
}

/// A data area that lies inside its file or device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    /// First byte in the file or device.
    pub(crate) start: u64,
    /// Size in bytes; not 0, whole sectors.
    pub(crate) bytes: u64,
    /// Bytes of it that are encrypted, from the start on; less only in a system whose encryption
    /// has not come to its end.
    pub(crate) encrypted: u64,
    /// The number of the first data unit in the tweak or IV.
    pub(crate) first_unit: u64,
    /// Where the bytes end that belong to the volume and no outer volume may write: in old hidden
    /// volumes the header after the data is among them.
    pub(crate) owned_end: u64,
}

impl Area {
    /// Takes the area from a header that was found at `place` of a store of `store_bytes`.
    pub(crate) fn of(
        header: &Header,
        place: HeaderLocation,
        mode: Mode,
        store_bytes: u64,
    ) -> Result<Self, HeaderFault> {
        let area = if place == HeaderLocation::System {
            Self::system(header)?
        } else if header.has_sizes() {
            Self::with_sizes(header)?
        } else {
            Self::old(header, place, mode, store_bytes)?
        };
        let sector = u64::from(header.sector_bytes);
        if area.bytes == 0 || !area.bytes.is_multiple_of(sector) {
            return Err(HeaderFault::Size(area.bytes));
        }
        let overflow = HeaderFault::Overflow { start: area.start, bytes: area.bytes };
        let end = area.start.checked_add(area.bytes).ok_or(overflow)?;
        // A system's area lies in its drive, of which the store may be one partition.
        if place != HeaderLocation::System && end > store_bytes {
            return Err(HeaderFault::BeyondEnd { end, present: store_bytes });
        }
        Ok(area)
    }

    /// The first byte after it.
    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes)
    }

    /// Since TrueCrypt 6.0: the header has sizes, the data area lies after two headers.
    fn with_sizes(header: &Header) -> Result<Self, HeaderFault> {
        let (start, bytes) = (header.encrypted_start, header.volume_bytes);
        if start < HEADERS_BYTES || !start.is_multiple_of(512) {
            return Err(HeaderFault::Start(start));
        }
        if header.encrypted_bytes != bytes {
            return Err(HeaderFault::PartlyEncrypted { encrypted: header.encrypted_bytes, volume: bytes });
        }
        let owned_end = start.saturating_add(bytes);
        Ok(Self { start, bytes, encrypted: bytes, first_unit: start / 512, owned_end })
    }

    /// An encrypted system: the start counts from the beginning of the drive. The encrypted area
    /// may be noted as larger than the volume; what counts then is the volume.
    fn system(header: &Header) -> Result<Self, HeaderFault> {
        let (start, bytes) = (header.encrypted_start, header.volume_bytes);
        let encrypted = header.encrypted_bytes.min(bytes);
        if !start.is_multiple_of(512) || start < HeaderLocation::SYSTEM_OFFSET + HEADER_BYTES as u64 {
            return Err(HeaderFault::Start(start));
        }
        if !encrypted.is_multiple_of(512) {
            return Err(HeaderFault::PartlyEncrypted { encrypted, volume: bytes });
        }
        let owned_end = start.saturating_add(bytes);
        Ok(Self { start, bytes, encrypted, first_unit: start / 512, owned_end })
    }

    /// TrueCrypt before 6.0: one sector of header, then data to the end; a hidden volume's data
    /// lies right before its header near the end, and only its size is written down. The units
    /// count from the beginning of the file in XTS, of the data area in LRW; in CBC the first has
    /// the number 1 (TrueCrypt 4.3's source as described for `cryptsetup`'s tcrypt extension).
    fn old(
        header: &Header,
        place: HeaderLocation,
        mode: Mode,
        store_bytes: u64,
    ) -> Result<Self, HeaderFault> {
        const HEADER: u64 = HEADER_BYTES as u64;
        let (start, bytes, owned_end) = if place.is_hidden() {
            let bytes = header.hidden_bytes;
            let end = store_bytes.saturating_sub(OLD_HIDDEN_FROM_END);
            let start = end.checked_sub(bytes).filter(|start| *start >= HEADER);
            (start.ok_or(HeaderFault::Size(bytes))?, bytes, store_bytes)
        } else {
            let bytes = store_bytes.saturating_sub(HEADER) / 512 * 512;
            (HEADER, bytes, store_bytes)
        };
        let first_unit = match mode {
            Mode::Xts | Mode::BitLockerCbc | Mode::BitLockerElephant => start / 512,
            Mode::Lrw => 0,
            Mode::Cbc | Mode::InnerCbc => 1,
        };
        Ok(Self { start, bytes, encrypted: bytes, first_unit, owned_end })
    }

    /// Refuses an area that ends beyond its file or device.
    pub(crate) fn must_end_by(&self, store_bytes: u64) -> Result<(), HeaderFault> {
        let end = self.end();
        if end > store_bytes { Err(HeaderFault::BeyondEnd { end, present: store_bytes }) } else { Ok(()) }
    }

    /// Whether the backup headers that belong to the volume have no room after the data.
    pub(crate) fn covers_backup_headers(&self, store_bytes: u64) -> bool {
        self.end() > store_bytes.saturating_sub(BACKUP_GROUP_BYTES)
    }

    /// The layout of the area alone.
    pub(crate) fn layout(&self, sector_bytes: u32, cipher: SectorCipher) -> Result<Layout, LayoutError> {
        Layout::new(sector_bytes, self.segments(0, cipher))
    }

    /// The layout of a whole drive of `store_bytes`, this area decrypted in its place.
    pub(crate) fn drive_layout(
        &self,
        sector_bytes: u32,
        cipher: SectorCipher,
        store_bytes: u64,
    ) -> Result<Layout, LayoutError> {
        let plain = |start: u64, end: u64| Segment {
            start,
            len: end.saturating_sub(start) / 512 * 512,
            mapping: Mapping::Plain { store_offset: start },
        };
        let mut segments = vec![plain(0, self.start)];
        segments.extend(self.segments(self.start, cipher));
        segments.push(plain(self.end(), store_bytes));
        segments.retain(|segment| segment.len > 0);
        Layout::new(sector_bytes, segments)
    }

    /// The layout of a partition of `len` bytes that begins at byte `start` of the drive this area
    /// counts from, in the partition's own bytes. What is not encrypted is shown as it is; a
    /// partition that begins with the area ends with it.
    pub(crate) fn partition_layout(
        &self,
        (start, len): (u64, u64),
        sector_bytes: u32,
        cipher: SectorCipher,
    ) -> Result<Layout, LayoutError> {
        let end = start.saturating_add(len / 512 * 512);
        let end = if start == self.start { end.min(self.end()) } else { end };
        let from = self.start.clamp(start, end);
        let to = self.start.saturating_add(self.encrypted).clamp(from, end);
        let plain = |from: u64, to: u64| Segment {
            start: from - start,
            len: to - from,
            mapping: Mapping::Plain { store_offset: from - start },
        };
        let encrypted = Mapping::Encrypted {
            store_offset: from - start,
            first_unit: self.first_unit + (from.saturating_sub(self.start)) / 512,
            cipher: Arc::new(cipher),
        };
        let mut segments = vec![
            plain(start, from),
            Segment { start: from - start, len: to - from, mapping: encrypted },
            plain(to, end),
        ];
        segments.retain(|segment| segment.len > 0);
        Layout::new(sector_bytes, segments)
    }

    fn segments(&self, at: u64, cipher: SectorCipher) -> Vec<Segment> {
        let encrypted = Mapping::Encrypted {
            store_offset: self.start,
            first_unit: self.first_unit,
            cipher: Arc::new(cipher),
        };
        let plain = Mapping::Plain { store_offset: self.start.saturating_add(self.encrypted) };
        let mut segments = vec![
            Segment { start: at, len: self.encrypted, mapping: encrypted },
            Segment { start: at + self.encrypted, len: self.bytes - self.encrypted, mapping: plain },
        ];
        segments.retain(|segment| segment.len > 0);
        segments
    }

    /// The logical bytes of `outer` that belong to this hidden volume.
    pub(crate) fn guard_in(&self, outer: &Self) -> Result<Range<u64>, HeaderFault> {
        let outer_end = outer.end();
        let from = self.start.checked_sub(outer.start).ok_or(HeaderFault::Start(self.start))?;
        let end = self.owned_end.min(outer_end);
        let to = end.checked_sub(outer.start).filter(|to| *to > from);
        Ok(from..to.ok_or(HeaderFault::Start(self.start))?)
    }
}
