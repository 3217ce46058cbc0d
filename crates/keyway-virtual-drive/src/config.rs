//! What a virtual drive is made as, and where things lie on its medium.
//!
//! ```text
//! offset              size
//!      0               512 KiB  the state, twice (see `slots`)
//!      512 KiB         MBR table
//!      …               DataStore tables
//!      data_offset()   the drive's blocks, encrypted
//! ```

use super::error::DriveError;
use super::slots::SLOTS;
use keyway_error::enum_table;
use std::collections::BTreeSet;

/// Blocks start at a multiple of this many bytes.
const DATA_ALIGNMENT: u64 = 1024 * 1024;
/// Bytes that ranges are aligned to.
const RANGE_ALIGNMENT: u64 = 4096;

/// A table of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByteTable {
    /// First byte on the medium.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) len: u64,
}

enum_table! {
    /// Which Security Subsystem Class a drive is of.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SscKind {
        /// Opal 2.02.
        Opal2("opal2", "Opal"),
        /// Opalite 1.00: Opal with the global range only.
        Opalite("opalite", "Opalite"),
        /// Pyrite 1.00: locking of a drive that does not encrypt.
        Pyrite1("pyrite1", "Pyrite"),
        /// Pyrite 2.01: the same, and reverting it overwrites what it holds.
        Pyrite2("pyrite2", "Pyrite"),
        /// Ruby 1.00: Opal for data centres.
        Ruby("ruby", "Ruby"),
        /// Enterprise 1.01, to be read only: bands can be listed and their masters proved, and nothing changed.
        Enterprise("enterprise", "Enterprise"),
    }
    /// The word on the command line.
    pub name: &'static str,
    /// What column SSC of TPerInfo says.
    pub(super) tcg_name: &'static str,
}

impl SscKind {
    /// Whether the medium is encrypted, and keys can be made anew.
    pub const fn encrypts(self) -> bool {
        !matches!(self, Self::Pyrite1 | Self::Pyrite2)
    }

    /// Whether its tables are those of Opalite 1.00 and Pyrite 2.01, where Opal has more: the owner alone in the Admin
    /// SP, without admins and makers, and no common names.
    pub(super) const fn is_small(self) -> bool {
        matches!(self, Self::Opalite | Self::Pyrite1 | Self::Pyrite2)
    }

    /// Whether it tells how it removes data.
    const fn removes_data(self) -> bool {
        !matches!(self, Self::Opalite | Self::Pyrite1 | Self::Enterprise)
    }

    /// How: 2 is a new key, 0 is overwriting (Opal SSC 2.02, table 31).
    pub(super) const fn data_removal(self) -> u8 {
        if self.encrypts() { 2 } else { 0 }
    }
}

/// The channel that every drive of the Enterprise SSC has.
const ENTERPRISE_COM_ID: u16 = 0x07fe;

/// What differs between drives of one SSC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Firmware {
    /// The drive's only channel, above 0x0fff but for Enterprise's.
    pub com_id: u16,
    /// The minor version of the SSC: 2 in Opal 2.02.
    pub minor_version: u8,
    /// Whether ranges must be aligned.
    pub aligned: bool,
    /// Logical blocks that they are aligned to; 0 is as many as are 4096 bytes.
    pub granularity: u64,
    /// Whether it says that it is of Opal 1.00, too.
    pub opal_v1: bool,
    /// Bytes that the sizes of DataStore tables are multiples of.
    pub data_store_alignment: u32,
    /// Whether there is Block SID Authentication.
    pub block_sid: bool,
}

impl Firmware {
    /// This drive's own.
    pub const OWN: Self = Self {
        com_id: 0x1000,
        minor_version: 2,
        aligned: true,
        granularity: 0,
        opal_v1: false,
        data_store_alignment: 1,
        block_sid: true,
    };
}

/// How the Locking SP was activated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Setup {
    /// Ranges in Single User Mode.
    pub(super) single_user: BTreeSet<u16>,
    /// Admins, not their users, say where those ranges lie.
    pub(super) admins_place_ranges: bool,
    /// Bytes of each DataStore table.
    pub(super) data_stores: Vec<u64>,
}

impl Setup {
    /// Nothing chosen: one DataStore table with all the bytes there are.
    pub(super) fn ordinary(config: &DriveConfig) -> Self {
        Self { data_stores: vec![config.data_store_bytes], ..Self::default() }
    }

    /// The user to whom alone a range belongs.
    pub(super) fn user_of(&self, range: u16) -> Option<u16> {
        self.single_user.contains(&range).then_some(range + 1)
    }

    /// The range that belongs to a user alone.
    pub(super) fn range_of(&self, user: u16) -> Option<u16> {
        user.checked_sub(1).filter(|range| self.single_user.contains(range))
    }
}

/// What a drive is made as; fixed for its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveConfig {
    /// Logical blocks.
    pub blocks: u64,
    /// Bytes of a logical block: 512 or 4096.
    pub block_bytes: u32,
    /// The SSC.
    pub ssc: SscKind,
    /// What its maker chose.
    pub firmware: Firmware,
    /// Locking ranges besides the global one, 0 to 32. Opal SSC 2.02 asks for 8.
    pub ranges: u16,
    /// Admins of the Locking SP, 1 to 32. Opal SSC 2.02 asks for 4.
    pub admins: u16,
    /// Users of the Locking SP, 1 to 32. Opal SSC 2.02 asks for 8; with Single User Mode one more than
    /// there are ranges besides the global one.
    pub users: u16,
    /// Whether Single User Mode can be chosen when the Locking SP is activated.
    pub single_user: bool,
    /// Wrong PINs in a row that lock an authority out until the next power cycle; 0 is no limit. For the owner and
    /// the label's secret it is 5. The specification's tables begin with 0 here.
    pub try_limit: u32,
    /// Bytes of the MBR table. Opal SSC 2.02 asks for 128 MiB.
    pub mbr_bytes: u64,
    /// Bytes of all DataStore tables. Opal SSC 2.02 asks for 10 MiB.
    pub data_store_bytes: u64,
    /// DataStore tables that they can be divided into, 1 to 32.
    pub data_stores: u16,
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

