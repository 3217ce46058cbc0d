//! Which file system lies on a device, from the marks that each one puts near its start.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Type as `mount -t` takes it, where its mark lies in bytes, and the mark.
///
/// Sources: `include/uapi/linux/magic.h` and each driver's on-disk header in the kernel (ext4,
/// xfs, btrfs, f2fs, squashfs); Microsoft's specifications for the boot sectors of exFAT, FAT and
/// NTFS; ECMA-119 for ISO 9660; Apple TN1150 for HFS+.
const MARKS: &[(&str, u64, &[u8])] = &[
    ("ntfs", 3, b"NTFS    "),
    ("exfat", 3, b"EXFAT   "),
    ("xfs", 0, b"XFSB"),
    ("btrfs", 0x10040, b"_BHRfS_M"),
    ("f2fs", 0x400, &[0x10, 0x20, 0xF5, 0xF2]),
    // One driver mounts ext2, ext3 and ext4.
    ("ext4", 0x438, &[0x53, 0xEF]),
    ("squashfs", 0, b"hsqs"),
    ("hfsplus", 0x400, b"H+"),
    ("hfsplus", 0x400, b"HX"),
    ("iso9660", 0x8001, b"CD001"),
    ("vfat", 0x52, b"FAT32   "),
    ("vfat", 0x36, b"FAT16   "),
    ("vfat", 0x36, b"FAT12   "),
];

/// The type of the file system on `device`, if it bears a mark we know.
pub(super) fn detect(device: &File) -> io::Result<Option<&'static str>> {
    for (name, offset, mark) in MARKS {
        let mut found = [0u8; 8];
        let into = found.get_mut(..mark.len()).ok_or(io::ErrorKind::InvalidInput)?;
        match device.read_exact_at(into, *offset) {
            Ok(()) if into == *mark => return Ok(Some(name)),
            Ok(()) => {}
            // Too small for this mark.
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {}
            Err(e) => return Err(e),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_with(offset: u64, mark: &[u8]) -> File {
        let file = tempfile::tempfile().expect("a temporary file");
        file.set_len(1 << 20).expect("room");
        file.write_all_at(mark, offset).expect("written");
        file
    }

    #[test]
    fn every_mark_is_found_in_its_place_only() {
        for (name, offset, mark) in MARKS {
            assert_eq!(detect(&file_with(*offset, mark)).expect("readable"), Some(*name));
            assert_eq!(detect(&file_with(offset + 0x2000, mark)).expect("readable"), None);
        }
    }

    #[test]
    fn an_empty_or_tiny_device_has_none() {
        assert_eq!(detect(&file_with(0, b"")).expect("readable"), None);
        assert_eq!(detect(&tempfile::tempfile().expect("a temporary file")).expect("readable"), None);
    }
}
