//! Files as stores: both ways past and through the cache, files that change under us, full disks,
//! and who may write.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

use keyway_store::{AlignedBuf, Caching, FileStore, OpenMode, Operation, Store, StoreError};
use keyway_testkit::{Medium, Model, Rng, require_root, require_tool};
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

const SIZE: usize = 1 << 20;

struct Folder(tempfile::TempDir);

impl Folder {
    /// On the disk where the build is: `/tmp` is often memory, which knows no direct I/O.
    fn on_disk() -> Self {
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join("store");
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn open(path: &Path, caching: Caching) -> FileStore {
    FileStore::open(path, OpenMode::ReadWrite, caching).unwrap()
}

fn aligned(bytes: &[u8]) -> AlignedBuf {
    let mut buf = AlignedBuf::zeroed(bytes.len());
    buf.copy_from_slice(bytes);
    buf
}

/// A store as the model's medium, which now and then works from memory that is not aligned.
struct Driven(FileStore);

impl Medium for Driven {
    fn read(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        let mut own = AlignedBuf::zeroed(buf.len());
        self.0.read_at(&mut own, offset).map_err(std::io::Error::other)?;
        self.0.read_at(buf, offset).map_err(std::io::Error::other)?;
        assert!(*own == *buf, "aligned and unaligned memory read different bytes at {offset}");
        Ok(())
    }
    fn write(&self, buf: &[u8], offset: u64) -> std::io::Result<()> {
        let done = if offset.is_multiple_of(3) {
            self.0.write_at(buf, offset)
        } else {
            self.0.write_at(&aligned(buf), offset)
        };
        done.map_err(std::io::Error::other)
    }
    fn flush(&self) -> std::io::Result<()> {
        self.0.flush().map_err(std::io::Error::other)
    }
}

#[test]
fn random_requests_agree_with_a_model_whichever_way_they_go() {
    let folder = Folder::on_disk();
    // An odd size: the end of the file is no whole unit.
    let path = folder.file(&Rng::new(1).bytes(SIZE + 777));
    for (caching, unit) in
        [(Caching::Buffered, 1), (Caching::Direct, 1), (Caching::Direct, 512), (Caching::Direct, 4096)]
    {
        let store = Driven(open(&path, caching));
        assert!(caching == Caching::Direct || !store.0.is_direct());
        let mut model = Model::of(&store, SIZE + 777, unit, 64 << 10, unit);
        model.run(&store, 400);
        model.compare_all(&store);
        drop(store);
        assert!(std::fs::read(&path).unwrap() == model.expected(), "{caching:?} in units of {unit}");
    }
}

#[test]
fn the_cached_and_the_direct_way_see_each_other_at_once() {
    let folder = Folder::on_disk();
    let path = folder.file(&[0; SIZE]);
    let store = open(&path, Caching::Direct);
    if !store.is_direct() {
        keyway_testkit::leave_out("the build folder's file system has no direct I/O");
        return;
    }
    // Eight threads, each with areas of its own that lie between the others', alternate between
    // whole pages (direct) and odd bytes (cached) and check both ways.
    std::thread::scope(|scope| {
        for thread in 0..8u64 {
            let store = &store;
            scope.spawn(move || {
                let mut rng = Rng::new(thread);
                for round in 0..40u64 {
                    let at = (thread + 8 * rng.below(16)) * 8192;
                    let page = aligned(&rng.bytes(4096));
                    store.write_at(&page, at).unwrap();
                    store.write_at(&[round as u8; 100], at + 30).unwrap();
                    let mut direct = AlignedBuf::zeroed(4096);
                    store.read_at(&mut direct, at).unwrap();
                    let mut cached = vec![0; 4095];
                    store.read_at(&mut cached, at).unwrap();
                    assert!(direct[30..130] == [round as u8; 100] && direct[130..] == page[130..]);
                    assert!(direct[..4095] == cached[..]);
                }
            });
        }
    });
}

#[test]
fn requests_past_the_end_are_refused_before_anything_moves() {
    let folder = Folder::on_disk();
    let path = folder.file(&[7; 1000]);
    let store = open(&path, Caching::Direct);
    let mut buf = [0; 10];
    for offset in [991, 1000, u64::MAX - 3, u64::MAX] {
        for refused in [
            store.read_at(&mut buf, offset).unwrap_err(),
            store.write_at(&buf, offset).unwrap_err(),
            store.discard(offset, 10).unwrap_err(),
        ] {
            assert_eq!(refused.source.kind(), ErrorKind::UnexpectedEof);
        }
    }
    assert_eq!(std::fs::read(&path).unwrap(), [7; 1000]);
    store.read_at(&mut buf, 990).unwrap();
    store.read_at(&mut [], 1000).unwrap();
}

#[test]
fn a_file_cut_under_us_is_an_error_not_zeros() {
    let folder = Folder::on_disk();
    for caching in [Caching::Buffered, Caching::Direct] {
        let path = folder.file(&[7; SIZE]);
        let store = open(&path, caching);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(10_000).unwrap();
        let mut buf = AlignedBuf::zeroed(8192);
        store.read_at(&mut buf, 0).unwrap();
        for offset in [4096, 8192, 65536] {
            let error = store.read_at(&mut buf, offset).unwrap_err();
            assert!(error.to_string().contains("has become shorter"), "{error}");
            assert_eq!(error.errno(), 5);
        }
        let error = store.flush().unwrap_err();
        assert_eq!(error.operation, Operation::Flush);
        assert!(error.to_string().contains("has become shorter"), "{error}");
        // It grows again, but what was in it is gone for good.
        OpenOptions::new().write(true).open(&path).unwrap().set_len(SIZE as u64).unwrap();
        assert!(store.flush().unwrap_err().to_string().contains("an earlier flush failed"));
        assert!(store.try_clone().unwrap().flush().is_err());
    }
}

#[test]
fn a_vanished_file_serves_on_and_a_folder_is_refused() {
    let folder = Folder::on_disk();
    let path = folder.file(&[7; 4096]);
    let store = open(&path, Caching::Direct);
    std::fs::remove_file(&path).unwrap();
    let mut buf = AlignedBuf::zeroed(4096);
    store.read_at(&mut buf, 0).unwrap();
    assert_eq!(*buf, [7; 4096]);
    let error = |path: &Path| FileStore::open(path, OpenMode::ReadOnly, Caching::Direct).err().unwrap();
    assert_eq!(error(&path).source.kind(), ErrorKind::NotFound);
    assert_eq!(error(folder.0.path()).source.kind(), ErrorKind::InvalidInput);
    assert_eq!(error(Path::new("/dev/null")).source.kind(), ErrorKind::InvalidInput);
}

#[test]
fn one_store_at_a_time_writes() {
    let folder = Folder::on_disk();
    let path = folder.file(&[7; 4096]);
    let first = open(&path, Caching::Direct);
    assert!(first.is_claimed());
    let second = FileStore::open(&path, OpenMode::ReadWrite, Caching::Direct).err().unwrap();
    assert_eq!(second.source.kind(), ErrorKind::ResourceBusy);
    // Readers may look, and claim nothing.
    let reader = FileStore::open(&path, OpenMode::ReadOnly, Caching::Buffered).unwrap();
    assert!(!reader.is_claimed());
    assert!(reader.write_at(&[1], 0).is_err());
    assert!(reader.discard(0, 4096).is_err());
    // A clone keeps the claim.
    let clone = first.try_clone().unwrap();
    drop(first);
    assert!(FileStore::open(&path, OpenMode::ReadWrite, Caching::Direct).is_err());
    clone.write_at(&[9; 10], 100).unwrap();
    drop(clone);
    drop(open(&path, Caching::Direct));
}

#[test]
fn discards_free_a_files_room_and_touch_nothing_else() {
    let folder = Folder::on_disk();
    let path = folder.file(&[7; SIZE]);
    let store = open(&path, Caching::Buffered);
    store.discard(4096 + 100, 65536).unwrap();
    store.discard(10, 100).unwrap();
    let after = std::fs::read(&path).unwrap();
    assert_eq!(after.len(), SIZE);
    assert!(after[..4608].iter().chain(&after[4096 + 100 + 65536..]).all(|b| *b == 7));
    assert!(after[4608..4096 + 65536].iter().all(|b| matches!(b, 0 | 7)));
}

/// A small file system of its own, gone when dropped.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn tmpfs(size: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={size}");
        run(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "none"]).arg(folder.path()));
        Self(folder)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

