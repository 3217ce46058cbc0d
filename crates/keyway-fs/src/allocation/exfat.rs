//! exFAT: a bad cluster is allocated in the bitmap and has a number of its own in the table.
//!
//! Source: Microsoft's *exFAT file system specification*, sections 3, 4.1 and 7.1.

use super::clusters::Clusters;
use super::error::AllocationError;
use super::medium::{bad_entries, change_entries, number, read, write};
use keyway_store::Store;
use std::ops::Range;

/// The number that marks a bad cluster.
const BAD: u32 = 0xffff_fff7;

/// The number of a cluster that belongs to no chain.
const FREE: u32 = 0;

/// The type of the root directory's entry that says where the bitmap is.
const BITMAP_ENTRY: u8 = 0x81;

/// Bytes of a directory entry.
const ENTRY: usize = 32;

/// The number of the first cluster.
const FIRST: u64 = 2;

/// `VolumeFlags`: the volume was not unmounted; the second table counts.
const DIRTY: u64 = 0x02;
const SECOND_TABLE: u64 = 0x01;

/// Where the table and the bitmap are.
pub(super) struct ExFat {
    /// Where the entry of the first cluster is.
    table: u64,
    bitmap: u64,
}

impl ExFat {
    pub(super) fn open(store: &dyn Store, boot: &[u8; 512]) -> Result<(Self, Clusters), AllocationError> {
        let (sector_shift, cluster_shift) = (number::<1>(boot, 108), number::<1>(boot, 109));
        // The specification's limits: sectors of 512 to 4096 bytes, clusters of 32 MiB.
        if !(9..=12).contains(&sector_shift) || sector_shift + cluster_shift > 25 {
            return Err(AllocationError::Damaged("its boot sector"));
        }
        let flags = number::<2>(boot, 106);
        if flags & DIRTY != 0 {
            return Err(AllocationError::Dirty("exFAT's mark of a volume in use"));
        }
        if flags & SECOND_TABLE != 0 || number::<1>(boot, 110) != 1 {
            return Err(AllocationError::Unsupported("a second exFAT table"));
        }
        let bytes = 1u64 << (sector_shift + cluster_shift);
        let table = number::<4>(boot, 80) << sector_shift;
        let start = number::<4>(boot, 88) << sector_shift;
        let count = number::<4>(boot, 92);
        let mut map = Clusters::new(store, start, bytes, count)?;
        let at = |cluster: u64| {
            let index = cluster.checked_sub(FIRST).filter(|index| *index < count)?;
            Some(start + index * bytes)
        };
        let root = at(number::<4>(boot, 96)).ok_or(AllocationError::Damaged("its root folder"))?;
        // mkfs puts the bitmap's entry among the first; a cluster may have 32 MiB.
        let folder = read(store, root, bytes.min(1 << 16))?;
        let entry = folder.chunks_exact(ENTRY).find(|entry| entry.first() == Some(&BITMAP_ENTRY));
        let missing = AllocationError::Damaged("its bitmap");
        let Some(entry) = entry else { return Err(missing) };
        let (first, len) = (number::<4>(entry, 20), number::<8>(entry, 24));
        let Some(bitmap) = at(first).filter(|_| len >= map.used.len() as u64) else { return Err(missing) };
        let table = table + FIRST * 4;
        if table.checked_add(count * 4).is_none_or(|end| end > start) {
            return Err(AllocationError::Damaged("its table's size"));
        }
        // It may lie in pieces, as any file; nobody is known to make it so.
        let clusters = (map.used.len() as u64).div_ceil(bytes);
        let chain = read(store, table + (first - FIRST) * 4, clusters.saturating_sub(1) * 4)?;
        let one_piece =
            (first + 1..).zip(chain.chunks_exact(4)).all(|(next, entry)| number::<4>(entry, 0) == next);
        if !one_piece || first + clusters > FIRST + count {
            return Err(AllocationError::Unsupported("exFAT's bitmap is in pieces"));
        }
        map.used = read(store, bitmap, map.used.len() as u64)?;
        Ok((Self { table, bitmap }, map))
    }

    /// The taken clusters become bad, or free again.
    pub(super) fn mark(&self, store: &dyn Store, map: &Clusters, bad: bool) -> Result<(), AllocationError> {
        let number = if bad { BAD } else { FREE };
        for run in &map.taken {
            let bytes = run.start / 8..run.end.div_ceil(8);
            let (from, to) = (bytes.start as usize, bytes.end as usize);
            write(store, self.bitmap + bytes.start, map.used.get(from..to).unwrap_or_default())?;
            change_entries(store, self.table, run, &number.to_le_bytes())?;
        }
        Ok(())
    }

    pub(super) fn bad(
        &self,
        store: &dyn Store,
        wanted: &[Range<u64>],
    ) -> Result<Vec<Range<u64>>, AllocationError> {
        bad_entries(store, self.table, wanted, &BAD.to_le_bytes())
    }
}
