//! What the maps say is what the file systems' own tools say.

use super::medium::*;
use super::*;
use crate::mkfs::{self, FileSystem};
use keyway_store::{Caching, FileStore, MemStore, OpenMode, StoreError};
use keyway_testkit::{Rng, Shape, require_tool};
use rustix::fs::{SeekFrom, seek};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

fn map(used: &[u8]) -> Clusters {
    let count = used.len() as u64 * 8;
    Clusters { start: 1000, bytes: 100, count, offered: count, used: used.to_vec(), taken: vec![] }
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
    map.offered = 12;
    assert_eq!((map.find(1900, 300, 1), map.find(1901, 300, 1)), (Some(1900), None));
    assert_eq!(map.find(1300, 300, 1), Some(1400));
    assert!(!map.bit(14), "what is not offered is not used for that");
}

#[test]
fn used_ranges_join_over_small_gaps_only() {
    let map = map(&[0b0000_0101, 0, 0b1000_0000]);
    assert_eq!(map.used_ranges(5000, 1), [0..1100, 1200..1300, 3300..5000]);
    assert_eq!(map.used_ranges(5000, 101), [0..1300, 3300..5000]);
    assert_eq!(map.used_ranges(1250, 1), [0..1100, 1200..1250]);
    assert_eq!(map.used_ranges(5000, 1 << 20), std::slice::from_ref(&(0..5000)));
}

/// A file with a new file system, for a store.
fn made(name: &str, sector_bytes: u32, size: u64) -> Option<tempfile::NamedTempFile> {
    let fs: FileSystem = name.parse().expect("known");
    require_tool(fs.program())?;
    let image = mkfs::image(fs, size, sector_bytes, None, &mkfs::silent).expect("mkfs runs");
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.as_file().set_len(size).expect("sized");
    // What is a hole stays one: of gigabytes there are a few megabytes.
    let mut at = 0;
    while let Ok(data) = seek(&image, SeekFrom::Data(at)) {
        at = seek(&image, SeekFrom::Hole(data)).expect("the end at the latest");
        let mut bytes = vec![0; (at - data) as usize];
        image.read_exact_at(&mut bytes, data).expect("read");
        file.as_file().write_all_at(&bytes, data).expect("copied");
    }
    Some(file)
}

fn store(path: &Path) -> FileStore {
    FileStore::open(path, OpenMode::ReadWrite, Caching::Buffered).expect("opens")
}

fn check(name: &str, path: &Path) {
    let (program, arguments): (_, &[&str]) = match name {
        "ntfs" => ("ntfsresize", &["--info", "--no-progress-bar", "--force", "--bad-sectors"]),
        "fat" => ("fsck.fat", &["-n"]),
        _ => ("fsck.exfat", &["-n"]),
    };
    let Some(program) = require_tool(program) else { return };
    let done = Command::new(program).args(arguments).arg(path).output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{name}: {said}{:?}", done.status);
}

/// The file systems' own checkers find nothing wrong, what was taken is no longer free, and what is
/// given back leaves no trace.
#[test]
fn the_checkers_agree_with_what_is_taken_and_given_back() {
    let sizes = [("ntfs", 512, 64 << 20), ("ntfs", 4096, 100 << 20), ("ntfs", 512, 3 << 30)];
    let fats = [("fat", 512, 64 << 20), ("fat", 512, 700 << 20), ("fat", 4096, 300 << 20)];
    let exfats = [("exfat", 512, 64 << 20), ("exfat", 512, 1 << 30)];
    for (name, sector_bytes, size) in sizes.into_iter().chain(fats).chain(exfats) {
        let Some(file) = made(name, sector_bytes, size) else { continue };
        let store = store(file.path());
        let mut map = Allocation::read(&store).expect("it is known");
        let before = (map.map.used.clone(), map.free_bytes());
        let taken = [33 << 20, 40 << 20, 33 << 20].map(|from| {
            let at = map.find(from, 0x22000, 4096).expect("room");
            map.take(at..at + 0x22000);
            at..at + 0x22000
        });
        map.mark(&store).expect("marked");
        let mut again = Allocation::read(&store).expect("still known");
        for range in &taken {
            let clusters = again.map.of(range).expect("inside");
            assert!(clusters.clone().all(|c| again.map.bit(c)), "{name} {size}: {clusters:?}");
        }
        assert!(again.free_bytes() <= before.1 - 3 * 0x22000);
        check(name, file.path());
        assert!(again.release(&store, &taken).expect("given back"));
        assert!(!again.release(&store, &taken).expect("nothing is left") || name == "ntfs");
        let last = Allocation::read(&store).expect("still known");
        assert!(last.map.used == before.0, "{name} {size}");
        check(name, file.path());
    }
}