impl Label {
    /// Of a drive that nobody has seen before.
    ///
    /// # Errors
    /// [`DriveError::NoRandom`].
    pub fn random() -> Result<Self, DriveError> {
        let mut random = [0; 76];
        getrandom::fill(&mut random).map_err(|_| DriveError::NoRandom)?;
        // 32 letters that can't be taken for one another.
        let letter = |byte: &u8| char::from(b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789"[usize::from(byte & 31)]);
        let mut letters = random.iter().map(letter);
        let mut text = |len: usize| letters.by_ref().take(len).collect::<String>();
        Ok(Self { serial: format!("KW{}", text(12)), msid: text(32), psid: text(32) })
    }
}

impl DriveConfig {
    /// A drive of the sizes and numbers that Opal SSC 2.02 asks for.
    pub const fn opal(blocks: u64, block_bytes: u32, label: Label) -> Self {
        Self {
            blocks,
            block_bytes,
            ssc: SscKind::Opal2,
            firmware: Firmware::OWN,
            ranges: 8,
            admins: 4,
            users: 9,
            single_user: true,
            try_limit: 5,
            mbr_bytes: 128 * 1024 * 1024,
            data_store_bytes: 10 * 1024 * 1024,
            data_stores: 9,
            pin_iterations: 10_000,
            label,
        }
    }

    /// A drive of another SSC, of the sizes and numbers that it asks for: Opalite and Pyrite have the global
    /// range only, one admin, two users and 128 KiB for the host's own use.
    pub fn of(ssc: SscKind, blocks: u64, block_bytes: u32, label: Label) -> Self {
        let opal = Self::opal(blocks, block_bytes, label);
        if ssc == SscKind::Opal2 {
            return opal;
        }
        let opal = Self { firmware: Firmware { minor_version: 0, ..Firmware::OWN }, ..opal };
        match ssc {
            SscKind::Opal2 => opal,
            SscKind::Ruby => Self { ssc, single_user: false, data_stores: 1, ..opal },
            SscKind::Enterprise => Self {
                ssc,
                // 0x07fe is this SSC's (Enterprise SSC 1.01, 3.6.2.7); it knows no alignment and no Block SID.
                firmware: Firmware {
                    com_id: ENTERPRISE_COM_ID,
                    aligned: false,
                    granularity: 1,
                    block_sid: false,
                    ..opal.firmware
                },
                ranges: 15,
                admins: 1,
                users: 1,
                single_user: false,
                mbr_bytes: 0,
                data_store_bytes: 0,
                data_stores: 1,
                ..opal
            },
            SscKind::Opalite | SscKind::Pyrite1 | SscKind::Pyrite2 => Self {
                ssc,
                ranges: 0,
                admins: 1,
                users: 2,
                single_user: false,
                data_store_bytes: 128 * 1024,
                data_stores: 1,
                ..opal
            },
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
        match (self.firmware.granularity, blocks) {
            (0, 0) => 1,
            (0, blocks) => blocks,
            (granularity, _) => granularity,
        }
    }

    /// Whether it tells how it removes data: Opal does since 2.02.
    pub(super) const fn removes_data(&self) -> bool {
        self.ssc.removes_data() && (!matches!(self.ssc, SscKind::Opal2) || self.firmware.minor_version >= 2)
    }

    pub(super) const fn mbr_table(&self) -> ByteTable {
        ByteTable { offset: SLOTS, len: self.mbr_bytes }
    }

    /// The part of the medium that all DataStore tables share.
    pub(super) const fn data_store_area(&self) -> ByteTable {
        ByteTable { offset: SLOTS + self.mbr_bytes, len: self.data_store_bytes }
    }

    /// The DataStore tables, one behind the other.
    pub(super) fn data_store_tables(&self, setup: &Setup) -> impl Iterator<Item = ByteTable> {
        let mut offset = self.data_store_area().offset;
        setup.data_stores.iter().map(move |len| {
            let table = ByteTable { offset, len: *len };
            offset += len;
            table
        })
    }

    /// The blocks on the medium.
    pub(super) const fn data_area(&self) -> ByteTable {
        ByteTable { offset: self.data_offset(), len: self.data_bytes() }
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
            Some("its size is not a multiple of 4096 bytes, or of what its ranges are aligned to")
        } else if self.mbr_bytes > MOST || self.data_store_bytes > MOST {
            Some("its tables are larger than there can be")
        } else if !self.mbr_bytes.is_multiple_of(self.block_bytes.into()) {
            Some("its MBR table is not a whole number of blocks")
        } else if self.ranges > 32
            || [self.admins, self.users, self.data_stores].iter().any(|n| !(1..=32).contains(n))
        {
            Some("admins, users and DataStore tables are 1 to 32 each, and ranges at most 32")
        } else if self.single_user && self.users <= self.ranges {
            Some("Single User Mode needs a user for each range and one for the global range")
        } else if (self.firmware.com_id < 0x1000
            && (self.ssc, self.firmware.com_id) != (SscKind::Enterprise, ENTERPRISE_COM_ID))
            || self.firmware.granularity > 1 << 20
            || self.firmware.data_store_alignment == 0
        {
            Some("its channel is above 0x0fff, and alignments are not 0 and not above a million blocks")
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
