//! Superblocks in the bytes of a medium: each field is checked before it is believed.
//!
//! A long mark is believed as it stands. The short ones are not: two bytes of a FAT's table may be ext's mark by chance,
//! and FAT has none of its own, so there the fields around them must make sense, too.
//!
//! Sources: Microsoft's FAT and exFAT specifications; the *NTFS Documentation* of the linux-ntfs project; the kernel's
//! documentation of ext4, XFS and Btrfs, and its on-disk headers of F2FS and SquashFS; ECMA-119 for ISO 9660; Apple's
//! TN1150 for HFS+. Little-endian unless said otherwise.

use super::kind::FileSystemKind;
use crate::fields::number;

/// What a superblock says, not yet held against its medium.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    pub(super) kind: FileSystemKind,
    /// As `blkid` calls it.
    pub(super) type_name: &'static str,
    pub(super) bytes: Option<u64>,
    pub(super) uuid: Option<String>,
}

impl Parsed {
    fn new(kind: FileSystemKind, bytes: Option<u64>, uuid: Option<String>) -> Self {
        Self { kind, type_name: kind.mount_type(), bytes, uuid }
    }
}

/// What the first page of a medium says; less than a page where the medium has less.
pub(super) fn first_page(page: &[u8]) -> Option<Parsed> {
    if has(page, 0, b"XFSB") {
        return Some(xfs(page));
    }
    if has(page, 3, b"NTFS    ") {
        return Some(ntfs(page));
    }
    if has(page, 3, b"EXFAT   ") {
        return Some(exfat(page));
    }
    // ext leaves the first KiB to boot loaders, whose sectors may look like FAT's.
    ext(page.get(1024..).unwrap_or_default()).or_else(|| fat(page)).or_else(|| others(page))
}

/// What a page 32 KiB behind the beginning says.
pub(super) fn at_32_kib(page: &[u8]) -> Option<Parsed> {
    has(page, 1, b"CD001").then(|| Parsed::new(FileSystemKind::Iso9660, None, None))
}

/// What a page 64 KiB behind the beginning says.
pub(super) fn at_64_kib(page: &[u8]) -> Option<Parsed> {
    let bytes = number::<8>(page, 0x70);
    has(page, 0x40, b"_BHRfS_M").then(|| Parsed::new(FileSystemKind::Btrfs, bytes, uuid(page, 0x20)))
}

/// Big-endian throughout.
fn xfs(page: &[u8]) -> Parsed {
    let block = number::<4>(page, 4).map(|n| u64::from((n as u32).swap_bytes()));
    let blocks = number::<8>(page, 8).map(u64::swap_bytes);
    let sane = block.filter(|n| n.is_power_of_two() && (512..=65_536).contains(n));
    let bytes = blocks.zip(sane).and_then(|(blocks, block)| blocks.checked_mul(block));
    Parsed::new(FileSystemKind::Xfs, bytes, uuid(page, 32))
}

fn ntfs(boot: &[u8]) -> Parsed {
    // A copy of the first sector lies behind the last one that counts.
    let sectors = number::<8>(boot, 40).and_then(|n| n.checked_add(1));
    let bytes = sectors.zip(sector_bytes(boot)).and_then(|(sectors, sector)| sectors.checked_mul(sector));
    Parsed::new(FileSystemKind::Ntfs, bytes, number::<8>(boot, 0x48).map(|n| format!("{n:016X}")))
}

fn exfat(boot: &[u8]) -> Parsed {
    let shift = number::<1>(boot, 108).filter(|by| (9..=12).contains(by));
    let bytes = number::<8>(boot, 72).zip(shift).and_then(|(sectors, by)| sectors.checked_mul(1 << by));
    Parsed::new(FileSystemKind::ExFat, bytes, number::<4>(boot, 100).map(fat_serial))
}

