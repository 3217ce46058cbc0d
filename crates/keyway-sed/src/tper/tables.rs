//! The tables of both SPs as they leave the factory: rows, and who may call what on them.
//!
//! Opal SSC 2.01, 4.2 (Admin SP) and 4.3 (Locking SP); the columns' numbers are Core 2.01's, chapter 5.
//! What a host changes is kept beside them (`State::cells`), so that reverting an SP forgets its changes.

use super::cell::{Cell, Expression};
use super::config::DriveConfig;
use crate::Uid;
use crate::uid::{authority, c_pin, locking, method, sp, table};
use std::collections::BTreeMap;

/// Which SP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sp {
    Admin,
    Locking,
}

impl Sp {
    pub(super) const fn uid(self) -> Uid {
        match self {
            Self::Admin => sp::ADMIN,
            Self::Locking => sp::LOCKING,
        }
    }

    pub(super) fn of(uid: Uid) -> Option<Self> {
        [Self::Admin, Self::Locking].into_iter().find(|sp| sp.uid() == uid)
    }
}

pub(super) type Row = BTreeMap<u64, Cell>;

/// One SP's tables.
pub(super) struct Tables {
    /// Every row of every object table.
    pub(super) rows: BTreeMap<Uid, Row>,
    /// The ACEs of each method on each object or table.
    pub(super) access: BTreeMap<(Uid, Uid), Vec<Uid>>,
    /// Byte tables: where they are in [`super::config`]'s layout, and their bytes.
    pub(super) byte_tables: BTreeMap<Uid, ByteTable>,
}

/// A table of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByteTable {
    /// First byte on the medium.
    pub(super) offset: u64,
    /// Bytes.
    pub(super) len: u64,
}

/// ACEs of the Admin SP, and those that both have (Opal SSC 2.01, tables 16 and 27).
pub(super) mod ace {
    use crate::Uid;
    pub(in crate::tper) const ANYBODY: Uid = Uid::row(8, 1);
    pub(in crate::tper) const ADMIN: Uid = Uid::row(8, 2);
    pub(in crate::tper) const ANYBODY_GET_COMMON_NAME: Uid = Uid::row(8, 3);
    pub(in crate::tper) const ADMINS_SET_COMMON_NAME: Uid = Uid::row(8, 4);
    pub(in crate::tper) const SET_ENABLED: Uid = Uid::row(8, 0x0003_0001);
    pub(in crate::tper) const SP_SID: Uid = Uid::row(8, 0x0003_0002);
    pub(in crate::tper) const TPER_INFO_SET_PROGRAMMATIC_RESET: Uid = Uid::row(8, 0x0003_0003);
    pub(in crate::tper) const C_PIN_SID_GET_NOPIN: Uid = Uid::row(8, 0x8c02);
    pub(in crate::tper) const C_PIN_SID_SET_PIN: Uid = Uid::row(8, 0x8c03);
    pub(in crate::tper) const C_PIN_MSID_GET_PIN: Uid = Uid::row(8, 0x8c04);
    pub(in crate::tper) const ADMIN_C_PIN_ADMINS_SET_PIN: Uid = Uid::row(8, 0x0003_a001);
    // The PSID feature set 1.00, table 3.
    pub(in crate::tper) const SP_PSID: Uid = Uid::row(8, 0x0001_00e0);
    pub(in crate::tper) const C_PIN_PSID_GET_NOPIN: Uid = Uid::row(8, 0x0001_00e1);
    pub(in crate::tper) const DATA_REMOVAL_SET: Uid = Uid::row(8, 0x0005_0001);
    // The Locking SP's.
    pub(in crate::tper) const ACE_GET_ALL: Uid = Uid::row(8, 0x0003_8000);
    pub(in crate::tper) const ACE_SET_EXPRESSION: Uid = Uid::row(8, 0x0003_8001);
    pub(in crate::tper) const AUTHORITY_GET_ALL: Uid = Uid::row(8, 0x0003_9000);
    pub(in crate::tper) const AUTHORITY_SET_ENABLED: Uid = Uid::row(8, 0x0003_9001);
    pub(in crate::tper) const C_PIN_ADMINS_GET_NOPIN: Uid = Uid::row(8, 0x0003_a000);
    pub(in crate::tper) const C_PIN_ADMINS_SET_PIN: Uid = Uid::row(8, 0x0003_a001);
    pub(in crate::tper) const KEY_MODE: Uid = Uid::row(8, 0x0003_bfff);
    pub(in crate::tper) const GLOBAL_RANGE_ADMINS_SET: Uid = Uid::row(8, 0x0003_f000);
    pub(in crate::tper) const RANGE_ADMINS_SET: Uid = Uid::row(8, 0x0003_f001);

