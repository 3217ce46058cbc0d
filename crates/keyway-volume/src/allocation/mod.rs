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

mod exfat;
mod ext;
mod fat;
mod ntfs;

use keyway_store::{AlignedBuf, Store, StoreError};
use std::ops::Range;

/// The largest map that is read: one of 2^32 clusters and more, as much as NTFS and exFAT can have.
pub const LARGEST_MAP: u64 = 1 << 30;

/// Pages are read and written whole, as direct I/O wants it.
const PAGE: u64 = 4096;

/// Why a file system's map can't be used.
#[derive(Debug, thiserror::Error)]
pub enum AllocationError {
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// None of those that are known here.
    #[error("there is no file system whose map is known here (NTFS, exFAT, FAT16, FAT32, ext2 to ext4)")]
    Unknown,
    /// A field that can't be true.
    #[error("the file system's map can't be read ({0}); have its own checker repair it first")]
    Damaged(&'static str),
    /// It was not left in order.
    #[error(
        "the file system was not left in order ({0}): let the system it belongs to mount and unmount it once"
    )]
    Dirty(&'static str),
    /// A kind of map that is not known.
    #[error("the file system keeps its map in a way that is not known here ({0})")]
    Unsupported(&'static str),
    /// Nowhere so many free bytes in a row.
    #[error(
        "the file system leaves no room for BitLocker's metadata; make room in it, or take a larger size"
    )]
    NoRoom,
}

/// The map of a file system.
pub struct Allocation {
    kind: Kind,
    map: Clusters,
}

/// Which file system, with where its map of clusters lies.
enum Kind {
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
        let (kind, map) = if boot.get(3..11) == Some(b"NTFS    ") {
            let (ntfs, map) = ntfs::Ntfs::open(store, boot)?;
            (Kind::Ntfs(ntfs), map)
        } else if boot.get(3..11) == Some(b"EXFAT   ") {
            let (exfat, map) = exfat::ExFat::open(store, boot)?;
            (Kind::ExFat(exfat), map)
        } else if let Some(superblock) = ext::superblock(&head) {
            (Kind::Ext, ext::open(store, superblock)?)
        } else if fat::is_boot_sector(boot) {
            let (fat, map) = fat::Fat::open(store, boot)?;
            (Kind::Fat(fat), map)
        } else {
            return Err(AllocationError::Unknown);
        };
        Ok(Self { kind, map })
    }

    /// Whether clusters can be kept from it.
    pub fn can_reserve(&self) -> bool {
        !matches!(self.kind, Kind::Ext)
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
        match &self.kind {
            Kind::Fat(fat) => fat.mark(store, &self.map, true),
            Kind::ExFat(exfat) => exfat.mark(store, &self.map, true),
            Kind::Ntfs(ntfs) => ntfs.mark(store, &self.map),
            Kind::Ext => Err(AllocationError::Unsupported("ext4 has no bad clusters")),
        }
    }

    /// Gives bad clusters back that hold any of these bytes; others stay bad. Says whether there were any.
    ///
    /// # Errors
    /// The medium failed, or a field can't be true.
    pub fn release(&mut self, store: &dyn Store, ranges: &[Range<u64>]) -> Result<bool, AllocationError> {
        let clusters: Vec<_> = ranges.iter().filter_map(|range| self.map.of(range)).collect();
        let bad = match &self.kind {
            Kind::Fat(fat) => fat.bad(store, &clusters)?,
            Kind::ExFat(exfat) => exfat.bad(store, &clusters)?,
            Kind::Ntfs(ntfs) => ntfs.bad_among(&clusters),
            Kind::Ext => return Ok(false),
        };
        if bad.is_empty() {
            return Ok(false);
        }
        for run in &bad {
            run.clone().for_each(|cluster| self.map.set(cluster, false));
        }
        self.map.taken = bad;
        match &self.kind {
            Kind::Fat(fat) => fat.mark(store, &self.map, false)?,
            Kind::ExFat(exfat) => exfat.mark(store, &self.map, false)?,
            Kind::Ntfs(ntfs) => ntfs.release(store, &self.map)?,
            Kind::Ext => {}
        }
        self.map.taken.clear();
        Ok(true)
    }

    /// The bytes in use below `end`, in order: all that is no free cluster, such as boot sectors and
    /// tables, too. Free bytes of less than `gap` between two used ones count as used.
    pub fn used(&self, end: u64, gap: u64) -> Vec<Range<u64>> {
        self.map.used_ranges(end, gap)
    }

    /// Bytes of its free clusters.
    pub fn free_bytes(&self) -> u64 {
        let free: u64 = self.map.used.iter().map(|byte| u64::from(byte.count_zeros())).sum();
        // The bits behind the last cluster belong to none.
        let beyond = (self.map.count..self.map.used.len() as u64 * 8).filter(|c| !self.map.bit(*c)).count();
        free.saturating_sub(beyond as u64).saturating_mul(self.map.bytes)
    }
}

