//! Copies of files in a folder of the entrant's: a tree, or one large file. Times include getting
//! everything onto the medium; what is read was put out of the page cache before.

use crate::entrant::Entrant;
use crate::error::LabError;
use crate::load::{Meter, Rng, fill, refresh};
use crate::result::{Metric, Sample};
use crate::workload::{CopyFile, Data, FileGroup, Tree};
use rustix::fs::{Advice, fadvise, syncfs};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Bytes moved at a time.
const PIECE: usize = 1 << 20;

/// A folder of our own inside an entrant's, removed at the end.
pub(super) struct Area {
    own: PathBuf,
    /// Whether the files to copy are there.
    filled: bool,
}

impl Drop for Area {
    fn drop(&mut self) {
        // It was ours, and nothing in it is of use to anybody.
        let _ = fs::remove_dir_all(&self.own);
    }
}

impl Area {
    pub(super) fn new(entrant: &Entrant) -> Result<Self, LabError> {
        let Some(folder) = &entrant.folder else {
            return Err(LabError::NoFolder(entrant.name.clone()));
        };
        let own = folder.join(format!(".keyway-lab-files-{}", std::process::id()));
        fs::create_dir(&own).map_err(|e| LabError::io("make", &own, e))?;
        Ok(Self { own, filled: false })
    }

    /// Cell 0 copies the tree, cell 1 reads the one file.
    pub(super) fn tree(&mut self, tree: &Tree, cell: usize, stop: &AtomicBool) -> Result<Sample, LabError> {
        let (source, target, large) =
            (self.own.join("source"), self.own.join("copy"), self.own.join("large"));
        if !self.filled {
            make_tree(&source, tree, stop)?;
            if tree.read_bytes > 0 {
                make_file(&large, tree.read_bytes, &mut Rng::new(2), stop)?;
            }
            self.filled = true;
        }
        if cell == 1 {
            return timed(&self.own, std::slice::from_ref(&large), || {
                read_file(&large, stop).map(|n| (n, 0))
            });
        }
        let mut files = Vec::new();
        list(&source, &mut files)?;
        let sample = timed(&self.own, &files, || copy_tree(&source, &target, stop).map(|n| (n, n)));
        fs::remove_dir_all(&target).map_err(|e| LabError::io("remove", &target, e))?;
        sample
    }

    /// Cell 0 copies a file of the system's temporary folder in, cell 1 copies it out.
    pub(super) fn copy(
        &mut self,
        copy: &CopyFile,
        cell: usize,
        stop: &AtomicBool,
    ) -> Result<Sample, LabError> {
        let inside = self.own.join("file");
        if !self.filled {
            make_file(&inside, copy.bytes, &mut Rng::new(3), stop)?;
            self.filled = true;
        }
        if cell == 1 {
            // Where it goes to is no part of what is measured.
            return timed(&self.own, std::slice::from_ref(&inside), || {
                read_file(&inside, stop).map(|n| (n, 0))
            });
        }
        fs::remove_file(&inside).map_err(|e| LabError::io("remove", &inside, e))?;
        timed(&self.own, &[], || {
            make_file(&inside, copy.bytes, &mut Rng::new(3), stop).map(|()| (0, copy.bytes))
        })
    }
}

