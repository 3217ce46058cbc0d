//! What is put into FAT satisfies fsck.fat, and mtools read it back.

use crate::image::{ALL, UTF_8, device, files, fill, image, noise, tree};
use keyway_engine::Access;
use keyway_error::{Advice, Explain, Fault};
use keyway_fs::files::{Files, FilesError, NewEntry, parse};
use keyway_testkit::require_tool;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;

fn put(image: &Path, path: &str, content: &[u8], replace: bool) -> Result<(), FilesError> {
    let mut files = Files::open(device(image, Access::ReadWrite), Some("vfat")).unwrap();
    let path = parse(OsStr::new(path)).unwrap();
    files.put(&path, content, content.len() as u64, Some(1_709_210_096), replace)
}

fn fsck(image: &Path) {
    let Some(fsck) = require_tool("fsck.fat") else { return };
    let done = Command::new(fsck).arg("-n").arg(image).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}

fn by_mtools(image: &Path, path: &str) -> Vec<u8> {
    let mut mtype = Command::new("mtype");
    mtype.arg("-i").arg(image).arg(format!("::{path}")).env("LC_ALL", UTF_8);
    let done = mtype.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    done.stdout
}

#[test]
fn files_are_put_where_others_find_them() {
    for kind in ALL.into_iter().filter(|kind| kind.kind == "vfat") {
        let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fill(from.path());
        let Some(image) = image(kind, folder.path(), from.path()) else { continue };
        let long = "/one/two/A name with more letters than eight, Ärger.text";
        for (path, len) in [("/new.bin", 1_000_000), (long, 4096), ("/zero", 0)] {
            let content = noise(len, 7);
            put(&image, path, &content, false).unwrap();
            assert!(by_mtools(&image, path) == content, "{kind:?} {path}");
            let again = put(&image, &path.to_uppercase(), b"x", false);
            assert!(matches!(again, Err(FilesError::Exists(_))), "{again:?}");
        }
        put(&image, "/new.bin", b"something shorter", true).unwrap();
        assert_eq!(by_mtools(&image, "/new.bin"), b"something shorter");
        fsck(&image);
        let found = files(&image, "vfat").find(&parse(OsStr::new("/NEW.BIN")).unwrap()).unwrap();
        assert_eq!(found.modified, Some(1_709_210_096));
    }
}

#[test]
fn what_can_not_be_put_leaves_nothing_behind() {
    let kind = ALL[1];
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(from.path().join("file"), b"content").unwrap();
    fs::create_dir(from.path().join("folder")).unwrap();
    let Some(image) = image(kind, folder.path(), from.path()) else { return };
    let before = fs::read(&image).unwrap();
    let larger_than_all = put(&image, "/large", &noise(41 << 20, 1), true);
    let Err(FilesError::LargerThanAll { most, grows: false, .. }) = larger_than_all else {
        panic!("{larger_than_all:?}")
    };
    assert!((39 << 20..40 << 20).contains(&most), "{most}: of 40 MiB some are tables");
    let too_large = noise(most as usize - 4096, 1);
    assert!(matches!(put(&image, "/large", &too_large, false), Err(FilesError::NoRoom { .. })));
    assert!(matches!(put(&image, "/file", &too_large, true), Err(FilesError::NoRoomForBoth { .. })));
    assert!(matches!(put(&image, "/a:b", b"x", false), Err(FilesError::BadName(_))));
    assert!(matches!(put(&image, "/folder", b"x", true), Err(FilesError::IsAFolder(_))));
    assert!(matches!(put(&image, "/nowhere/file", b"x", false), Err(FilesError::NotFound(_))));
    assert!(matches!(put(&image, "/file/file", b"x", false), Err(FilesError::NotAFolder(_))));
    assert!(fs::read(&image).unwrap() == before, "a refusal changed the volume");
    // One byte less than was promised: what was begun goes again.
    let mut files = Files::open(device(&image, Access::ReadWrite), Some("vfat")).unwrap();
    let path = parse(OsStr::new("/short")).unwrap();
    let short = files.put(&path, &noise(99_999, 1)[..], 100_000, None, false);
    assert!(matches!(short, Err(FilesError::Host { .. })), "{short:?}");
    assert!(matches!(files.find(&path), Err(FilesError::NotFound(_))));
    drop(files);
    fsck(&image);
}

