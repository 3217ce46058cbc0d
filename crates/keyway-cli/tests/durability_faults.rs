//! A medium that fails: the application is told, what was flushed before stays, closing leaves
//! nothing behind, and the volume opens again once the medium works.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{
    FailingDisk, Fault, Keyway, NbdFuse, Open, Rng, Volume, is_root, require_fuse, require_root,
    require_tool, skip,
};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

const MIB: usize = 1 << 20;
/// Linux's EIO (`asm-generic/errno-base.h`).
const EIO: i32 = 5;

/// How an application reaches the open volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The FUSE file.
    File,
    /// The loop device on it.
    Device,
    /// The loop device that goes through the page cache.
    Cached,
    /// The NBD socket, through another program's client.
    Nbd,
}

/// An open volume and the file or device that an application has of it.
struct Application<'a> {
    file: File,
    // Gone before the volume is closed.
    client: Option<NbdFuse>,
    open: Open<'a>,
}

impl<'a> Application<'a> {
    /// `None` after a visible skip where this way can't be had.
    fn start(volume: &Volume<'a>, way: Way) -> Option<Self> {
        let (open, client) = match way {
            Way::Device | Way::Cached if !is_root() => {
                skip("loop devices need root");
                return None;
            }
            Way::File | Way::Device => (volume.open("fuse"), None),
            Way::Cached => (volume.open_cached(None), None),
            Way::Nbd => {
                let open = volume.open("nbd");
                let client = NbdFuse::mount(&volume.keyway().path("client"), &open.path("socket"))?;
                (open, Some(client))
            }
        };
        let path = match (way, &client) {
            (_, Some(client)) => client.file(),
            (Way::Device | Way::Cached, None) => open.path("device"),
            (_, None) => open.path("file"),
        };
        let file = File::options().read(true).write(true).open(path).expect("the volume opens");
        Some(Self { file, client, open })
    }

    fn write(&self, bytes: &[u8], at: usize) -> io::Result<()> {
        self.file.write_all_at(bytes, at as u64).and_then(|()| self.file.sync_all())
    }

    /// Reads past the page cache of a device, which may still hold what was written.
    fn read(&self, len: usize, at: usize) -> io::Result<Vec<u8>> {
        let _ = rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::DontNeed);
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, at as u64).map(|()| bytes)
    }

    /// Ends the application and closes the volume, which may say that it was not clean; nothing
    /// may be left of it. Returns what it said.
    fn close(self, volume: &Volume<'_>) -> (bool, String) {
        let Self { file, client, open } = self;
        let device = Number::of(&file);
        drop(file);
        drop(client);
        let session = open.session_folder();
        std::mem::forget(open);
        let done = volume.keyway().run([OsStr::new("close"), volume.path().as_os_str()]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success() || said.contains("not cleanly"), "close: {said}");
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("Linux");
        let name = session.to_string_lossy();
        assert!(!mounts.contains(&*name), "{name} is still mounted");
        assert!(!session.exists(), "{name} was left behind");
        let loops =
            Command::new("losetup").arg("--list").output().map(|done| done.stdout).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&loops).contains(&*name), "a loop device was left behind");
        // One that goes through a page cache is on the other loop device, and has no name of ours.
        assert!(!device.is_some_and(|device| device.is_attached()), "the upper loop device was left behind");
        (done.status.success(), said)
    }
}

/// A loop device as long as it is on what it was on: the kernel counts anew whenever that changes.
struct Number {
    folder: PathBuf,
    sequence: String,
}

impl Number {
    fn of(file: &File) -> Option<Self> {
        let meta = file.metadata().expect("an open file");
        let (major, minor) = (rustix::fs::major(meta.rdev()), rustix::fs::minor(meta.rdev()));
        let folder = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
        let sequence = std::fs::read_to_string(folder.join("diskseq")).ok()?;
        meta.file_type().is_block_device().then_some(Self { folder, sequence })
    }

    fn is_attached(&self) -> bool {
        let now = std::fs::read_to_string(self.folder.join("diskseq"));
        now.is_ok_and(|now| now == self.sequence) && self.folder.join("loop/backing_file").exists()
    }
}

