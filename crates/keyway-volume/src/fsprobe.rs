//! Which file system lies in a volume, with its UUID as `blkid` shows it.
//!
//! Sources: Microsoft's FAT and exFAT specifications, the NTFS, ext4, XFS and Btrfs on-disk
//! format documentation in the Linux kernel's tree. Little-endian unless said otherwise.

use keyway_engine::Device;
use keyway_store::Store;
use serde::Serialize;

/// A file system's superblock, recognised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Filesystem {
    /// `vfat`, `exfat`, `ntfs`, `ext2`, `ext3`, `ext4`, `xfs`, `btrfs`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The UUID or serial number, as `blkid` writes it.
    pub uuid: Option<String>,
}

/// Looks for a file system in an open volume.
pub fn probe(device: &Device) -> Option<Filesystem> {
    probe_with(|buf, offset| device.read_at(buf, offset).is_ok())
}

/// A name for the file system that lies there unencrypted.
pub(crate) fn kind_of_store(store: &dyn Store) -> Option<&'static str> {
    let found = probe_with(|buf, offset| store.read_at(buf, offset).is_ok())?;
    Some(match found.kind {
        "vfat" => "a FAT file system",
        "exfat" => "an exFAT file system",
        "ntfs" => "an NTFS file system",
        "xfs" => "an XFS file system",
        "btrfs" => "a Btrfs file system",
        _ => "an ext file system",
    })
}

fn probe_with(read: impl Fn(&mut [u8], u64) -> bool) -> Option<Filesystem> {
    let sector = |offset: u64| {
        let mut sector = [0; 512];
        read(&mut sector, offset).then_some(sector)
    };
    let found = |kind, uuid| Some(Filesystem { kind, uuid });
    let boot = sector(0)?;
    if has(&boot, 0, b"XFSB") {
        return found("xfs", uuid(&boot, 32));
    }
    if let Some(kind) = ext(&sector(1024).unwrap_or([0; 512])) {
        return found(kind, uuid(&sector(1024)?, 0x68));
    }
    if let Some(superblock) = sector(65_536)
        && has(&superblock, 0x40, b"_BHRfS_M")
    {
        return found("btrfs", uuid(&superblock, 0x20));
    }
    if has(&boot, 3, b"NTFS    ") {
        let serial = bytes::<8>(&boot, 0x48).map(u64::from_le_bytes);
        return found("ntfs", serial.map(|n| format!("{n:016X}")));
    }
    if has(&boot, 3, b"EXFAT   ") {
        return found("exfat", bytes::<4>(&boot, 0x64).map(fat_serial));
    }
    fat(&boot).and_then(|at| found("vfat", bytes::<4>(&boot, at).map(fat_serial)))
}

/// Where a FAT boot sector keeps its serial number: after the common fields in FAT12 and FAT16,
/// after FAT32's longer ones. FAT has no magic of its own, so the fields must make sense.
fn fat(boot: &[u8; 512]) -> Option<usize> {
    let sector = u16::from_le_bytes(bytes(boot, 11)?);
    let (cluster, fats, media) = (*boot.get(13)?, *boot.get(16)?, *boot.get(21)?);
    let jump = has(boot, 0, &[0xe9]) || (has(boot, 0, &[0xeb]) && has(boot, 2, &[0x90]));
    let sane = jump
        && has(boot, 510, &[0x55, 0xaa])
        && matches!(sector, 512 | 1024 | 2048 | 4096)
        && cluster.is_power_of_two()
        && (1..=2).contains(&fats)
        && media >= 0xf0;
    let is_fat32 = bytes::<2>(boot, 22)? == [0, 0];
    sane.then_some(if is_fat32 { 67 } else { 39 })
}

/// ext2, ext3 or ext4, by the features in the superblock at byte 1024.
fn ext(superblock: &[u8; 512]) -> Option<&'static str> {
    if !has(superblock, 0x38, &[0x53, 0xef]) {
        return None;
    }
    let feature = |at| bytes::<4>(superblock, at).map(u32::from_le_bytes);
    // has_journal; extents, 64bit, flex_bg; huge_file to extra_isize and metadata_csum.
    let (compatible, incompatible, read_only) = (feature(0x5c)?, feature(0x60)?, feature(0x64)?);
    Some(if incompatible & 0x02c0 != 0 || read_only & 0x0478 != 0 {
        "ext4"
    } else if compatible & 0x4 != 0 {
        "ext3"
    } else {
        "ext2"
    })
}