/// Which clusters are used, and which have been taken here.
struct Clusters {
    /// Byte at which cluster 0 of this map starts; file systems number theirs from 0 or 2.
    start: u64,
    /// Bytes per cluster: a power of two, at least 512.
    bytes: u64,
    /// How many there are: `start + bytes * count` is at most the medium's size.
    count: u64,
    /// How many of them, from the first on, are offered where free ones are looked for.
    offered: u64,
    /// A bit per cluster, the lowest bit of each byte first.
    used: Vec<u8>,
    /// Runs of clusters taken, in order.
    taken: Vec<Range<u64>>,
}

impl Clusters {
    /// Checks that they lie on the medium.
    fn new(store: &dyn Store, start: u64, bytes: u64, count: u64) -> Result<Self, AllocationError> {
        let end = count.checked_mul(bytes).and_then(|len| len.checked_add(start));
        if bytes < 512 || !bytes.is_power_of_two() || end.is_none_or(|end| end > store.size()) {
            return Err(AllocationError::Damaged("more clusters than the medium has room for"));
        }
        let used = vec![0; length(count.div_ceil(8))?];
        Ok(Self { start, bytes, count, offered: count, used, taken: vec![] })
    }

    fn bit(&self, cluster: u64) -> bool {
        let byte = usize::try_from(cluster / 8).ok().and_then(|at| self.used.get(at));
        byte.is_none_or(|byte| byte >> (cluster % 8) & 1 == 1)
    }

    fn set(&mut self, cluster: u64, used: bool) {
        if let Some(byte) = usize::try_from(cluster / 8).ok().and_then(|at| self.used.get_mut(at)) {
            let bit = 1 << (cluster % 8);
            *byte = if used { *byte | bit } else { *byte & !bit };
        }
    }

    /// The clusters that hold any of these bytes; `None` where some lie outside of all clusters.
    fn of(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let first = range.start.checked_sub(self.start)? / self.bytes;
        let end = range.end.checked_sub(self.start)?.div_ceil(self.bytes);
        (end <= self.count).then_some(first..end)
    }

    fn find(&self, from: u64, len: u64, align: u64) -> Option<u64> {
        let mut at = from.max(self.start).checked_next_multiple_of(align)?;
        loop {
            let clusters = self.of(&(at..at.checked_add(len)?)).filter(|run| run.end <= self.offered)?;
            // Past the last one in the way, so that nothing is looked at twice.
            let Some(blocked) = clusters.rev().find(|cluster| self.bit(*cluster)) else {
                return Some(at);
            };
            at = (self.start + (blocked + 1) * self.bytes).checked_next_multiple_of(align)?;
        }
    }

    fn take(&mut self, range: Range<u64>) {
        let Some(clusters) = self.of(&range) else { return };
        clusters.clone().for_each(|cluster| self.set(cluster, true));
        // Neighbours may share a cluster.
        match self.taken.iter_mut().find(|run| run.end >= clusters.start && run.start <= clusters.end) {
            Some(run) => *run = run.start.min(clusters.start)..run.end.max(clusters.end),
            None => self.taken.push(clusters),
        }
        self.taken.sort_by_key(|run| run.start);
    }

    /// Every cluster taken.
    fn all_taken(&self) -> impl Iterator<Item = u64> {
        self.taken.iter().flat_map(Clone::clone)
    }

