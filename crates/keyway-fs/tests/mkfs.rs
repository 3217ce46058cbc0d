//! File systems made through a device whose unwritten sectors are random: their own checkers judge.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_fs::mkfs::{FileSystem, MkfsError, format_into, image, silent};
use keyway_store::{Caching, FileStore, MemStore, OpenMode};
use keyway_testkit::{Rng, require_tool};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::Arc;

/// A plain device over a store full of noise, as a freshly filled volume is.
fn noisy(size: u64, sector_bytes: u32) -> (Device, Arc<MemStore>) {
    let bytes = Rng::new(size).bytes(size as usize);
    let store = Arc::new(MemStore::from_vec(bytes).with_sector_bytes(sector_bytes));
    let segment = Segment { start: 0, len: size, mapping: Mapping::Plain { store_offset: 0 } };
    let layout = Layout::new(sector_bytes, vec![segment]).expect("one segment");
    let device = Device::new(Box::new(store.clone()), layout, Access::ReadWrite).expect("it fits");
    (device, store)
}

fn check(fs: FileSystem, size: u64, sector_bytes: u32, checker: &[&str]) {
    let (Some(_), Some(program)) = (require_tool(fs.program()), require_tool(checker[0])) else { return };
    let (device, store) = noisy(size, sector_bytes);
    let before = store.snapshot();
    format_into(&device, fs, Some("KEYWAY"), &silent).expect("formatted");
    let after = store.snapshot();
    let image = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(image.path(), &after).expect("written");
    let out = Command::new(program).args(&checker[1..]).arg(image.path()).output().expect("it runs");
    let said = String::from_utf8_lossy(&out.stdout) + String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{fs} {size}: {}: {said}", checker[0]);
    let changed = before.chunks(4096).zip(after.chunks(4096)).filter(|(a, b)| a != b).count();
    assert!(changed * 4096 < before.len() / 2, "{fs}: most of the noise must stay ({changed} pages changed)");
    if let Some(blkid) = require_tool("blkid") {
        let out = Command::new(blkid).args(["-p", "-o", "value", "-s", "LABEL"]).arg(image.path()).output();
        assert_eq!(String::from_utf8_lossy(&out.expect("it runs").stdout).trim(), "KEYWAY", "{fs}");
    }
}

#[test]
fn ext4_passes_its_check_over_noise() {
    check(FileSystem::Ext4, 200 << 20, 512, &["e2fsck", "-fn"]);
    check(FileSystem::Ext4, (6 << 20) + 512, 512, &["e2fsck", "-fn"]);
    check(FileSystem::Ext4, 64 << 20, 4096, &["e2fsck", "-fn"]);
}

#[test]
fn fat_passes_its_check_over_noise() {
    check(FileSystem::Fat, 40 << 20, 512, &["fsck.fat", "-n"]);
    check(FileSystem::Fat, 1 << 20, 512, &["fsck.fat", "-n"]);
    check(FileSystem::Fat, 8 << 20, 4096, &["fsck.fat", "-n"]);
}

#[test]
fn exfat_passes_its_check_over_noise() {
    check(FileSystem::ExFat, 64 << 20, 512, &["fsck.exfat", "-n"]);
}

#[test]
fn ntfs_passes_its_check_over_noise() {
    check(FileSystem::Ntfs, 64 << 20, 512, &["ntfsfix", "-n"]);
    check(FileSystem::Ntfs, 64 << 20, 4096, &["ntfsfix", "-n"]);
}

#[test]
fn btrfs_passes_its_check_over_noise() {
    check(FileSystem::Btrfs, 128 << 20, 512, &["btrfs", "check"]);
}

#[test]
fn xfs_passes_its_check_over_noise() {
    check(FileSystem::Xfs, 300 << 20, 512, &["xfs_repair", "-n", "-f"]);
    check(FileSystem::Xfs, 300 << 20, 4096, &["xfs_repair", "-n", "-f"]);
}

/// What is refused beforehand the program would refuse, and what is not it makes.
#[test]
fn the_least_size_of_each_is_the_one_its_program_has() {
    for fs in FileSystem::ALL {
        let Some(_) = require_tool(fs.program()) else { continue };
        let least = fs.least_bytes();
        let made = |bytes| image(fs, bytes, 512, None, &silent).map(drop);
        made(least).unwrap_or_else(|e| panic!("{fs} in {least}: {e}"));
        let refused = made(least - 512);
        assert!(matches!(refused, Err(MkfsError::Refused { .. })), "{fs} in less than {least}: {refused:?}");
        assert!(fs.check_size(least, 0).is_ok());
        assert!(matches!(fs.check_size(least - 1, 0), Err(MkfsError::TooSmall { .. })));
    }
}

