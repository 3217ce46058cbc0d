//! What this machine's kernel does when it is asked: its disks, its keyring, its queues, its counters.
#![allow(clippy::expect_used, reason = "a helper of tests fails as a test does")]

use keyway_sys::{IoRing, KernelKey, Transfer, Use, claim_device, disks_under, mounts, thread_sleeps, uses};
use keyway_testkit::leave_out;
use std::ffi::CString;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

#[test]
fn going_to_sleep_is_counted() {
    let before = thread_sleeps();
    // A busy machine may wake a thread before it sleeps.
    keyway_testkit::wait_until("it slept", || thread_sleeps() > before);
}

#[test]
fn a_key_lives_as_long_as_its_value() {
    /// KEY_SPEC_THREAD_KEYRING of linux/keyctl.h.
    const THREAD_KEYRING: i32 = -1;
    let find = |name: &str| {
        let name = CString::new(name).expect("plain");
        // SAFETY: KEYCTL_SEARCH (10) reads two texts that end with a zero.
        unsafe { libc::syscall(libc::SYS_keyctl, 10, THREAD_KEYRING, c"logon".as_ptr(), name.as_ptr(), 0) }
    };
    let key = match KernelKey::add("keyway:test", &[7; 64]) {
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENOSYS | libc::EPERM | libc::EACCES)) => {
            leave_out(&format!("no keyring here: {e}"));
            return;
        }
        key => key.expect("a key"),
    };
    let serial = find(key.description());
    assert!(serial > 0, "it is found by its name");
    // SAFETY: KEYCTL_READ (11) is given no room.
    let read = unsafe { libc::syscall(libc::SYS_keyctl, 11, serial, std::ptr::null::<u8>(), 0) };
    assert_eq!(read, -1, "nobody reads it back");
    drop(key);
    assert_eq!(find("keyway:test"), -1);
    assert!(KernelKey::add("no prefix", &[7; 64]).is_err());
}

#[test]
fn the_disk_under_the_root_file_system_is_in_use() {
    let mounts = mounts().expect("Linux");
    let Some(root) = mounts.iter().find(|m| m.at == Path::new("/") && m.source.is_absolute()) else {
        leave_out("the root file system has no device here");
        return;
    };
    let Ok(meta) = root.source.metadata() else {
        leave_out("the root file system's device can't be seen here");
        return;
    };
    assert!(std::os::unix::fs::MetadataExt::rdev(&meta) != 0);
    let found = uses(&root.source).expect("readable");
    assert!(found.contains(&Use::Mounted("/".into())), "{found:?}");
    let busy = claim_device(&root.source).expect_err("the kernel has claimed it");
    assert!(matches!(busy.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::PermissionDenied), "{busy}");
}

#[test]
fn a_file_rests_on_the_disk_of_its_file_system() {
    let mounted_at = |device: &Path| {
        uses(device).into_iter().flatten().find_map(|u| match u {
            Use::Mounted(at) => Some(at),
            _ => None,
        })
    };
    let blocks = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let disks = blocks.map(|entry| Path::new("/dev").join(entry.file_name()));
    let Some((disk, at)) = disks.into_iter().find_map(|disk| Some((disk.clone(), mounted_at(&disk)?))) else {
        leave_out("no disk is mounted here");
        return;
    };
    assert_eq!(disks_under(&disk).expect("it is there").first(), Some(&disk));
    assert!(disks_under(&at).expect("readable").contains(&disk));
}

fn file(name: &str) -> OwnedFd {
    let path = std::env::temp_dir().join(format!("keyway-io-ring-{name}-{}", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path);
    let file = file.expect("a temporary file");
    std::fs::remove_file(path).expect("ours");
    file.into()
}

#[test]
fn what_is_written_is_read() {
    let mut ring = match IoRing::new(file("bytes"), 2, 5000) {
        Ok(ring) => ring,
        Err(e) => {
            leave_out(&format!("no io_uring here: {e}"));
            return;
        }
    };
    ring.buffer_mut(0).expect("free").fill(7);
    ring.start(0, Transfer::Write, 100, 5000).expect("queued");
    assert!(ring.buffer_mut(0).is_none(), "it is the kernel's");
    assert!(ring.start(0, Transfer::Read, 0, 1).is_err(), "one request at a time");
    assert!(ring.start(2, Transfer::Read, 0, 1).is_err(), "no such slot");
    assert!(ring.start(1, Transfer::Read, 0, 8193).is_err(), "longer than its buffer");
    ring.submit(1).expect("done");
    let (slot, moved) = ring.finished().expect("one");
    assert_eq!((slot, moved.expect("written")), (0, 5000));
    ring.start(1, Transfer::Read, 99, 8192).expect("queued");
    ring.submit(1).expect("done");
    let (slot, moved) = ring.finished().expect("one");
    assert_eq!((slot, moved.expect("read")), (1, 5001));
    let bytes = ring.buffer_mut(1).expect("free");
    assert_eq!((bytes[0], bytes[1], bytes[5000], bytes[5001]), (0, 7, 7, 0));
}

#[test]
fn it_may_be_dropped_with_requests_in_flight() {
    let Ok(mut ring) = IoRing::new(file("dropped"), 8, 1 << 20) else { return };
    for slot in 0..8 {
        ring.start(slot, Transfer::Write, u64::from(slot) << 20, 1 << 20).expect("queued");
    }
    ring.submit(0).expect("handed over");
    drop(ring);
}