fn run(command: &mut Command) -> String {
    let done = command.output().unwrap();
    let words = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {words}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

#[test]
fn a_full_disk_is_an_error_and_what_was_written_stays() {
    if !require_root() {
        return;
    }
    let small = Mounted::tmpfs("1m");
    let path = small.0.path().join("sparse");
    File::create(&path).unwrap().set_len(4 << 20).unwrap();
    let store = open(&path, Caching::Direct);
    let block = aligned(&[0x5a; 64 << 10]);
    let mut written = 0;
    let error: StoreError = loop {
        match store.write_at(&block, written) {
            Ok(()) => written += block.len() as u64,
            Err(e) => break e,
        }
    };
    assert_eq!((error.errno(), error.operation), (28, Operation::Write));
    assert!(written >= 512 << 10, "only {written} bytes fitted");
    store.flush().unwrap();
    let mut back = AlignedBuf::zeroed(64 << 10);
    for at in (0..written).step_by(block.len()) {
        store.read_at(&mut back, at).unwrap();
        assert!(*back == *block);
    }
    // A discard makes room again.
    store.discard(0, 64 << 10).unwrap();
    store.write_at(&block, 2 << 20).unwrap();
}

/// A loop device on a file, taken off when dropped.
struct Loop {
    device: PathBuf,
}

impl Loop {
    fn on(file: &Path, sector: &str) -> Self {
        let device = run(Command::new("losetup").args(["-f", "--show", "-b", sector]).arg(file));
        Self { device: device.into() }
    }

    /// Turns discards on or off; whether that could be done.
    fn set_discards(&self, on: bool) -> bool {
        let name = self.device.file_name().unwrap().to_str().unwrap();
        let queue = Path::new("/sys/block").join(name).join("queue/discard_max_bytes");
        let bytes = if on { "1073741824" } else { "0" };
        std::fs::write(&queue, bytes).is_ok()
            && (std::fs::read_to_string(&queue).unwrap().trim() != "0") == on
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
    }
}

#[test]
fn a_block_device_tells_its_sector_and_takes_discards() {
    if !require_root() || require_tool("losetup").is_none() {
        return;
    }
    let folder = Folder::on_disk();
    let path = folder.file(&[7; SIZE]);
    for (sector, name) in [(512, "512"), (4096, "4096")] {
        let device = Loop::on(&path, name);
        let store = open(&device.device, Caching::Direct);
        assert_eq!((store.sector_bytes(), store.size()), (sector, SIZE as u64));
        assert!(store.is_block_device() && store.is_direct() && store.is_claimed());
        let driven = Driven(store);
        let mut model = Model::of(&driven, SIZE, 1, 32 << 10, 9);
        model.run(&driven, 200);
        model.compare_all(&driven);
        driven.0.flush().unwrap();
        // Only the whole sectors inside; a loop device hands them to its file as holes, or, where
        // its discards are turned off, does nothing.
        for on in [false, true] {
            if !device.set_discards(on) {
                // Nothing that could be installed: the kernel decides.
                eprintln!("NOTE: this kernel's loop devices can't have their discards turned {on}");
                continue;
            }
            driven.0.discard(65536 - 100, 65536 + 200).unwrap();
            let mut buf = AlignedBuf::zeroed(65536);
            driven.0.read_at(&mut buf, 65536).unwrap();
            let expected = if on { vec![0; 65536] } else { model.expected()[65536..131_072].to_vec() };
            assert!(*buf == expected[..], "sectors of {name}, discards on: {on}");
        }
        let mut edge = vec![0; 65536];
        driven.0.read_at(&mut edge, 0).unwrap();
        assert!(edge == model.expected()[..65536]);
    }
}

#[test]
fn a_mounted_device_is_busy_and_a_claimed_one_cannot_be_mounted() {
    if !require_root() || require_tool("losetup").is_none() || require_tool("mkfs.ext4").is_none() {
        return;
    }
    let folder = Folder::on_disk();
    let path = folder.file(&[0; 4 << 20]);
    let device = Loop::on(&path, "512");
    run(Command::new("mkfs.ext4").arg("-q").arg(&device.device));
    let at = Mounted(tempfile::tempdir().unwrap());
    let mount = || Command::new("mount").arg(&device.device).arg(at.0.path()).output().unwrap();
    let store = open(&device.device, Caching::Direct);
    assert!(!mount().status.success(), "a device that is being written was mounted");
    let second = FileStore::open(&device.device, OpenMode::ReadWrite, Caching::Direct).err().unwrap();
    assert_eq!(second.source.kind(), ErrorKind::ResourceBusy);
    drop(store);
    let done = mount();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let busy = FileStore::open(&device.device, OpenMode::ReadWrite, Caching::Direct).err().unwrap();
    assert_eq!((busy.source.kind(), busy.operation), (ErrorKind::ResourceBusy, Operation::Open));
    FileStore::open(&device.device, OpenMode::ReadOnly, Caching::Direct).unwrap();
}

#[test]
fn a_device_that_disappears_is_an_error() {
    if !require_root() || require_tool("losetup").is_none() {
        return;
    }
    // The file under the loop device is cut: to the device's user its sectors fail.
    let folder = Folder::on_disk();
    let path = folder.file(&[7; SIZE]);
    let device = Loop::on(&path, "512");
    let store = open(&device.device, Caching::Direct);
    OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    let mut buf = AlignedBuf::zeroed(4096);
    let error = store.read_at(&mut buf, 65536);
    assert!(error.as_ref().is_err_and(|e| e.errno() == 5), "{error:?}");
}