fn has(sector: &[u8; 512], at: usize, magic: &[u8]) -> bool {
    sector.get(at..).is_some_and(|rest| rest.starts_with(magic))
}

fn bytes<const N: usize>(sector: &[u8; 512], at: usize) -> Option<[u8; N]> {
    sector.get(at..)?.first_chunk().copied()
}

fn fat_serial(bytes: [u8; 4]) -> String {
    let number = u32::from_le_bytes(bytes);
    format!("{:04X}-{:04X}", number >> 16, number & 0xffff)
}

fn uuid(sector: &[u8; 512], at: usize) -> Option<String> {
    let number = u128::from_be_bytes(bytes(sector, at)?);
    let hex = format!("{number:032x}");
    let part = |from, to| hex.get(from..to).unwrap_or_default();
    Some([part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe_bytes(image: &[u8]) -> Option<Filesystem> {
        probe_with(|buf, offset| {
            let from = offset as usize;
            image.get(from..from + buf.len()).is_some_and(|part| {
                buf.copy_from_slice(part);
                true
            })
        })
    }

    fn put(image: &mut [u8], at: usize, bytes: &[u8]) {
        image[at..at + bytes.len()].copy_from_slice(bytes);
    }

    #[test]
    fn noise_and_nothing_are_no_file_system() {
        assert_eq!(probe_bytes(&[]), None);
        assert_eq!(probe_bytes(&[0; 4096]), None);
        let mut noise = vec![0; 1 << 20];
        getrandom::fill(&mut noise).expect("random");
        put(&mut noise, 510, &[0, 0]);
        put(&mut noise, 1024 + 0x38, &[0, 0]);
        assert_eq!(probe_bytes(&noise), None);
    }

    #[test]
    fn each_superblock_is_known() {
        let id: Vec<u8> = (0..16).collect();
        let text = Some("00010203-0405-0607-0809-0a0b0c0d0e0f".to_owned());
        let blank = || vec![0; 70_000];
        let mut xfs = blank();
        put(&mut xfs, 0, b"XFSB");
        put(&mut xfs, 32, &id);
        assert_eq!(probe_bytes(&xfs), Some(Filesystem { kind: "xfs", uuid: text.clone() }));
        let mut btrfs = blank();
        put(&mut btrfs, 65_536 + 0x40, b"_BHRfS_M");
        put(&mut btrfs, 65_536 + 0x20, &id);
        assert_eq!(probe_bytes(&btrfs), Some(Filesystem { kind: "btrfs", uuid: text.clone() }));
        let mut ext = blank();
        put(&mut ext, 1024 + 0x38, &[0x53, 0xef]);
        put(&mut ext, 1024 + 0x60, &[0x40]);
        put(&mut ext, 1024 + 0x68, &id);
        assert_eq!(probe_bytes(&ext), Some(Filesystem { kind: "ext4", uuid: text }));
        let mut ntfs = blank();
        put(&mut ntfs, 3, b"NTFS    ");
        put(&mut ntfs, 0x48, &[8, 7, 6, 5, 4, 3, 2, 1]);
        let serial = Some("0102030405060708".to_owned());
        assert_eq!(probe_bytes(&ntfs), Some(Filesystem { kind: "ntfs", uuid: serial }));
        let mut fat = blank();
        put(&mut fat, 0, &[0xeb, 0x3c, 0x90]);
        put(&mut fat, 11, &[0, 2, 4]);
        put(&mut fat, 16, &[2]);
        put(&mut fat, 21, &[0xf8, 9, 0]);
        put(&mut fat, 39, &[0xbe, 0xba, 0xad, 0xde]);
        put(&mut fat, 510, &[0x55, 0xaa]);
        let serial = Some("DEAD-BABE".to_owned());
        assert_eq!(probe_bytes(&fat), Some(Filesystem { kind: "vfat", uuid: serial }));
    }
}
