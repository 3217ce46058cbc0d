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

/// Constants of a specification's table, a line for each: name, value, and what it is.
macro_rules! constants {
    ($type:ty: $($name:ident = $value:expr, $is:literal;)*) => {
        $(#[doc = $is] pub const $name: $type = $value;)*
    };
}

/// Tables (Core 2.01, table 240).
pub mod table {
    use super::Uid;
    constants! { Uid:
        SP_INFO = Uid::row(0x02, 0), "SPInfo.";
        SP_TEMPLATES = Uid::row(0x03, 0), "SPTemplates.";
        TABLE = Uid::row(0x01, 0), "Table: a row for each table.";
        METHOD_ID = Uid::row(0x06, 0), "MethodID.";
        ACCESS_CONTROL = Uid::row(0x07, 0), "AccessControl.";
        ACE = Uid::row(0x08, 0), "ACE: access control elements.";
        AUTHORITY = Uid::row(0x09, 0), "Authority.";
        C_PIN = Uid::row(0x0b, 0), "C_PIN: credentials that are PINs.";
        SECRET_PROTECT = Uid::row(0x1d, 0), "SecretProtect.";
        TPER_INFO = Uid::row(0x0201, 0), "TPerInfo.";
        TEMPLATE = Uid::row(0x0204, 0), "Template.";
        SP = Uid::row(0x0205, 0), "SP: a row for each security provider.";
        LOCKING_INFO = Uid::row(0x0801, 0), "LockingInfo.";
        LOCKING = Uid::row(0x0802, 0), "Locking: a row for each range.";
        MBR_CONTROL = Uid::row(0x0803, 0), "MBRControl.";
        MBR = Uid::row(0x0804, 0), "MBR: bytes that are shown in place of the drive's first ones.";
        K_AES_256 = Uid::row(0x0806, 0), "K_AES_256.";
        DATA_STORE = Uid::row(0x1001, 0),
            "DataStore: bytes for the host's own use. Further ones follow by number.";
        DATA_REMOVAL = Uid::row(0x1101, 0), "DataRemovalMechanism (Opal SSC 2.02, 4.2.7).";
    }
}

/// Security providers: rows of the SP table.
pub mod sp {
    use super::Uid;
    constants! { Uid:
        ADMIN = Uid::row(0x0205, 1), "The Admin SP.";
        LOCKING = Uid::row(0x0205, 2), "The Locking SP.";
        ENTERPRISE_LOCKING = Uid::row(0x0205, 0x0001_0001), "The Locking SP of the Enterprise SSC.";
    }
}

/// Methods (Core 2.01, table 241; Opal SSC 2.01 for Revert and Activate; Single User Mode 1.00 for Erase).
pub mod method {
    use super::Uid;
    constants! { Uid:
        PROPERTIES = Uid::new(0xff01), "Properties, of the session manager.";
        START_SESSION = Uid::new(0xff02), "StartSession, of the session manager.";
        SYNC_SESSION = Uid::new(0xff03), "SyncSession: the answer to StartSession.";
        CLOSE_SESSION = Uid::new(0xff06), "CloseSession: the session manager ends one by itself.";
        ENTERPRISE_GET = Uid::row(6, 0x06), "Get of the Enterprise SSC.";
        ENTERPRISE_SET = Uid::row(6, 0x07), "Set of the Enterprise SSC.";
        NEXT = Uid::row(6, 0x08), "Next.";
        ENTERPRISE_AUTHENTICATE = Uid::row(6, 0x0c), "Authenticate of the Enterprise SSC.";
        GET_ACL = Uid::row(6, 0x0d), "GetACL.";
        GEN_KEY = Uid::row(6, 0x10), "GenKey.";
        REVERT_SP = Uid::row(6, 0x11), "RevertSP.";
        GET = Uid::row(6, 0x16), "Get.";
        SET = Uid::row(6, 0x17), "Set.";
        AUTHENTICATE = Uid::row(6, 0x1c), "Authenticate.";
        REVERT = Uid::row(6, 0x0202), "Revert.";
        ACTIVATE = Uid::row(6, 0x0203), "Activate.";
        RANDOM = Uid::row(6, 0x0601), "Random.";
        REACTIVATE = Uid::row(6, 0x0801), "Reactivate (Single User Mode).";
        ERASE = Uid::row(6, 0x0803), "Erase (Single User Mode).";
    }
}

/// Authorities: rows of the Authority table.
pub mod authority {
    use super::Uid;
    constants! { Uid:
        ANYBODY = Uid::row(9, 1), "Everybody, without proof.";
        ADMINS = Uid::row(9, 2), "The class of all admins.";
        MAKERS = Uid::row(9, 3), "The drive's makers, a class.";
        SID = Uid::row(9, 6), "The owner of the drive (Admin SP).";
        PSID = Uid::row(9, 0x0001_ff01),
            "Who holds the secret printed on the label (Admin SP; PSID feature set 1.00).";
        USERS = Uid::row(9, 0x0003_0000), "The class of all users (Locking SP).";
        BAND_MASTER_0 = Uid::row(9, 0x8001), "BandMaster0 of the Enterprise SSC.";
        ERASE_MASTER = Uid::row(9, 0x8401), "EraseMaster of the Enterprise SSC.";
    }

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
    constants! { Uid:
        SID = Uid::row(0x0b, 1), "The owner's.";
        MSID = Uid::row(0x0b, 0x8402), "The factory's, which everybody may read.";
        PSID = Uid::row(0x0b, 0x0001_ff01), "The label's.";
    }

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
    constants! { Uid:
        INFO = Uid::row(0x0801, 1), "The only row of LockingInfo.";
        MBR_CONTROL = Uid::row(0x0803, 1), "The only row of MBRControl.";
        GLOBAL_RANGE = Uid::row(0x0802, 1), "The range that is everything no other range covers.";
    }

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

    constants! { Uid:
        ACE_MBR_CONTROL_ADMINS = Uid::row(8, 0x0003_f800),
            "Who may set everything of the MBRControl row, by the Locking SP's admins.";
        ACE_MBR_CONTROL_DONE = Uid::row(8, 0x0003_f801), "Who may set MBRControl's Done.";
        ACE_DATA_STORE_GET = Uid::row(8, 0x0003_fc00), "Who may read the DataStore table.";
    }
}

/// Columns, by table (Core 2.01, chapter 5; Opal SSC 2.01, chapter 4).
pub mod column {
    /// C_PIN (Core 2.01, 5.3.2.12).
    pub mod c_pin {
        constants! { u64:
            PIN = 3, "The PIN itself.";
            TRY_LIMIT = 5, "Wrong ones in a row that lock it; 0 is no limit.";
            TRIES = 6, "Wrong ones so far.";
            PERSISTENCE = 7, "Whether a power cycle leaves that count.";
        }
    }
    /// Authority (Core 2.01, 5.3.2.10).
    pub mod authority {
        constants! { u64:
            NAME = 1, "Its own name, the specification's.";
            COMMON_NAME = 2, "The name its user gave it.";
            ENABLED = 5, "Whether it may be used.";
            CREDENTIAL = 10, "Its credential.";
        }
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
    }
    /// Locking (Core 2.01, 5.7.2.2).
    pub mod locking {
        constants! { u64:
            COMMON_NAME = 2, "Its user's name for it.";
            RANGE_START = 3, "First logical block.";
            RANGE_LENGTH = 4, "Logical blocks.";
            READ_LOCK_ENABLED = 5, "Whether reads can be locked.";
            WRITE_LOCK_ENABLED = 6, "Whether writes can be locked.";
            READ_LOCKED = 7, "Whether reads are locked.";
            WRITE_LOCKED = 8, "Whether writes are locked.";
            LOCK_ON_RESET = 9, "Which resets lock it.";
            ACTIVE_KEY = 10, "The UID of its media key.";
        }
    }
    /// LockingInfo (Core 2.01, 5.7.2.1; columns 7 on: Opal SSC 2.01, table 35).
    pub mod locking_info {
        constants! { u64:
            MAX_RANGES = 4, "Ranges besides the global one.";
            ALIGNMENT_REQUIRED = 7, "Whether ranges must be aligned.";
            LOGICAL_BLOCK_SIZE = 8, "Bytes of a logical block.";
            ALIGNMENT_GRANULARITY = 9, "Logical blocks that a range's start and length are multiples of.";
            LOWEST_ALIGNED_LBA = 10, "The first aligned logical block.";
        }
    }
    /// MBRControl (Core 2.01, 5.7.2.5).
    pub mod mbr_control {
        constants! { u64:
            ENABLE = 1, "Whether the shadow is shown at all.";
            DONE = 2, "Whether it has done its work for now.";
            DONE_ON_RESET = 3, "Which resets undo that.";
        }
    }
    /// Table (Core 2.01, 5.3.2.3).
    pub mod table {
        /// Rows now; bytes of a byte table.
        pub const ROWS: u64 = 7;
    }
}

/// Optional parameters of methods, which are named by these numbers.
pub mod parameter {
    constants! { u64:
        HOST_PROPERTIES = 0, "HostProperties of Properties (Core 2.01, 5.2.2.1).";
        HOST_CHALLENGE = 0, "HostChallenge of StartSession (Core 2.01, 5.2.3.1): the PIN.";
        HOST_SIGNING_AUTHORITY = 3, "HostSigningAuthority of StartSession.";
        PROOF = 0, "Proof of Authenticate (Core 2.01, 5.3.3.8).";
        WHERE = 0, "Where of Set (Core 2.01, 5.3.3.7).";
        VALUES = 1, "Values of Set.";
        START_ROW = 1,
            "Cellblock components of Get (Core 2.01, 5.1.4.2.3): table, start row, end row, start column, end column.";
        END_ROW = 2, "As above.";
        START_COLUMN = 3, "As above.";
        END_COLUMN = 4, "As above.";
        KEEP_GLOBAL_RANGE_KEY = 0x06_0000, "KeepGlobalRangeKey of RevertSP (Opal SSC 2.01, 5.1.3.3).";
        SINGLE_USER_SELECTION_LIST = 0x06_0000,
            "SingleUserSelectionList of Activate and Reactivate (Single User Mode 1.00, 3.1.1).";
        RANGE_POLICY = 0x06_0001,
            "RangeStartRangeLengthPolicy of Activate and Reactivate (Single User Mode 1.00, 3.1.1).";
        DATA_STORE_TABLE_SIZES = 0x06_0002,
            "DataStoreTableSizes of Activate (Additional DataStore Tables 1.00, 3.1).";
        ADMIN1_PIN = 0x06_0002, "Admin1PIN of Reactivate (Single User Mode 1.00, 3.1.1.1.1.3).";
        REACTIVATE_DATA_STORE_TABLE_SIZES = 0x06_0003, "DataStoreTableSizes of Reactivate.";
    }
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