    pub(in crate::tper) const fn user_set_pin(n: u16) -> Uid {
        Uid::row(8, 0x0003_a800 | n as u32)
    }

    pub(in crate::tper) const fn user_set_common_name(n: u16) -> Uid {
        Uid::row(8, 0x0003_9800 | n as u32)
    }
}

/// Authority operations (Core 2.01, 5.1.3, `auth_method`).
const OPERATION_NONE: u64 = 0;
const OPERATION_PASSWORD: u64 = 1;
/// Table kinds (Core 2.01, 5.1.3, `table_kind`).
const KIND_OBJECT: u64 = 1;
const KIND_BYTE: u64 = 2;
/// `symmetric_mode_media`: XTS (Core 2.01, 5.1.3).
const MODE_XTS: u64 = 7;
/// Media encryption is there (Core 2.01, 5.1.3, `enc_supported`).
const MEDIA_ENCRYPTION: u64 = 1;
/// A power cycle (Core 2.01, 5.1.3, `reset_types`).
pub(super) const RESET_POWER_CYCLE: u64 = 0;
/// A TPER_RESET.
pub(super) const RESET_PROGRAMMATIC: u64 = 3;
/// Wrong PINs in a row that lock an authority until the next power cycle.
const TRY_LIMIT: u64 = 5;

/// Life cycle states (Opal SSC 2.01, 5.2.2).
pub(super) mod life_cycle {
    pub(in crate::tper) const MANUFACTURED_INACTIVE: u64 = 8;
    pub(in crate::tper) const MANUFACTURED: u64 = 9;
}

struct Builder {
    tables: Tables,
}

impl Builder {
    fn new() -> Self {
        let tables = Tables { rows: BTreeMap::new(), access: BTreeMap::new(), byte_tables: BTreeMap::new() };
        Self { tables }
    }

    fn row<const N: usize>(&mut self, uid: Uid, cells: [(u64, Cell); N]) {
        let mut row = Row::from(cells);
        row.insert(0, Cell::Uid(uid));
        self.tables.rows.insert(uid, row);
    }

    fn allow(&mut self, object: Uid, method: Uid, aces: &[Uid]) {
        self.tables.access.insert((object, method), aces.to_vec());
    }

    /// Rows that everybody may list and read.
    fn readable_table(&mut self, table: Uid) {
        self.allow(table, method::NEXT, &[ace::ANYBODY]);
        let rows: Vec<Uid> = self.tables.rows_of(table).collect();
        for row in rows {
            self.allow(row, method::GET, &[ace::ANYBODY]);
        }
    }

    fn ace(&mut self, uid: Uid, name: &str, who: &[Uid], columns: &[u64]) {
        self.row(
            uid,
            [
                (1, Cell::name(name)),
                (2, Cell::name("")),
                (3, Cell::Expression(Expression::any_of(who))),
                (4, Cell::Uints(columns.to_vec())),
            ],
        );
    }

