//! FAT16 and FAT32: a bad cluster has a number of its own in the file allocation table.
//!
//! Source: Microsoft's *FAT32 File System Specification*, version 1.03.

use super::clusters::Clusters;
use super::error::AllocationError;
use super::medium::{bad_entries, change_entries, number, put, read, write};
use keyway_store::Store;
use std::ops::Range;

/// From so many clusters on what is no FAT32 is a FAT16: 4085 says the specification, and Linux counts so; Windows' driver
/// begins two later. So many it can't have.
const FAT16_FROM: u64 = 4087;
const FAT16_BELOW: u64 = 65_525;

/// FAT32's flags that say that one of its tables counts alone, whichever that is.
const NOT_MIRRORED: u64 = 0x0080;

/// The number that marks a bad cluster; the top four bits of FAT32's are not its own.
const BAD_16: u16 = 0xfff7;
const BAD_32: u32 = 0x0fff_fff7;

/// FAT32's sector with the count of free clusters: how it begins, what stands before the count, where that is.
const INFORMATION: &[u8] = b"RRaA";
const INFORMATION_TOO: &[u8] = b"rrAa";
const INFORMATION_TOO_AT: usize = 484;
const FREE_COUNT_AT: usize = 488;
const INFORMATION_BYTES: u64 = 512;

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
    /// Where the counts of free clusters are: FAT32's, and the one that goes with its spare boot sector.
    free_counts_at: Vec<u64>,
}

impl Fat {
    /// `boot` is one that [`crate::Superblock`] takes for FAT's: sectors and clusters have a size.
    pub(super) fn open(store: &dyn Store, boot: &[u8; 512]) -> Result<(Self, Clusters), AllocationError> {
        let sector = number::<2>(boot, 11);
        let cluster = sector * number::<1>(boot, 13);
        let reserved = number::<2>(boot, 14) * sector;
        let tables = number::<1>(boot, 16);
        let root = (number::<2>(boot, 17) * 32).next_multiple_of(sector);
        let sectors = either(number::<2>(boot, 19), number::<4>(boot, 32));
        // What tells a FAT32 is this, to every driver; mkfs.fat makes them with few clusters, too.
        let wide = number::<2>(boot, 22) == 0;
        let table = either(number::<2>(boot, 22), number::<4>(boot, 36)) * sector;
        let start = reserved + tables * table + root;
        let count = (sectors * sector).saturating_sub(start) / cluster;
        if wide && number::<2>(boot, 40) & NOT_MIRRORED != 0 {
            return Err(AllocationError::Unsupported("one of FAT32's tables counts alone"));
        }
        if !wide && count < FAT16_FROM {
            return Err(AllocationError::Unsupported("FAT12"));
        }
        if !wide && count >= FAT16_BELOW {
            return Err(AllocationError::Damaged("more clusters than FAT16 can have"));
        }
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
        let fat = Self {
            tables: (0..tables).map(|i| reserved + i * table + FIRST * width).collect(),
            wide,
            free_counts_at: if wide { free_counts(store, boot, reserved)? } else { vec![] },
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
        let changed = u32::try_from(map.all_taken().count()).unwrap_or(u32::MAX);
        for at in &self.free_counts_at {
            let mut field = read(store, *at, 4)?;
            let free = number::<4>(&field, 0) as u32;
            // All ones: not known.
            if free != u32::MAX {
                let now = if bad { free.saturating_sub(changed) } else { free.saturating_add(changed) };
                put(&mut field, 0, &now.to_le_bytes());
                write(store, *at, &field)?;
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

/// Where FAT32's count of free clusters is; and its copy behind the spare boot sector, as long as nobody has left that
/// behind: drivers do.
fn free_counts(store: &dyn Store, boot: &[u8; 512], reserved: u64) -> Result<Vec<u64>, AllocationError> {
    let (sector, own, spare) = (number::<2>(boot, 11), number::<2>(boot, 48), number::<2>(boot, 50));
    let copy = if spare == 0 { 0 } else { spare + own };
    let mut found: Vec<(u64, u64)> = Vec::new();
    for at in [own, copy].map(|number| number * sector) {
        if at == 0 || at + INFORMATION_BYTES > reserved {
            continue;
        }
        let bytes = read(store, at, INFORMATION_BYTES)?;
        let is_one = bytes.starts_with(INFORMATION)
            && bytes.get(INFORMATION_TOO_AT..FREE_COUNT_AT) == Some(INFORMATION_TOO);
        let free = number::<4>(&bytes, FREE_COUNT_AT);
        if is_one && found.iter().all(|(_, same)| *same == free) {
            found.push((at + FREE_COUNT_AT as u64, free));
        }
    }
    Ok(found.into_iter().map(|(at, _)| at).collect())
}

/// FAT's small fields, or where they are 0 the large ones.
fn either(small: u64, large: u64) -> u64 {
    if small == 0 { large } else { small }
}