    fn used_ranges(&self, end: u64, gap: u64) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let mut push = |range: Range<u64>| match ranges.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if range.start - last.end < gap.max(1) => last.end = range.end,
            _ => ranges.push(range),
        };
        push(0..self.start.min(end));
        let mut cluster = 0;
        while cluster < self.count {
            // Eight free ones at a time: most of an empty medium.
            let byte = usize::try_from(cluster / 8).ok().and_then(|at| self.used.get(at));
            if cluster.is_multiple_of(8) && byte == Some(&0) {
                cluster += 8;
                continue;
            }
            if self.bit(cluster) {
                let at = self.start + cluster * self.bytes;
                push(at.min(end)..(at + self.bytes).min(end));
            }
            cluster += 1;
        }
        let after = self.start + self.count * self.bytes;
        push(after.min(end)..end);
        ranges
    }
}

/// Little-endian number of `N` bytes; 0 past the end of what was read, which no caller lets a field lie.
fn number<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    let field = bytes.get(at..at.saturating_add(N)).unwrap_or_default();
    field.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
}

/// Puts bytes at a place; what lies outside is left out.
fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    if let Some(slot) = at.checked_add(field.len()).and_then(|end| bytes.get_mut(at..end)) {
        slot.copy_from_slice(field);
    }
}

/// Refuses what is too large to be held in memory.
fn length(bytes: u64) -> Result<usize, AllocationError> {
    let small = usize::try_from(bytes).ok().filter(|n| *n as u64 <= LARGEST_MAP);
    small.ok_or(AllocationError::Damaged("a map of more than 1 GiB"))
}

/// The pages around a range of the medium, up to its end.
fn pages(store: &dyn Store, at: u64, len: u64) -> Result<(u64, AlignedBuf), AllocationError> {
    let outside = AllocationError::Damaged("a place outside of the medium");
    let Some(end) = at.checked_add(len).filter(|end| *end <= store.size()) else { return Err(outside) };
    let first = at / PAGE * PAGE;
    let last = end.next_multiple_of(PAGE).min(store.size());
    Ok((first, AlignedBuf::zeroed(length(last - first)?)))
}

/// Reads some bytes, wherever they are.
fn read(store: &dyn Store, at: u64, len: u64) -> Result<Vec<u8>, AllocationError> {
    let (first, mut buf) = pages(store, at, len)?;
    store.read_at(&mut buf, first)?;
    let skip = (at - first) as usize;
    Ok(buf.get(skip..skip + length(len)?).unwrap_or_default().to_vec())
}

/// Writes some bytes, wherever they are, and leaves those around them.
fn write(store: &dyn Store, at: u64, bytes: &[u8]) -> Result<(), AllocationError> {
    let (first, mut buf) = pages(store, at, bytes.len() as u64)?;
    store.read_at(&mut buf, first)?;
    put(&mut buf, (at - first) as usize, bytes);
    Ok(store.write_at(&buf, first)?)
}

/// Some entries of a table, changed together: `entries` are the bytes of those from number `first` on.
fn change_entries(
    store: &dyn Store,
    at: u64,
    clusters: &Range<u64>,
    entry: &[u8],
) -> Result<(), AllocationError> {
    let width = entry.len() as u64;
    let count = usize::try_from(clusters.end - clusters.start).unwrap_or_default();
    write(store, at + clusters.start * width, &entry.repeat(count))
}

/// The runs among `wanted` whose entries in the table at `at` say that they are bad.
fn bad_entries(
    store: &dyn Store,
    at: u64,
    wanted: &[Range<u64>],
    bad: &[u8],
) -> Result<Vec<Range<u64>>, AllocationError> {
    let mut found: Vec<Range<u64>> = Vec::new();
    let width = bad.len() as u64;
    for clusters in wanted {
        let entries = read(store, at + clusters.start * width, (clusters.end - clusters.start) * width)?;
        for (cluster, entry) in clusters.clone().zip(entries.chunks_exact(bad.len())) {
            if entry != bad {
                continue;
            }
            match found.last_mut() {
                Some(run) if run.end == cluster => run.end += 1,
                Some(run) if run.contains(&cluster) => {}
                _ => found.push(cluster..cluster + 1),
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
