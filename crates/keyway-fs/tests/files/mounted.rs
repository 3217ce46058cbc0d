//! Files into a folder that stands for a mounted file system.

use keyway_fs::FileSystemKind::{self, Ext, Ntfs};
use keyway_fs::files::{EntryKind, FilesError, MountedFiles, NewEntry, NewFile, parse};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn names(path: &str) -> Vec<OsString> {
    parse(OsStr::new(path)).expect("a path")
}

fn opened(at: &Path, kind: FileSystemKind) -> MountedFiles {
    MountedFiles::open(at, kind).expect("a folder")
}

fn file(len: u64) -> NewFile {
    NewFile { len, modified: Some(1_000_000_000), mode: 0o640 }
}

fn put(files: &mut MountedFiles, path: &str, bytes: &[u8], replace: bool) -> Result<(), FilesError> {
    let go_on = &mut |_| ControlFlow::Continue(());
    files
        .put(&names(path), bytes, file(bytes.len() as u64), replace, go_on)
        .map(|done| assert!(done.is_continue()))
}

fn checked(files: &mut MountedFiles, path: &str, len: Option<u64>, replace: bool) -> Result<(), FilesError> {
    files.check_new(&[NewEntry { path: &names(path), len }], replace)
}

fn listed(at: &Path) -> Vec<OsString> {
    let mut names: Vec<_> =
        fs::read_dir(at).expect("a folder").map(|entry| entry.expect("there").file_name()).collect();
    names.sort();
    names
}

#[test]
fn files_and_folders_are_there_with_their_times_and_permissions() {
    let at = tempfile::tempdir().expect("a folder");
    let mut files = opened(at.path(), Ext);
    files
        .put_folder(&names("/a"), 0o755)
        .and_then(|()| files.put_folder(&names("/a/b"), 0o700))
        .expect("room");
    // Once more is as well.
    files.put_folder(&names("/a"), 0o755).expect("it is there");
    put(&mut files, "/a/b/c", b"bytes", false).expect("room");
    put(&mut files, "/empty", b"", false).expect("room");
    let mut zeros = vec![0; 3 << 20];
    zeros[5000] = 1;
    put(&mut files, "/zeros", &zeros, false).expect("room");
    assert_eq!(fs::read(at.path().join("a/b/c")).expect("there"), b"bytes");
    assert_eq!(fs::read(at.path().join("empty")).expect("there"), b"");
    assert!(fs::read(at.path().join("zeros")).expect("there") == zeros);
    let about = at.path().join("a/b/c").metadata().expect("there");
    let modified = about.modified().expect("Linux").duration_since(std::time::UNIX_EPOCH).expect("later");
    assert_eq!((modified.as_secs(), about.permissions().mode() & 0o777), (1_000_000_000, 0o640));
    files.flush().expect("it keeps it");
}

#[test]
fn no_link_is_followed() {
    let (at, elsewhere) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    symlink(elsewhere.path(), at.path().join("out")).expect("room");
    symlink(elsewhere.path().join("new"), at.path().join("file")).expect("room");
    let mut files = opened(at.path(), Ext);
    for path in ["/out/x", "/out/a/x"] {
        assert!(matches!(checked(&mut files, path, Some(1), false), Err(FilesError::IsALink(_))), "{path}");
        assert!(matches!(put(&mut files, path, b"x", false), Err(FilesError::IsALink(_))), "{path}");
        assert!(matches!(put(&mut files, path, b"x", true), Err(FilesError::IsALink(_))), "{path}");
    }
    assert!(matches!(checked(&mut files, "/file", Some(1), true), Err(FilesError::OtherKind(_))));
    assert!(matches!(put(&mut files, "/file", b"x", false), Err(FilesError::Exists(_))));
    assert!(matches!(files.put_folder(&names("/out"), 0o755), Err(FilesError::Exists(_))));
    assert_eq!(files.kind_of(&names("/out")).expect("there"), Some(EntryKind::Link));
    // Not even one that took a folder's place after it was looked at.
    fs::create_dir(at.path().join("folder")).expect("room");
    checked(&mut files, "/folder/x", Some(1), false).expect("nothing is in the way");
    let mut files = opened(at.path(), Ext);
    fs::remove_dir(at.path().join("folder"))
        .and_then(|()| symlink(elsewhere.path(), at.path().join("folder")))
        .expect("room");
    assert!(put(&mut files, "/folder/x", b"x", false).is_err());
    // Nor what a path is not.
    let up = [OsString::from(".."), OsString::from("x")];
    assert!(matches!(
        files.put(&up, &b"x"[..], file(1), false, &mut |_| ControlFlow::Continue(())),
        Err(FilesError::NotAPath(_))
    ));
    assert!(matches!(MountedFiles::open(&at.path().join("out"), Ext), Err(FilesError::Host { .. })));
    assert!(listed(elsewhere.path()).is_empty());
}

/// Fails after so many bytes.
struct Short(u64);

