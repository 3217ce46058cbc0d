//! FAT16 and FAT32: a bad cluster has a number of its own in the file allocation table.
//!
//! Source: Microsoft's *FAT32 File System Specification*, version 1.03.

use super::{AllocationError, Clusters, bad_entries, change_entries, number, put, read, write};
use keyway_store::Store;
use std::ops::Range;

/// From so many clusters on it is a FAT16, and from so many on a FAT32.
const FAT16_FROM: u64 = 4085;
const FAT32_FROM: u64 = 65_525;

/// The number that marks a bad cluster; the top four bits of FAT32's are not its own.
const BAD_16: u16 = 0xfff7;
const BAD_32: u32 = 0x0fff_fff7;

/// Where FAT32's count of free clusters is in its sector.
const FREE_COUNT_AT: u64 = 488;

/// The bit in the table's second entry that says that the volume was unmounted.
const CLEAN_16: u64 = 0x8000;
const CLEAN_32: u64 = 0x0800_0000;

/// The same in the boot sector, set where a volume is in use, as Linux has it: behind FAT16's and FAT32's
/// other fields.
const IN_USE_16: usize = 37;
const IN_USE_32: usize = 65;

/// The number of the first cluster.
const FIRST: u64 = 2;

/// Where the tables are.
pub(super) struct Fat {
    /// Where the entry of the first cluster is in each.
    tables: Vec<u64>,
    wide: bool,
    free_count_at: Option<u64>,
}

/// Whether a sector can be one of FAT's boot sectors.
pub(super) fn is_boot_sector(boot: &[u8; 512]) -> bool {
    let (sector, cluster) = (number::<2>(boot, 11), number::<1>(boot, 13));
    boot.ends_with(&[0x55, 0xaa])
        && matches!(sector, 512 | 1024 | 2048 | 4096)
        && cluster.is_power_of_two()
        && matches!(number::<1>(boot, 16), 1 | 2)
        && number::<2>(boot, 14) > 0
}

impl Fat {
    /// `boot` is one for which [`is_boot_sector`] holds.
    pub(super) fn open(store: &dyn Store, boot: &[u8; 512]) -> Result<(Self, Clusters), AllocationError> {
        let sector = number::<2>(boot, 11);
        let cluster = sector * number::<1>(boot, 13);
        let reserved = number::<2>(boot, 14) * sector;
        let tables = number::<1>(boot, 16);
        let root = (number::<2>(boot, 17) * 32).next_multiple_of(sector);
        let sectors = either(number::<2>(boot, 19), number::<4>(boot, 32));
        let table = either(number::<2>(boot, 22), number::<4>(boot, 36)) * sector;
        let start = reserved + tables * table + root;
        let count = (sectors * sector).saturating_sub(start) / cluster;
        if count < FAT16_FROM {
            return Err(AllocationError::Unsupported("FAT12"));
        }
        let wide = count >= FAT32_FROM;
        let width = if wide { 4 } else { 2 };
        if table < (count + FIRST) * width {
            return Err(AllocationError::Damaged("its table's size"));
        }
        let mut map = Clusters::new(store, start, cluster, count)?;
        let second = read(store, reserved + width, width)?;
        let (unmounted, clean) =
            if wide { (number::<4>(&second, 0), CLEAN_32) } else { (number::<2>(&second, 0), CLEAN_16) };
        let in_use = number::<1>(boot, if wide { IN_USE_32 } else { IN_USE_16 }) & 1 == 1;
        if unmounted & clean == 0 || in_use {
            return Err(AllocationError::Dirty("FAT's mark of a volume in use"));
        }
        // As much at a time as 65,536 clusters have.
        let mut from = 0;
        while from < count {
            let n = (count - from).min(1 << 16);
            let entries = read(store, reserved + (FIRST + from) * width, n * width)?;
            for (index, entry) in (from..).zip(entries.chunks_exact(width as usize)) {
                // The top four bits of FAT32's are not its own.
                let free = if wide { number::<4>(entry, 0) << 36 == 0 } else { number::<2>(entry, 0) == 0 };
                if !free {
                    map.set(index, true);
                }
            }
            from += n;
        }
        let information = number::<2>(boot, 48) * sector;
        let fat = Self {
            tables: (0..tables).map(|i| reserved + i * table + FIRST * width).collect(),
            wide,
            free_count_at: (wide && information > 0 && information < reserved)
                .then_some(information + FREE_COUNT_AT),
        };
        Ok((fat, map))
    }

    /// The taken clusters become bad, or free again.
    pub(super) fn mark(&self, store: &dyn Store, map: &Clusters, bad: bool) -> Result<(), AllocationError> {
        for run in &map.taken {
            for table in &self.tables {
                match (self.wide, bad) {
                    (true, true) => change_entries(store, *table, run, &BAD_32.to_le_bytes())?,
                    (false, true) => change_entries(store, *table, run, &BAD_16.to_le_bytes())?,
                    (true, false) => change_entries(store, *table, run, &[0; 4])?,
                    (false, false) => change_entries(store, *table, run, &[0; 2])?,
                }
            }
        }
        if let Some(at) = self.free_count_at {
            let mut field = read(store, at, 4)?;
            let free = number::<4>(&field, 0) as u32;
            let changed = u32::try_from(map.all_taken().count()).unwrap_or(u32::MAX);
            // All ones: not known.
            if free != u32::MAX {
                let now = if bad { free.saturating_sub(changed) } else { free.saturating_add(changed) };
                put(&mut field, 0, &now.to_le_bytes());
                write(store, at, &field)?;
            }
        }
        Ok(())
    }

    pub(super) fn bad(
        &self,
        store: &dyn Store,
        wanted: &[Range<u64>],
    ) -> Result<Vec<Range<u64>>, AllocationError> {
        let Some(table) = self.tables.first() else { return Ok(vec![]) };
        match self.wide {
            true => bad_entries(store, *table, wanted, &BAD_32.to_le_bytes()),
            false => bad_entries(store, *table, wanted, &BAD_16.to_le_bytes()),
        }
    }
}

/// FAT's small fields, or where they are 0 the large ones.
fn either(small: u64, large: u64) -> u64 {
    if small == 0 { large } else { small }
}
