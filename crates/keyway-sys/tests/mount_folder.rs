//! A folder on which something is mounted as soon as somebody looks (autofs): who only wants to know what it is has nothing mounted.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_sys::{holds_files, is_folder, is_there};
use keyway_testkit::{leave_out, require_root};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::pipe::pipe;
use std::ffi::CString;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Unmounted however the test ends.
struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = unmount(self.0, UnmountFlags::DETACH);
    }
}

#[test]
fn nothing_comes_up_where_somebody_only_looks() {
    if !require_root() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    // Nobody ever answers what comes through this pipe, and whoever waits for an answer does so for ever.
    let (asked, tell) = pipe().expect("a pipe");
    let options = format!("fd={},pgrp=1,minproto=5,maxproto=5,direct", tell.as_raw_fd());
    let options = CString::new(options).expect("plain");
    if let Err(e) = mount("test", folder.path(), "autofs", MountFlags::empty(), Some(options.as_c_str())) {
        leave_out(&format!("no autofs here: {e}"));
        return;
    }
    let mounted = Mounted(folder.path());
    let (done, seen) = channel();
    let path = folder.path().to_owned();
    std::thread::spawn(move || done.send((is_there(&path), is_folder(&path), holds_files(&path))));
    let seen = seen.recv_timeout(Duration::from_secs(30));
    drop(mounted);
    drop(asked);
    assert_eq!(seen, Ok((true, true, false)), "it had it mounted");
}
