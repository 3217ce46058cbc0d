//! exFAT, read only, from the beginning of each file to its end.

use super::entry::{Contents, Entry, EntryKind, Location, Reader, Run, Sink};
use super::error::FilesError;
use super::window::Window;
use crate::exfat::{Boot, ENTRY, FILE, LARGEST_FOLDER, Set};
use std::ffi::OsString;

/// The first cluster's number (4.1).
const FIRST: u32 = 2;
/// What follows a chain's last cluster (4.1).
const END: u32 = 0xffff_ffff;

/// An exFAT file system.
pub(crate) struct ExFat {
    window: Window,
    boot: Boot,
}

fn damaged(what: &str) -> FilesError {
    FilesError::Damaged(what.to_owned())
}

impl ExFat {
    /// Reads the main boot sector.
    pub(crate) fn open(window: Window) -> Result<Self, FilesError> {
        let mut sector = [0; 512];
        window.read_exact_at(&mut sector, 0).map_err(FilesError::from_io)?;
        let boot = Boot::parse(&sector, window.size()).map_err(damaged)?;
        Ok(Self { window, boot })
    }

    /// Where a cluster lies.
    fn place(&self, cluster: u32) -> Result<u64, FilesError> {
        let index = cluster.checked_sub(FIRST).filter(|index| *index < self.boot.clusters);
        let index = index.ok_or_else(|| damaged("a chain leads to a cluster that does not exist"))?;
        Ok(self.boot.heap + u64::from(index) * self.boot.cluster)
    }

    fn next(&self, cluster: u32) -> Result<u32, FilesError> {
        let mut bytes = [0; 4];
        self.window
            .read_exact_at(&mut bytes, self.boot.table + u64::from(cluster) * 4)
            .map_err(FilesError::from_io)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Hands a run's bytes on, a cluster at a time; `work` says whether to go on.
    fn walk(
        &self,
        run: Run,
        mut work: impl FnMut(&[u8]) -> Result<bool, FilesError>,
    ) -> Result<(), FilesError> {
        let mut buf = vec![0; self.boot.cluster.min(run.bytes.max(1)) as usize];
        let (mut cluster, mut left, mut valid) = (run.first, run.bytes, run.valid);
        while left > 0 {
            let n = left.min(self.boot.cluster) as usize;
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
        let (mut at, mut bytes, mut broken) = (self.boot.root, 0, None);
        while bytes < LARGEST_FOLDER && at != END {
            let next = self.place(at).and_then(|_| self.next(at));
            match next {
                Ok(next) => at = next,
                Err(e) => {
                    broken = Some(e);
                    break;
                }
            }
            bytes += self.boot.cluster;
        }
        (Run { first: self.boot.root, bytes, valid: bytes, contiguous: false }, broken)
    }
}

impl Reader for ExFat {
    fn root(&self) -> Location {
        // The whole of it is found out when it is read.
        Location::Clusters(Run { first: self.boot.root, bytes: u64::MAX, valid: 0, contiguous: false })
    }

    fn entries(&mut self, folder: &Location) -> Result<Contents, FilesError> {
        let Location::Clusters(run) = folder else { return Err(damaged("an entry without clusters")) };
        let (run, broken) = if run.first == self.boot.root { self.root_run() } else { (*run, None) };
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

/// A file or folder from its set of entries.
fn entry(set: &[[u8; ENTRY]]) -> Result<Entry, FilesError> {
    let set = Set::of(set).ok_or_else(|| damaged("a file without its stream"))?;
    let (bytes, valid) = set.lengths();
    let folder = set.is_folder();
    Ok(Entry {
        name: OsString::from(set.name()),
        kind: if folder { EntryKind::Folder } else { EntryKind::File },
        size: if folder { 0 } else { bytes },
        modified: set.modified(),
        place: Location::Clusters(Run {
            first: set.first_cluster(),
            bytes,
            valid,
            contiguous: set.is_contiguous(),
        }),
    })
}
