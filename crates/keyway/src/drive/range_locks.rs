//! Where a part of a drive lies that locks by itself, and how it is locked: an Opal range, or a band of the Enterprise standard.

use keyway_sed::host::ranges::Range;
use serde::Serialize;

/// Where a range or band lies, and how it is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RangeLocks {
    /// Its first block.
    pub start_block: u64,
    /// Its blocks; 0 where it has no place on the drive.
    pub blocks: u64,
    /// Reads can be locked.
    pub read_lock_enabled: bool,
    /// Writes can be locked.
    pub write_lock_enabled: bool,
    /// Reads are locked, if they can be.
    pub read_locked: bool,
    /// Writes are locked, if they can be.
    pub write_locked: bool,
    /// A power cycle locks it.
    pub locks_on_power_cycle: bool,
}

impl From<&Range> for RangeLocks {
    fn from(range: &Range) -> Self {
        Self {
            start_block: range.start,
            blocks: range.blocks,
            read_lock_enabled: range.read_lock_enabled,
            write_lock_enabled: range.write_lock_enabled,
            read_locked: range.read_locked,
            write_locked: range.write_locked,
            locks_on_power_cycle: range.locks_on_power_cycle,
        }
    }
}
