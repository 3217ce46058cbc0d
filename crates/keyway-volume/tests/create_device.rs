//! Volumes on real block devices and on a disk that is full: loop devices and a small tmpfs, as root.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

use keyway_engine::{Access, Device};
use keyway_error::{Explain, Fault};
use keyway_fs::mkfs::{FileSystem, MkfsError, format_into, silent};
use keyway_secret::SecretBytes;
use keyway_store::Store;
use keyway_sys::Use;
use keyway_testkit::{require_root, require_tool};
use keyway_volume::veracrypt::{
    CreateError, Existing, Fill, NewVolume, Space, Target, UnlockRequest, create, unlock,
};
use keyway_volume::{HashName, ReadBack, ReadsBackDifferently, Secrets};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// One test at a time: a program that another test starts holds copies of this one's descriptors,
/// and with them its claim on a device, for the moment between fork(2) and execve(2).
static ALONE: Mutex<()> = Mutex::new(());

fn secrets() -> Secrets {
    let password = SecretBytes::copy_of(b"correct horse battery staple");
    Secrets { password, keyfiles: vec![], pim: Some(1) }
}

fn wish(secrets: &Secrets, fill: Fill) -> NewVolume<'_> {
    NewVolume { secrets, cipher: "aes".parse().expect("a cipher"), hash: HashName::Sha512, fill }
}

