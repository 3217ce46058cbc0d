//! Finds where the files in an outer volume end, by its file system's own map.
//!
//! A FAT file system keeps one entry for each cluster; behind the last one that is not 0 nothing
//! is in use. Fields of the boot sector: Microsoft's *FAT File System Specification*, 1.03. NTFS, exFAT and ext
//! have maps of their clusters, which `keyway-fs` reads. Of any other file system nobody knows it here.

use super::create_error::CreateError;
use super::plain_sectors::Plain;
use keyway_engine::Layout;
use keyway_fs::allocation::{Allocation, AllocationError};
use keyway_fs::{FileSystemKind, Superblock};
use keyway_store::{AlignedBuf, Store, StoreError};

/// Bytes of the table looked at at a time.
const PIECE: u64 = 64 * 1024;

/// Where the table lies, and what its entries stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fat {
    /// 12, 16 or 32 bits.
    entry_bits: u64,
    /// The table's first byte.
    start: u64,
    /// Its size in bytes.
    bytes: u64,
    /// First byte of cluster 2, the first one.
    clusters_start: u64,
    /// Size of a cluster in bytes.
    cluster_bytes: u64,
}

/// How far the outer volume's files reach.
#[derive(Debug)]
pub(super) enum Files {
    /// Nothing below the end that was asked about is used behind this byte of the volume.
    End(u64),
    /// No file system was found.
    NoFileSystem,
    /// There is one, and nobody knows which clusters it uses.
    Unknown(FileSystemKind, AllocationError),
}

/// How far the files reach that begin below `end`.
pub(super) fn files(store: &dyn Store, layout: &Layout, end: u64) -> Result<Files, CreateError> {
    let plain = Plain { store, layout };
    let Some(found) = Superblock::read(&plain)? else { return Ok(Files::NoFileSystem) };
    if found.kind == FileSystemKind::Fat {
        let known = fat_end(&plain)?.map(Files::End);
        let other = AllocationError::Unsupported("FAT's second table");
        return Ok(known.unwrap_or(Files::Unknown(found.kind, other)));
    }
    match Allocation::read(&plain) {
        Ok(map) => Ok(Files::End(map.used_end(end))),
        Err(AllocationError::Store(e)) => Err(e.into()),
        Err(e) => Ok(Files::Unknown(found.kind, e)),
    }
}

/// The first byte behind which no file of a FAT file system lies. `None`: its first table says nothing of that.
fn fat_end(plain: &Plain<'_>) -> Result<Option<u64>, StoreError> {
    let size = plain.size();
    let mut head = AlignedBuf::zeroed(4096);
    if size < 4096 {
        return Ok(None);
    }
    plain.read_at(&mut head, 0)?;
    let boot = head.get(..512).unwrap_or_default();
    let Some(fat) = Fat::parse(boot).filter(|fat| fat.clusters_start <= size) else { return Ok(None) };
    let mut end = fat.bytes;
    let mut piece = AlignedBuf::zeroed(0);
    while end > 0 {
        let start = end.saturating_sub(1) / PIECE * PIECE;
        piece.resize((end - start) as usize);
        plain.read_at(&mut piece, fat.start + start)?;
        if let Some(last) = piece.iter().rposition(|byte| *byte != 0) {
            return Ok(Some(fat.used_until(start + last as u64).min(size)));
        }
        end = start;
    }
    Ok(Some(fat.clusters_start))
}