/// What the metadata of a BitLocker volume takes.
fn take(map: &mut Allocation) -> Result<Vec<Range<u64>>, AllocationError> {
    let mut take = |from, len| {
        let at = map.find(from, len, 4096)?;
        map.take(at..at + len);
        Ok(at..at + len)
    };
    [(33 << 20, 0x22000), (40 << 20, 0x10000), (47 << 20, 0x10000)]
        .map(|(from, len)| take(from, len))
        .into_iter()
        .collect()
}

/// Whether a shape is tried: all are with `KEYWAY_SLOW=1`, otherwise some of the smallest and the largest.
fn is_tried(shape: &Shape) -> bool {
    let some =
        matches!(shape.sector, 512 | 4096) && matches!(shape.cluster, 512 | 16_384 | 65_536 | 2_097_152);
    some || std::env::var_os("KEYWAY_SLOW").is_some_and(|value| value == "1")
}

/// Marked and given back in every shape that can be made: its own tools find nothing wrong after either, and after both
/// every byte is as it was.
#[test]
fn every_copy_of_what_is_changed_is_changed_with_it() {
    let mut tried = 0;
    for shape in Shape::ntfs().chain(Shape::exfat()).chain(Shape::fat()).filter(is_tried) {
        let file = tempfile::NamedTempFile::new().expect("temp");
        if shape.make(file.path(), shape.bytes()) != Some(true) {
            continue;
        }
        let store = store(file.path());
        let mut map = match Allocation::read(&store) {
            Ok(map) => map,
            Err(AllocationError::Unsupported("FAT12")) if shape.kind == "fat12" => continue,
            Err(e) => panic!("{shape}: {e}"),
        };
        shape.check(file.path(), true);
        // In media of gigabytes the tables and the first clusters; pages of zeros are left out.
        let front = || {
            let end = store.size().min(200 << 20);
            let mut pages = Vec::new();
            for from in (0..end).step_by(1 << 20) {
                let bytes = read(&store, from, (1 << 20).min(end - from)).expect("read");
                let filled =
                    bytes.chunks(4096).zip(0u64..).filter(|(page, _)| page.iter().any(|byte| *byte != 0));
                pages.extend(filled.map(|(page, n)| (from + n * 4096, page.to_vec())));
            }
            pages
        };
        let (before, free) = (front(), map.free_bytes());
        let taken = take(&mut map).unwrap_or_else(|e| panic!("{shape}: {e}"));
        map.mark(&store).unwrap_or_else(|e| panic!("{shape}: {e}"));
        shape.check(file.path(), true);
        let mut again = Allocation::read(&store).expect("still known");
        assert!(again.free_bytes() + 0x42000 <= free, "{shape}");
        assert!(again.release(&store, &taken).expect("given back"), "{shape}");
        shape.check(file.path(), true);
        assert!(front() == before, "{shape}: something is left of it");
        tried += 1;
    }
    let tools = ["mkntfs", "mkfs.exfat", "mkfs.fat"].into_iter().filter_map(require_tool).count();
    assert!(tried >= 5 * tools, "{tried}");
}

/// A write: where, and what.
type Write = (u64, Vec<u8>);

/// A medium in memory that keeps every write and flush.
struct Kept {
    medium: MemStore,
    /// Writes between two flushes.
    epochs: Mutex<Vec<Vec<Write>>>,
}

impl Store for Kept {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.medium.read_at(buf, offset)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let mut epochs = self.epochs.lock().expect("one thread");
        epochs.last_mut().expect("one at least").push((offset, buf.to_vec()));
        self.medium.write_at(buf, offset)
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.epochs.lock().expect("one thread").push(vec![]);
        Ok(())
    }

    fn discard(&self, _offset: u64, _len: u64) -> Result<(), StoreError> {
        Ok(())
    }

    fn size(&self) -> u64 {
        self.medium.size()
    }

    fn sector_bytes(&self) -> u32 {
        512
    }

    fn is_read_only(&self) -> bool {
        false
    }
}