/// Runs a program; `None` where it fails, after a visible skip.
fn run(program: &str, args: &[&str]) -> Option<String> {
    let out = Command::new(require_tool(program)?).args(args).output().expect("it runs");
    if !out.status.success() {
        keyway_testkit::skip(&format!("{program} {args:?}: {}", String::from_utf8_lossy(&out.stderr).trim()));
        return None;
    }
    Some(String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

/// A loop device, detached at the end.
struct Loop(PathBuf);

impl Loop {
    fn new(file: &Path, sector: &str) -> Option<Self> {
        let file = file.to_str().expect("a plain name");
        run("losetup", &["--show", "-f", "-b", sector, file]).map(|device| Self(device.into()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.0).status();
    }
}

/// A mount, unmounted at the end.
struct Mounted(PathBuf);

impl Mounted {
    fn new(args: &[&str], at: &Path) -> Option<Self> {
        let at_text = at.to_str().expect("a plain name");
        run("mount", &[args, &[at_text]].concat()).map(|_| Self(at.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_device_is_claimed_formatted_and_opens_with_its_own_sector_size() {
    if !require_root() {
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().expect("temp");
    for sector in ["512", "4096"] {
        let file = dir.path().join(sector);
        std::fs::File::create(&file).and_then(|f| f.set_len(8 << 20)).expect("made");
        let Some(device) = Loop::new(&file, sector) else { return };
        let target = Target::device(&device.0).expect("free");
        let again = Target::device(&device.0).err().expect("claimed");
        assert!(again.fault() == Fault::InUse && again.to_string().contains("(process "), "{again}");
        let secrets = secrets();
        let made = create(target.store(), &wish(&secrets, Fill::Random), &()).expect("created");
        assert_eq!(made.sector_bytes.to_string(), sector);
        let inside = Device::new(Box::new(target.reopen().expect("opens")), made.layout, Access::ReadWrite)
            .expect("fits");
        if require_tool("mkfs.ext4").is_some() {
            format_into(&inside, FileSystem::Ext4, None, &silent).expect("formatted");
        }
        // Each handle holds the claim.
        drop(inside);
        target.keep().expect("kept");
        let target = Target::existing(&device.0).expect("free again");
        let info = unlock(target.store(), &UnlockRequest::new(&secrets)).expect("opens").info;
        assert_eq!(info.sector_bytes.to_string(), sector);
        drop(target);
        // The file under the loop device is in use too.
        let error = Target::existing(&file).err().expect("in use");
        let name = device.0.file_name().and_then(|n| n.to_str()).expect("a name").to_owned();
        assert!(matches!(&error, CreateError::InUse { uses, .. } if *uses == [Use::Loop(name)]), "{error}");
    }
}

/// The medium under a device changes, of which the device's page cache knows nothing.
#[test]
fn what_is_read_back_comes_from_the_medium_and_not_from_the_page_cache() {
    if !require_root() {
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("disk");
    let file = std::fs::File::create(&path).expect("made");
    file.set_len(8 << 20).expect("sized");
    let Some(device) = Loop::new(&path, "512") else { return };
    let target = Target::device(&device.0).expect("free");
    let (store, header) = (target.store(), [7; 512]);
    if !store.is_direct() {
        keyway_testkit::leave_out("this kernel's loop devices have no direct I/O");
        return;
    }
    let read_back = ReadBack::new(store);
    let cached = || {
        let mut bytes = [0; 511];
        store.read_at(&mut bytes, 65_536).expect("read");
        bytes
    };
    read_back.put(&header, 65_536).expect("it is there");
    assert_eq!(cached(), header[..511]);
    file.write_all_at(&[8; 512], 65_536).expect("written");
    assert_eq!(cached(), header[..511], "the page cache does not know");
    let error = read_back.compare(65_536, &header).expect_err("the medium has something else");
    assert!(ReadsBackDifferently::is_in(&error) && error.offset == 65_536, "{error}");
}

#[test]
fn a_mounted_device_is_refused_by_name() {
    if !require_root() {
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().expect("temp");
    let file = dir.path().join("disk");
    std::fs::File::create(&file).and_then(|f| f.set_len(16 << 20)).expect("made");
    let place = dir.path().join("mnt with space");
    std::fs::create_dir(&place).expect("made");
    let name = file.to_str().expect("a plain name");
    if run("mkfs.ext4", &["-q", "-F", name]).is_none() {
        return;
    }
    let Some(device) = Loop::new(&file, "512") else { return };
    let Some(mounted) = Mounted::new(&[device.0.to_str().expect("a plain name")], &place) else { return };
    let error = Target::device(&device.0).err().expect("mounted");
    assert!(
        matches!(&error, CreateError::InUse { uses, .. } if uses.contains(&Use::Mounted(place.clone()))),
        "{error}"
    );
    assert!(error.to_string().contains("mnt with space"));
    assert_eq!(error.fault(), Fault::InUse);
    drop(mounted);
    assert!(Target::device(&device.0).is_ok());
}

#[test]
fn a_full_disk_is_an_error_that_leaves_nothing_behind() {
    if !require_root() {
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().expect("temp");
    let Some(_mounted) = Mounted::new(&["-t", "tmpfs", "-o", "size=4m", "tmpfs"], dir.path()) else { return };
    let path = dir.path().join("v.hc");
    // Said before anything is written.
    match Target::new_file(&path, 8 << 20, Existing::Refuse, Space::Reserved).err() {
        Some(CreateError::NoSpace { needed, available, .. }) => {
            assert_eq!(needed, 8 << 20);
            assert!(available <= 4 << 20);
        }
        other => panic!("{other:?}"),
    }
    assert!(!path.exists());
    // Found out in the middle.
    let secrets = secrets();
    let target = Target::new_file(&path, 8 << 20, Existing::Refuse, Space::Sparse).expect("sparse");
    let error = create(target.store(), &wish(&secrets, Fill::Random), &()).err().expect("full");
    assert!(matches!(&error, CreateError::Store(e) if e.errno() == 28), "{error}");
    drop(target);
    assert!(!path.exists());
    // Found out by the file system's maker.
    let target = Target::new_file(&path, 64 << 20, Existing::Refuse, Space::Sparse).expect("sparse");
    let made = create(target.store(), &wish(&secrets, Fill::Quick), &()).expect("fits");
    let inside =
        Device::new(Box::new(target.reopen().expect("opens")), made.layout, Access::ReadWrite).expect("fits");
    if require_tool("mkfs.ext4").is_some() {
        let error = format_into(&inside, FileSystem::Ext4, None, &silent).expect_err("full");
        assert!(matches!(error, MkfsError::Store(_)), "{error}");
    }
}