    fn authority(&mut self, uid: Uid, name: &str, class: Uid, enabled: bool, credential: Uid) {
        let operation = if credential == Uid::NULL { OPERATION_NONE } else { OPERATION_PASSWORD };
        let is_class = [authority::ADMINS, authority::MAKERS, authority::USERS].contains(&uid);
        self.row(
            uid,
            [
                (1, Cell::name(name)),
                (2, Cell::name("")),
                (3, Cell::Uint(is_class.into())),
                (4, Cell::Uid(class)),
                (5, Cell::Uint(enabled.into())),
                (6, Cell::Uint(0)),
                (7, Cell::Uint(0)),
                (8, Cell::Uint(0)),
                (9, Cell::Uint(operation)),
                (10, Cell::Uid(credential)),
                (11, Cell::Uid(Uid::NULL)),
                (12, Cell::Uid(Uid::NULL)),
            ],
        );
    }

    fn c_pin(&mut self, uid: Uid, name: &str, try_limit: u64) {
        self.row(
            uid,
            [
                (1, Cell::name(name)),
                (2, Cell::name("")),
                (3, Cell::name("")),
                (4, Cell::Uid(Uid::NULL)),
                (5, Cell::Uint(try_limit)),
                (6, Cell::Uint(0)),
                (7, Cell::Uint(0)),
            ],
        );
    }

    /// What both SPs have: SPInfo, SPTemplates, MethodID, and what everybody may call.
    fn common(&mut self, which: Sp, name: &str, second_template: (u32, &str), methods: &[(Uid, &str)]) {
        self.row(
            Uid::row(2, 1),
            [
                (1, Cell::Uid(which.uid())),
                (2, Cell::name(name)),
                (3, Cell::Uint(0)),
                (4, Cell::Uint(0)),
                (5, Cell::Uint(0)),
                (6, Cell::Uint(1)),
            ],
        );
        for (n, (template, name)) in [(1, "Base"), second_template].into_iter().enumerate() {
            self.row(
                Uid::row(3, n as u32 + 1),
                [
                    (1, Cell::Uid(Uid::row(0x0204, template))),
                    (2, Cell::name(name)),
                    (3, Cell::Bytes(vec![0, 0, 0, 2])),
                ],
            );
        }
        for (uid, name) in methods {
            let template = if *uid == method::RANDOM { 1 } else { second_template.0 };
            self.row(
                *uid,
                [(1, Cell::name(name)), (2, Cell::name("")), (3, Cell::Uid(Uid::row(0x0204, template)))],
            );
        }
        for table in [table::SP_TEMPLATES, table::METHOD_ID, table::SP_INFO] {
            self.readable_table(table);
        }
        self.allow(Uid::THIS_SP, method::AUTHENTICATE, &[ace::ANYBODY]);
        self.allow(Uid::THIS_SP, method::RANDOM, &[ace::ANYBODY]);
    }

    /// The Table table, about all the others; call it last.
    fn table_of_tables(&mut self, names: &[(Uid, &str, u64)]) {
        for (uid, name, columns) in names {
            let bytes = self.tables.byte_tables.get(uid).copied();
            let rows = bytes.map_or_else(|| self.tables.rows_of(*uid).count() as u64, |b| b.len);
            let kind = if bytes.is_some() { KIND_BYTE } else { KIND_OBJECT };
            self.row(
                Uid::row(1, uid.table_number()),
                [
                    (1, Cell::name(name)),
                    (2, Cell::name("")),
                    (3, Cell::Uid(Uid::NULL)),
                    (4, Cell::Uint(kind)),
                    (5, Cell::Uid(Uid::NULL)),
                    (6, Cell::Uint(*columns)),
                    (7, Cell::Uint(rows)),
                    (8, Cell::Uint(0)),
                    (9, Cell::Uint(0)),
                    (10, Cell::Uid(Uid::NULL)),
                    (11, Cell::Uint(rows)),
                    (12, Cell::Uint(rows)),
                    (13, Cell::Uint(u64::from(bytes.is_some()))),
                    (14, Cell::Uint(u64::from(bytes.is_some()))),
                ],
            );
        }
        self.readable_table(table::TABLE);
    }
}

impl Tables {
    /// The rows of a table, in order.
    pub(super) fn rows_of(&self, table: Uid) -> impl Iterator<Item = Uid> {
        let number = table.table_number();
        self.rows.range(Uid::row(number, 1)..=Uid::row(number, u32::MAX)).map(|(uid, _)| *uid)
    }

