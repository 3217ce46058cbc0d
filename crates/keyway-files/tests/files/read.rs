//! What other programs wrote is read back to the last byte.

use crate::image::{ALL, Kind, files, fill, get_all, image, noise, tree};
use keyway_files::{FilesError, parse};
use keyway_testkit::require_tool;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::Command;

#[test]
fn every_file_comes_out_as_it_went_in() {
    for kind in ALL {
        let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fill(from.path());
        let Some(image) = image(kind, folder.path(), from.path()) else { continue };
        let mut files = files(&image, kind.kind);
        let (got, all, told) = get_all(&mut files, folder.path());
        assert!(all && told.is_empty(), "{kind:?}: {told:?}");
        let (expected, found) = (tree(from.path()), tree(&folder.path().join("out")));
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{kind:?}");
        for (path, content) in &expected {
            assert!(found.get(path) == Some(content), "{kind:?}: {} differs", path.display());
        }
        assert_eq!(got.files, expected.values().flatten().count() as u64);
        let made = fs::metadata(folder.path().join("out/many/number 007")).unwrap();
        let original = fs::metadata(from.path().join("many/number 007")).unwrap();
        assert_eq!(made.mode() & 0o777, 0o600, "decrypted files are for their owner alone");
        // mtools keep local time, which is UTC where tests run, in steps of two seconds.
        assert!(made.mtime().abs_diff(original.mtime()) <= 2, "{kind:?}");
    }
}

#[test]
fn entries_are_found_by_their_path_and_told_as_what_they_are() {
    for kind in ALL {
        let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fill(from.path());
        let Some(image) = image(kind, folder.path(), from.path()) else { continue };
        let mut files = files(&image, kind.kind);
        let find =
            |files: &mut keyway_files::Files, path: &str| files.find(&parse(OsStr::new(path)).unwrap());
        let found = find(&mut files, "/file 6.bin").unwrap();
        assert_eq!((found.kind.word(), found.size), ("file", 70_000), "{kind:?}");
        let mut content = Vec::new();
        files
            .read(&found, |piece| {
                content.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
        assert!(content == noise(70_000, 70_000), "{kind:?}");
        assert_eq!(find(&mut files, "one/two").unwrap().kind.word(), "folder");
        assert!(matches!(find(&mut files, "/one/four"), Err(FilesError::NotFound(_))));
        assert!(matches!(find(&mut files, "/file 6.bin/x"), Err(FilesError::NotAFolder(_))));
        let other_case = find(&mut files, "/ONE/TWO");
        assert_eq!(other_case.is_ok(), !kind.kind.starts_with("ext"), "{kind:?}");
        let folder = find(&mut files, "/one").unwrap();
        assert!(matches!(files.read(&folder, |_| Ok(())), Err(FilesError::IsAFolder(_))));
    }
}

#[test]
fn links_are_not_followed_and_holes_read_as_zeros() {
    for kind in ALL.into_iter().filter(|kind| matches!(kind.kind, "ext4" | "ext2" | "ntfs")) {
        let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink("/etc/passwd", from.path().join("link")).unwrap();
        let holes = fs::File::create(from.path().join("holes")).unwrap();
        holes.set_len(5 << 20).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&holes, b"in the middle", 2 << 20).unwrap();
        let Some(image) = image(kind, folder.path(), from.path()) else { continue };
        let (_, all, told) = get_all(&mut files(&image, kind.kind), folder.path());
        let out = folder.path().join("out");
        // ext2 keeps large holes in a way that is not read; a file must not come out as something else.
        if kind.kind == "ext2" {
            assert!(!all && told.iter().any(|t| t.contains("holes")), "{told:?}");
            assert!(!out.join("holes").exists());
            continue;
        }
        // ntfs-3g makes a file that only it knows as a link.
        if kind.kind != "ntfs" {
            assert!(all && fs::symlink_metadata(out.join("link")).is_err(), "{kind:?}: {told:?}");
            assert_eq!(told.len(), 1, "{kind:?}: {told:?}");
        }
        assert!(fs::read(out.join("holes")).unwrap() == fs::read(from.path().join("holes")).unwrap());
    }
}

/// NTFS keeps how much of a file was ever written: what lies behind that is somebody's old data.
#[test]
fn what_was_never_written_to_an_ntfs_file_reads_as_zeros() {
    let kind = Kind { kind: "ntfs", mib: 24, mkfs: "mkfs.ntfs -q -F -Q" };
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(from.path().join("file"), noise(100_000, 3)).unwrap();
    let Some(image) = image(kind, folder.path(), from.path()) else { return };
    let Some(ntfscat) = require_tool("ntfscat") else { return };
    // The three lengths in the attribute's header: allocated, of the file, and what is valid of it.
    let mut bytes = fs::read(&image).unwrap();
    let pattern = [102_400u64, 100_000, 100_000].map(u64::to_le_bytes).concat();
    let at = bytes.windows(24).position(|window| window == pattern).expect("the file's lengths");
    bytes[at + 16..at + 24].copy_from_slice(&50_001u64.to_le_bytes());
    fs::write(&image, &bytes).unwrap();
    get_all(&mut files(&image, "ntfs"), folder.path());
    let judged = Command::new(ntfscat).arg("-f").arg(&image).arg("file").output().unwrap().stdout;
    let got = fs::read(folder.path().join("out/file")).unwrap();
    assert_eq!(got.len(), 100_000);
    assert!(got[50_001..].iter().all(|byte| *byte == 0) && got[..50_001] == noise(100_000, 3)[..50_001]);
    assert!(got == judged, "ntfscat reads it otherwise");
}

/// Compressed files can't be read, and must not come out as what they are not.
#[test]
fn compressed_ntfs_files_are_refused() {
    let kind = Kind { kind: "ntfs", mib: 24, mkfs: "mkfs.ntfs -q -F -Q" };
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(from.path().join("file"), noise(100_000, 3)).unwrap();
    let Some(image) = image(kind, folder.path(), from.path()) else { return };
    let mut bytes = fs::read(&image).unwrap();
    let pattern = [102_400u64, 100_000, 100_000].map(u64::to_le_bytes).concat();
    let at = bytes.windows(24).position(|window| window == pattern).expect("the file's lengths");
    // Flags at byte 12 of the header, whose byte 40 is the first length.
    bytes[at - 28] |= 1;
    fs::write(&image, &bytes).unwrap();
    let (_, all, told) = get_all(&mut files(&image, "ntfs"), folder.path());
    assert!(!all && told.iter().any(|t| t.contains("compressed")), "{told:?}");
    assert!(!folder.path().join("out/file").exists(), "nothing half-read stays");
}

#[test]
fn others_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image");
    fs::write(&image, vec![0; 1 << 20]).unwrap();
    let open =
        |kind| keyway_files::Files::open(crate::image::device(&image, keyway_engine::Access::ReadOnly), kind);
    assert!(matches!(open(Some("xfs")), Err(FilesError::Unreadable("xfs"))));
    assert!(matches!(open(None), Err(FilesError::NoFileSystem)));
    assert!(matches!(open(Some("ntfs")), Err(FilesError::Damaged(_))));
}