/// The power fails at any moment of marking and of giving back, with any one of the writes that were not flushed lost, or
/// nothing but it done: NTFS's own programs mount it, where the mirror has no part in it, and otherwise do when
/// `ntfsfix` has copied that.
#[test]
fn a_power_cut_leaves_an_ntfs_that_its_own_programs_mend() {
    for shape in Shape::ntfs()
        .filter(|shape| shape.sector == 512 && matches!(shape.cluster, 4096 | 16_384 | 1_048_576))
    {
        let file = tempfile::NamedTempFile::new().expect("temp");
        if shape.make(file.path(), shape.bytes()) != Some(true) || require_tool("ntfsinfo").is_none() {
            return;
        }
        let before = std::fs::read(file.path()).expect("read");
        let kept = Kept { medium: MemStore::from_vec(before.clone()), epochs: Mutex::new(vec![vec![]]) };
        let mut map = Allocation::read(&kept).expect("known");
        let taken = take(&mut map).expect("room");
        map.mark(&kept).expect("marked");
        kept.flush().expect("flushed");
        assert!(Allocation::read(&kept).expect("known").release(&kept, &taken).expect("given back"));
        let epochs = kept.epochs.into_inner().expect("one thread");
        assert!(epochs.iter().flatten().count() > 4, "{shape}");
        let mut medium = before;
        let mounts = |medium: &[u8]| {
            std::fs::write(file.path(), medium).expect("written");
            if shape.cluster > 8 << 10
                && let Some(ntfsfix) = require_tool("ntfsfix")
            {
                assert!(
                    Command::new(ntfsfix)
                        .arg("--clear-dirty")
                        .arg(file.path())
                        .output()
                        .expect("runs")
                        .status
                        .success(),
                    "{shape}"
                );
            }
            shape.check(file.path(), false);
        };
        for epoch in &epochs {
            let with = |medium: &mut Vec<u8>, writes: &mut dyn Iterator<Item = &Write>| {
                for (at, bytes) in writes {
                    medium[*at as usize..*at as usize + bytes.len()].copy_from_slice(bytes);
                }
            };
            for n in 0..epoch.len() {
                let (mut one, mut others) = (medium.clone(), medium.clone());
                with(&mut one, &mut epoch.iter().skip(n).take(1));
                mounts(&one);
                with(
                    &mut others,
                    &mut epoch.iter().enumerate().filter(|(i, _)| *i != n).map(|(_, write)| write),
                );
                mounts(&others);
            }
            with(&mut medium, &mut epoch.iter());
            mounts(&medium);
        }
        std::fs::write(file.path(), &medium).expect("written");
        shape.check(file.path(), true);
    }
}

