//! Clusters, and the table that leads from one to the next: what FAT and exFAT have in common.

use super::map::FileMap;
use crate::files::{FilesError, Window};

/// The first cluster's number (Microsoft's FAT specification, "FAT Data Structure"; exFAT's, 4.1).
const FIRST: u32 = 2;

/// How wide an entry of the table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// FAT12.
    Bits12,
    /// FAT16.
    Bits16,
    /// FAT32, of whose 32 bits four are reserved.
    Bits28,
    /// exFAT.
    Bits32,
}

/// The clusters of a volume.
pub(super) struct Chains {
    pub(super) window: Window,
    /// Where the table begins.
    pub(super) table: u64,
    pub(super) width: Width,
    /// Where the first cluster begins.
    pub(super) heap: u64,
    /// Bytes of a cluster.
    pub(super) cluster: u64,
    /// How many there are.
    pub(super) clusters: u32,
}

pub(super) fn damaged(what: &str) -> FilesError {
    FilesError::Damaged(what.to_owned())
}

impl Chains {
    /// Where a cluster lies.
    pub(super) fn place(&self, cluster: u32) -> Result<u64, FilesError> {
        let index = cluster.checked_sub(FIRST).filter(|index| *index < self.clusters);
        let index = index.ok_or_else(|| damaged("a chain leads to a cluster that does not exist"))?;
        Ok(self.heap.saturating_add(u64::from(index).saturating_mul(self.cluster)))
    }

    /// The cluster that a byte of the medium lies in.
    pub(super) fn around(&self, at: u64) -> Option<u32> {
        let index = at.checked_sub(self.heap)?.checked_div(self.cluster)?;
        u32::try_from(index).ok().filter(|index| *index < self.clusters)?.checked_add(FIRST)
    }

    /// The next one in the chain; `None` at its end.
    pub(super) fn next(&self, cluster: u32) -> Result<Option<u32>, FilesError> {
        let n = u64::from(cluster);
        let (at, len) = match self.width {
            Width::Bits12 => (n + n / 2, 2),
            Width::Bits16 => (n * 2, 2),
            Width::Bits28 | Width::Bits32 => (n * 4, 4),
        };
        let mut bytes = [0; 4];
        let field = bytes.get_mut(..len).unwrap_or_default();
        self.window.read_exact_at(field, self.table.saturating_add(at)).map_err(FilesError::from_io)?;
        let found = u32::from_le_bytes(bytes);
        // From there on it is an end.
        let (next, end) = match self.width {
            Width::Bits12 if cluster % 2 == 1 => (found >> 4, 0xff8),
            Width::Bits12 => (found & 0xfff, 0xff8),
            Width::Bits16 => (found, 0xfff8),
            Width::Bits28 => (found & 0x0fff_ffff, 0x0fff_fff8),
            Width::Bits32 => (found, u32::MAX),
        };
        Ok((next < end).then_some(next))
    }

    /// Where a file of that length lies.
    pub(super) fn map(&self, first: u32, size: u64, contiguous: bool) -> Result<FileMap, FilesError> {
        if size > u64::from(self.clusters).saturating_mul(self.cluster) {
            return Err(damaged("a file is larger than the volume"));
        }
        let mut map = FileMap::new(size);
        if contiguous && size > 0 {
            map.add(0, size, self.place(first)?, self.window.size())?;
            return Ok(map);
        }
        let (reached, _) = self.walk(first, size, &mut map)?;
        if reached < size {
            map.broken_from(reached);
        }
        Ok(map)
    }

    /// Where a folder lies, whose length stands nowhere: as far as its chain leads, and `most` bytes at most.
    pub(super) fn folder(&self, first: u32, most: u64) -> Result<FileMap, FilesError> {
        let mut map = FileMap::new(most);
        let (reached, ended) = self.walk(first, most, &mut map)?;
        if !ended {
            map.broken_from(reached);
        }
        Ok(map)
    }

    /// Follows a chain for so many bytes: how far it leads, and whether it ends there or leads further, not astray. It
    /// is followed no longer than the volume has clusters.
    fn walk(&self, first: u32, bytes: u64, map: &mut FileMap) -> Result<(u64, bool), FilesError> {
        let (mut at, mut next) = (0, Some(first));
        let all = u64::from(self.clusters).saturating_mul(self.cluster);
        while let Some(cluster) = next.filter(|_| at < bytes.min(all)) {
            let Ok(place) = self.place(cluster) else { return Ok((at, false)) };
            map.add(at, self.cluster, place, self.window.size())?;
            at = at.saturating_add(self.cluster);
            next = if at < bytes { self.next(cluster)? } else { None };
        }
        Ok((at, true))
    }
}