/// Times some work, the sync of the file system included; the files it reads are put out of the cache.
fn timed(
    own: &Path,
    cold: &[PathBuf],
    work: impl FnOnce() -> Result<(u64, u64), LabError>,
) -> Result<Sample, LabError> {
    let sync = || -> Result<(), LabError> {
        let folder = File::open(own).map_err(|e| LabError::io("open", own, e))?;
        syncfs(&folder).map_err(|e| LabError::io("sync", own, e.into()))
    };
    sync()?;
    for path in cold {
        let file = File::open(path).map_err(|e| LabError::io("open", path, e))?;
        fadvise(&file, 0, None, Advice::DontNeed).map_err(|e| LabError::io("open", path, e.into()))?;
    }
    let meter = Meter::start();
    let began = Instant::now();
    let (bytes_read, bytes_written) = work()?;
    sync()?;
    let seconds = began.elapsed().as_secs_f64();
    let (cpu_seconds, joules) = meter.spent();
    let mut sample = Sample { seconds, bytes_read, bytes_written, cpu_seconds, joules, ..Sample::default() };
    sample.values.insert(Metric::Seconds, seconds);
    // Bytes of the files by time: a copy moves each twice and counts once.
    sample.values.insert(Metric::MbS, bytes_read.max(bytes_written) as f64 / 1e6 / seconds.max(1e-9));
    Ok(sample)
}

fn no_space(path: &Path, needed: u64) -> impl FnOnce(io::Error) -> LabError + '_ {
    move |e| match e.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            LabError::NoSpace { what: path.display().to_string(), needed }
        }
        _ => LabError::io("write", path, e),
    }
}

fn check(stop: &AtomicBool) -> Result<(), LabError> {
    if stop.load(Ordering::Relaxed) { Err(LabError::Stopped) } else { Ok(()) }
}

fn make_file(path: &Path, bytes: u64, rng: &mut Rng, stop: &AtomicBool) -> Result<(), LabError> {
    let mut file = File::create(path).map_err(|e| LabError::io("make", path, e))?;
    let mut piece = vec![0; PIECE.min(bytes.max(1) as usize)];
    fill(&mut piece, Data::Random, rng);
    let mut rest = bytes;
    while rest > 0 {
        check(stop)?;
        let now = piece.len().min(rest as usize);
        refresh(&mut piece, Data::Random, rng);
        file.write_all(piece.get(..now).unwrap_or_default()).map_err(no_space(path, bytes))?;
        rest -= now as u64;
    }
    Ok(())
}

fn read_file(path: &Path, stop: &AtomicBool) -> Result<u64, LabError> {
    let fail = |e| LabError::io("read", path, e);
    let mut file = File::open(path).map_err(fail)?;
    let (mut piece, mut all) = (vec![0; PIECE], 0);
    loop {
        check(stop)?;
        match file.read(&mut piece).map_err(fail)? {
            0 => return Ok(all),
            n => all += n as u64,
        }
    }
}

/// Files of the groups, spread evenly over the folders, a group's bytes evenly over its files.
fn make_tree(root: &Path, tree: &Tree, stop: &AtomicBool) -> Result<(), LabError> {
    let make = |path: &Path| fs::create_dir_all(path).map_err(|e| LabError::io("make", path, e));
    make(root)?;
    let folders = u64::from(tree.folders.max(1));
    let folder = |n: u64| folder_of(root, n % folders);
    for n in 0..folders {
        make(&folder(n))?;
    }
    let mut rng = Rng::new(1);
    let mut number = 0;
    for FileGroup { count, bytes } in &tree.files {
        for n in 0..u64::from(*count) {
            let part = |n: u64| (u128::from(*bytes) * u128::from(n) / u128::from(*count)) as u64;
            make_file(&folder(number).join(format!("{number}.bin")), part(n + 1) - part(n), &mut rng, stop)?;
            number += 1;
        }
    }
    Ok(())
}