/// ext4's map is dumpe2fs's: the number of free blocks, and no file's block is free.
#[test]
fn ext4_has_as_many_free_blocks_as_its_superblock_says() {
    let Some(mkfs) = require_tool("mkfs.ext4") else { return };
    let folder = tempfile::tempdir().expect("temp");
    std::fs::write(folder.path().join("big"), Rng::new(5).bytes(3 << 20)).expect("written");
    let kinds: [&[&str]; 5] =
        [&[], &["-b", "1024"], &["-O", "^flex_bg,^64bit"], &["-O", "sparse_super2"], &["-t", "ext2"]];
    for arguments in kinds {
        let file = tempfile::NamedTempFile::new().expect("temp");
        file.as_file().set_len(700 << 20).expect("sized");
        let mut command = Command::new(&mkfs);
        command.args(["-q", "-F", "-d"]).arg(folder.path()).args(arguments).arg(file.path());
        let done = command.output().expect("runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let store = store(file.path());
        let map = Allocation::read(&store).expect("known");
        let superblock = read(&store, 1024, 1024).expect("read");
        let free = number::<4>(&superblock, 0xc) * (1024 << number::<4>(&superblock, 0x18));
        assert_eq!(map.free_bytes(), free, "{arguments:?}");
        assert!(!map.can_reserve() && map.mark(&store).is_err());
        // The content lies among what is used.
        let used = map.used(store.size(), 1);
        let start = Rng::new(5).bytes(1024);
        let at = (0..store.size()).step_by(1 << 20).find_map(|from| {
            let bytes = read(&store, from, 1 << 20).expect("read");
            Some(from + bytes.chunks(1024).position(|chunk| chunk == start)? as u64 * 1024)
        });
        let at = at.expect("there");
        assert!(used.iter().any(|range| range.contains(&at)), "{arguments:?}");
    }
}

/// Whatever a superblock says, nothing panics, and nothing is read outside of the medium.
#[test]
fn lies_are_refused_or_harmless() {
    let mut rng = Rng::new(77);
    for name in ["ntfs", "fat", "exfat", "ext4"] {
        let Some(file) = made(name, 512, 64 << 20) else { continue };
        let good = std::fs::read(file.path()).expect("read");
        let mft = if name == "ntfs" { number::<8>(&good, 48) * 4096 } else { 0 };
        let mut refused = 0;
        let store = MemStore::from_vec(good.clone());
        for turn in 0..600 {
            // The boot sector, the superblock, the MFT's first records.
            let at = match turn % 3 {
                0 => rng.below(512),
                1 => 1024 + rng.below(1024),
                _ if name == "ntfs" => mft + rng.below(9 * 1024),
                _ => rng.below(8192),
            };
            let was = good[at as usize];
            let lie = [0, 1, 0x7f, 0x80, 0xff, rng.below(256) as u8][rng.below(6) as usize];
            store.write_at(&[lie], at).expect("memory");
            match Allocation::read(&store) {
                Ok(map) => {
                    let used = map.used(store.size(), 1 << 16);
                    assert!(used.iter().all(|range| range.end <= store.size() && range.start < range.end));
                    assert!(
                        map.find(0, 1 << 16, 4096).is_ok_and(|at| at + (1 << 16) <= store.size())
                            || map.find(0, 1 << 16, 4096).is_err()
                    );
                }
                Err(_) => refused += 1,
            }
            store.write_at(&[was], at).expect("memory");
        }
        assert!(refused > 3, "{name}: {refused}");
    }
}

/// A cut between the two writes of the record of bad clusters: the map is read all the same, and the mirror follows.
#[test]
fn a_mirror_that_is_behind_is_read_and_mended() {
    let Some(mkfs) = require_tool("mkfs.ntfs") else { return };
    let file = tempfile::NamedTempFile::new().expect("temp");
    file.as_file().set_len(16 << 20).expect("sized");
    let words = ["-q", "-F", "-Q", "-c", "65536"];
    let done = Command::new(mkfs).args(words).arg(file.path()).output().expect("runs");
    assert!(done.status.success());
    let image = std::fs::read(file.path()).expect("read");
    let store = MemStore::from_vec(image.clone());
    let mut map = Allocation::read(&store).expect("an NTFS");
    let at = map.find(8 << 20, 1 << 18, 4096).expect("room");
    map.take(at..at + (1 << 18));
    map.mark(&store).expect("marked");
    let good = store.snapshot();
    let place = |field: usize| {
        let clusters = u64::from_le_bytes(good[field..field + 8].try_into().expect("eight"));
        let record = clusters as usize * 65_536 + 8 * 1024;
        record..record + 1024
    };
    let (record, mirrored) = (place(48), place(56));
    assert!(good[record.clone()] == good[mirrored.clone()] && good[record.clone()] != image[record]);
    let mut behind = good.clone();
    behind[mirrored.clone()].copy_from_slice(&image[mirrored]);
    let mounts = |medium: &[u8]| {
        std::fs::write(file.path(), medium).expect("written");
        let info = require_tool("ntfsinfo").expect("with mkfs.ntfs");
        Command::new(info).arg("-m").arg(file.path()).output().expect("runs").status.success()
    };
    assert!(mounts(&good) && !mounts(&behind));
    let store = MemStore::from_vec(behind);
    let map = Allocation::read(&store).expect("read all the same");
    assert!(map.mend(&store).expect("mended") && !map.mend(&store).expect("nothing is left"));
    assert!(store.snapshot() == good && mounts(&store.snapshot()));
}