/// Everything that `fill` makes, folder by folder, by our own hand.
#[test]
fn folders_are_put_with_all_that_is_in_them() {
    for kind in ALL.into_iter().filter(|kind| kind.kind == "vfat") {
        let (folder, from, none) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fill(from.path());
        fs::write(none.path().join("there"), b"x").unwrap();
        let Some(image) = image(kind, folder.path(), none.path()) else { continue };
        let all = tree(from.path());
        let paths: Vec<Vec<_>> = all
            .keys()
            .map(|path| ["Top".into()].into_iter().chain(path.iter().map(Into::into)).collect())
            .collect();
        let top = [OsString::from("Top")];
        let lens = all.values().map(|content| content.as_ref().map(|content| content.len() as u64));
        let mut new: Vec<NewEntry<'_>> = vec![NewEntry { path: &top, len: None }];
        new.extend(paths.iter().zip(lens).map(|(path, len): (&Vec<_>, _)| NewEntry { path, len }));
        let mut files = Files::open(device(&image, Access::ReadWrite), Some("vfat")).unwrap();
        files.check_new(&new, false).unwrap();
        files.put_folder(&top).unwrap();
        for (path, content) in paths.iter().zip(all.values()) {
            match content {
                Some(content) => files.put_checked(path, &content[..], content.len() as u64, None).unwrap(),
                None => files.put_folder(path).unwrap(),
            }
        }
        drop(files);
        fsck(&image);
        let there = by_mtools(
            &image,
            "/Top/one/two/three/Größe und 漢字/a rather long name that needs several entries of a folder.text",
        );
        assert_eq!(there.len(), 99);
        let out = tempfile::tempdir().unwrap();
        let mut files = super::image::files(&image, "vfat");
        let found = files.find(&top).unwrap();
        let (_, complete) = files.get(&found, out.path(), OsStr::new("all"), &mut |_| {}).unwrap();
        assert!(complete && tree(&out.path().join("all")) == all, "{kind:?}");
        // A folder is merged into; a file in it is in the way.
        let again = files.check_new(&new, false).unwrap_err();
        assert!(matches!(again, FilesError::Exists(_)), "{again:?}");
        files.check_new(&new, true).unwrap();
    }
}

#[test]
fn what_stands_against_one_of_many_is_found_before_the_first() {
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(from.path().join("file"), b"content").unwrap();
    fs::create_dir(from.path().join("folder")).unwrap();
    let Some(image) = image(ALL[1], folder.path(), from.path()) else { return };
    let check = |words: &[(&str, Option<u64>)], replace| {
        let paths: Vec<_> =
            words.iter().map(|(path, len)| (parse(OsStr::new(path)).unwrap(), *len)).collect();
        let new: Vec<_> = paths.iter().map(|(path, len)| NewEntry { path, len: *len }).collect();
        files(&image, "vfat").check_new(&new, replace)
    };
    check(&[("/folder", None), ("/folder/a", Some(1)), ("/b", None), ("/b/a", Some(1))], false).unwrap();
    assert!(matches!(check(&[("/a", Some(1)), ("/A", Some(1))], true), Err(FilesError::SameName(_))));
    assert!(matches!(check(&[("/a", Some(1)), ("/FILE", Some(1))], false), Err(FilesError::Exists(_))));
    check(&[("/a", Some(1)), ("/FILE", Some(1))], true).unwrap();
    assert!(matches!(check(&[("/file", None)], true), Err(FilesError::OtherKind(_))));
    assert!(matches!(check(&[("/folder", Some(1))], true), Err(FilesError::IsAFolder(_))));
    // Nobody is sent to an option that would not help.
    for other in [("/file", None), ("/folder", Some(1))] {
        assert!(matches!(check(&[other], false), Err(FilesError::OtherKind(_))), "{other:?}");
    }
    assert!(matches!(check(&[("/b", None), ("/b/c?", Some(1))], false), Err(FilesError::BadName(_))));
    assert!(matches!(check(&[("/b/c", Some(1))], false), Err(FilesError::NotFound(_))));
    let halves = [("/a", Some(25 << 20)), ("/b", Some(25 << 20))];
    assert!(matches!(check(&halves, false), Err(FilesError::LargerThanAll { .. })));
    let many = |folder: &str, count| {
        let names: Vec<_> = (0..count).map(|n| format!("{folder}/a name of thirty letters {n:05}")).collect();
        check(&names.iter().map(|name| (name.as_str(), Some(1))).collect::<Vec<_>>(), false)
    };
    assert!(matches!(many("/folder", 50_000), Err(FilesError::LargerThanAll { .. })), "a cluster each");
    assert!(matches!(many("", 200), Err(FilesError::RootFull { .. })), "four entries each");
    many("/folder", 200).unwrap();
    let far = [("/a", Some(5u64 << 30))];
    assert!(matches!(check(&far, false), Err(FilesError::LargerThanFatHas { .. })), "whatever is removed");
}