/// Folder number `n`: each has up to 63 others in it, which are made after it and counted like any.
fn folder_of(root: &Path, n: u64) -> PathBuf {
    let outer = root.join(format!("{:02}", n / 64));
    if n.is_multiple_of(64) { outer } else { outer.join(format!("{n:04}")) }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    let fail = |e| LabError::io("read", folder, e);
    let all = fs::read_dir(folder).map_err(fail)?;
    let mut paths = all.map(|e| e.map(|e| e.path())).collect::<io::Result<Vec<_>>>().map_err(fail)?;
    // The order of names: the same for every file system.
    paths.sort();
    Ok(paths)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), LabError> {
    for path in entries(folder)? {
        if path.is_dir() { list(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

/// Copies with reads and writes, never by sharing blocks; says how many bytes.
fn copy_tree(from: &Path, to: &Path, stop: &AtomicBool) -> Result<u64, LabError> {
    fs::create_dir(to).map_err(|e| LabError::io("make", to, e))?;
    let (mut piece, mut all) = (vec![0; PIECE], 0);
    for path in entries(from)? {
        check(stop)?;
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            all += copy_tree(&path, &target, stop)?;
            continue;
        }
        let mut source = File::open(&path).map_err(|e| LabError::io("open", &path, e))?;
        let mut copy = File::create(&target).map_err(|e| LabError::io("make", &target, e))?;
        loop {
            let n = source.read(&mut piece).map_err(|e| LabError::io("read", &path, e))?;
            if n == 0 {
                break;
            }
            copy.write_all(piece.get(..n).unwrap_or_default()).map_err(no_space(&target, n as u64))?;
            all += n as u64;
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::EntrantFacts;
    use crate::sectors::Subject;
    use std::sync::Arc;

    fn entrant(folder: Option<&Path>) -> Entrant {
        let memory = Arc::new(crate::sectors::Stored(Arc::new(keyway_store::MemStore::new(4096))));
        Entrant {
            name: "x".into(),
            subject: Subject::InProcess(memory),
            facts: EntrantFacts::default(),
            model: None,
            folder: folder.map(Path::to_owned),
            timed: None,
            guard: None,
        }
    }

    #[test]
    fn a_tree_is_copied_whole_and_nothing_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let stop = AtomicBool::new(false);
        let tree = Tree {
            folders: 5,
            files: vec![FileGroup { count: 10, bytes: 100_003 }, FileGroup { count: 1, bytes: 3 << 20 }],
            read_bytes: 5 << 20,
        };
        let mut area = Area::new(&entrant(Some(folder.path()))).expect("an area");
        for _ in 0..2 {
            let copied = area.tree(&tree, 0, &stop).expect("copied");
            assert_eq!(copied.bytes_read, 100_003 + (3 << 20));
            assert!(copied.value(Metric::Seconds).is_some_and(|s| s > 0.0));
        }
        assert_eq!(area.tree(&tree, 1, &stop).expect("read").bytes_read, 5 << 20);
        drop(area);
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 0);
        assert!(Area::new(&entrant(None)).is_err());
    }

    #[test]
    fn a_tree_has_as_many_folders_as_were_asked_for() {
        fn count(folder: &Path) -> (usize, usize) {
            let all = entries(folder).expect("readable");
            let (folders, files): (Vec<_>, Vec<_>) = all.into_iter().partition(|path| path.is_dir());
            folders
                .iter()
                .map(|inner| count(inner))
                .fold((folders.len(), files.len()), |sum, inner| (sum.0 + inner.0, sum.1 + inner.1))
        }
        let stop = AtomicBool::new(false);
        for folders in [1, 2, 63, 64, 65, 3607] {
            let folder = tempfile::tempdir().expect("a folder");
            let files = vec![FileGroup { count: 200, bytes: 200 }];
            let tree = Tree { folders, files, read_bytes: 0 };
            make_tree(&folder.path().join("tree"), &tree, &stop).expect("made");
            assert_eq!(count(&folder.path().join("tree")), (folders as usize, 200), "{folders}");
        }
    }

    #[test]
    fn a_file_goes_in_and_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let stop = AtomicBool::new(false);
        let mut area = Area::new(&entrant(Some(folder.path()))).expect("an area");
        let file = CopyFile { bytes: 2_500_000 };
        assert_eq!(area.copy(&file, 0, &stop).expect("in").bytes_written, 2_500_000);
        assert_eq!(area.copy(&file, 1, &stop).expect("out").bytes_read, 2_500_000);
    }
}
