//! One writer for the same bytes, whichever file or device they are reached by.
//!
//! Loop devices and partitions are made with `losetup`, `addpart` and `mount`.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_store::{Caching, FileStore, OpenMode};
use keyway_testkit::{require_root, require_tool};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Barrier, Mutex, PoisonError};

const SIZE: u64 = 16 << 20;

/// A child that was just forked holds a copy of every claim until it becomes another program, and a device that is
/// taken off may be given to the next test.
static ALONE: Mutex<()> = Mutex::new(());

/// What a shell would print; `None` where the system's program refused.
fn say(program: &str, args: &[&str]) -> Option<String> {
    let done = Command::new(program).args(args).output().expect("it is there");
    let text = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    done.status.success().then_some(text)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

/// A loop device, taken off when dropped.
struct Loop(PathBuf);

impl Loop {
    fn on(what: &Path) -> Self {
        Self::with(&[], what)
    }

    fn with(options: &[&str], what: &Path) -> Self {
        let args = [&["-f", "--show"], options, &[text(what)]].concat();
        Self(say("losetup", &args).expect("a loop device").into())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        say("losetup", &["-d", text(&self.0)]);
    }
}

/// A mounted file system, unmounted when dropped.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn new(device: &Path) -> Self {
        let at = tempfile::tempdir().expect("temp");
        say("mount", &[text(device), text(at.path())]).expect("mounted");
        Self(at)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        say("umount", &[text(self.0.path())]);
    }
}

fn folder_with_a_file() -> Option<(tempfile::TempDir, PathBuf)> {
    if !require_root() || require_tool("losetup").is_none() {
        return None;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("temp");
    let path = folder.path().join("volume");
    File::create(&path).and_then(|file| file.set_len(SIZE)).expect("made");
    Some((folder, path))
}

fn open(path: &Path) -> Result<FileStore, String> {
    FileStore::open(path, OpenMode::ReadWrite, Caching::Direct).map_err(|e| {
        assert_eq!(e.source.kind(), ErrorKind::ResourceBusy, "{e}");
        e.source.to_string()
    })
}

/// Says who has it.
fn refused(path: &Path, why: &str) -> String {
    match open(path) {
        Ok(_) => panic!("{} was opened, although {why}", path.display()),
        Err(said) => said,
    }
}

/// Neither is opened beside the other, whichever comes first; each alone is. What the refusals say.
fn never_together(a: &Path, b: &Path) -> Vec<String> {
    let mut said = Vec::new();
    for (first, second) in [(a, b), (b, a)] {
        let held = open(first).unwrap_or_else(|e| panic!("{} alone: {e}", first.display()));
        match open(second) {
            Ok(_) => panic!("{} was opened beside {}", second.display(), first.display()),
            Err(e) => {
                let own = format!("(process {})", std::process::id());
                assert!(e.contains(text(first)) && e.contains(&own), "{e:?} does not name {}", text(first));
                said.push(e);
            }
        }
        drop(held);
        drop(open(second).unwrap_or_else(|e| panic!("{} after the other: {e}", second.display())));
    }
    said
}

#[test]
fn a_file_and_a_loop_device_on_it_are_one() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((folder, path)) = folder_with_a_file() else { return };
    let link = folder.path().join("link");
    std::fs::hard_link(&path, &link).expect("linked");
    let symlink = folder.path().join("symlink");
    std::os::unix::fs::symlink(&path, &symlink).expect("linked");
    // The file first, and the loop device made only then.
    let held = open(&link).expect("free");
    let device = Loop::on(&path);
    refused(&device.0, "the file is open");
    drop(held);
    for file in [&path, &link, &symlink] {
        for (a, b) in [(&**file, &*device.0), (&*device.0, &**file)] {
            let held = open(a).expect("free");
            refused(b, "open already");
            drop(held);
        }
    }
    never_together(&path, &device.0);
    // Whatever its file is called now.
    let moved = folder.path().join("moved");
    std::fs::rename(&path, &moved).expect("renamed");
    std::fs::write(&path, vec![0; 4096]).expect("made");
    never_together(&moved, &device.0);
    drop((open(&path).expect("another file"), open(&moved).expect("free")));
    let held = open(&device.0).expect("free");
    open(&path).expect("another file");
    drop(held);
    std::fs::remove_file(&moved).expect("removed");
    std::fs::remove_file(&link).expect("removed");
    let second = Loop::on(&device.0);
    never_together(&device.0, &second.0);
}

