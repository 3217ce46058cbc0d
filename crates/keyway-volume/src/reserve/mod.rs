//! Keeps a new file system off some of its bytes: the clusters there are marked as bad, which no
//! program allocates, moves or counts as free.
//!
//! BitLocker's metadata lies inside the file system. Windows hides it below files of its own in
//! `System Volume Information`; the marks for bad clusters do the same with a few numbers in
//! structures that every one of these file systems has, and nobody can delete them.

mod exfat;
mod fat;
mod ntfs;

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// What keeps bytes from being reserved.
#[derive(Debug, thiserror::Error)]
pub enum ReserveError {
    /// It is no FAT16, FAT32, exFAT or NTFS file system, or not one that has just been made.
    #[error("what mkfs made is not the FAT, exFAT or NTFS file system that was expected ({0})")]
    Unexpected(&'static str),
    /// Nowhere so many free bytes in a row.
    #[error("the file system leaves no room for BitLocker's metadata; take a larger size")]
    NoRoom,
    /// The image could not be read or written.
    #[error("could not read what mkfs made: {0}")]
    Image(#[from] io::Error),
}

/// A file system that has just been made, in an image of its own.
pub(crate) struct Fresh<'a> {
    image: &'a File,
    kind: Kind,
    map: Clusters,
}

/// Which file system, with where its map of clusters lies.
enum Kind {
    Fat(fat::Fat),
    ExFat(exfat::ExFat),
    Ntfs(ntfs::Ntfs),
}

impl<'a> Fresh<'a> {
    /// Finds out what the image holds and which clusters are used.
    ///
    /// # Errors
    /// It is none of the file systems that are known here.
    pub(crate) fn open(image: &'a File) -> Result<Self, ReserveError> {
        let mut boot = [0; 512];
        image.read_exact_at(&mut boot, 0)?;
        let (kind, map) = match boot.get(3..11) {
            Some(b"NTFS    ") => {
                let (ntfs, map) = ntfs::Ntfs::open(image, &boot)?;
                (Kind::Ntfs(ntfs), map)
            }
            Some(b"EXFAT   ") => {
                let (exfat, map) = exfat::ExFat::open(image, &boot)?;
                (Kind::ExFat(exfat), map)
            }
            _ => {
                let (fat, map) = fat::Fat::open(image, &boot)?;
                (Kind::Fat(fat), map)
            }
        };
        Ok(Self { image, kind, map })
    }

    /// The first free run of `len` bytes at or after `from`, or else anywhere, that starts at a
    /// multiple of `align`.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn find(&self, from: u64, len: u64, align: u64) -> Result<u64, ReserveError> {
        self.map.find(from, len, align).or_else(|| self.map.find(0, len, align)).ok_or(ReserveError::NoRoom)
    }

    /// Sets the clusters aside that hold any of these bytes; [`Fresh::finish`] writes it down.
    pub(crate) fn take(&mut self, range: Range<u64>) {
        self.map.take(range);
    }

    /// Writes the marks into the image.
    ///
    /// # Errors
    /// The image failed, or is not what it seemed to be.
    pub(crate) fn finish(self) -> Result<(), ReserveError> {
        match self.kind {
            Kind::Fat(fat) => fat.mark(self.image, &self.map),
            Kind::ExFat(exfat) => exfat.mark(self.image, &self.map),
            Kind::Ntfs(ntfs) => ntfs.mark(self.image, &self.map),
        }
    }
}

/// Which clusters are used, and which have been taken here.
struct Clusters {
    /// Byte at which cluster 0 of this map starts; file systems number theirs from 0 or 2.
    start: u64,
    /// Bytes per cluster.
    bytes: u64,
    /// How many there are.
    count: u64,
    /// A bit per cluster, the lowest bit of each byte first.
    used: Vec<u8>,
    /// Runs of clusters taken, in order.
    taken: Vec<Range<u64>>,
}

impl Clusters {
    fn is_used(&self, cluster: u64) -> bool {
        let byte = usize::try_from(cluster / 8).ok().and_then(|at| self.used.get(at));
        byte.is_none_or(|byte| byte >> (cluster % 8) & 1 == 1)
    }

    /// The clusters that hold any of these bytes; `None` where some lie outside of all clusters.
    fn of(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let first = range.start.checked_sub(self.start)? / self.bytes;
        let end = range.end.checked_sub(self.start)?.div_ceil(self.bytes);
        (end <= self.count).then_some(first..end)
    }

