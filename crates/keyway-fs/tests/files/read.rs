//! What other programs wrote is read back to the last byte.

use crate::image::{ALL, Kind, content, files, fill, get_all, image, noise, tree};
use keyway_fs::files::{FilesError, parse};
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
            |files: &mut keyway_fs::files::Files, path: &str| files.find(&parse(OsStr::new(path)).unwrap());
        let found = find(&mut files, "/file 6.bin").unwrap();
        assert_eq!((found.kind.word(), found.size), ("file", 70_000), "{kind:?}");
        let content = content(&mut files, &found).unwrap();
        assert!(content == noise(70_000, 70_000), "{kind:?}");
        assert_eq!(find(&mut files, "one/two").unwrap().kind.word(), "folder");
        // The whole path is named: there may be one of that name elsewhere.
        let missing = find(&mut files, "/one/four").expect_err("it is not there");
        assert!(
            matches!(missing, FilesError::NotFound(_))
                && missing.to_string() == "there is no /one/four in it"
        );
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

/// Every date that ext4 can hold: 32 bits with a sign, and steps of 2^32 seconds where inodes are large.
#[test]
fn files_of_all_dates_come_out_with_their_dates() {
    // Seconds by `date -u +%s -d`.
    let old = [("1901-12-14", -2_147_472_000), ("1969-12-31", -86_400), ("2038-01-18", 2_147_385_600)];
    let new = [
        ("2038-01-20", 2_147_558_400),
        ("2105-01-01", 4_260_211_200),
        ("2107-01-01", 4_323_283_200),
        ("2200-06-01", 7_271_164_800),
        ("2446-05-01", 15_032_304_000),
    ];
    let Some(debugfs) = require_tool("debugfs") else { return };
    for (kind, mkfs, large) in [
        ("ext4", "mkfs.ext4 -q -I 256", true),
        ("ext4", "mkfs.ext4 -q -I 256 -O ^metadata_csum,^64bit -b 1024", true),
        ("ext4", "mkfs.ext4 -q -I 1024 -b 4096 -g 1024", true),
        ("ext4", "mkfs.ext4 -q -I 128", false),
        ("ext2", "mkfs.ext2 -q -I 256 -b 2048", true),
        ("ext3", "mkfs.ext3 -q -I 128", false),
    ] {
        let kind = Kind { kind, mib: 24, mkfs };
        let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dates: Vec<(&str, i64)> = old.into_iter().chain(new.into_iter().filter(|_| large)).collect();
        // In a folder of such a date, and beside files of today.
        fs::create_dir(from.path().join("folder")).unwrap();
        for i in 0..200 {
            fs::write(from.path().join(format!("folder/today {i}")), noise(i, 1)).unwrap();
        }
        for (day, _) in &dates {
            fs::write(from.path().join("folder").join(day), day).unwrap();
        }
        let Some(image) = image(kind, folder.path(), from.path()) else { continue };
        // Not by touch: mke2fs keeps the lower 32 bits alone.
        let mut set: String =
            dates.iter().map(|(day, at)| format!("sif /folder/{day} mtime @{at}\n")).collect();
        set += &format!(
            "sif /folder mtime @{}\nsif /folder atime @4294967291\nsif \"/folder/today 7\" ctime @4294967289\n",
            dates[0].1
        );
        fs::write(folder.path().join("set"), set).unwrap();
        let done =
            Command::new(&debugfs).arg("-w").arg("-f").arg(folder.path().join("set")).arg(&image).output();
        assert!(done.unwrap().status.success());
        let (_, all, told) = get_all(&mut files(&image, kind.kind), folder.path());
        assert!(all && told.is_empty(), "{kind:?}: {told:?}");
        let (expected, found) = (tree(from.path()), tree(&folder.path().join("out")));
        assert!(found == expected, "{kind:?}");
        for (day, at) in dates {
            let made = fs::metadata(folder.path().join("out/folder").join(day)).unwrap();
            assert_eq!(made.mtime(), at, "{kind:?} {day}");
        }
    }
}

