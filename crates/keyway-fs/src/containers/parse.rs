//! The marks of containers in the bytes of a medium, and the fields that make a short mark believable.
//!
//! Sources: the LUKS1 and LUKS2 on-disk format specifications; LVM2's documented label; md(4) and the kernel's header
//! `raid/md_p.h`; QEMU's `docs/interop` for qcow2; Microsoft's VHD specification and MS-VHDX; VMware's *Virtual Disk
//! Format*; RFC 1952 (gzip), RFC 8878 (Zstandard), the .xz, LZ4 and 7z format descriptions; PKWARE's APPNOTE; POSIX ustar.

use super::Container;
use crate::fields::number;

/// Marks that are long enough to stand alone: what, where, the mark.
const MARKS: [(Container, usize, &[u8]); 14] = [
    (Container::Xz, 0, b"\xfd7zXZ\0"),
    (Container::SevenZip, 0, b"7z\xbc\xaf\x27\x1c"),
    (Container::Rar, 0, b"Rar!\x1a\x07"),
    (Container::Vhdx, 0, b"vhdxfile"),
    (Container::Vhd, 0, b"conectix"),
    (Container::Vmdk, 0, b"# Disk DescriptorFile"),
    (Container::Ewf, 0, b"EVF\x09\x0d\x0a\xff\0"),
    (Container::Tar, 257, b"ustar\0"),
    (Container::Tar, 257, b"ustar  \0"),
    (Container::Vdi, 0x40, b"\x7f\x10\xda\xbe\x01\0\x01\0"),
    (Container::VirtualDrive, 0, b"KEYWYSED"),
    (Container::BitLockerBackup, 0, b"KEYWAYBL\x01\0\0\0"),
    (Container::Luks1, 0, b"LUKS\xba\xbe\0\x01"),
    (Container::Luks2, 0, b"LUKS\xba\xbe\0\x02"),
];

/// A RAID's superblock.
const RAID: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];

/// What the first page of a medium says; less than a page where the medium has less.
pub(super) fn first_page(page: &[u8]) -> Option<Container> {
    if let Some((found, ..)) = MARKS.iter().find(|(_, at, mark)| has(page, *at, mark)) {
        return Some(*found);
    }
    let byte = |at: usize| page.get(at).copied();
    let found = match page.first_chunk::<4>()? {
        // Deflate, no reserved flag, a level and a system that exist.
        [0x1f, 0x8b, 8, flags] if flags & 0xe0 == 0 => {
            let sane = matches!(byte(8)?, 0 | 2 | 4) && matches!(byte(9)?, 0..=13 | 255);
            sane.then_some(Container::Gzip)
        }
        // A frame whose reserved bit is not set.
        [0x28, 0xb5, 0x2f, 0xfd] => (byte(4)? & 0x08 == 0).then_some(Container::Zstd),
        // Version 1 of a frame, a block's size that exists.
        [0x04, 0x22, 0x4d, 0x18] => {
            (byte(4)? & 0xc2 == 0x40 && byte(5)? & 0x8f == 0).then_some(Container::Lz4)
        }
        [b'B', b'Z', b'h', b'1'..=b'9'] => has(page, 4, b"1AY&SY").then_some(Container::Bzip2),
        // A version up to 6.3 is needed.
        b"PK\x03\x04" => (number::<2>(page, 4)? <= 63).then_some(Container::Zip),
        b"QFI\xfb" => {
            (1..=3).contains(&(number::<4>(page, 4)? as u32).swap_bytes()).then_some(Container::Qcow2)
        }
        b"KDMV" => (1..=3).contains(&number::<4>(page, 4)?).then_some(Container::Vmdk),
        b"COWD" => (number::<4>(page, 4)? == 1).then_some(Container::Vmdk),
        _ => None,
    };
    found.or_else(|| lvm(page).then_some(Container::Lvm))
}

/// LVM's label: in one of the first four sectors, and it says in which.
fn lvm(page: &[u8]) -> bool {
    (0..4).any(|sector: u8| {
        let label = page.get(usize::from(sector) * 512..).unwrap_or_default();
        has(label, 0, b"LABELONE")
            && has(label, 24, b"LVM2 001")
            && number::<8>(label, 8) == Some(sector.into())
    })
}

/// A superblock of version 1, which says in which sector it lies.
pub(super) fn raid(page: &[u8], sector: u64) -> bool {
    has(page, 0, RAID) && number::<4>(page, 4) == Some(1) && number::<8>(page, 144) == Some(sector)
}

/// A superblock of version 0.90.
pub(super) fn old_raid(page: &[u8]) -> bool {
    has(page, 0, RAID) && number::<4>(page, 4) == Some(0) && number::<4>(page, 8) == Some(90)
}

fn has(bytes: &[u8], at: usize, mark: &[u8]) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(mark))
}
