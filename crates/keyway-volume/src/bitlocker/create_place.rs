//! Where a new volume's metadata goes.
//!
//! Source of the distances: the volumes that Windows 10 and 11 made (see [`super::create`]).

use super::block::REGION_BYTES;
use crate::allocation::{Allocation, AllocationError};

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

/// Where everything lies that is not the file system's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// First byte of all.
    pub start: u64,
    /// The three copies of the metadata.
    pub copies: [u64; 3],
    /// The moved first sectors.
    pub boot_backup: u64,
    /// The spare bytes.
    pub spare: u64,
}

impl Places {
    /// Inside a file system, as far from each other as Windows puts them. Sets them aside there. `boot_bytes`
    /// are those of the first sectors that lie elsewhere.
    ///
    /// # Errors
    /// There is no room.
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
        Self { start, copies: [start, second, second + REGION + ALIGN], boot_backup, spare }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_end_everything_fits() {
        for size in [64 << 20, (64 << 20) + 512, (1 << 40) + 1024] {
            for boot in [BOOT_BYTES, 0x50_3000] {
                let places = Places::at_the_end(size, boot);
                let rest = size - (places.copies[2] + REGION);
                assert!((ALIGN..2 * ALIGN).contains(&rest));
                assert_eq!(places.copies[0], places.start);
                assert!(places.start.is_multiple_of(ALIGN) && places.boot_backup.is_multiple_of(ALIGN));
            }
        }
    }
}