/// One entry that can't be read costs that entry, and is told.
#[test]
fn a_damaged_inode_costs_one_entry() {
    let kind = Kind { kind: "ext4", mib: 24, mkfs: "mkfs.ext4 -q" };
    let Some(debugfs) = require_tool("debugfs") else { return };
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(from.path().join("folder")).unwrap();
    for i in 0..20 {
        fs::write(from.path().join(format!("folder/number {i}")), noise(100, i)).unwrap();
    }
    let Some(image) = image(kind, folder.path(), from.path()) else { return };
    let tells = |what: &str| {
        let out = Command::new(&debugfs).args(["-R", what]).arg(&image).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    // "Inode 25 is part of block group 0\n\tlocated at block 125, offset 0x0800"
    let lies = tells("imap \"/folder/number 7\"").replace(',', " ");
    let words: Vec<&str> = lies.split_whitespace().collect();
    let after = |word: &str| words[words.iter().rposition(|w| *w == word).unwrap() + 1];
    let block: usize = after("block").parse().unwrap();
    let within = usize::from_str_radix(after("offset").trim_start_matches("0x"), 16).unwrap();
    let size: usize = tells("stats -h")
        .lines()
        .find_map(|l| l.strip_prefix("Block size:"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let mut bytes = fs::read(&image).unwrap();
    // The owner: nothing that is read, but the checksum covers it.
    bytes[block * size + within + 2] ^= 1;
    fs::write(&image, bytes).unwrap();
    let mut files = files(&image, "ext4");
    let inner = files.find(&["folder".into()]).unwrap();
    let contents = files.entries(&inner).unwrap();
    assert_eq!((contents.entries.len(), contents.problems.len()), (19, 1));
    assert_eq!(contents.problems[0].name.as_deref(), Some(OsStr::new("number 7")));
    let found = files.find(&["folder".into(), "number 7".into()]);
    assert!(matches!(found, Err(FilesError::Damaged(_))), "{found:?}");
    let (got, all, told) = get_all(&mut files, folder.path());
    assert!(!all && told.len() == 1 && told[0].contains("number 7"), "{told:?}");
    assert_eq!(got.files, 19);
}

/// exFAT: an entry whose stream is gone costs that entry.
#[test]
fn a_damaged_entry_of_exfat_costs_one_entry() {
    let kind = Kind { kind: "exfat", mib: 32, mkfs: "mkfs.exfat" };
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for i in 0..20 {
        fs::write(from.path().join(format!("number {i}")), noise(100, i)).unwrap();
    }
    let Some(image) = image(kind, folder.path(), from.path()) else { return };
    let mut bytes = fs::read(&image).unwrap();
    let name: Vec<u8> = "number 7".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    // A name's entry begins 2 bytes before its letters, and behind that of the stream.
    bytes[at - 2 - 32] = 0xc5;
    fs::write(&image, bytes).unwrap();
    let (got, all, told) = get_all(&mut files(&image, "exfat"), folder.path());
    assert!(!all && told.len() == 1, "{told:?}");
    assert_eq!(got.files, 19);
}

/// A file of holes takes no more room here than what is in it.
#[test]
fn sparse_files_come_out_sparse() {
    for kind in ALL.into_iter().filter(|kind| matches!(kind.kind, "ext4" | "ntfs")) {
        let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let large = if kind.kind == "ext4" { 5 << 30 } else { 16 << 20 };
        let write = |name: &str, len: u64, parts: &[(u64, usize)]| {
            let file = fs::File::create(from.path().join(name)).unwrap();
            file.set_len(len).unwrap();
            for (at, n) in parts {
                std::os::unix::fs::FileExt::write_all_at(&file, &noise(*n, *at), *at).unwrap();
            }
        };
        write("large", large, &[(0, 3000), (large / 2 + 77, 4000), (large - 9000, 4264)]);
        write("ends in data", 9_000_001, &[(8_999_990, 11)]);
        write("all holes", 7_000_003, &[]);
        write("one byte", 1, &[]);
        let Some(image) = image(kind, folder.path(), from.path()) else { continue };
        let (got, all, told) = get_all(&mut files(&image, kind.kind), folder.path());
        assert!(all && told.is_empty(), "{kind:?}: {told:?}");
        assert_eq!(got.bytes, large + 9_000_001 + 7_000_003 + 1);
        for name in ["large", "ends in data", "all holes", "one byte"] {
            let (made, original) = (folder.path().join("out").join(name), from.path().join(name));
            let same = Command::new("cmp").arg(&made).arg(&original).status().unwrap();
            assert!(same.success(), "{kind:?} {name}");
            let blocks = fs::metadata(&made).unwrap().blocks() * 512;
            assert!(blocks <= 64 << 10, "{kind:?} {name}: {blocks} bytes on the disk");
        }
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
    let open = |kind| {
        keyway_fs::files::Files::open(crate::image::device(&image, keyway_engine::Access::ReadOnly), kind)
    };
    assert!(matches!(open(Some("xfs")), Err(FilesError::Unreadable("xfs"))));
    assert!(matches!(open(None), Err(FilesError::NoFileSystem)));
    assert!(matches!(open(Some("ntfs")), Err(FilesError::Damaged(_))));
}

/// Each file's own record names the folder that it lies in: what was lost with a folder is found by that.
#[test]
fn what_lies_in_a_damaged_ntfs_folder_is_found_all_the_same() {
    let kind = Kind { kind: "ntfs", mib: 24, mkfs: "mkfs.ntfs -q -F -Q" };
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill(from.path());
    let Some(image) = image(kind, folder.path(), from.path()) else { return };
    let mut bytes = fs::read(&image).unwrap();
    // The boot sector: bytes of a sector, sectors of a cluster, the cluster where the table of files begins.
    let number =
        |at: usize, len: usize| bytes[at..at + len].iter().rev().fold(0, |n, b| n << 8 | usize::from(*b));
    let root = number(48, 8) * number(11, 2) * number(13, 1) + 5 * 1024;
    assert_eq!(&bytes[root..root + 4], b"FILE");
    bytes[root..root + 4].copy_from_slice(b"BAAD");
    // A part of the index of the folder of 150.
    let name: Vec<u8> = "number 07".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let holds = |at: &usize| {
        let part = &bytes[*at..at + 4096];
        part.starts_with(b"INDX") && part.windows(name.len()).any(|window| window == name)
    };
    let part = (0..bytes.len()).step_by(4096).find(holds).expect("a part of a folder");
    bytes[part..part + 4].copy_from_slice(b"BAAD");
    fs::write(&image, &bytes).unwrap();

    let (_, all, told) = get_all(&mut files(&image, "ntfs"), folder.path());
    assert!(!all, "something is damaged");
    let (root, part) =
        (format!("file record 5 at byte {root} is none"), format!("at byte {part} is no part"));
    assert!(told.iter().any(|t| t.contains(&root)) && told.iter().any(|t| t.contains(&part)), "{told:?}");
    assert!(told.iter().all(|t| !t.contains('[')), "in words: {told:?}");
    assert!(tree(&folder.path().join("out")) == tree(from.path()), "everything is found");
}