/// From 64 GiB on the journals are limited; holes stand in for the noise that would not fit here.
#[test]
fn large_volumes_need_little_memory_and_pass_their_checks() {
    let size = 100u64 << 30;
    let checks: [(FileSystem, &[&str]); 2] =
        [(FileSystem::Ext4, &["e2fsck", "-fn"]), (FileSystem::Xfs, &["xfs_repair", "-n", "-f"])];
    for (fs, checker) in checks {
        let (Some(_), Some(program)) = (require_tool(fs.program()), require_tool(checker[0])) else {
            continue;
        };
        let image = tempfile::NamedTempFile::new().expect("a temporary file");
        image.as_file().set_len(size).expect("sparse");
        let store =
            FileStore::open(image.path(), OpenMode::ReadWrite, Caching::Buffered).expect("it is there");
        let segment = Segment { start: 0, len: size, mapping: Mapping::Plain { store_offset: 0 } };
        let layout = Layout::new(512, vec![segment]).expect("one segment");
        let device = Device::new(Box::new(store), layout, Access::ReadWrite).expect("it fits");
        format_into(&device, fs, None, &silent).expect("formatted");
        assert!(device.counters().bytes_written < 400 << 20, "{fs}: {:?}", device.counters());
        let out = Command::new(program).args(&checker[1..]).arg(image.path()).output().expect("it runs");
        let said = String::from_utf8_lossy(&out.stdout) + String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{fs}: {said}");
    }
}

#[test]
fn a_volume_that_is_too_small_says_what_the_program_said() {
    if require_tool("mkfs.btrfs").is_none() {
        return;
    }
    let (device, _) = noisy(1 << 20, 512);
    match format_into(&device, FileSystem::Btrfs, None, &silent) {
        Err(MkfsError::Refused { complaint, .. }) => assert!(!complaint.is_empty()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn stopping_stops() {
    if require_tool("mkfs.ext4").is_none() {
        return;
    }
    let (device, _) = noisy(32 << 20, 512);
    let stop = |_: u64, _: u64| ControlFlow::Break(());
    assert!(matches!(format_into(&device, FileSystem::Ext4, None, &stop), Err(MkfsError::Stopped)));
}

#[test]
fn exfat_refuses_large_sectors() {
    if require_tool("mkfs.exfat").is_none() {
        return;
    }
    let (device, _) = noisy(64 << 20, 4096);
    let made = format_into(&device, FileSystem::ExFat, None, &silent);
    assert!(matches!(made, Err(MkfsError::SectorSize { sector_bytes: 4096, .. })), "{made:?}");
}

#[test]
fn names_round_trip() {
    for fs in FileSystem::ALL {
        assert_eq!(fs.name().parse::<FileSystem>().expect("its own name"), fs);
    }
    assert!("zfs".parse::<FileSystem>().is_err());
}

/// What is refused beforehand is what the program refuses, and `mkfs.ext4` cuts off.
#[test]
fn a_label_is_as_long_as_the_program_takes_it() {
    for fs in FileSystem::ALL {
        if require_tool(fs.program()).is_none() {
            continue;
        }
        // The least for XFS.
        let made = |label: &str| image(fs, 320 << 20, 512, Some(label), &silent);
        let longest = "A".repeat(fs.longest_label());
        fs.check_label(&longest).expect("the program takes it");
        made(&longest).unwrap_or_else(|e| panic!("{fs}: {e}"));
        let longer = longest + "B";
        let refused = fs.check_label(&longer);
        assert!(matches!(refused, Err(MkfsError::LabelTooLong { has, .. }) if has == longer.len()), "{fs}");
        match made(&longer) {
            Ok(image) => {
                let mut label = [0; 16];
                // The superblock's s_volume_name.
                image.read_exact_at(&mut label, 1024 + 0x78).expect("read");
                assert_eq!((fs, &label), (FileSystem::Ext4, b"AAAAAAAAAAAAAAAA"));
            }
            Err(e) => assert!(matches!(e, MkfsError::Refused { .. }), "{fs}: {e}"),
        }
    }
}

/// Six letters, and twelve bytes of UTF-8.
#[test]
fn a_label_is_counted_as_the_file_system_counts() {
    let word = "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}";
    for (fs, takes) in [(FileSystem::ExFat, 11), (FileSystem::Xfs, 12)] {
        fs.check_label(word).expect("it has room");
        let twice = fs.check_label(&word.repeat(2)).expect_err("it has none").to_string();
        assert!(twice.contains(&format!("at most {takes} ")), "{twice}");
        if require_tool(fs.program()).is_some() {
            image(fs, 320 << 20, 512, Some(word), &silent).unwrap_or_else(|e| panic!("{fs}: {e}"));
        }
    }
}