#[test]
fn an_unclean_file_system_is_not_written_to() {
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let Some(image) = image(ALL[2], folder.path(), from.path()) else { return };
    let mut bytes = fs::read(&image).unwrap();
    // FAT32's flag in the boot sector (Microsoft's specification leaves it to the system; Linux' is bit 0
    // of byte 65).
    bytes[65] |= 1;
    fs::write(&image, &bytes).unwrap();
    assert!(matches!(put(&image, "/file", b"x", false), Err(FilesError::Unclean { checker: "fsck.fat -a" })));
}

#[test]
fn others_than_fat_are_not_written_to() {
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let Some(image) = image(ALL[5], folder.path(), from.path()) else { return };
    let before = fs::read(&image).unwrap();
    let mut files = Files::open(device(&image, Access::ReadWrite), Some("ext4")).unwrap();
    let path = parse(OsStr::new("/file")).unwrap();
    assert!(matches!(files.put(&path, &b"x"[..], 1, None, false), Err(FilesError::CanNotWrite("ext4"))));
    drop(files);
    assert!(fs::read(&image).unwrap() == before);
}

/// As mkfs.fat makes them with large sectors: every driver takes them.
#[test]
fn a_small_fat32_is_not_called_damaged() {
    let Some(mkfs) = require_tool("mkfs.fat") else { return };
    for (mib, sector) in [(20, "512"), (50, "1024"), (100, "2048"), (200, "4096")] {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(mib << 20).unwrap();
        let words = ["-F", "32", "-s", "1", "-S", sector];
        let done = Command::new(&mkfs).args(words).arg(file.path()).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        fsck(file.path());
        let before = fs::read(file.path()).unwrap();
        for access in [Access::ReadOnly, Access::ReadWrite] {
            let refused = Files::open(device(file.path(), access), Some("vfat"))
                .and_then(|mut files| files.put(&parse(OsStr::new("/file"))?, &b"x"[..], 1, None, false));
            let refused = refused.unwrap_err();
            assert!(matches!(refused, FilesError::Unsupported(_)), "{sector}: {refused:?}");
            let told = refused.to_string();
            assert!(!told.contains("damaged"), "{told}");
            assert_eq!((refused.advice(), refused.fault()), (vec![Advice::MountVolume], Fault::Machine));
        }
        assert!(fs::read(file.path()).unwrap() == before, "{sector}: it was written to");
    }
}

#[test]
fn a_count_of_free_clusters_that_is_wrong_ends_as_a_full_file_system() {
    let Some(mkfs) = require_tool("mkfs.fat") else { return };
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image");
    fs::File::create(&image).unwrap().set_len(40 << 20).unwrap();
    assert!(Command::new(mkfs).args(["-F", "32", "-s", "1"]).arg(&image).output().unwrap().status.success());
    put(&image, "/first", &noise(38 << 20, 1), false).unwrap();
    // FSInfo is the second sector; its count says what nobody has counted (Microsoft's FAT specification, "FSInfo").
    let mut bytes = fs::read(&image).unwrap();
    bytes[512 + 488..512 + 492].copy_from_slice(&60_000u32.to_le_bytes());
    fs::write(&image, bytes).unwrap();
    let full = put(&image, "/second", &noise(5 << 20, 2), false).unwrap_err();
    assert!(matches!(&full, FilesError::Full(name) if name == Path::new("second")), "{full:?}");
    assert_eq!(full.explain().advice, [Advice::RemoveSomething, Advice::PutBeforeStays]);
    let names: Vec<OsString> = {
        let mut files = files(&image, "vfat");
        let root = files.root();
        files.entries(&root).unwrap().entries.into_iter().map(|entry| entry.name).collect()
    };
    assert_eq!(names, ["first"]);
}