/// The ways this user and machine have.
fn ways() -> Vec<Way> {
    if require_fuse() { vec![Way::File, Way::Device, Way::Cached, Way::Nbd] } else { Vec::new() }
}

/// A folder with a small memory file system on it.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(folder: PathBuf, size: &str) -> Self {
        std::fs::create_dir(&folder).expect("a folder");
        let options = format!("size={size}");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "small"]).arg(&folder).status();
        assert!(mounted.is_ok_and(|status| status.success()), "a small disk can be mounted");
        Self(folder)
    }

    /// The container with only its two header areas written: the data area is a hole.
    fn sparse_copy(&self, container: &Path) -> PathBuf {
        let (copy, edge) = (self.0.join("container"), 128 << 10);
        let bytes = std::fs::read(container).expect("the container");
        let file = File::create(&copy).expect("a file on the small disk");
        file.set_len(bytes.len() as u64).expect("a sparse file");
        file.write_all_at(&bytes[..edge], 0).expect("the headers");
        let end = bytes.len() - edge;
        file.write_all_at(&bytes[end..], end as u64).expect("the backup headers");
        copy
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// The disk under a sparse container fills up.
#[test]
fn a_full_disk_is_told_as_such_and_loses_nothing() {
    if !require_root() {
        return;
    }
    for way in ways() {
        let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
        let made = keyway.volume("12M");
        let disk = SmallDisk::mount(keyway.path("small"), "4M");
        let volume = made.at(&disk.sparse_copy(made.path()));
        let Some(application) = Application::start(&volume, way) else { continue };
        let kept = Rng::new(54).bytes(MIB);
        application.write(&kept, 0).expect("there is room for this");
        let refused =
            (1..11).find_map(|mib| application.write(&Rng::new(mib as u64).bytes(MIB), mib * MIB).err());
        let refused = refused.expect("4 MiB of disk can't take 10 MiB");
        // Linux knows of a block device's page cache only that writing it out failed.
        let told = match way {
            Way::Device | Way::Cached => refused.raw_os_error() == Some(EIO),
            Way::File | Way::Nbd => refused.kind() == ErrorKind::StorageFull,
        };
        assert!(told, "{way:?}: the application is told why: {refused}");
        let read = application.read(MIB, 0).expect("what is there can be read");
        assert!(read == kept, "{way:?}");
        let (_, said) = application.close(&volume);
        assert!(volume.plain()[..MIB] == kept, "{way:?}: what was flushed is gone; close said: {said}");
    }
}

/// A disk that answers EIO to writes for a while, then to reads.
#[test]
fn a_disk_that_fails_for_a_while_is_told_and_loses_nothing() {
    for way in ways() {
        let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
        let made = keyway.volume("6M");
        let Some(disk) = FailingDisk::on(made.path(), &keyway.path("disk")) else { return };
        let volume = made.at(&disk.file());
        let Some(application) = Application::start(&volume, way) else { continue };
        let mut rng = Rng::new(60);
        let kept = rng.bytes(MIB);
        application.write(&kept, 0).expect("the disk works");

        disk.fail(Fault::Writes);
        let refused = application.write(&rng.bytes(MIB), 2 * MIB).expect_err("the disk fails");
        assert_eq!(refused.raw_os_error(), Some(EIO), "{way:?}: {refused}");
        assert!(application.read(MIB, 0).expect("it still reads") == kept, "{way:?}");
        disk.fail(Fault::Reads);
        // Where nothing was written or read before, no cache helps.
        let refused = application.read(MIB, 4 * MIB).expect_err("the disk fails");
        assert_eq!(refused.raw_os_error(), Some(EIO), "{way:?}: {refused}");

        disk.mend();
        assert!(application.read(MIB, 0).expect("it reads again") == kept, "{way:?}");
        let (_, said) = application.close(&volume);
        assert!(volume.plain()[..MIB] == kept, "{way:?}: what was flushed is gone; close said: {said}");
        // And as if nothing had been.
        let Some(application) = Application::start(&volume, way) else { continue };
        let more = rng.bytes(MIB);
        application.write(&more, 2 * MIB).expect("the disk works");
        let (clean, said) = application.close(&volume);
        assert!(clean, "{way:?}: {said}");
        assert!(volume.plain()[2 * MIB..3 * MIB] == more, "{way:?}");
    }
}

/// A disk that is pulled out while the volume is open.
#[test]
fn a_disk_that_is_pulled_out_is_told_and_loses_nothing() {
    for way in ways() {
        let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
        let made = keyway.volume("6M");
        let Some(mut disk) = FailingDisk::on(made.path(), &keyway.path("disk")) else { return };
        let volume = made.at(&disk.file());
        let Some(application) = Application::start(&volume, way) else { continue };
        let mut rng = Rng::new(61);
        let kept = rng.bytes(MIB);
        application.write(&kept, 0).expect("the disk works");
        disk.pull_out();
        application.write(&rng.bytes(MIB), 2 * MIB).expect_err("there is no disk");
        application.read(MIB, 4 * MIB).expect_err("there is no disk");
        let (clean, said) = application.close(&volume);
        assert!(!clean && said.contains("check what was written last"), "{way:?}: {said}");
        drop(disk);
        // Put in again.
        assert!(made.plain()[..MIB] == kept, "{way:?}: what was flushed is gone");
        let Some(application) = Application::start(&made, way) else { continue };
        application.write(&rng.bytes(MIB), 3 * MIB).expect("it can be written again");
        let (clean, said) = application.close(&made);
        assert!(clean, "{way:?}: {said}");
    }
}

/// The same under a mounted file system: a file that was synced is there after the disk is back.
#[test]
fn a_mounted_file_system_survives_its_disk_being_pulled_out() {
    if !require_root() || !require_fuse() || require_tool("mkfs.ext4").is_none() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let (image, at) = (keyway.path("files"), keyway.path("mnt"));
    let password = keyway.secret("password", Volume::PASSWORD);
    let secret = ["--password-file", password.to_str().expect("plain"), "--pim", "1"];
    let create = ["create", "--quick", "--size", "24M", "--filesystem", "ext4"];
    keyway.ok(create.iter().chain(&secret).map(OsStr::new).chain([image.as_os_str()]));
    std::fs::create_dir(&at).expect("a mount point");
    let Some(mut disk) = FailingDisk::on(&image, &keyway.path("disk")) else { return };
    let medium = disk.file();
    let words = || [at.as_os_str()].into_iter().chain(secret.iter().map(OsStr::new));
    let open = keyway.open(&medium, words());
    let kept = Rng::new(63).bytes(MIB);
    let write = |name: &str| {
        let file = File::create(at.join(name))?;
        file.write_all_at(&kept, 0).and_then(|()| file.sync_all())
    };
    write("kept").expect("the disk works");
    disk.pull_out();
    write("lost").expect_err("there is no disk");
    std::mem::forget(open);
    let done = keyway.run([OsStr::new("close"), medium.as_os_str()]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && said.contains("not cleanly"), "close: {said}");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("Linux");
    assert!(!mounts.contains(at.to_str().expect("plain")), "it is still mounted");
    drop(disk);
    let open = keyway.open(&image, words());
    assert!(std::fs::read(at.join("kept")).expect("the file is there") == kept);
    open.close();
}

/// A loop device that the test made on a file.
struct Loop(PathBuf);

impl Loop {
    fn on(image: &Path) -> Option<Self> {
        let losetup = require_tool("losetup")?;
        let done =
            Command::new(losetup).args(["--find", "--show"]).arg(image).output().expect("losetup runs");
        if !done.status.success() {
            skip(&format!("losetup gives no loop device: {}", String::from_utf8_lossy(&done.stderr)));
            return None;
        }
        Some(Self(String::from_utf8_lossy(&done.stdout).trim().into()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

/// A block device whose last part stops answering: a loop device whose file was cut.
#[test]
fn a_device_that_loses_its_end_is_told_and_keeps_the_rest() {
    if !require_root() {
        return;
    }
    for way in ways() {
        let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
        let made = keyway.volume("8M");
        let Some(device) = Loop::on(made.path()) else { return };
        let volume = made.at(&device.0);
        let Some(application) = Application::start(&volume, way) else { continue };
        let mut rng = Rng::new(62);
        let kept = rng.bytes(MIB);
        application.write(&kept, 0).expect("the device works");
        let whole = std::fs::read(made.path()).expect("the container");
        let container = File::options().write(true).open(made.path()).expect("the container");
        container.set_len(4 << 20).expect("cut");
        let refused = application.read(MIB, 5 * MIB).expect_err("there is nothing any more");
        assert_eq!(refused.raw_os_error(), Some(EIO), "{way:?}: {refused}");
        assert!(application.read(MIB, 0).expect("this is still there") == kept, "{way:?}");
        let (_, said) = application.close(&volume);
        drop(device);
        // The volume says that it is cut; with its end back it is whole.
        container.set_len(4 << 20).expect("cut again, whatever was written behind");
        let cut = keyway.run([OsStr::new("cat"), made.path().as_os_str()].into_iter().chain(secret(&made)));
        let told = String::from_utf8_lossy(&cut.stderr);
        assert!(cut.status.code() == Some(4) && told.contains("truncate -s"), "{told}");
        container.write_all_at(&whole[4 << 20..], 4 << 20).expect("its end comes back");
        assert!(made.plain()[..MIB] == kept, "{way:?}: what was flushed is gone; close said: {said}");
    }
}

fn secret<'a>(volume: &'a Volume<'_>) -> impl Iterator<Item = &'a OsStr> {
    volume.secret().iter().map(|word| word.as_os_str()).chain([OsStr::new("--hash"), OsStr::new("sha512")])
}

/// Many programs never look whether what they wrote is there: who closes the volume is told.
#[test]
fn what_could_not_be_written_is_told_by_close_until_it_is_written() {
    if !require_fuse() {
        return;
    }
    for mended in [false, true] {
        let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
        let made = keyway.volume("8M");
        let Some(disk) = FailingDisk::on(made.path(), &keyway.path("disk")) else { return };
        let medium = disk.file();
        let volume = made.at(&medium);
        let Some(application) = Application::start(&volume, Way::File) else { return };
        application.write(&[1; 4096], 0).expect("the disk works");
        disk.fail(Fault::Writes);
        application.file.write_all_at(&[2; 4096], 4096).expect_err("the disk does not take it");
        disk.mend();
        if mended {
            application.file.write_all_at(&[2; 8192], 0).expect("the disk works again");
        }
        let (success, said) = application.close(&volume);
        let told = said.contains("4096 bytes could not be written to the medium, and are lost");
        assert_eq!((success, told), (mended, !mended), "{said}");
    }
}

/// A memory card with its switch set: the kernel lets it be opened for writing, and refuses every write.
#[test]
fn a_write_protected_device_is_not_opened_for_writing() {
    let Some(losetup) = require_tool("losetup").filter(|_| require_root()) else { return };
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let made = keyway.volume("8M");
    let Some(device) = Loop::on(made.path()) else { return };
    drop(device);
    let done = Command::new(losetup).args(["--read-only", "--find", "--show"]).arg(made.path()).output();
    let device = Loop(String::from_utf8_lossy(&done.expect("losetup runs").stdout).trim().into());
    let volume = made.at(&device.0);
    let path = volume.path().as_os_str();
    for words in [&["open"][..], &["erase", "--yes"]] {
        let words = words.iter().map(OsStr::new).chain([path]);
        let done = keyway.run(words.chain(volume.secret().iter().map(AsRef::as_ref)));
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && said.contains("read-only"), "{said}");
    }
    let read_only = [OsStr::new("--read-only"), OsStr::new("--attach"), OsStr::new("nbd")];
    keyway.open(&device.0, read_only.into_iter().chain(volume.secret().iter().map(AsRef::as_ref))).close();
}
