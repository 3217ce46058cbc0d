//! exFAT: a bad cluster is allocated in the bitmap and has a number of its own in the table.
//!
//! Source: Microsoft's *exFAT file system specification*, sections 3, 4.1 and 7.1.

use super::{Clusters, ReserveError, length, number};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The number that marks a bad cluster.
const BAD: u32 = 0xffff_fff7;

/// The type of the root directory's entry that says where the bitmap is.
const BITMAP_ENTRY: u8 = 0x81;

/// Bytes of a directory entry.
const ENTRY: usize = 32;

/// The number of the first cluster.
const FIRST: u64 = 2;

/// Where the table and the bitmap are.
pub(super) struct ExFat {
    table: u64,
    bitmap: u64,
}

impl ExFat {
    pub(super) fn open(image: &File, boot: &[u8; 512]) -> Result<(Self, Clusters), ReserveError> {
        let (sector_shift, cluster_shift) = (number::<1>(boot, 108), number::<1>(boot, 109));
        // The specification's limits: sectors of 512 to 4096 bytes, clusters of 32 MiB.
        if !(9..=12).contains(&sector_shift) || sector_shift + cluster_shift > 25 {
            return Err(ReserveError::Unexpected("its boot sector"));
        }
        let bytes = 1u64 << (sector_shift + cluster_shift);
        let table = number::<4>(boot, 80) << sector_shift;
        let start = number::<4>(boot, 88) << sector_shift;
        let count = number::<4>(boot, 92);
        let at = |cluster: u64| Some(start + cluster.checked_sub(FIRST)? * bytes);
        let root = at(number::<4>(boot, 96)).ok_or(ReserveError::Unexpected("its root folder"))?;
        let mut folder = vec![0; length(bytes)?];
        image.read_exact_at(&mut folder, root)?;
        let entry = folder.chunks_exact(ENTRY).find(|entry| entry.first() == Some(&BITMAP_ENTRY));
        let missing = ReserveError::Unexpected("its bitmap");
        let Some(bitmap) = entry.and_then(|entry| at(number::<4>(entry, 20))) else { return Err(missing) };
        let mut used = vec![0; length(count.div_ceil(8))?];
        image.read_exact_at(&mut used, bitmap)?;
        Ok((Self { table, bitmap }, Clusters { start, bytes, count, used, taken: vec![] }))
    }

    pub(super) fn mark(self, image: &File, map: &Clusters) -> Result<(), ReserveError> {
        image.write_all_at(&map.used, self.bitmap)?;
        for cluster in map.all_taken() {
            image.write_all_at(&BAD.to_le_bytes(), self.table + (cluster + FIRST) * 4)?;
        }
        Ok(())
    }
}
