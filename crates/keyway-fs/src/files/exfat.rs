//! exFAT, read only, by Microsoft's published specification, whose section numbers stand beside each
//! constant.

use super::entry::{Contents, Entry, EntryKind, Location, Reader, Run, Sink};
use super::error::FilesError;
use super::window::Window;
use crate::calendar::civil;
use std::ffi::OsString;

/// Bytes of a directory entry (6.2).
const ENTRY: usize = 32;
/// Types of entries in use (6.2.1): a file's first, its stream, a piece of its name.
const FILE: u8 = 0x85;
const STREAM: u8 = 0xc0;
const NAME: u8 = 0xc1;
/// The bit of a folder among a file's attributes (7.4.4).
const IS_FOLDER: u16 = 0x10;
/// `NoFatChain` among a stream's flags (6.3.4.2).
const CONTIGUOUS: u8 = 2;
/// Largest folder (7.4: 256 MB).
const LARGEST_FOLDER: u64 = 256 << 20;
/// The first cluster's number, and the first number that is none (4.1).
const FIRST: u32 = 2;
const LAST: u32 = 0xffff_fff7;
/// What follows a chain's last cluster (4.1).
const END: u32 = 0xffff_ffff;

/// An exFAT file system.
pub(crate) struct ExFat {
    window: Window,
    fat: u64,
    heap: u64,
    cluster: u64,
    clusters: u32,
    root: u32,
}

fn damaged(what: &str) -> FilesError {
    FilesError::Damaged(what.to_owned())
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], FilesError> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.copied().ok_or_else(|| damaged("an entry is cut off"))
}

impl ExFat {
    /// Reads the main boot sector (3.1).
    pub(crate) fn open(window: Window) -> Result<Self, FilesError> {
        let mut boot = [0; 512];
        window.read_exact_at(&mut boot, 0).map_err(FilesError::from_io)?;
        let u32_at = |at| field(&boot, at).map(u32::from_le_bytes);
        let [sector_shift, cluster_shift] = field(&boot, 108)?;
        // 3.1.14 and 3.1.15: sectors of 512 to 4096 bytes, clusters up to 32 MiB.
        if boot.get(3..11) != Some(b"EXFAT   ")
            || !(9..=12).contains(&sector_shift)
            || cluster_shift > 25 - sector_shift
        {
            return Err(damaged("its boot sector makes no sense"));
        }
        let at = |sectors: u32| u64::from(sectors) << sector_shift;
        let cluster = 1u64 << (sector_shift + cluster_shift);
        // 3.1.13: with two tables, a flag says which is in use.
        let second = field(&boot, 106).map(u16::from_le_bytes)? & 1 != 0 && boot.get(110) == Some(&2);
        let fat = at(u32_at(80)?) + if second { at(u32_at(84)?) } else { 0 };
        let found =
            Self { fat, heap: at(u32_at(88)?), cluster, clusters: u32_at(92)?, root: u32_at(96)?, window };
        let end = found.heap.saturating_add(u64::from(found.clusters).saturating_mul(cluster));
        if end > found.window.size() || found.clusters > LAST - FIRST {
            return Err(damaged("it is larger than the volume"));
        }
        Ok(found)
    }

    /// Where a cluster lies.
    fn place(&self, cluster: u32) -> Result<u64, FilesError> {
        let index = cluster.checked_sub(FIRST).filter(|index| *index < self.clusters);
        let index = index.ok_or_else(|| damaged("a chain leads to a cluster that does not exist"))?;
        Ok(self.heap + u64::from(index) * self.cluster)
    }

    fn next(&self, cluster: u32) -> Result<u32, FilesError> {
        let mut bytes = [0; 4];
        self.window
            .read_exact_at(&mut bytes, self.fat + u64::from(cluster) * 4)
            .map_err(FilesError::from_io)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Hands a run's bytes on, a cluster at a time; `work` says whether to go on.
    fn walk(
        &self,
        run: Run,
        mut work: impl FnMut(&[u8]) -> Result<bool, FilesError>,
    ) -> Result<(), FilesError> {
        let mut buf = vec![0; self.cluster.min(run.bytes.max(1)) as usize];
        let (mut cluster, mut left, mut valid) = (run.first, run.bytes, run.valid);
        while left > 0 {
            let n = left.min(self.cluster) as usize;
            let real = n.min(usize::try_from(valid).unwrap_or(usize::MAX));
            let part = buf.get_mut(..n).unwrap_or_default();
            let (data, zeros) = part.split_at_mut(real);
            self.window.read_exact_at(data, self.place(cluster)?).map_err(FilesError::from_io)?;
            zeros.fill(0);
            left -= n as u64;
            valid -= real as u64;
            if !work(part)? {
                return Ok(());
            }
            if left > 0 {
                cluster = if run.contiguous { cluster.saturating_add(1) } else { self.next(cluster)? };
            }
        }
        Ok(())
    }

    /// The root folder, whose length stands nowhere: its chain tells (3.1.10). Where that is broken, as
    /// far as it leads, and what is wrong.
    fn root_run(&self) -> (Run, Option<FilesError>) {
        let (mut at, mut bytes, mut broken) = (self.root, 0, None);
        while bytes < LARGEST_FOLDER && at != END {
            let next = self.place(at).and_then(|_| self.next(at));
            match next {
                Ok(next) => at = next,
                Err(e) => {
                    broken = Some(e);
                    break;
                }
            }
            bytes += self.cluster;
        }
        (Run { first: self.root, bytes, valid: bytes, contiguous: false }, broken)
    }
}

impl Reader for ExFat {
    fn root(&self) -> Location {
        // The whole of it is found out when it is read.
        Location::Clusters(Run { first: self.root, bytes: u64::MAX, valid: 0, contiguous: false })
    }