impl Read for Short {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = buf.len().min(self.0 as usize);
        if n == 0 {
            return Err(io::Error::from_raw_os_error(5));
        }
        buf[..n].fill(1);
        self.0 -= n as u64;
        Ok(n)
    }
}

#[test]
fn what_is_not_ended_is_taken_back_and_what_it_would_have_replaced_stays() {
    let at = tempfile::tempdir().expect("a folder");
    fs::write(at.path().join("old"), "old").expect("room");
    let mut files = opened(at.path(), Ext);
    for path in ["/old", "/new"] {
        let go_on: &mut dyn FnMut(u64) -> ControlFlow<()> = &mut |_| ControlFlow::Continue(());
        assert!(files.put(&names(path), Short(3 << 20), file(5 << 20), true, go_on).is_err(), "{path}");
        let mut left = 2;
        let mut stop = |_| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let stopped =
            files.put(&names(path), Short(9 << 20), file(5 << 20), true, &mut stop).expect("no error");
        assert!(stopped.is_break(), "{path}");
        assert_eq!(listed(at.path()), ["old"], "{path}");
    }
    assert_eq!(fs::read(at.path().join("old")).expect("there"), b"old");
    put(&mut files, "/old", b"new", true).expect("room");
    assert_eq!(
        (listed(at.path()), fs::read(at.path().join("old")).expect("there")),
        (vec!["old".into()], b"new".to_vec())
    );
}

#[test]
fn what_stands_against_them_is_found_before_the_first() {
    let at = tempfile::tempdir().expect("a folder");
    fs::create_dir(at.path().join("Folder")).expect("room");
    fs::write(at.path().join("Folder/File"), "old").expect("room");
    let check = |kind, path, len, replace| checked(&mut opened(at.path(), kind), path, len, replace);
    assert!(matches!(check(Ext, "/Folder/File", Some(1), false), Err(FilesError::Exists(_))));
    assert!(matches!(check(Ext, "/Folder/File/x", Some(1), false), Err(FilesError::NotAFolder(_))));
    assert!(matches!(check(Ext, "/Folder/File", None, true), Err(FilesError::OtherKind(_))));
    assert!(matches!(check(Ext, "/Folder", Some(1), true), Err(FilesError::IsAFolder(_))));
    let missing = check(Ext, "/none/x", Some(1), true).expect_err("it is not there");
    assert_eq!(missing.to_string(), "there is no /none in it");
    let there = check(Ext, "/Folder/File", Some(1), false).expect_err("it is there");
    assert_eq!(there.to_string(), "/Folder/File exists already");
    assert!(matches!(check(Ext, "/", None, true), Err(FilesError::IsAFolder(_))));
    assert!(matches!(
        check(Ext, "/x", Some(u64::MAX), false),
        Err(FilesError::LargerThanAll { grows: true, .. })
    ));
    for (path, len, replace) in
        [("/Folder/File", Some(1), true), ("/Folder", None, false), ("/folder/x", None, false)]
    {
        assert_eq!(check(Ext, path, len, replace).is_ok(), path != "/folder/x", "{path}");
        assert!(check(Ntfs, path, len, replace).is_ok(), "{path}: capitals don't count");
    }
    assert!(matches!(check(Ntfs, "/FOLDER/FILE", Some(1), false), Err(FilesError::Exists(_))));
    assert!(matches!(check(Ntfs, "/a:b", Some(1), false), Err(FilesError::BadName(_))));
    assert!(check(Ext, "/a:b", Some(1), false).is_ok());
    // Two that would be one.
    let [one, two] = [names("/Folder/x"), names("/folder/X")];
    let both = [NewEntry { path: &one, len: Some(1) }, NewEntry { path: &two, len: Some(1) }];
    assert!(matches!(opened(at.path(), Ntfs).check_new(&both, true), Err(FilesError::SameName(_))));
    // A new folder and what is in it.
    let [folder, inner] = [names("/new"), names("/new/x")];
    let both = [NewEntry { path: &folder, len: None }, NewEntry { path: &inner, len: Some(1) }];
    opened(at.path(), Ext).check_new(&both, false).expect("nothing is in the way");
    assert_eq!(listed(at.path()), ["Folder"], "nothing was made");
}

#[test]
fn in_ntfs_the_file_that_is_there_is_replaced_however_it_is_written() {
    let at = tempfile::tempdir().expect("a folder");
    fs::create_dir(at.path().join("Folder")).expect("room");
    fs::write(at.path().join("Folder/File"), "old").expect("room");
    let mut files = opened(at.path(), Ntfs);
    files.put_folder(&names("/FOLDER"), 0o755).expect("it is there");
    put(&mut files, "/FOLDER/FILE", b"new", true).expect("room");
    put(&mut files, "/folder/other", b"other", false).expect("room");
    assert_eq!(listed(at.path()), ["Folder"]);
    assert_eq!(listed(&at.path().join("Folder")), ["File", "other"]);
    assert_eq!(fs::read(at.path().join("Folder/File")).expect("there"), b"new");
}