#[test]
fn so_are_two_loop_devices_and_a_chain_of_them() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_folder, path)) = folder_with_a_file() else { return };
    let (one, two) = (Loop::on(&path), Loop::on(&path));
    let above = Loop::on(&one.0);
    let top = Loop::on(&above.0);
    let all = [&path, &one.0, &two.0, &above.0, &top.0];
    for (n, a) in all.iter().enumerate() {
        for b in &all[n + 1..] {
            never_together(a, b);
        }
    }
}

#[test]
fn other_bytes_of_the_same_file_are_free() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_folder, path)) = folder_with_a_file() else { return };
    let front = Loop::with(&["--sizelimit", "8388608"], &path);
    let back = Loop::with(&["-o", "8388608"], &path);
    let across = Loop::with(&["-o", "4194304", "--sizelimit", "8388608"], &path);
    never_together(&front.0, &across.0);
    never_together(&back.0, &across.0);
    drop(across);
    let held = (open(&front.0).expect("free"), open(&back.0).expect("other bytes"));
    refused(&path, "both halves are open");
    drop(held);
    never_together(&path, &front.0);
    never_together(&path, &back.0);
}

#[test]
fn partitions_are_free_of_each_other_and_not_of_their_disk() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_folder, path)) = folder_with_a_file() else { return };
    let disk = Loop::with(&["-P"], &path);
    for (number, start) in [("1", "2048"), ("2", "8192")] {
        if say("addpart", &[text(&disk.0), number, start, "4096"]).is_none() {
            return keyway_testkit::leave_out("this kernel makes no partitions");
        }
    }
    let partition = |n: u8| PathBuf::from(format!("{}p{n}", text(&disk.0)));
    let (one, two) = (partition(1), partition(2));
    let held = (open(&one).expect("free"), open(&two).expect("its neighbour is no reason"));
    refused(&disk.0, "its partitions are open");
    refused(&path, "its partitions are open");
    drop(held);
    for whole in [&disk.0, &path] {
        never_together(whole, &one);
        never_together(whole, &two);
    }
    // A loop device on a partition, and one on the file where the partition lies.
    let on_it = Loop::on(&one);
    for other in [&one, &disk.0, &path] {
        never_together(&on_it.0, other);
    }
    let held = (open(&on_it.0).expect("free"), open(&two).expect("its neighbour is no reason"));
    drop(held);
    drop(on_it);
    // One of them mounted: the other is free all the same.
    if require_tool("mkfs.ext4").is_none() || say("mkfs.ext4", &["-q", text(&two)]).is_none() {
        return;
    }
    let mounted = Mounted::new(&two);
    drop(open(&one).expect("its neighbour is mounted, and no reason"));
    for whole in [&disk.0, &path, &two] {
        let said = refused(whole, "mounted");
        assert!(said.contains(text(mounted.0.path())), "{said}");
    }
}

#[test]
fn what_is_mounted_by_a_loop_device_is_not_opened_below_it() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_folder, path)) = folder_with_a_file() else { return };
    if require_tool("mkfs.ext4").is_none() || say("mkfs.ext4", &["-q", text(&path)]).is_none() {
        return;
    }
    let below = Loop::on(&path);
    let above = Loop::on(&below.0);
    for device in [&below, &above] {
        let mounted = Mounted::new(&device.0);
        for other in [&path, &below.0, &above.0] {
            let said = refused(other, "mounted");
            assert!(said.contains(text(mounted.0.path())), "{said}");
        }
    }
    // Nobody mounts it by another name while it is open.
    let held = open(&path).expect("free");
    let at = tempfile::tempdir().expect("temp");
    for device in [&below, &above] {
        assert_eq!(say("mount", &[text(&device.0), text(at.path())]), None);
    }
    drop(held);
    drop(Mounted::new(&above.0));
}

#[test]
fn of_two_that_begin_at_once_one_wins_at_most() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_folder, path)) = folder_with_a_file() else { return };
    let (one, two) = (Loop::on(&path), Loop::on(&path));
    let all = [&*path, &*one.0, &*two.0];
    let mut winners = 0;
    for _ in 0..8 {
        let start = Barrier::new(all.len());
        let done = Barrier::new(all.len());
        winners += std::thread::scope(|scope| {
            let race = |path| {
                let (start, done) = (&start, &done);
                scope.spawn(move || {
                    start.wait();
                    let opened = open(path);
                    done.wait();
                    usize::from(opened.is_ok())
                })
            };
            let racers = all.map(race);
            let winners: usize = racers.into_iter().map(|racer| racer.join().expect("no panic")).sum();
            assert!(winners <= 1, "{winners} have the same bytes open");
            winners
        });
    }
    assert!(winners > 0, "all stood in each other's way every time");
}