    /// The Admin SP's.
    pub(super) fn admin_sp(config: &DriveConfig) -> Self {
        let mut b = Builder::new();
        let methods = [
            (method::NEXT, "Next"),
            (method::GET_ACL, "GetACL"),
            (method::GET, "Get"),
            (method::SET, "Set"),
            (method::AUTHENTICATE, "Authenticate"),
            (method::REVERT, "Revert"),
            (method::ACTIVATE, "Activate"),
            (method::RANDOM, "Random"),
        ];
        b.common(Sp::Admin, "Admin", (2, "Admin"), &methods);

        let (sid, admins) = (authority::SID, authority::ADMINS);
        let admin1 = authority::admin_sp_admin(1);
        b.ace(ace::ANYBODY, "ACE_Anybody", &[authority::ANYBODY], &[]);
        b.ace(ace::ADMIN, "ACE_Admin", &[admins], &[]);
        b.ace(ace::SET_ENABLED, "ACE_Set_Enabled", &[sid], &[5]);
        b.ace(ace::C_PIN_SID_GET_NOPIN, "ACE_C_PIN_SID_Get_NOPIN", &[admins, sid], &[0, 4, 5, 6, 7]);
        b.ace(ace::C_PIN_SID_SET_PIN, "ACE_C_PIN_SID_Set_PIN", &[sid], &[3]);
        b.ace(ace::C_PIN_MSID_GET_PIN, "ACE_C_PIN_MSID_Get_PIN", &[authority::ANYBODY], &[0, 3]);
        b.ace(ace::ADMIN_C_PIN_ADMINS_SET_PIN, "ACE_C_PIN_Admins_Set_PIN", &[admins, sid], &[3]);
        b.ace(
            ace::TPER_INFO_SET_PROGRAMMATIC_RESET,
            "ACE_TPerInfo_Set_ProgrammaticResetEnable",
            &[sid],
            &[8],
        );
        b.ace(ace::SP_SID, "ACE_SP_SID", &[sid], &[]);
        b.ace(ace::SP_PSID, "ACE_SP_PSID", &[authority::PSID], &[]);
        b.ace(ace::C_PIN_PSID_GET_NOPIN, "ACE_C_PIN_Get_PSID_NoPIN", &[authority::ANYBODY], &[0, 4, 5, 6, 7]);
        b.ace(
            ace::DATA_REMOVAL_SET,
            "ACE_DataRemovalMechanism_Set_ActiveDataRemovalMechanism",
            &[admins, sid],
            &[1],
        );
        b.readable_table(table::ACE);

        b.authority(authority::ANYBODY, "Anybody", Uid::NULL, true, Uid::NULL);
        b.authority(admins, "Admins", Uid::NULL, true, Uid::NULL);
        b.authority(authority::MAKERS, "Makers", Uid::NULL, true, Uid::NULL);
        b.authority(sid, "SID", Uid::NULL, true, c_pin::SID);
        b.authority(admin1, "Admin1", admins, false, c_pin::admin_sp_admin(1));
        b.authority(authority::PSID, "PSID", Uid::NULL, true, c_pin::PSID);
        b.readable_table(table::AUTHORITY);
        b.allow(admin1, method::SET, &[ace::SET_ENABLED]);

        b.c_pin(c_pin::SID, "C_PIN_SID", TRY_LIMIT);
        b.c_pin(c_pin::MSID, "C_PIN_MSID", 0);
        b.c_pin(c_pin::admin_sp_admin(1), "C_PIN_Admin1", TRY_LIMIT);
        b.c_pin(c_pin::PSID, "C_PIN_PSID", TRY_LIMIT);
        if let Some(row) = b.tables.rows.get_mut(&c_pin::MSID) {
            row.insert(3, Cell::name(&config.label.msid));
        }
        b.allow(table::C_PIN, method::NEXT, &[ace::ANYBODY]);
        b.allow(c_pin::SID, method::GET, &[ace::C_PIN_SID_GET_NOPIN]);
        b.allow(c_pin::SID, method::SET, &[ace::C_PIN_SID_SET_PIN]);
        b.allow(c_pin::MSID, method::GET, &[ace::C_PIN_MSID_GET_PIN]);
        b.allow(c_pin::PSID, method::GET, &[ace::C_PIN_PSID_GET_NOPIN]);
        b.allow(c_pin::admin_sp_admin(1), method::GET, &[ace::C_PIN_SID_GET_NOPIN]);
        b.allow(c_pin::admin_sp_admin(1), method::SET, &[ace::ADMIN_C_PIN_ADMINS_SET_PIN]);

        let tper_info = Uid::row(0x0201, 0x0003_0001);
        b.row(
            tper_info,
            [
                (1, Cell::Uint(config.data_bytes())),
                (4, Cell::Uint(1)),
                (5, Cell::Uint(1)),
                (6, Cell::Uint(0)),
                (7, Cell::Bytes(b"Opal".to_vec())),
                (8, Cell::Uint(0)),
            ],
        );
        b.readable_table(table::TPER_INFO);
        b.allow(tper_info, method::SET, &[ace::TPER_INFO_SET_PROGRAMMATIC_RESET]);

        for (n, name, instances) in [(1, "Base", 2), (2, "Admin", 1), (6, "Locking", 1)] {
            b.row(
                Uid::row(0x0204, n),
                [
                    (1, Cell::name(name)),
                    (2, Cell::Uint(1)),
                    (3, Cell::Uint(instances)),
                    (4, Cell::Uint(instances)),
                ],
            );
        }
        b.readable_table(table::TEMPLATE);

        for (uid, name, state) in [
            (sp::ADMIN, "Admin", life_cycle::MANUFACTURED),
            (sp::LOCKING, "Locking", life_cycle::MANUFACTURED_INACTIVE),
        ] {
            b.row(uid, [(1, Cell::name(name)), (6, Cell::Uint(state)), (7, Cell::Uint(0))]);
        }
        b.readable_table(table::SP);
        b.allow(sp::ADMIN, method::REVERT, &[ace::SP_SID, ace::ADMIN, ace::SP_PSID]);
        b.allow(sp::LOCKING, method::REVERT, &[ace::SP_SID, ace::ADMIN]);
        b.allow(sp::LOCKING, method::ACTIVATE, &[ace::SP_SID]);

        // Mechanism 2: a new key (Opal SSC 2.02, 4.2.7.1).
        let removal = Uid::row(0x1101, 1);
        b.row(removal, [(1, Cell::Uint(2))]);
        b.allow(removal, method::GET, &[ace::ANYBODY]);
        b.allow(removal, method::SET, &[ace::DATA_REMOVAL_SET]);

        b.table_of_tables(&[
            (table::TABLE, "Table", 15),
            (table::SP_INFO, "SPInfo", 7),
            (table::SP_TEMPLATES, "SPTemplates", 4),
            (table::METHOD_ID, "MethodID", 4),
            (table::ACCESS_CONTROL, "AccessControl", 0),
            (table::ACE, "ACE", 5),
            (table::AUTHORITY, "Authority", 13),
            (table::C_PIN, "C_PIN", 8),
            (table::TPER_INFO, "TPerInfo", 9),
            (table::TEMPLATE, "Template", 5),
            (table::SP, "SP", 8),
            (table::DATA_REMOVAL, "DataRemovalMechanism", 2),
        ]);
        b.tables
    }

