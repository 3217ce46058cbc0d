//! UIDs: the names of everything in a TPer.
//!
//! Eight bytes: the first four are the table, the last four the row in it. Sources: Core 2.01, 6.3
//! ("Assigned UIDs"); Opal SSC 2.01, 4.2 and 4.3 (the preconfigured rows); Enterprise SSC 1.01 for what
//! says so.

use std::fmt;

/// A UID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(u64);

impl Uid {
    /// The session manager itself, which Properties and StartSession are invoked on.
    pub const SESSION_MANAGER: Self = Self(0xff);
    /// The SP of the session ("ThisSP"), which Authenticate, Random and RevertSP are invoked on.
    pub const THIS_SP: Self = Self(1);
    /// No UID.
    pub const NULL: Self = Self(0);

    /// From its bytes as one big-endian number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// A table's row: the table's number and the row's.
    pub const fn row(table: u32, row: u32) -> Self {
        Self((table as u64) << 32 | row as u64)
    }

    /// From the wire.
    pub const fn from_bytes(bytes: [u8; 8]) -> Self {
        Self(u64::from_be_bytes(bytes))
    }

    /// For the wire.
    pub const fn to_bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    /// As a number.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The table's number: the first four bytes.
    pub const fn table_number(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The row's number: the last four bytes; 0 for the table itself.
    pub const fn row_number(self) -> u32 {
        self.0 as u32
    }

    /// Whether this is a table, not one of its rows.
    pub const fn is_table(self) -> bool {
        self.row_number() == 0
    }

    /// The table that it is, or that it is a row of.
    pub const fn table(self) -> Self {
        Self(self.0 & 0xffff_ffff_0000_0000)
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Uid {
    /// As specifications write them: `00000205:00000001`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}:{:08x}", self.table_number(), self.row_number())
    }
}

/// Tables (Core 2.01, table 240).
pub mod table {
    use super::Uid;
    /// SPInfo.
    pub const SP_INFO: Uid = Uid::row(0x02, 0);
    /// SPTemplates.
    pub const SP_TEMPLATES: Uid = Uid::row(0x03, 0);
    /// Table: a row for each table.
    pub const TABLE: Uid = Uid::row(0x01, 0);
    /// MethodID.
    pub const METHOD_ID: Uid = Uid::row(0x06, 0);
    /// AccessControl.
    pub const ACCESS_CONTROL: Uid = Uid::row(0x07, 0);
    /// ACE: access control elements.
    pub const ACE: Uid = Uid::row(0x08, 0);
    /// Authority.
    pub const AUTHORITY: Uid = Uid::row(0x09, 0);
    /// C_PIN: credentials that are PINs.
    pub const C_PIN: Uid = Uid::row(0x0b, 0);
    /// SecretProtect.
    pub const SECRET_PROTECT: Uid = Uid::row(0x1d, 0);
    /// TPerInfo.
    pub const TPER_INFO: Uid = Uid::row(0x0201, 0);
    /// Template.
    pub const TEMPLATE: Uid = Uid::row(0x0204, 0);
    /// SP: a row for each security provider.
    pub const SP: Uid = Uid::row(0x0205, 0);
    /// LockingInfo.
    pub const LOCKING_INFO: Uid = Uid::row(0x0801, 0);
    /// Locking: a row for each range.
    pub const LOCKING: Uid = Uid::row(0x0802, 0);
    /// MBRControl.
    pub const MBR_CONTROL: Uid = Uid::row(0x0803, 0);
    /// MBR: bytes that are shown in place of the drive's first ones.
    pub const MBR: Uid = Uid::row(0x0804, 0);
    /// K_AES_128.
    pub const K_AES_128: Uid = Uid::row(0x0805, 0);
    /// K_AES_256.
    pub const K_AES_256: Uid = Uid::row(0x0806, 0);
    /// DataStore: bytes for the host's own use. Further ones follow by number.
    pub const DATA_STORE: Uid = Uid::row(0x1001, 0);
    /// DataRemovalMechanism (Opal SSC 2.02, 4.2.7).
    pub const DATA_REMOVAL: Uid = Uid::row(0x1101, 0);
}

/// Security providers: rows of the SP table.
pub mod sp {
    use super::Uid;
    /// The Admin SP.
    pub const ADMIN: Uid = Uid::row(0x0205, 1);
    /// The Locking SP.
    pub const LOCKING: Uid = Uid::row(0x0205, 2);
    /// The Locking SP of the Enterprise SSC.
    pub const ENTERPRISE_LOCKING: Uid = Uid::row(0x0205, 0x0001_0001);
}

/// Methods (Core 2.01, table 241; Opal SSC 2.01 for Revert and Activate; Single User Mode 1.00 for Erase).
pub mod method {
    use super::Uid;
    /// Properties, of the session manager.
    pub const PROPERTIES: Uid = Uid::new(0xff01);
    /// StartSession, of the session manager.
    pub const START_SESSION: Uid = Uid::new(0xff02);
    /// SyncSession: the answer to StartSession.
    pub const SYNC_SESSION: Uid = Uid::new(0xff03);
    /// StartTrustedSession.
    pub const START_TRUSTED_SESSION: Uid = Uid::new(0xff04);
    /// SyncTrustedSession.
    pub const SYNC_TRUSTED_SESSION: Uid = Uid::new(0xff05);
    /// CloseSession: the session manager ends one by itself.
    pub const CLOSE_SESSION: Uid = Uid::new(0xff06);
    /// Get of the Enterprise SSC.
    pub const ENTERPRISE_GET: Uid = Uid::row(6, 0x06);
    /// Set of the Enterprise SSC.
    pub const ENTERPRISE_SET: Uid = Uid::row(6, 0x07);
    /// Next.
    pub const NEXT: Uid = Uid::row(6, 0x08);
    /// Authenticate of the Enterprise SSC.
    pub const ENTERPRISE_AUTHENTICATE: Uid = Uid::row(6, 0x0c);
    /// GetACL.
    pub const GET_ACL: Uid = Uid::row(6, 0x0d);
    /// GenKey.
    pub const GEN_KEY: Uid = Uid::row(6, 0x10);
    /// RevertSP.
    pub const REVERT_SP: Uid = Uid::row(6, 0x11);
    /// Get.
    pub const GET: Uid = Uid::row(6, 0x16);
    /// Set.
    pub const SET: Uid = Uid::row(6, 0x17);
    /// Authenticate.
    pub const AUTHENTICATE: Uid = Uid::row(6, 0x1c);
    /// Revert.
    pub const REVERT: Uid = Uid::row(6, 0x0202);
    /// Activate.
    pub const ACTIVATE: Uid = Uid::row(6, 0x0203);
    /// Random.
    pub const RANDOM: Uid = Uid::row(6, 0x0601);
    /// Reactivate (Single User Mode).
    pub const REACTIVATE: Uid = Uid::row(6, 0x0801);
    /// Erase (Single User Mode).
    pub const ERASE: Uid = Uid::row(6, 0x0803);
}

/// Authorities: rows of the Authority table.
pub mod authority {
    use super::Uid;
    /// Everybody, without proof.
    pub const ANYBODY: Uid = Uid::row(9, 1);
    /// The class of all admins.
    pub const ADMINS: Uid = Uid::row(9, 2);
    /// The drive's makers, a class.
    pub const MAKERS: Uid = Uid::row(9, 3);
    /// The owner of the drive (Admin SP).
    pub const SID: Uid = Uid::row(9, 6);
    /// Who holds the secret printed on the label (Admin SP; PSID feature set 1.00).
    pub const PSID: Uid = Uid::row(9, 0x0001_ff01);
    /// The class of all users (Locking SP).
    pub const USERS: Uid = Uid::row(9, 0x0003_0000);
    /// BandMaster0 of the Enterprise SSC.
    pub const BAND_MASTER_0: Uid = Uid::row(9, 0x8001);
    /// EraseMaster of the Enterprise SSC.
    pub const ERASE_MASTER: Uid = Uid::row(9, 0x8401);

    /// BandMaster `n` of the Enterprise SSC (its table 28), counted from 0.
    pub const fn band_master(n: u16) -> Uid {
        Uid::row(9, BAND_MASTER_0.row_number() + n as u32)
    }

    /// Admin `n` of the Locking SP, counted from 1.
    pub const fn admin(n: u16) -> Uid {
        Uid::row(9, 0x0001_0000 | n as u32)
    }

    /// Admin `n` of the Admin SP, counted from 1 (Opal SSC 2.01, table 18).
    pub const fn admin_sp_admin(n: u8) -> Uid {
        Uid::row(9, 0x0000_0200 | n as u32)
    }

    /// User `n` of the Locking SP, counted from 1.
    pub const fn user(n: u16) -> Uid {
        Uid::row(9, 0x0003_0000 | n as u32)
    }
}

/// PINs: rows of the C_PIN table.
pub mod c_pin {
    use super::Uid;
    /// The owner's.
    pub const SID: Uid = Uid::row(0x0b, 1);
    /// The factory's, which everybody may read.
    pub const MSID: Uid = Uid::row(0x0b, 0x8402);
    /// The label's.
    pub const PSID: Uid = Uid::row(0x0b, 0x0001_ff01);

    /// Of an authority of the Enterprise SSC's Locking SP: BandMasters and EraseMaster have their own row numbers there.
    pub const fn enterprise(whose: Uid) -> Uid {
        Uid::row(0x0b, whose.row_number())
    }

    /// Of admin `n` of the Locking SP, counted from 1.
    pub const fn admin(n: u16) -> Uid {
        Uid::row(0x0b, 0x0001_0000 | n as u32)
    }

    /// Of admin `n` of the Admin SP, counted from 1.
    pub const fn admin_sp_admin(n: u8) -> Uid {
        Uid::row(0x0b, 0x0000_0200 | n as u32)
    }

    /// Of user `n` of the Locking SP, counted from 1.
    pub const fn user(n: u16) -> Uid {
        Uid::row(0x0b, 0x0003_0000 | n as u32)
    }
}

/// Rows of the Locking SP's other tables.
pub mod locking {
    use super::Uid;
    /// The only row of LockingInfo.
    pub const INFO: Uid = Uid::row(0x0801, 1);
    /// The only row of MBRControl.
    pub const MBR_CONTROL: Uid = Uid::row(0x0803, 1);
    /// The range that is everything no other range covers.
    pub const GLOBAL_RANGE: Uid = Uid::row(0x0802, 1);

    /// Range `n`; 0 is the global one.
    pub const fn range(n: u16) -> Uid {
        if n == 0 { GLOBAL_RANGE } else { Uid::row(0x0802, 0x0003_0000 | n as u32) }
    }

    /// Band `n` of the Enterprise SSC (its table 33); 0 is the global one.
    pub const fn band(n: u16) -> Uid {
        Uid::row(0x0802, 1 + n as u32)
    }

    /// The AES-256 media key of range `n`; 0 is the global one.
    pub const fn key_256(n: u16) -> Uid {
        if n == 0 { Uid::row(0x0806, 1) } else { Uid::row(0x0806, 0x0003_0000 | n as u32) }
    }

    /// Who may read the columns RangeStart to ActiveKey of range `n` (0 is the global one):
    /// `ACE_Locking_GlobalRange_Get_RangeStartToActiveKey` and its siblings.
    pub const fn ace_get_range(n: u16) -> Uid {
        Uid::row(8, 0x0003_d000 | n as u32)
    }

    /// Who may set ReadLocked of range `n`.
    pub const fn ace_set_read_locked(n: u16) -> Uid {
        Uid::row(8, 0x0003_e000 | n as u32)
    }

    /// Who may set WriteLocked of range `n`.
    pub const fn ace_set_write_locked(n: u16) -> Uid {
        Uid::row(8, 0x0003_e800 | n as u32)
    }

    /// Who may generate the AES-256 key of range `n` anew.
    pub const fn ace_gen_key_256(n: u16) -> Uid {
        Uid::row(8, 0x0003_b800 | n as u32)
    }

    /// Who may set everything of the MBRControl row, by the Locking SP's admins.
    pub const ACE_MBR_CONTROL_ADMINS: Uid = Uid::row(8, 0x0003_f800);
    /// Who may set MBRControl's Done.
    pub const ACE_MBR_CONTROL_DONE: Uid = Uid::row(8, 0x0003_f801);
    /// Who may read the DataStore table.
    pub const ACE_DATA_STORE_GET: Uid = Uid::row(8, 0x0003_fc00);
    /// Who may write the DataStore table.
    pub const ACE_DATA_STORE_SET: Uid = Uid::row(8, 0x0003_fc01);
}

/// Columns, by table (Core 2.01, chapter 5; Opal SSC 2.01, chapter 4).
pub mod column {
    /// C_PIN (Core 2.01, 5.3.2.12).
    pub mod c_pin {
        /// The PIN itself.
        pub const PIN: u64 = 3;
        /// Characters it may have.
        pub const CHAR_SET: u64 = 4;
        /// Wrong ones in a row that lock it; 0 is no limit.
        pub const TRY_LIMIT: u64 = 5;
        /// Wrong ones so far.
        pub const TRIES: u64 = 6;
        /// Whether a power cycle leaves that count.
        pub const PERSISTENCE: u64 = 7;
    }
    /// Authority (Core 2.01, 5.3.2.10).
    pub mod authority {
        /// Its own name, the specification's.
        pub const NAME: u64 = 1;
        /// The name its user gave it.
        pub const COMMON_NAME: u64 = 2;
        /// Whether it may be used.
        pub const ENABLED: u64 = 5;
        /// Its credential.
        pub const CREDENTIAL: u64 = 10;
    }
    /// ACE (Core 2.01, 5.3.2.9).
    pub mod ace {
        /// Whom it admits.
        pub const BOOLEAN_EXPR: u64 = 3;
        /// Which columns it is about.
        pub const COLUMNS: u64 = 4;
    }
    /// SP (Core 2.01, 5.4.2.4).
    pub mod sp {
        /// Its life cycle state.
        pub const LIFE_CYCLE: u64 = 6;
        /// Whether it is frozen.
        pub const FROZEN: u64 = 7;
    }
    /// Locking (Core 2.01, 5.7.2.2).
    pub mod locking {
        /// Its user's name for it.
        pub const COMMON_NAME: u64 = 2;
        /// First logical block.
        pub const RANGE_START: u64 = 3;
        /// Logical blocks.
        pub const RANGE_LENGTH: u64 = 4;
        /// Whether reads can be locked.
        pub const READ_LOCK_ENABLED: u64 = 5;
        /// Whether writes can be locked.
        pub const WRITE_LOCK_ENABLED: u64 = 6;
        /// Whether reads are locked.
        pub const READ_LOCKED: u64 = 7;
        /// Whether writes are locked.
        pub const WRITE_LOCKED: u64 = 8;
        /// Which resets lock it.
        pub const LOCK_ON_RESET: u64 = 9;
        /// The UID of its media key.
        pub const ACTIVE_KEY: u64 = 10;
    }
    /// LockingInfo (Core 2.01, 5.7.2.1; columns 7 on: Opal SSC 2.01, table 35).
    pub mod locking_info {
        /// Whether the drive encrypts.
        pub const ENCRYPT_SUPPORT: u64 = 3;
        /// Ranges besides the global one.
        pub const MAX_RANGES: u64 = 4;
        /// Whether ranges must be aligned.
        pub const ALIGNMENT_REQUIRED: u64 = 7;
        /// Bytes of a logical block.
        pub const LOGICAL_BLOCK_SIZE: u64 = 8;
        /// Logical blocks that a range's start and length are multiples of.
        pub const ALIGNMENT_GRANULARITY: u64 = 9;
        /// The first aligned logical block.
        pub const LOWEST_ALIGNED_LBA: u64 = 10;
    }
    /// MBRControl (Core 2.01, 5.7.2.5).
    pub mod mbr_control {
        /// Whether the shadow is shown at all.
        pub const ENABLE: u64 = 1;
        /// Whether it has done its work for now.
        pub const DONE: u64 = 2;
        /// Which resets undo that.
        pub const DONE_ON_RESET: u64 = 3;
    }
    /// Table (Core 2.01, 5.3.2.3).
    pub mod table {
        /// Rows now; bytes of a byte table.
        pub const ROWS: u64 = 7;
        /// Bytes that writes to a byte table must be a multiple of.
        pub const MANDATORY_WRITE_GRANULARITY: u64 = 13;
        /// Bytes that writes to a byte table are fastest in multiples of.
        pub const RECOMMENDED_ACCESS_GRANULARITY: u64 = 14;
    }
}

/// Optional parameters of methods, which are named by these numbers.
pub mod parameter {
    /// HostProperties of Properties (Core 2.01, 5.2.2.1).
    pub const HOST_PROPERTIES: u64 = 0;
    /// HostChallenge of StartSession (Core 2.01, 5.2.3.1): the PIN.
    pub const HOST_CHALLENGE: u64 = 0;
    /// HostSigningAuthority of StartSession.
    pub const HOST_SIGNING_AUTHORITY: u64 = 3;
    /// Proof of Authenticate (Core 2.01, 5.3.3.8).
    pub const PROOF: u64 = 0;
    /// Where of Set (Core 2.01, 5.3.3.7).
    pub const WHERE: u64 = 0;
    /// Values of Set.
    pub const VALUES: u64 = 1;
    /// Cellblock components of Get (Core 2.01, 5.1.4.2.3): table, start row, end row, start column, end column.
    pub const START_ROW: u64 = 1;
    /// As above.
    pub const END_ROW: u64 = 2;
    /// As above.
    pub const START_COLUMN: u64 = 3;
    /// As above.
    pub const END_COLUMN: u64 = 4;
    /// KeepGlobalRangeKey of RevertSP (Opal SSC 2.01, 5.1.3.3).
    pub const KEEP_GLOBAL_RANGE_KEY: u64 = 0x06_0000;
    /// SingleUserSelectionList of Activate and Reactivate (Single User Mode 1.00, 3.1.1).
    pub const SINGLE_USER_SELECTION_LIST: u64 = 0x06_0000;
    /// RangeStartRangeLengthPolicy of Activate and Reactivate (Single User Mode 1.00, 3.1.1).
    pub const RANGE_POLICY: u64 = 0x06_0001;
    /// DataStoreTableSizes of Activate (Additional DataStore Tables 1.00, 3.1).
    pub const DATA_STORE_TABLE_SIZES: u64 = 0x06_0002;
    /// Admin1PIN of Reactivate (Single User Mode 1.00, 3.1.1.1.1.3).
    pub const ADMIN1_PIN: u64 = 0x06_0002;
    /// DataStoreTableSizes of Reactivate.
    pub const REACTIVATE_DATA_STORE_TABLE_SIZES: u64 = 0x06_0003;
    /// Half-UID that says "an authority" in an ACE's expression (Core 2.01, 5.1.3: Authority_object_ref).
    pub const AUTHORITY_REF: [u8; 4] = [0, 0, 0x0c, 0x05];
    /// Half-UID that says "an operator" in an ACE's expression (Core 2.01, 5.1.3: boolean_ACE).
    pub const BOOLEAN_ACE: [u8; 4] = [0, 0, 0x04, 0x0e];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_is_a_table_and_a_row() {
        assert_eq!(sp::LOCKING.to_bytes(), [0, 0, 2, 5, 0, 0, 0, 2]);
        assert_eq!(sp::LOCKING.table(), table::SP);
        assert_eq!(locking::range(3).to_bytes(), [0, 0, 8, 2, 0, 3, 0, 3]);
        assert_eq!(locking::ace_set_write_locked(0).to_bytes(), [0, 0, 0, 8, 0, 3, 0xe8, 0]);
        assert_eq!(authority::user(2).to_string(), "00000009:00030002");
    }
}
