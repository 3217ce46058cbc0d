//! What a virtual drive is made as, and where things lie on its medium.
//!
//! ```text
//! offset              size
//!      0               512 KiB  the state, twice (see `slots`)
//!      512 KiB         MBR table
//!      …               DataStore table
//!      data_offset()   the drive's blocks, encrypted
//! ```

use super::slots::SLOTS;
use super::tables::ByteTable;

/// Blocks start at a multiple of this many bytes.
const DATA_ALIGNMENT: u64 = 1024 * 1024;
/// Bytes that ranges are aligned to.
const RANGE_ALIGNMENT: u64 = 4096;

/// What a drive is made as; fixed for its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveConfig {
    /// Logical blocks.
    pub blocks: u64,
    /// Bytes of a logical block: 512 or 4096.
    pub block_bytes: u32,
    /// Locking ranges besides the global one, 1 to 32. Opal SSC 2.01 asks for 8.
    pub ranges: u16,
    /// Admins of the Locking SP, 1 to 32. Opal SSC 2.01 asks for 4.
    pub admins: u16,
    /// Users of the Locking SP, 1 to 32. Opal SSC 2.01 asks for 8, and one more for Single User Mode.
    pub users: u16,
    /// Bytes of the MBR table. Opal SSC 2.01 asks for 128 MiB.
    pub mbr_bytes: u64,
    /// Bytes of the DataStore table. Opal SSC 2.01 asks for 10 MiB.
    pub data_store_bytes: u64,
    /// Iterations of PBKDF2-HMAC-SHA-512 for every PIN, at least 1.
    pub pin_iterations: u32,
    /// What is printed on it.
    pub label: Label,
}

/// What is printed on a drive's label, or can be read from it without a secret. Whoever has the
/// drive in hand has these: they open no data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The serial number, at most 20 characters of ASCII.
    pub serial: String,
    /// The factory's PIN, which is the owner's until it is changed.
    pub msid: String,
    /// The secret that allows to erase everything.
    pub psid: String,
}

impl DriveConfig {
    /// A drive of the sizes and numbers that Opal SSC 2.01 asks for.
    pub const fn opal(blocks: u64, block_bytes: u32, label: Label) -> Self {
        Self {
            blocks,
            block_bytes,
            ranges: 8,
            admins: 4,
            users: 9,
            mbr_bytes: 128 * 1024 * 1024,
            data_store_bytes: 10 * 1024 * 1024,
            pin_iterations: 10_000,
            label,
        }
    }

    /// Bytes of the drive as a host sees it.
    pub const fn data_bytes(&self) -> u64 {
        self.blocks.saturating_mul(self.block_bytes as u64)
    }

    /// First byte of the blocks on the medium.
    pub const fn data_offset(&self) -> u64 {
        let tables = self.mbr_bytes.saturating_add(self.data_store_bytes);
        SLOTS.saturating_add(tables).next_multiple_of(DATA_ALIGNMENT)
    }

    /// Bytes that the medium must have.
    pub const fn medium_bytes(&self) -> u64 {
        self.data_offset().saturating_add(self.data_bytes())
    }

    /// Blocks that ranges are aligned to.
    pub const fn alignment_blocks(&self) -> u64 {
        let blocks = RANGE_ALIGNMENT / self.block_bytes as u64;
        if blocks == 0 { 1 } else { blocks }
    }

    pub(super) const fn mbr_table(&self) -> ByteTable {
        ByteTable { offset: SLOTS, len: self.mbr_bytes }
    }

    pub(super) const fn data_store_table(&self) -> ByteTable {
        ByteTable { offset: SLOTS + self.mbr_bytes, len: self.data_store_bytes }
    }

    /// What can't be made, in words.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let printable = |text: &str, max: usize| {
            !text.is_empty() && text.len() <= max && text.bytes().all(|b| b.is_ascii_graphic())
        };
        // Far above what a medium can have, far below where offsets overflow.
        const MOST: u64 = 1 << 56;
        if !matches!(self.block_bytes, 512 | 4096) {
            Some("a block has 512 or 4096 bytes")
        } else if self.blocks == 0 || self.blocks > MOST / u64::from(self.block_bytes) {
            Some("it has no blocks, or more than there can be")
        } else if !self.blocks.is_multiple_of(self.alignment_blocks()) {
            Some("its size is not a multiple of 4096 bytes")
        } else if self.mbr_bytes > MOST || self.data_store_bytes > MOST {
            Some("its tables are larger than there can be")
        } else if !self.mbr_bytes.is_multiple_of(self.block_bytes.into()) {
            Some("its MBR table is not a whole number of blocks")
        } else if [self.ranges, self.admins, self.users].iter().any(|n| !(1..=32).contains(n)) {
            Some("ranges, admins and users are 1 to 32 each")
        } else if self.pin_iterations == 0 {
            Some("its PINs need at least one iteration")
        } else if !printable(&self.label.serial, 20)
            || !printable(&self.label.msid, 32)
            || !printable(&self.label.psid, 32)
        {
            Some(
                "its label has at most 20 characters of serial number and 32 of MSID and PSID, without spaces",
            )
        } else {
            None
        }
    }
}