    /// The Locking SP's.
    pub(super) fn locking_sp(config: &DriveConfig) -> Self {
        let mut b = Builder::new();
        let methods = [
            (method::NEXT, "Next"),
            (method::GET_ACL, "GetACL"),
            (method::GEN_KEY, "GenKey"),
            (method::REVERT_SP, "RevertSP"),
            (method::GET, "Get"),
            (method::SET, "Set"),
            (method::AUTHENTICATE, "Authenticate"),
            (method::RANDOM, "Random"),
        ];
        b.common(Sp::Locking, "Locking", (6, "Locking"), &methods);
        b.allow(Uid::THIS_SP, method::REVERT_SP, &[ace::ADMIN]);
        b.locking_aces(config);
        b.locking_authorities(config);
        b.locking_ranges(config);

        // K_AES_256's column Key is protected by means of the maker's own (mechanism 0).
        b.row(
            Uid::row(0x1d, 0x1e),
            [(1, Cell::Uid(table::K_AES_256)), (2, Cell::Uint(3)), (3, Cell::Uints(vec![0]))],
        );
        b.readable_table(table::SECRET_PROTECT);
        b.row(
            locking::INFO,
            [
                (1, Cell::name("")),
                (2, Cell::Uint(1)),
                (3, Cell::Uint(MEDIA_ENCRYPTION)),
                (4, Cell::Uint(config.ranges.into())),
                (5, Cell::Uint(0)),
                (6, Cell::Uint(0)),
                (7, Cell::Uint(1)),
                (8, Cell::Uint(config.block_bytes.into())),
                (9, Cell::Uint(config.alignment_blocks())),
                (10, Cell::Uint(0)),
            ],
        );
        b.allow(locking::INFO, method::GET, &[ace::ANYBODY]);
        b.row(
            locking::MBR_CONTROL,
            [(1, Cell::Uint(0)), (2, Cell::Uint(0)), (3, Cell::Uints(vec![RESET_POWER_CYCLE]))],
        );
        b.allow(locking::MBR_CONTROL, method::GET, &[ace::ANYBODY]);
        let aces = [locking::ACE_MBR_CONTROL_ADMINS, locking::ACE_MBR_CONTROL_DONE];
        b.allow(locking::MBR_CONTROL, method::SET, &aces);
        b.tables.byte_tables.insert(table::MBR, config.mbr_table());
        b.allow(table::MBR, method::GET, &[ace::ANYBODY]);
        b.allow(table::MBR, method::SET, &[ace::ADMIN]);
        b.tables.byte_tables.insert(table::DATA_STORE, config.data_store_table());
        b.allow(table::DATA_STORE, method::GET, &[locking::ACE_DATA_STORE_GET]);
        b.allow(table::DATA_STORE, method::SET, &[locking::ACE_DATA_STORE_SET]);

        b.table_of_tables(&[
            (table::TABLE, "Table", 15),
            (table::SP_INFO, "SPInfo", 7),
            (table::SP_TEMPLATES, "SPTemplates", 4),
            (table::METHOD_ID, "MethodID", 4),
            (table::ACCESS_CONTROL, "AccessControl", 0),
            (table::ACE, "ACE", 5),
            (table::AUTHORITY, "Authority", 13),
            (table::C_PIN, "C_PIN", 8),
            (table::SECRET_PROTECT, "SecretProtect", 4),
            (table::LOCKING_INFO, "LockingInfo", 11),
            (table::LOCKING, "Locking", 11),
            (table::MBR_CONTROL, "MBRControl", 4),
            (table::MBR, "MBR", 1),
            (table::K_AES_256, "K_AES_256", 5),
            (table::DATA_STORE, "DataStore", 1),
        ]);
        b.tables
    }
}

