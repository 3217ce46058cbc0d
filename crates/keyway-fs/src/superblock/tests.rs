//! What is recognised is what `blkid` recognises; what lies about itself is nothing, or has no size.

use super::*;
use keyway_store::{Caching, FileStore, MemStore, OpenMode};
use keyway_testkit::{Rng, require_tool};
use std::path::Path;
use std::process::Command;

fn in_memory(image: &[u8]) -> Option<Superblock> {
    Superblock::read(&MemStore::from_vec(image.to_vec())).expect("memory can be read")
}

fn put(image: &mut [u8], at: usize, bytes: &[u8]) {
    image[at..at + bytes.len()].copy_from_slice(bytes);
}

fn blank() -> Vec<u8> {
    vec![0; 72 << 10]
}

const ID: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const ID_TEXT: &str = "00010203-0405-0607-0809-0a0b0c0d0e0f";

/// 64 blocks of 1 KiB with extents.
fn put_ext(image: &mut [u8]) {
    for (at, word) in [(0x04, 64u32), (0x14, 1), (0x20, 8192), (0x28, 16), (0x60, 0x40)] {
        put(image, 1024 + at, &word.to_le_bytes());
    }
    put(image, 1024 + 0x38, &[0x53, 0xef]);
    put(image, 1024 + 0x68, &ID);
}

/// A FAT of 128 sectors, without a name.
fn put_fat(image: &mut [u8]) {
    put(image, 0, &[0xeb, 0x3c, 0x90]);
    put(image, 11, &[0, 2, 4, 1, 0, 2]);
    put(image, 19, &[128, 0, 0xf8, 9, 0]);
    put(image, 39, &[0xbe, 0xba, 0xad, 0xde]);
    put(image, 510, &[0x55, 0xaa]);
}

fn is(image: &[u8], type_name: &str, bytes: Option<u64>, uuid: Option<&str>) {
    let found = in_memory(image).expect("it is known");
    assert_eq!((found.type_name(), found.bytes, found.uuid.as_deref()), (type_name, bytes, uuid));
}

#[test]
fn noise_and_nothing_are_no_file_system() {
    assert_eq!(in_memory(&[]), None);
    assert_eq!(in_memory(&[0; 4096]), None);
    for seed in 0..20 {
        let mut noise = Rng::new(seed).bytes(1 << 20);
        put(&mut noise, 1024 + 0x38, &[0x53, 0xef]);
        put(&mut noise, 510, &[0x55, 0xaa]);
        put(&mut noise, 0x400, b"H+");
        assert_eq!(in_memory(&noise), None, "two bytes are a mark by chance");
    }
}

#[test]
fn each_superblock_is_known() {
    let mut xfs = blank();
    put(&mut xfs, 0, b"XFSB\0\0\x10\0\0\0\0\0\0\0\0\x10");
    put(&mut xfs, 32, &ID);
    is(&xfs, "xfs", Some(64 << 10), Some(ID_TEXT));
    let mut btrfs = blank();
    put(&mut btrfs, 65_536 + 0x40, b"_BHRfS_M");
    put(&mut btrfs, 65_536 + 0x20, &ID);
    put(&mut btrfs, 65_536 + 0x70, &[0, 16, 1]);
    is(&btrfs, "btrfs", Some(0x11000), Some(ID_TEXT));
    let mut ext = blank();
    put_ext(&mut ext);
    is(&ext, "ext4", Some(64 << 10), Some(ID_TEXT));
    put(&mut ext, 1024 + 0x5c, &[4, 0, 0, 0, 0]);
    is(&ext, "ext3", Some(64 << 10), Some(ID_TEXT));
    put(&mut ext, 1024 + 0x5c, &[0]);
    is(&ext, "ext2", Some(64 << 10), Some(ID_TEXT));
    let mut ntfs = blank();
    put(&mut ntfs, 3, b"NTFS    \0\x02");
    put(&mut ntfs, 40, &[127]);
    put(&mut ntfs, 0x48, &[8, 7, 6, 5, 4, 3, 2, 1]);
    is(&ntfs, "ntfs", Some(64 << 10), Some("0102030405060708"));
    let mut exfat = blank();
    put(&mut exfat, 3, b"EXFAT   ");
    put(&mut exfat, 72, &[128]);
    put(&mut exfat, 100, &[0xbe, 0xba, 0xad, 0xde]);
    put(&mut exfat, 108, &[9, 3]);
    is(&exfat, "exfat", Some(64 << 10), Some("DEAD-BABE"));
    let mut fat = blank();
    put_fat(&mut fat);
    is(&fat, "vfat", Some(64 << 10), Some("DEAD-BABE"));
    let marks: [(&str, usize, &[u8]); 5] = [
        ("f2fs", 0x400, &[0x10, 0x20, 0xF5, 0xF2]),
        ("squashfs", 0, b"hsqs"),
        ("hfsplus", 0x400, b"H+\0\x04"),
        ("hfsplus", 0x400, b"HX\0\x05"),
        ("iso9660", 0x8001, b"CD001"),
    ];
    for (name, at, mark) in marks {
        let mut image = blank();
        put(&mut image, at, mark);
        is(&image, name, None, None);
        let mut elsewhere = blank();
        put(&mut elsewhere, at + 0x2000, mark);
        assert_eq!(in_memory(&elsewhere), None, "{name} has its mark in its place only");
    }
}

