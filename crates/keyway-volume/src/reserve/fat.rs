//! FAT16 and FAT32: a bad cluster has a number of its own in the file allocation table.
//!
//! Source: Microsoft's *FAT32 File System Specification*, version 1.03.

use super::{Clusters, ReserveError, length, number, put};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// From so many clusters on it is a FAT16, and from so many on a FAT32.
const FAT16_FROM: u64 = 4085;
const FAT32_FROM: u64 = 65_525;

/// The number that marks a bad cluster; the top four bits of FAT32's are not its own.
const BAD_16: u16 = 0xfff7;
const BAD_32: u32 = 0x0fff_fff7;

/// Where FAT32's count of free clusters is in its sector.
const FREE_COUNT_AT: u64 = 488;

/// The number of the first cluster.
const FIRST: u64 = 2;

/// Where the tables are.
pub(super) struct Fat {
    tables: Vec<u64>,
    wide: bool,
    free_count_at: Option<u64>,
}

impl Fat {
    pub(super) fn open(image: &File, boot: &[u8; 512]) -> Result<(Self, Clusters), ReserveError> {
        let sector = number::<2>(boot, 11);
        let cluster = sector * number::<1>(boot, 13);
        let reserved = number::<2>(boot, 14) * sector;
        let tables = number::<1>(boot, 16);
        let root = number::<2>(boot, 17) * 32;
        let sectors = either(number::<2>(boot, 19), number::<4>(boot, 32));
        let table = either(number::<2>(boot, 22), number::<4>(boot, 36)) * sector;
        let is_boot = boot.ends_with(&[0x55, 0xaa]) && cluster > 0 && table > 0 && matches!(tables, 1 | 2);
        if !is_boot {
            return Err(ReserveError::Unexpected("its boot sector"));
        }
        let start = reserved + tables * table + root;
        let count = (sectors * sector).saturating_sub(start) / cluster;
        if count < FAT16_FROM {
            return Err(ReserveError::Unexpected("a FAT12"));
        }
        let wide = count >= FAT32_FROM;
        let width = if wide { 4 } else { 2 };
        if table < (count + FIRST) * width {
            return Err(ReserveError::Unexpected("its table's size"));
        }
        let mut entries = vec![0; length(count * width)?];
        image.read_exact_at(&mut entries, reserved + FIRST * width)?;
        let mut used = vec![0u8; length(count.div_ceil(8))?];
        for (i, entry) in entries.chunks_exact(width as usize).enumerate() {
            if entry.iter().any(|byte| *byte != 0)
                && let Some(byte) = used.get_mut(i / 8)
            {
                *byte |= 1 << (i % 8);
            }
        }
        let information = number::<2>(boot, 48) * sector;
        let fat = Self {
            tables: (0..tables).map(|i| reserved + i * table).collect(),
            wide,
            free_count_at: (wide && information > 0).then_some(information + FREE_COUNT_AT),
        };
        Ok((fat, Clusters { start, bytes: cluster, count, used, taken: vec![] }))
    }

    pub(super) fn mark(self, image: &File, map: &Clusters) -> Result<(), ReserveError> {
        let mut marked = 0u32;
        for cluster in map.all_taken() {
            for table in &self.tables {
                if self.wide {
                    image.write_all_at(&BAD_32.to_le_bytes(), table + (cluster + FIRST) * 4)?;
                } else {
                    image.write_all_at(&BAD_16.to_le_bytes(), table + (cluster + FIRST) * 2)?;
                }
            }
            marked += 1;
        }
        if let Some(at) = self.free_count_at {
            let mut field = [0; 4];
            image.read_exact_at(&mut field, at)?;
            let free = u32::from_le_bytes(field);
            // All ones: not known.
            if free != u32::MAX {
                put(&mut field, 0, &free.saturating_sub(marked).to_le_bytes());
                image.write_all_at(&field, at)?;
            }
        }
        Ok(())
    }
}

/// FAT's small fields, or where they are 0 the large ones.
fn either(small: u64, large: u64) -> u64 {
    if small == 0 { large } else { small }
}