impl Builder {
    fn locking_aces(&mut self, config: &DriveConfig) {
        let admins = &[authority::ADMINS];
        self.ace(ace::ANYBODY, "ACE_Anybody", &[authority::ANYBODY], &[]);
        self.ace(ace::ADMIN, "ACE_Admin", admins, &[]);
        self.ace(ace::ANYBODY_GET_COMMON_NAME, "ACE_Anybody_Get_CommonName", &[authority::ANYBODY], &[0, 2]);
        self.ace(ace::ADMINS_SET_COMMON_NAME, "ACE_Admins_Set_CommonName", admins, &[2]);
        self.ace(ace::ACE_GET_ALL, "ACE_ACE_Get_All", admins, &[]);
        self.ace(ace::ACE_SET_EXPRESSION, "ACE_ACE_Set_BooleanExpression", admins, &[3]);
        self.ace(ace::AUTHORITY_GET_ALL, "ACE_Authority_Get_All", admins, &[]);
        self.ace(ace::AUTHORITY_SET_ENABLED, "ACE_Authority_Set_Enabled", admins, &[5]);
        self.ace(ace::C_PIN_ADMINS_GET_NOPIN, "ACE_C_PIN_Admins_Get_All_NOPIN", admins, &[0, 4, 5, 6, 7]);
        self.ace(ace::C_PIN_ADMINS_SET_PIN, "ACE_C_PIN_Admins_Set_PIN", admins, &[3]);
        for n in 1..=config.users {
            let who = &[authority::ADMINS, authority::user(n)];
            self.ace(ace::user_set_pin(n), &format!("ACE_C_PIN_User{n}_Set_PIN"), who, &[3]);
            self.ace(ace::user_set_common_name(n), &format!("ACE_User{n}_Set_CommonName"), admins, &[2]);
        }
        self.ace(ace::KEY_MODE, "ACE_K_AES_Mode", &[authority::ANYBODY], &[0, 4]);
        self.ace(ace::GLOBAL_RANGE_ADMINS_SET, "ACE_Locking_GlblRng_Admins_Set", admins, &[5, 6, 7, 8, 9]);
        let columns = &[3, 4, 5, 6, 7, 8, 9];
        self.ace(ace::RANGE_ADMINS_SET, "ACE_Locking_Admins_RangeStartToLOR", admins, columns);
        for n in 0..=config.ranges {
            let range = if n == 0 { "GlobalRange".to_owned() } else { format!("Range{n}") };
            let columns = &[0, 3, 4, 5, 6, 7, 8, 9, 10];
            let name = format!("ACE_Locking_{range}_Get_RangeStartToActiveKey");
            self.ace(locking::ace_get_range(n), &name, admins, columns);
            self.ace(
                locking::ace_set_read_locked(n),
                &format!("ACE_Locking_{range}_Set_RdLocked"),
                admins,
                &[7],
            );
            self.ace(
                locking::ace_set_write_locked(n),
                &format!("ACE_Locking_{range}_Set_WrLocked"),
                admins,
                &[8],
            );
            self.ace(locking::ace_gen_key_256(n), &format!("ACE_K_AES_256_{range}_GenKey"), admins, &[]);
        }
        self.ace(locking::ACE_MBR_CONTROL_ADMINS, "ACE_MBRControl_Admins_Set", admins, &[1, 2, 3]);
        self.ace(locking::ACE_MBR_CONTROL_DONE, "ACE_MBRControl_Set_DoneToDOR", admins, &[2, 3]);
        self.ace(locking::ACE_DATA_STORE_GET, "ACE_DataStore_Get_All", admins, &[]);
        self.ace(locking::ACE_DATA_STORE_SET, "ACE_DataStore_Set_All", admins, &[]);

        self.allow(table::ACE, method::NEXT, &[ace::ANYBODY]);
        let rows: Vec<Uid> = self.tables.rows_of(table::ACE).collect();
        for uid in rows {
            self.allow(uid, method::GET, &[ace::ACE_GET_ALL]);
        }
        // Those whose expression an admin may change (Opal SSC 2.01, table 28).
        let settable = (0..=config.ranges)
            .flat_map(|n| {
                [
                    locking::ace_get_range(n),
                    locking::ace_set_read_locked(n),
                    locking::ace_set_write_locked(n),
                    locking::ace_gen_key_256(n),
                ]
            })
            .chain((1..=config.users).flat_map(|n| [ace::user_set_pin(n), ace::user_set_common_name(n)]))
            .chain([locking::ACE_MBR_CONTROL_DONE, locking::ACE_DATA_STORE_GET, locking::ACE_DATA_STORE_SET]);
        for uid in settable {
            self.allow(uid, method::SET, &[ace::ACE_SET_EXPRESSION]);
        }
    }