#[test]
fn a_table_of_fat_that_holds_exts_mark_is_fats() {
    let mut fat = blank();
    put_fat(&mut fat);
    put(&mut fat, 1024 + 0x38, &[0x53, 0xef]);
    is(&fat, "vfat", Some(64 << 10), Some("DEAD-BABE"));
    // As a table of nothing but that number would be.
    (512..4096).step_by(2).for_each(|at| put(&mut fat, at, &[0x53, 0xef]));
    is(&fat, "vfat", Some(64 << 10), Some("DEAD-BABE"));
}

#[test]
fn a_boot_loader_in_front_of_ext_does_not_hide_it() {
    let mut image = blank();
    put_fat(&mut image);
    put_ext(&mut image);
    is(&image, "ext4", Some(64 << 10), Some(ID_TEXT));
}

#[test]
fn what_was_there_before_an_ntfs_does_not_hide_it() {
    let mut image = blank();
    put(&mut image, 3, b"NTFS    \0\x02");
    put(&mut image, 40, &[127]);
    put(&mut image, 65_536 + 0x40, b"_BHRfS_M");
    is(&image, "ntfs", Some(64 << 10), Some("0000000000000000"));
}

#[test]
fn a_size_that_can_not_be_true_is_none() {
    let lies: [(&[u8], usize, &[u8]); 6] = [
        (b"NTFS    \0\x02", 40, &[0xff; 8]),
        (b"NTFS    \0\x02", 40, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
        (b"NTFS    \0\0", 40, &[127]),
        (b"NTFS    \0\x02", 40, &[200]),
        (b"EXFAT   ", 72, &[0xff; 8]),
        (b"EXFAT   ", 108, &[200]),
    ];
    for (mark, at, field) in lies {
        let mut image = blank();
        put(&mut image, 3, mark);
        put(&mut image, at, field);
        let found = in_memory(&image).expect("the mark is there");
        assert_eq!((found.bytes, found.file_system()), (None, None), "{mark:?} {at}");
    }
}

#[test]
fn a_medium_that_was_cut_off_has_a_file_system_without_a_size() {
    let mut image = blank();
    put_ext(&mut image);
    for len in [4096, 4608, 40 << 10, 65_024] {
        is(&image[..len], "ext4", None, Some(ID_TEXT));
    }
    assert_eq!(in_memory(&image[..1024]), None, "nothing of the superblock is left");
    let mut fat = blank();
    put_fat(&mut fat);
    is(&fat[..512], "vfat", None, Some("DEAD-BABE"));
}

#[test]
fn blkid_says_the_same_of_what_every_mkfs_makes() {
    let folder = tempfile::tempdir().expect("temp");
    let made: [(&str, &[&str], FileSystemKind, u64); 14] = [
        ("mkfs.ext4", &["-q", "-F"], FileSystemKind::Ext, 64 << 20),
        ("mkfs.ext4", &["-q", "-F", "-b", "1024", "-O", "bigalloc,64bit"], FileSystemKind::Ext, 64 << 20),
        ("mkfs.ext3", &["-q", "-F", "-b", "4096"], FileSystemKind::Ext, 64 << 20),
        ("mkfs.ext2", &["-q", "-F", "-b", "1024"], FileSystemKind::Ext, 8 << 20),
        ("mkfs.ext2", &["-q", "-F", "-r", "0"], FileSystemKind::Ext, 8 << 20),
        ("mkfs.ntfs", &["-q", "-F", "-Q"], FileSystemKind::Ntfs, (64 << 20) - 512),
        ("mkfs.ntfs", &["-q", "-F", "-Q", "-s", "4096"], FileSystemKind::Ntfs, (64 << 20) - 4096),
        ("mkfs.exfat", &[], FileSystemKind::ExFat, 64 << 20),
        ("mkfs.fat", &["-F", "12"], FileSystemKind::Fat, 2 << 20),
        ("mkfs.fat", &["-F", "16"], FileSystemKind::Fat, 64 << 20),
        ("mkfs.fat", &["-F", "32"], FileSystemKind::Fat, 64 << 20),
        ("mkfs.fat", &["-F", "32", "-S", "4096"], FileSystemKind::Fat, 512 << 20),
        ("mkfs.btrfs", &["-q"], FileSystemKind::Btrfs, 128 << 20),
        ("mkfs.xfs", &["-q"], FileSystemKind::Xfs, 300 << 20),
    ];
    for (number, (program, arguments, kind, bytes)) in made.into_iter().enumerate() {
        let (Some(mkfs), Some(blkid)) = (require_tool(program), require_tool("blkid")) else { continue };
        let path = folder.path().join(number.to_string());
        let file = File::create(&path).expect("created");
        file.set_len(bytes.next_multiple_of(4096)).expect("sized");
        let done = Command::new(mkfs).args(arguments).arg(&path).output().expect("runs");
        assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
        let store = FileStore::open(&path, OpenMode::ReadOnly, Caching::Buffered).expect("opens");
        let found = Superblock::read(&store).expect("read").expect("found");
        assert_eq!(Superblock::on(&File::open(&path).expect("opens")).expect("read").as_ref(), Some(&found));
        let said = |tag: &str| blkid_says(&blkid, tag, &path);
        assert_eq!(
            (found.kind, found.type_name(), found.uuid.clone().unwrap_or_default()),
            (kind, said("TYPE").as_str(), said("UUID")),
            "{program} {arguments:?}"
        );
        let has = found.bytes.expect("a size");
        assert!(has.abs_diff(bytes) < 8192, "{program} {arguments:?}: {has} of {bytes}");
    }
}

fn blkid_says(blkid: &Path, tag: &str, path: &Path) -> String {
    let out = Command::new(blkid).args(["-p", "-o", "value", "-s", tag]).arg(path).output().expect("runs");
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}
