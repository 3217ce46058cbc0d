//! Which bytes of a file system are in use, read from its own map; and keeping it off some of them.
//!
//! NTFS, exFAT, FAT16 and FAT32 can have clusters marked as bad, which no program allocates, moves or
//! counts as free. BitLocker's metadata lies inside the file system: Windows hides it below files of its
//! own in `System Volume Information`; the marks for bad clusters do the same with a few numbers in
//! structures that every one of these file systems has, and nobody can delete them. The map of ext2, ext3
//! and ext4 is read only.
//!
//! The bytes come from a medium that somebody else has written. Each length and place is checked against
//! the medium's size before it is used, and no more than [`LARGEST_MAP`] is held in memory.

mod clusters;
mod error;
mod exfat;
mod ext;
mod fat;
mod medium;
mod ntfs;

pub use error::AllocationError;
pub use medium::LARGEST_MAP;

use crate::Superblock;
use clusters::Clusters;
use keyway_store::Store;
use medium::{PAGE, read};
use std::ops::Range;

/// The map of a file system.
pub struct Allocation {
    tables: Tables,
    map: Clusters,
    /// Which file system it is, and how far it reaches where it says so.
    found: Superblock,
}

/// Which file system, with where its map of clusters lies.
enum Tables {
    Fat(fat::Fat),
    ExFat(exfat::ExFat),
    Ntfs(ntfs::Ntfs),
    Ext,
}

impl Allocation {
    /// Finds out which file system is there and which of its clusters are used. Nothing is written.
    ///
    /// # Errors
    /// It is none that is known here, or its map can't be true; or the medium failed.
    pub fn read(store: &dyn Store) -> Result<Self, AllocationError> {
        if store.size() < 2 * PAGE {
            return Err(AllocationError::Unknown);
        }
        let head = read(store, 0, PAGE)?;
        let boot: &[u8; 512] = head.first_chunk().ok_or(AllocationError::Unknown)?;
        let found = Superblock::read(store)?.ok_or(AllocationError::Unknown)?;
        let (tables, map) = match found.kind {
            crate::FileSystemKind::Ntfs => {
                let (ntfs, map) = ntfs::Ntfs::open(store, boot)?;
                (Tables::Ntfs(ntfs), map)
            }
            crate::FileSystemKind::ExFat => {
                let (exfat, map) = exfat::ExFat::open(store, boot)?;
                (Tables::ExFat(exfat), map)
            }
            crate::FileSystemKind::Ext => (Tables::Ext, ext::open(store, &head)?),
            crate::FileSystemKind::Fat => {
                let (fat, map) = fat::Fat::open(store, boot)?;
                (Tables::Fat(fat), map)
            }
            _ => return Err(AllocationError::Unknown),
        };
        Ok(Self { tables, map, found })
    }

    /// Whether clusters can be kept from it.
    pub fn can_reserve(&self) -> bool {
        !matches!(self.tables, Tables::Ext)
    }