    fn locking_authorities(&mut self, config: &DriveConfig) {
        self.authority(authority::ANYBODY, "Anybody", Uid::NULL, true, Uid::NULL);
        self.authority(authority::ADMINS, "Admins", Uid::NULL, true, Uid::NULL);
        self.authority(authority::USERS, "Users", Uid::NULL, true, Uid::NULL);
        self.readable_table(table::AUTHORITY);
        self.allow(table::C_PIN, method::NEXT, &[ace::ANYBODY]);
        for n in 1..=config.admins {
            let (who, pin) = (authority::admin(n), c_pin::admin(n));
            self.authority(who, &format!("Admin{n}"), authority::ADMINS, n == 1, pin);
            self.c_pin(pin, &format!("C_PIN_Admin{n}"), TRY_LIMIT);
            self.allow(who, method::GET, &[ace::AUTHORITY_GET_ALL, ace::ANYBODY_GET_COMMON_NAME]);
            // Admin1 can't be disabled (Opal SSC 2.01, table 28).
            let set: &[Uid] = if n == 1 {
                &[ace::ADMINS_SET_COMMON_NAME]
            } else {
                &[ace::AUTHORITY_SET_ENABLED, ace::ADMINS_SET_COMMON_NAME]
            };
            self.allow(who, method::SET, set);
            self.allow(pin, method::GET, &[ace::C_PIN_ADMINS_GET_NOPIN]);
            self.allow(pin, method::SET, &[ace::C_PIN_ADMINS_SET_PIN]);
        }
        for n in 1..=config.users {
            let (who, pin) = (authority::user(n), c_pin::user(n));
            self.authority(who, &format!("User{n}"), authority::USERS, false, pin);
            self.c_pin(pin, &format!("C_PIN_User{n}"), TRY_LIMIT);
            self.allow(who, method::GET, &[ace::AUTHORITY_GET_ALL, ace::ANYBODY_GET_COMMON_NAME]);
            self.allow(who, method::SET, &[ace::AUTHORITY_SET_ENABLED, ace::user_set_common_name(n)]);
            self.allow(pin, method::GET, &[ace::C_PIN_ADMINS_GET_NOPIN]);
            self.allow(pin, method::SET, &[ace::user_set_pin(n)]);
        }
    }