    fn entries(&mut self, folder: &Location) -> Result<Contents, FilesError> {
        let Location::Clusters(run) = folder else { return Err(damaged("an entry without clusters")) };
        let (run, broken) = if run.first == self.root { self.root_run() } else { (*run, None) };
        let mut contents = Contents::default();
        let mut set: Vec<[u8; ENTRY]> = Vec::new();
        let mut missing = 0usize;
        let mut ended = false;
        let walked = self.walk(Run { bytes: run.bytes.min(LARGEST_FOLDER), ..run }, |cluster| {
            for bytes in cluster.as_chunks::<ENTRY>().0 {
                match bytes[0] {
                    // The end of the folder (6.2.1).
                    0 => {
                        ended = true;
                        return Ok(false);
                    }
                    FILE => {
                        if missing > 0 {
                            contents.problem(None, damaged("a file's entry is cut off"));
                        }
                        set.clear();
                        missing = usize::from(bytes[1]);
                        set.push(*bytes);
                        if missing == 0 {
                            contents.problem(None, damaged("a file without its stream"));
                        }
                    }
                    _ if missing > 0 => {
                        set.push(*bytes);
                        missing -= 1;
                        if missing == 0 {
                            match entry(&set) {
                                Ok(entry) => contents.entries.push(entry),
                                Err(e) => contents.problem(None, e),
                            }
                        }
                    }
                    _ => {}
                }
            }
            Ok(true)
        });
        if missing > 0 {
            contents.problem(None, damaged("a file's entry is cut off"));
        }
        // What lies behind the folder's end is no matter.
        if let Some(e) = walked.err().or(broken).filter(|_| !ended) {
            contents.problem(None, e);
        }
        Ok(contents)
    }

    fn read(&mut self, file: &Entry, sink: Sink<'_>) -> Result<(), FilesError> {
        let Location::Clusters(run) = &file.place else { return Err(damaged("an entry without clusters")) };
        self.walk(*run, |piece| sink(piece).map(|()| true).map_err(FilesError::from_io))
    }

    fn ignores_case(&self) -> bool {
        true
    }
}

/// A file or folder from its set of entries (7.4, 7.6, 7.7).
fn entry(set: &[[u8; ENTRY]]) -> Result<Entry, FilesError> {
    let [file, stream, names @ ..] = set else { return Err(damaged("a file without its stream")) };
    if stream[0] != STREAM {
        return Err(damaged("a file without its stream"));
    }
    let units = names
        .iter()
        .filter(|name| name[0] == NAME)
        .flat_map(|name| name.as_chunks::<2>().0.iter().skip(1).map(|unit| u16::from_le_bytes(*unit)));
    let name: Vec<u16> = units.take(usize::from(stream[3])).collect();
    let folder = field(file, 4).map(u16::from_le_bytes)? & IS_FOLDER != 0;
    let run = Run {
        contiguous: stream[1] & CONTIGUOUS != 0,
        valid: field(stream, 8).map(u64::from_le_bytes)?,
        first: field(stream, 20).map(u32::from_le_bytes)?,
        bytes: field(stream, 24).map(u64::from_le_bytes)?,
    };
    Ok(Entry {
        name: OsString::from(String::from_utf16_lossy(&name)),
        kind: if folder { EntryKind::Folder } else { EntryKind::File },
        size: if folder { 0 } else { run.bytes },
        modified: time(field(file, 12).map(u32::from_le_bytes)?, file[23]),
        place: Location::Clusters(run),
    })
}

/// A timestamp (7.4.8) and how far its clock was from UTC, in quarters of an hour (7.4.10).
pub(crate) fn time(stamp: u32, offset: u8) -> Option<i64> {
    let bits = |from: u32, count: u32| (stamp >> from) & ((1 << count) - 1);
    let local =
        civil([1980 + bits(25, 7), bits(21, 4), bits(16, 5), bits(11, 5), bits(5, 6), bits(0, 5) * 2])?;
    let quarters = if offset & 0x80 == 0 { 0 } else { i64::from((offset << 1) as i8 >> 1) };
    Some(local - quarters * 900)
}