    /// The first free run of `len` bytes at or after `from`, or else anywhere, that starts at a
    /// multiple of `align`.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, from: u64, len: u64, align: u64) -> Result<u64, AllocationError> {
        let found = self.map.find(from, len, align).or_else(|| self.map.find(0, len, align));
        found.ok_or(AllocationError::NoRoom)
    }

    /// From now on nothing is found free from that byte on. What is taken is not affected.
    pub fn keep_below(&mut self, end: u64) {
        self.map.offered = self.map.offered.min(end.saturating_sub(self.map.start) / self.map.bytes);
    }

    /// Sets the clusters aside that hold any of these bytes; [`Allocation::mark`] writes it down.
    pub fn take(&mut self, range: Range<u64>) {
        self.map.take(range);
    }

    /// Writes what was taken into the file system, as bad clusters. Once.
    ///
    /// # Errors
    /// The medium failed, or there is no room for the marks.
    pub fn mark(&self, store: &dyn Store) -> Result<(), AllocationError> {
        match &self.tables {
            Tables::Fat(fat) => fat.mark(store, &self.map, true),
            Tables::ExFat(exfat) => exfat.mark(store, &self.map, true),
            Tables::Ntfs(ntfs) => ntfs.mark(store, &self.map),
            Tables::Ext => Err(AllocationError::Unsupported("ext4 has no bad clusters")),
        }
    }

    /// The bad clusters that hold any of these bytes, in order.
    fn bad_clusters(
        &self,
        store: &dyn Store,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Range<u64>>, AllocationError> {
        let clusters: Vec<_> = ranges.iter().filter_map(|range| self.map.of(range)).collect();
        match &self.tables {
            Tables::Fat(fat) => fat.bad(store, &clusters),
            Tables::ExFat(exfat) => exfat.bad(store, &clusters),
            Tables::Ntfs(ntfs) => Ok(ntfs.bad_among(&clusters)),
            Tables::Ext => Ok(vec![]),
        }
    }

    /// The same as bytes: what [`Allocation::release`] would give back.
    ///
    /// # Errors
    /// As there.
    pub fn bad(&self, store: &dyn Store, ranges: &[Range<u64>]) -> Result<Vec<Range<u64>>, AllocationError> {
        let place = |cluster: u64| self.map.start + cluster * self.map.bytes;
        let bad = self.bad_clusters(store, ranges)?;
        Ok(bad.iter().map(|run| place(run.start)..place(run.end)).collect())
    }

    /// What of these bytes nobody has: they lie in free clusters, in bad ones, or behind the last one.
    ///
    /// # Errors
    /// The medium failed.
    pub fn nobodys(
        &self,
        store: &dyn Store,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Range<u64>>, AllocationError> {
        let bad = self.bad(store, ranges)?;
        let end = self.map.start + self.map.count * self.map.bytes;
        let mut found: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            let mut at = range.start.max(self.map.start);
            while at < range.end {
                let cluster = (at - self.map.start) / self.map.bytes;
                let next = if at < end { self.map.start + (cluster + 1) * self.map.bytes } else { u64::MAX };
                let next = next.min(range.end);
                if at >= end || !self.map.bit(cluster) || bad.iter().any(|run| run.contains(&at)) {
                    match found.last_mut() {
                        Some(last) if last.end == at && at > range.start => last.end = next,
                        _ => found.push(at..next),
                    }
                }
                at = next;
            }
        }
        Ok(found)
    }

    /// Makes NTFS's mirror of the MFT agree with that about bad clusters, where a cut in the middle of [`Allocation::mark`] or
    /// [`Allocation::release`] has left it behind: its programs mount none where they differ. Says whether it did.
    ///
    /// # Errors
    /// The medium failed.
    pub fn mend(&self, store: &dyn Store) -> Result<bool, AllocationError> {
        match &self.tables {
            Tables::Ntfs(ntfs) => ntfs.mend(store),
            Tables::Fat(_) | Tables::ExFat(_) | Tables::Ext => Ok(false),
        }
    }

    /// Gives bad clusters back that hold any of these bytes; others stay bad. Says whether there were any.
    ///
    /// # Errors
    /// The medium failed, or a field can't be true.
    pub fn release(&mut self, store: &dyn Store, ranges: &[Range<u64>]) -> Result<bool, AllocationError> {
        let bad = self.bad_clusters(store, ranges)?;
        if bad.is_empty() {
            return Ok(false);
        }
        for run in &bad {
            run.clone().for_each(|cluster| self.map.set(cluster, false));
        }
        self.map.taken = bad;
        match &self.tables {
            Tables::Fat(fat) => fat.mark(store, &self.map, false)?,
            Tables::ExFat(exfat) => exfat.mark(store, &self.map, false)?,
            Tables::Ntfs(ntfs) => ntfs.release(store, &self.map)?,
            Tables::Ext => {}
        }
        self.map.taken.clear();
        Ok(true)
    }

    /// The bytes in use below `end`, in order: all that is no free cluster, such as boot sectors and
    /// tables, too. Free bytes of less than `gap` between two used ones count as used.
    pub fn used(&self, end: u64, gap: u64) -> Vec<Range<u64>> {
        self.map.used_ranges(end, gap)
    }

    /// Which file system it is.
    pub fn kind(&self) -> crate::FileSystemKind {
        self.found.kind
    }

    /// The end of what it uses below `end`: what lies from there to `end` is free, or behind the file system.
    pub fn used_end(&self, end: u64) -> u64 {
        match (&self.tables, self.found.bytes) {
            // A copy of its boot sector is the last sector, behind all clusters.
            (Tables::Ntfs(_), Some(bytes)) if bytes.saturating_sub(PAGE) < end => bytes.min(end),
            _ => self.map.used_end(end),
        }
    }

    /// Bytes of its free clusters.
    pub fn free_bytes(&self) -> u64 {
        let free: u64 = self.map.used.iter().map(|byte| u64::from(byte.count_zeros())).sum();
        // The bits behind the last cluster belong to none.
        let beyond = (self.map.count..self.map.used.len() as u64 * 8).filter(|c| !self.map.bit(*c)).count();
        free.saturating_sub(beyond as u64).saturating_mul(self.map.bytes)
    }
}

#[cfg(test)]
mod tests;
