//! Where a volume keeps its metadata, the moved first sectors and the spare bytes.
//!
//! Source of the distances: the volumes that Windows 10 and 11 made (see [`super::create`]).

use super::block::REGION_BYTES;
use keyway_fs::allocation::{Allocation, AllocationError};

/// Bytes of the first sectors that lie elsewhere, where there is no decoy file system.
pub const BOOT_BYTES: u64 = 8192;

/// Bytes behind them that the metadata names, for the conversion's own use.
pub const SPARE_BYTES: u64 = 64 * 1024;

/// Where the first copy goes if it can.
const FIRST: u64 = 33 << 20;

/// The others follow at distances of this part of the volume.
const PARTS: u64 = 9;

/// Every place is a multiple of this: a page, and a sector of any kind.
const ALIGN: u64 = 4096;

const REGION: u64 = REGION_BYTES as u64;

/// Bytes that are placed where a VeraCrypt volume's headers were: all but two pages. One may be lost to alignment, and
/// one stays free behind the last copy, as in [`MetadataLocations::at_the_end`].
const PLACED: u64 = (256 << 10) - 2 * ALIGN;

/// Where everything lies that is not the file system's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetadataLocations {
    /// First byte of all.
    pub start: u64,
    /// The three copies of the metadata.
    pub copies: [u64; 3],
    /// The moved first sectors.
    pub boot_backup: u64,
    /// The spare bytes.
    pub spare: u64,
    /// How many they are.
    pub spare_bytes: u64,
}

impl MetadataLocations {
    /// Inside a file system, as far from each other as Windows puts them. Sets them aside there. `boot_bytes`
    /// are those of the first sectors that lie elsewhere.
    pub fn inside(map: &mut Allocation, size: u64, boot_bytes: u64) -> Result<Self, AllocationError> {
        let distance = (size / PARTS).next_multiple_of(ALIGN);
        let mut take = |from, len| {
            let at = map.find(from, len, ALIGN)?;
            map.take(at..at + len);
            Ok::<_, AllocationError>(at)
        };
        let first = take(FIRST, REGION + boot_bytes + SPARE_BYTES)?;
        let second = take(FIRST + distance, REGION)?;
        let third = take(FIRST + 2 * distance, REGION)?;
        let boot_backup = first + REGION;
        Ok(Self {
            start: first.min(second).min(third),
            copies: [first, second, third],
            boot_backup,
            spare: boot_backup + boot_bytes,
            spare_bytes: SPARE_BYTES,
        })
    }

    /// One after the other at the end, so that what is in front can be used as one piece.
    ///
    /// A page is left free behind each of the last two copies: where one ended with the volume,
    /// cryptsetup 2.7.5 made a device that its kernel (6.12) never came back from.
    pub fn at_the_end(size: u64, boot_bytes: u64) -> Self {
        let needed = 3 * REGION + boot_bytes + SPARE_BYTES + 2 * ALIGN;
        let start = size.saturating_sub(needed) / ALIGN * ALIGN;
        let boot_backup = start + REGION;
        let spare = boot_backup + boot_bytes;
        let second = spare + SPARE_BYTES;
        let copies = [start, second, second + REGION + ALIGN];
        Self { start, copies, boot_backup, spare, spare_bytes: SPARE_BYTES }
    }

    /// Behind what reaches to `end`, in as many bytes as a VeraCrypt volume's headers take: 256 KiB, one page of which
    /// the places lose where `end` is not the end of one. The first half of it holds nothing but two copies of the
    /// metadata, which need not be there before everything else is. [`BOOT_BYTES`] are those of the first sectors; for
    /// spare bytes there is less room than elsewhere.
    pub fn in_place_of_headers(end: u64) -> Self {
        let start = end.next_multiple_of(ALIGN);
        let second = start + REGION + ALIGN;
        let boot_backup = second + REGION;
        let spare = boot_backup + BOOT_BYTES;
        let third = start + PLACED - REGION;
        Self { start, copies: [start, second, third], boot_backup, spare, spare_bytes: third - spare }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_place_of_headers_everything_fits() {
        for size in [64 << 20, (64 << 20) + 512, (1 << 40) + 3584] {
            let end = size - (256 << 10);
            let places = MetadataLocations::in_place_of_headers(end);
            let [first, second, third] = places.copies;
            assert!(first >= end && second >= first + REGION && places.boot_backup == second + REGION);
            assert!(places.boot_backup >= size - (128 << 10) + ALIGN, "behind what is still to be moved");
            assert_eq!(places.spare, places.boot_backup + BOOT_BYTES);
            assert!(places.spare_bytes >= 40 << 10 && places.spare + places.spare_bytes == third);
            assert!(third + REGION + ALIGN <= size);
        }
    }

    #[test]
    fn at_the_end_everything_fits() {
        for size in [64 << 20, (64 << 20) + 512, (1 << 40) + 1024] {
            for boot in [BOOT_BYTES, 0x50_3000] {
                let places = MetadataLocations::at_the_end(size, boot);
                let rest = size - (places.copies[2] + REGION);
                assert!((ALIGN..2 * ALIGN).contains(&rest));
                assert_eq!(places.copies[0], places.start);
                assert!(places.start.is_multiple_of(ALIGN) && places.boot_backup.is_multiple_of(ALIGN));
            }
        }
    }
}