/// ext2, ext3 or ext4, by the features in its superblock.
fn ext(superblock: &[u8]) -> Option<Parsed> {
    let word = |at| number::<4>(superblock, at);
    let (first, in_group, inodes_in_group) = (word(0x14)?, word(0x20)?, word(0x28)?);
    let shift = word(0x18)?;
    // Blocks of more than 32 bits: INCOMPAT_64BIT.
    let high = if word(0x60)? & 0x80 != 0 { word(0x150)? } else { 0 };
    let blocks = high << 32 | word(4)?;
    let sane = has(superblock, 0x38, &[0x53, 0xef])
        && shift <= 6
        && first <= 1
        && blocks > first
        && in_group > 0
        && inodes_in_group > 0;
    // has_journal; extents, 64bit, flex_bg; huge_file to extra_isize and metadata_csum.
    let (compatible, incompatible, read_only) = (word(0x5c)?, word(0x60)?, word(0x64)?);
    let type_name = if incompatible & 0x02c0 != 0 || read_only & 0x0478 != 0 {
        "ext4"
    } else if compatible & 0x4 != 0 {
        "ext3"
    } else {
        "ext2"
    };
    let bytes = blocks.checked_mul(1024 << shift.min(6));
    sane.then(|| Parsed { kind: FileSystemKind::Ext, type_name, bytes, uuid: uuid(superblock, 0x68) })
}

/// FAT12, FAT16 or FAT32. Its name in the boot sector is only for people: fields that make sense, and the name or the
/// boot sector's two marks.
fn fat(boot: &[u8]) -> Option<Parsed> {
    let sector = sector_bytes(boot)?;
    let (cluster, reserved) = (number::<1>(boot, 13)?, number::<2>(boot, 14)?);
    let (tables, media) = (number::<1>(boot, 16)?, number::<1>(boot, 21)?);
    let named = has(boot, 54, b"FAT1") || has(boot, 82, b"FAT32");
    let jump = has(boot, 0, &[0xe9]) || (has(boot, 0, &[0xeb]) && has(boot, 2, &[0x90]));
    let sane = cluster.is_power_of_two() && reserved > 0 && (1..=2).contains(&tables) && media >= 0xf0;
    if !sane || !(named || jump && has(boot, 510, &[0x55, 0xaa])) {
        return None;
    }
    let (small, large) = (number::<2>(boot, 19)?, number::<4>(boot, 32)?);
    let sectors = if small == 0 { large } else { small };
    // FAT32 has longer fields, which come before the serial number.
    let serial_at = if number::<2>(boot, 22)? == 0 { 67 } else { 39 };
    let serial = number::<4>(boot, serial_at).map(fat_serial);
    Some(Parsed::new(FileSystemKind::Fat, sectors.checked_mul(sector), serial))
}

/// Those that are only mounted.
fn others(page: &[u8]) -> Option<Parsed> {
    let hfs = |mark: &[u8], version: &[u8]| has(page, 0x400, mark) && has(page, 0x402, version);
    let kind = if has(page, 0x400, &[0x10, 0x20, 0xF5, 0xF2]) {
        FileSystemKind::F2fs
    } else if has(page, 0, b"hsqs") {
        FileSystemKind::SquashFs
    } else if hfs(b"H+", &[0, 4]) || hfs(b"HX", &[0, 5]) {
        FileSystemKind::HfsPlus
    } else {
        return None;
    };
    Some(Parsed::new(kind, None, None))
}

/// The size of a sector, which FAT and NTFS keep in the same place.
fn sector_bytes(boot: &[u8]) -> Option<u64> {
    number::<2>(boot, 11).filter(|n| matches!(n, 512 | 1024 | 2048 | 4096))
}

fn has(bytes: &[u8], at: usize, mark: &[u8]) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(mark))
}

fn fat_serial(number: u64) -> String {
    format!("{:04X}-{:04X}", number >> 16, number & 0xffff)
}

fn uuid(bytes: &[u8], at: usize) -> Option<String> {
    let number = u128::from_be_bytes(*bytes.get(at..)?.first_chunk()?);
    let hex = format!("{number:032x}");
    let part = |from, to| hex.get(from..to).unwrap_or_default();
    Some([part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-"))
}