impl Fat {
    /// Reads a boot sector; `None` where it is not one of a FAT file system.
    fn parse(boot: &[u8]) -> Option<Self> {
        let u16_at = |at: usize| Some(u64::from(u16::from_le_bytes(*boot.get(at..)?.first_chunk()?)));
        let u32_at = |at: usize| Some(u64::from(u32::from_le_bytes(*boot.get(at..)?.first_chunk()?)));
        let entry_bits = match (boot.get(54..59)?, boot.get(82..87)?) {
            (b"FAT12", _) => 12,
            (b"FAT16", _) => 16,
            (_, b"FAT32") => 32,
            _ => return None,
        };
        // Where one of FAT32's tables counts alone it need not be the first.
        if entry_bits == 32 && u16_at(40)? & 0x80 != 0 {
            return None;
        }
        let sector = u16_at(11).filter(|n| matches!(n, 512 | 1024 | 2048 | 4096))?;
        let cluster_bytes = u64::from(*boot.get(13)?).checked_mul(sector).filter(|n| *n > 0)?;
        let tables = u64::from(*boot.get(16)?);
        let table_sectors = if entry_bits == 32 { u32_at(36)? } else { u16_at(22)? };
        let start = u16_at(14)? * sector;
        let bytes = table_sectors * sector;
        // The root folder of FAT12 and FAT16 lies between the tables and the clusters.
        let root_bytes = if entry_bits == 32 { 0 } else { u16_at(17)? * 32 };
        let clusters_start = start + tables * bytes + root_bytes.next_multiple_of(sector);
        (start > 0 && bytes > 0 && tables > 0 && boot.ends_with(&[0x55, 0xaa])).then_some(Self {
            entry_bits,
            start,
            bytes,
            clusters_start,
            cluster_bytes,
        })
    }

    /// The end of the last cluster that has a bit in this byte of the table.
    fn used_until(&self, byte: u64) -> u64 {
        let entry = (byte * 8 + 7) / self.entry_bits;
        // Entries 0 and 1 stand for no cluster.
        entry.saturating_sub(1).saturating_mul(self.cluster_bytes).saturating_add(self.clusters_start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boot(kind: &[u8; 5], at: usize) -> Vec<u8> {
        let mut boot = vec![0; 512];
        boot[at..at + 5].copy_from_slice(kind);
        boot[11..13].copy_from_slice(&512u16.to_le_bytes());
        boot[13] = 4;
        boot[14..16].copy_from_slice(&1u16.to_le_bytes());
        boot[16] = 2;
        boot[17..19].copy_from_slice(&512u16.to_le_bytes());
        boot[22..24].copy_from_slice(&12u16.to_le_bytes());
        boot[36..40].copy_from_slice(&100u32.to_le_bytes());
        boot[510..].copy_from_slice(&[0x55, 0xaa]);
        boot
    }

    #[test]
    fn the_three_kinds_are_told_apart() {
        let fat = Fat::parse(&boot(b"FAT12", 54)).expect("FAT12");
        assert_eq!((fat.entry_bits, fat.start, fat.bytes), (12, 512, 12 * 512));
        assert_eq!(fat.clusters_start, 512 + 2 * 12 * 512 + 512 * 32);
        // Byte 4 holds the high half of entry 2 and the low half of entry 3.
        assert_eq!(fat.used_until(4), fat.clusters_start + 2 * 2048);
        let fat = Fat::parse(&boot(b"FAT16", 54)).expect("FAT16");
        assert_eq!(fat.used_until(5), fat.clusters_start + 2048);
        let fat = Fat::parse(&boot(b"FAT32", 82)).expect("FAT32");
        assert_eq!(fat.clusters_start, 512 + 2 * 100 * 512);
        assert_eq!(fat.used_until(11), fat.clusters_start + 2048);
        assert_eq!(fat.used_until(3), fat.clusters_start);
        let mut second_counts = boot(b"FAT32", 82);
        second_counts[40] = 0x81;
        assert_eq!(Fat::parse(&second_counts), None);
    }

    #[test]
    fn what_is_no_fat_is_none() {
        assert_eq!(Fat::parse(&[0; 512]), None);
        assert_eq!(Fat::parse(&[]), None);
        for (at, bytes) in [(11, [0, 0]), (13, [0, 1]), (14, [0, 0]), (510, [0, 0]), (16, [0, 0])] {
            let mut boot = boot(b"FAT16", 54);
            boot[at..at + 2].copy_from_slice(&bytes);
            assert_eq!(Fat::parse(&boot), None, "byte {at}");
        }
    }
}