    fn locking_ranges(&mut self, config: &DriveConfig) {
        self.allow(table::LOCKING, method::NEXT, &[ace::ANYBODY]);
        self.allow(table::K_AES_256, method::NEXT, &[ace::ANYBODY]);
        for n in 0..=config.ranges {
            let (range, key) = (locking::range(n), locking::key_256(n));
            let name = if n == 0 { "Locking_GlobalRange".to_owned() } else { format!("Locking_Range{n}") };
            self.row(
                range,
                [
                    (1, Cell::name(&name)),
                    (2, Cell::name("")),
                    (3, Cell::Uint(0)),
                    (4, Cell::Uint(0)),
                    (5, Cell::Uint(0)),
                    (6, Cell::Uint(0)),
                    (7, Cell::Uint(0)),
                    (8, Cell::Uint(0)),
                    (9, Cell::Uints(vec![RESET_POWER_CYCLE])),
                    (10, Cell::Uid(key)),
                ],
            );
            self.allow(range, method::GET, &[locking::ace_get_range(n), ace::ANYBODY_GET_COMMON_NAME]);
            let admins = if n == 0 { ace::GLOBAL_RANGE_ADMINS_SET } else { ace::RANGE_ADMINS_SET };
            let set = [
                locking::ace_set_read_locked(n),
                locking::ace_set_write_locked(n),
                admins,
                ace::ADMINS_SET_COMMON_NAME,
            ];
            self.allow(range, method::SET, &set);
            let name = name.replacen("Locking", "K_AES_256", 1) + "_Key";
            self.row(key, [(1, Cell::name(&name)), (2, Cell::name("")), (4, Cell::Uint(MODE_XTS))]);
            self.allow(key, method::GET, &[ace::KEY_MODE]);
            self.allow(key, method::GEN_KEY, &[locking::ace_gen_key_256(n)]);
        }
    }
}
