//! What the feature descriptors say, one type each.

/// How the TPer communicates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TPerFeature {
    /// Synchronous protocol: what everybody speaks.
    pub sync: bool,
    /// Asynchronous protocol.
    pub async_protocol: bool,
    /// Acknowledgements.
    pub ack_nak: bool,
    /// Buffer management.
    pub buffer_management: bool,
    /// Streaming.
    pub streaming: bool,
    /// ComIDs given out on request.
    pub com_id_management: bool,
}

/// The state of locking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LockingFeature {
    /// There is a Locking template.
    pub supported: bool,
    /// An SP with it is in use (not in its factory state).
    pub enabled: bool,
    /// Some range is locked for reading or writing.
    pub locked: bool,
    /// The medium is encrypted.
    pub media_encryption: bool,
    /// The MBR shadow is enabled.
    pub mbr_enabled: bool,
    /// The MBR shadow has done its work.
    pub mbr_done: bool,
    /// There is no MBR shadow.
    pub mbr_shadowing_not_supported: bool,
    /// Hardware resets can lock (Opal 2.02).
    pub hardware_reset_supported: bool,
}

/// What ranges must be aligned to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Geometry {
    /// Whether they must be.
    pub align_required: bool,
    /// Bytes of a logical block.
    pub logical_block_bytes: u32,
    /// Logical blocks that starts and lengths are multiples of.
    pub alignment_granularity: u64,
    /// The first aligned logical block.
    pub lowest_aligned_lba: u64,
}

/// An SSC that says its channels only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BasicSsc {
    /// The first ComID.
    pub base_com_id: u16,
    /// How many there are.
    pub com_ids: u16,
    /// Whether a transfer across ranges of different state fails as a whole: the bit is 0 where a
    /// transfer may cross them if all are unlocked.
    pub range_crossing_fails: bool,
}

/// An SSC of the Opal family.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ssc {
    /// The version byte's minor half: 1 in Opal 2.01, 2 in 2.02.
    pub minor_version: u8,
    /// The first ComID.
    pub base_com_id: u16,
    /// How many there are.
    pub com_ids: u16,
    /// As in [`BasicSsc::range_crossing_fails`].
    pub range_crossing_fails: bool,
    /// Admins of the Locking SP; 0 in Pyrite and Opalite, which have no such field.
    pub admins: u16,
    /// Users of the Locking SP; 0 likewise.
    pub users: u16,
    /// Whether the owner's first PIN is the MSID (0) or something else (255).
    pub initial_sid_pin: u8,
    /// Whether reverting makes the owner's PIN the MSID (0) or something else (255).
    pub reverted_sid_pin: u8,
}

/// Single User Mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SingleUser {
    /// Ranges that can be in it.
    pub ranges: u32,
    /// One or more ranges are.
    pub any: bool,
    /// All ranges are.
    pub all: bool,
    /// Admins, not the users, set where ranges lie.
    pub policy: bool,
}

/// Further DataStore tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DataStore {
    /// How many there may be.
    pub max_tables: u16,
    /// Bytes of all together.
    pub max_bytes: u32,
    /// Bytes that each table's size is a multiple of.
    pub alignment: u32,
}

/// Block SID Authentication.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockSid {
    /// The owner's PIN is no longer the MSID.
    pub sid_differs_from_msid: bool,
    /// The owner can't authenticate until the next reset that ends it.
    pub blocked: bool,
    /// A hardware reset ends it too, not only a power cycle.
    pub hardware_reset_clears: bool,
}

/// Configurable Namespace Locking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NamespaceLocking {
    /// Ranges inside a namespace can be configured.
    pub ranges_configurable: bool,
    /// Some namespace has one besides its global range.
    pub ranges_present: bool,
    /// Keys altogether.
    pub max_keys: u32,
    /// Keys not yet used.
    pub unused_keys: u32,
    /// Ranges a namespace can have; `u32::MAX` says nothing.
    pub max_ranges_per_namespace: u32,
}

/// How data can be removed by a revert.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DataRemoval {
    /// It is going on.
    pub processing: bool,
    /// It was interrupted.
    pub interrupted: bool,
    /// Mechanisms: bit 0 overwriting, 1 block erase, 2 new key, 3 unmapping, 4 resetting write pointers, 5 the maker's.
    pub mechanisms: u8,
    /// For each of them, whether its time is in minutes (else in units of two seconds).
    pub in_minutes: u8,
    /// Time of each mechanism; 0 says nothing.
    pub times: [u16; 6],
}

/// A descriptor as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherFeature {
    /// Its code.
    pub code: u16,
    /// The version byte.
    pub version: u8,
    /// What follows.
    pub bytes: Vec<u8>,
}