    fn find(&self, from: u64, len: u64, align: u64) -> Option<u64> {
        let mut at = from.max(self.start).next_multiple_of(align);
        loop {
            let clusters = self.of(&(at..at.checked_add(len)?))?;
            // Past the last one in the way, so that nothing is looked at twice.
            let Some(blocked) = clusters.rev().find(|cluster| self.is_used(*cluster)) else {
                return Some(at);
            };
            at = (self.start + (blocked + 1) * self.bytes).next_multiple_of(align);
        }
    }

    fn take(&mut self, range: Range<u64>) {
        let Some(clusters) = self.of(&range) else { return };
        for cluster in clusters.clone() {
            if let Some(byte) = usize::try_from(cluster / 8).ok().and_then(|at| self.used.get_mut(at)) {
                *byte |= 1 << (cluster % 8);
            }
        }
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
}

/// Little-endian number of `N` bytes in what was read from an image of our own; 0 past its end,
/// which no field used here may be.
fn number<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    let field = bytes.get(at..at + N).unwrap_or_default();
    field.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
}

/// Puts bytes at a place that has been checked to be there.
fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    if let Some(slot) = bytes.get_mut(at..at + field.len()) {
        slot.copy_from_slice(field);
    }
}

/// Refuses what is too large to be held in memory.
fn length(bytes: u64) -> Result<usize, ReserveError> {
    // The map of the largest volume, 2^32 clusters, has 512 MiB.
    usize::try_from(bytes).ok().filter(|n| *n <= 1 << 30).ok_or(ReserveError::Unexpected("its size"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mkfs::{self, FileSystem};
    use std::process::Command;

    fn map(used: &[u8]) -> Clusters {
        let count = used.len() as u64 * 8;
        Clusters { start: 1000, bytes: 100, count, used: used.to_vec(), taken: vec![] }
    }

    #[test]
    fn free_runs_are_found_and_taken_once() {
        let mut map = map(&[0b0000_0001, 0b0001_0000]);
        assert_eq!(map.find(0, 100, 1), Some(1100));
        assert_eq!(map.find(1150, 1000, 10), Some(1150));
        assert_eq!(map.find(1201, 1000, 10), None);
        assert_eq!(map.find(2250, 100, 100), Some(2300));
        map.take(1150..1250);
        map.take(1250..1320);
        assert_eq!((map.taken.len(), map.taken.first()), (1, Some(&(1..4))));
        assert_eq!(map.find(0, 100, 1), Some(1400));
        assert!(map.find(0, 10_000, 1).is_none());
    }

    /// The file systems' own checkers find nothing wrong, and what was taken is no longer free.
    #[test]
    fn the_checkers_agree() {
        let sizes = [("ntfs", 512, 64 << 20), ("ntfs", 4096, 100 << 20), ("ntfs", 512, 3 << 30)];
        let fats = [("fat", 512, 64 << 20), ("fat", 512, 700 << 20), ("fat", 4096, 300 << 20)];
        let exfats = [("exfat", 512, 64 << 20), ("exfat", 512, 1 << 30)];
        for (name, sector_bytes, size) in sizes.into_iter().chain(fats).chain(exfats) {
            let fs: FileSystem = name.parse().expect("known");
            if keyway_testkit::require_tool(fs.program()).is_none() {
                continue;
            }
            let image = mkfs::image(fs, size, sector_bytes, None, &()).expect("mkfs runs");
            let mut fresh = Fresh::open(&image).expect("it is known");
            let starts = [33 << 20, 40 << 20, 33 << 20].map(|from| {
                let at = fresh.find(from, 0x22000, 4096).expect("room");
                fresh.take(at..at + 0x22000);
                at
            });
            fresh.finish().expect("marked");
            let mut again = Fresh::open(&image);
            // NTFS can be opened again, not marked again.
            let map = &mut again.as_mut().expect("still known").map;
            for at in starts {
                let clusters = map.of(&(at..at + 0x22000)).expect("inside");
                assert!(clusters.clone().all(|c| map.is_used(c)), "{name} {size}: {clusters:?}");
            }
            let (program, arguments): (_, &[&str]) = match name {
                "ntfs" => ("ntfsfix", &["--no-action"]),
                "fat" => ("fsck.fat", &["-n"]),
                _ => ("fsck.exfat", &["-n"]),
            };
            let Some(program) = keyway_testkit::require_tool(program) else { continue };
            let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
            io::copy(&mut &image, file.as_file_mut()).expect("copied");
            let done = Command::new(program).args(arguments).arg(file.path()).output().expect("it runs");
            let said = String::from_utf8_lossy(&done.stdout);
            assert!(done.status.success(), "{name} of {size}: {said}{:?}", done.status);
            eprintln!("{name} {size}: {said}");
        }
    }
}
