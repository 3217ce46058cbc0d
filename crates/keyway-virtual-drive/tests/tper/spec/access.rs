//! Every row of the AccessControl tables: on what, which method, which ACEs.

use super::{ADMINS, RANGES, USERS, admin_sp_aces, locking_sp_aces, range_name};
use crate::spec::cells::{admin_sp_tables, locking_sp_tables};
use keyway_sed::Uid;
use keyway_sed::uid::{authority, c_pin, locking, method, sp, table};

/// Rows of the specification's table, or of a feature set's: one for each object.
pub(crate) struct Rows {
    /// The specification's name of the object.
    pub(crate) object: &'static str,
    pub(crate) method: Uid,
    /// The ACEs' names, NNNN and MMMM for the number of a range or user.
    pub(crate) acl: &'static str,
    /// Each object, with its ACEs' names.
    pub(crate) each: Vec<(Uid, Vec<String>)>,
    /// The feature set that asks for it, where it is not Opal.
    pub(crate) of: &'static str,
}

pub(crate) fn method_name(uid: Uid) -> &'static str {
    METHODS.iter().find(|(m, _)| *m == uid).map_or("?", |(_, name)| name)
}

pub(crate) const METHODS: [(Uid, &str); 12] = [
    (method::NEXT, "Next"),
    (method::GET_ACL, "GetACL"),
    (method::GEN_KEY, "GenKey"),
    (method::REVERT_SP, "RevertSP"),
    (method::GET, "Get"),
    (method::SET, "Set"),
    (method::AUTHENTICATE, "Authenticate"),
    (method::REVERT, "Revert"),
    (method::ACTIVATE, "Activate"),
    (method::RANDOM, "Random"),
    (method::REACTIVATE, "Reactivate"),
    (method::ERASE, "Erase"),
];

struct List {
    rows: Vec<Rows>,
}

impl List {
    fn push(&mut self, object: &'static str, method: Uid, acl: &'static str, each: Vec<(Uid, Vec<String>)>) {
        self.rows.push(Rows { object, method, acl, each, of: "" });
    }

    /// One object, or several with the same ACEs.
    fn same(
        &mut self,
        object: &'static str,
        objects: impl IntoIterator<Item = Uid>,
        method: Uid,
        acl: &'static str,
    ) {
        let names: Vec<String> = acl.split(", ").map(str::to_owned).collect();
        self.push(object, method, acl, objects.into_iter().map(|uid| (uid, names.clone())).collect());
    }

    /// Objects whose ACEs have their number in them.
    fn numbered(
        &mut self,
        object: &'static str,
        numbers: std::ops::RangeInclusive<u16>,
        uid: impl Fn(u16) -> Uid,
        method: Uid,
        acl: &'static str,
    ) {
        let name = |n: u16| {
            let acl = acl.replace("NNNN", &n.to_string()).replace("MMMM", &n.to_string());
            acl.replace("Range0", &range_name(0)).split(", ").map(str::to_owned).collect()
        };
        self.push(object, method, acl, numbers.map(|n| (uid(n), name(n))).collect());
    }
}

/// Table 22, and the PSID feature set.
pub(crate) fn admin_sp() -> Vec<Rows> {
    let mut l = List { rows: Vec::new() };
    let (get, set, next, any) = (method::GET, method::SET, method::NEXT, "ACE_Anybody");
    let rows_of = |uid: Uid| {
        let tables = admin_sp_tables();
        let table = tables.into_iter().find(|t| t.uid == uid).expect("a table of the Admin SP");
        table.rows.into_iter().map(|r| r.uid).collect::<Vec<_>>()
    };
    for (name, object, uid) in [
        ("Table", "TableObj", table::TABLE),
        ("SPTemplates", "SPTemplatesObj", table::SP_TEMPLATES),
        ("MethodID", "MethodIDObj", table::METHOD_ID),
        ("ACE", "ACEObj", table::ACE),
        ("Authority", "AuthorityObj", table::AUTHORITY),
        ("Template", "TemplateObj", table::TEMPLATE),
        ("SP", "SPObj", table::SP),
    ] {
        let objects = if uid == table::ACE {
            admin_sp_aces().into_iter().map(|a| a.uid).collect()
        } else {
            rows_of(uid)
        };
        l.same(name, [uid], next, any);
        l.same(object, objects, get, any);
    }
    let admin1 = (authority::admin_sp_admin(1), c_pin::admin_sp_admin(1));
    l.same("SPInfoObj", [Uid::row(2, 1)], get, any);
    l.same("Makers", [authority::MAKERS], set, "ACE_Set_Enabled");
    l.same("Admin1", [admin1.0], set, "ACE_Set_Enabled");
    l.same("C_PIN", [table::C_PIN], next, any);
    l.same("C_PIN_SID", [c_pin::SID], get, "ACE_C_PIN_SID_Get_NOPIN");
    l.same("C_PIN_SID", [c_pin::SID], set, "ACE_C_PIN_SID_Set_PIN");
    l.same("C_PIN_MSID", [c_pin::MSID], get, "ACE_C_PIN_MSID_Get_PIN");
    l.same("C_PIN_Admin1", [admin1.1], get, "ACE_C_PIN_SID_Get_NOPIN");
    l.same("C_PIN_Admin1", [admin1.1], set, "ACE_C_PIN_Admins_Set_PIN");
    let tper_info = Uid::row(0x0201, 0x0003_0001);
    l.same("TPerInfoObj", [tper_info], get, any);
    l.same("TPerInfoObj", [tper_info], set, "ACE_TPerInfo_Set_ProgrammaticResetEnable");
    l.same("ThisSP", [Uid::THIS_SP], method::AUTHENTICATE, any);
    l.same("ThisSP", [Uid::THIS_SP], method::RANDOM, any);
    // The PSID feature set adds the third one to the Admin SP's row.
    l.same("SPObj (Admin)", [sp::ADMIN], method::REVERT, "ACE_SP_SID, ACE_Admin, ACE_SP_PSID");
    l.same("SPObj (Locking)", [sp::LOCKING], method::REVERT, "ACE_SP_SID, ACE_Admin");
    l.same("SPObj", [sp::ADMIN, sp::LOCKING], method::ACTIVATE, "ACE_SP_SID");
    let removal = Uid::row(0x1101, 1);
    l.same("DataRemovalMechanismObj", [removal], get, any);
    let ace = "ACE_DataRemovalMechanism_Set_ActiveDataRemovalMechanism";
    l.same("DataRemovalMechanismObj", [removal], set, ace);
    let psid = l.rows.len();
    l.same("C_PIN_PSID", [c_pin::PSID], get, "ACE_C_PIN_Get_PSID_NoPIN");
    l.rows[psid..].iter_mut().for_each(|r| r.of = "PSID");
    l.rows
}

/// Table 38, and Single User Mode where no range is in it.
pub(crate) fn locking_sp() -> Vec<Rows> {
    let mut l = List { rows: Vec::new() };
    let (get, set, next, any) = (method::GET, method::SET, method::NEXT, "ACE_Anybody");
    let rows_of = |uid: Uid| {
        let tables = locking_sp_tables();
        let table = tables.into_iter().find(|t| t.uid == uid).expect("a table of the Locking SP");
        table.rows.into_iter().map(|r| r.uid).collect::<Vec<_>>()
    };
    l.same("ThisSP", [Uid::THIS_SP], method::AUTHENTICATE, any);
    l.same("ThisSP", [Uid::THIS_SP], method::RANDOM, any);
    l.same("ThisSP", [Uid::THIS_SP], method::REVERT_SP, "ACE_Admin");
    for (name, object, uid) in [
        ("Table", "TableObj", table::TABLE),
        ("SPTemplates", "SPTemplatesObj", table::SP_TEMPLATES),
        ("MethodID", "MethodIDObj", table::METHOD_ID),
        ("SecretProtect", "SecretProtectObj", table::SECRET_PROTECT),
    ] {
        l.same(name, [uid], next, any);
        l.same(object, rows_of(uid), get, any);
    }
    l.same("SPInfoObj", [Uid::row(2, 1)], get, any);
    l.same("ACE", [table::ACE], next, any);
    l.same("ACEObj", locking_sp_aces().into_iter().map(|a| a.uid), get, "ACE_ACE_Get_All");
    let expression = "ACE_ACE_Set_BooleanExpression";
    let ace = |name: &str| {
        let aces = locking_sp_aces();
        aces.into_iter().find(|a| a.name == name).unwrap_or_else(|| panic!("no ACE {name}")).uid
    };
    for name in [
        "ACE_ACE_Get_All",
        "ACE_Authority_Get_All",
        "ACE_MBRControl_Set_DoneToDOR",
        "ACE_DataStore_Get_All",
        "ACE_DataStore_Set_All",
    ] {
        l.same(name, [ace(name)], set, expression);
    }
    for (object, pattern) in [
        ("ACE_C_PIN_UserMMMM_Set_PIN", "ACE_C_PIN_UserN_Set_PIN"),
        ("ACE_UserMMMM_Set_CommonName", "ACE_UserN_Set_CommonName"),
    ] {
        let each = (1..=USERS).map(|n| ace(&pattern.replace("UserN", &format!("User{n}"))));
        l.same(object, each, set, expression);
    }
    for (object, pattern) in [
        ("ACE_K_AES_256_{GlobalRange, RangeNNNN}_GenKey", "ACE_K_AES_256_R_GenKey"),
        (
            "ACE_Locking_{GlobalRange, RangeNNNN}_Get_RangeStartToActiveKey",
            "ACE_Locking_R_Get_RangeStartToActiveKey",
        ),
        ("ACE_Locking_{GlobalRange, RangeNNNN}_Set_RdLocked", "ACE_Locking_R_Set_RdLocked"),
        ("ACE_Locking_{GlobalRange, RangeNNNN}_Set_WrLocked", "ACE_Locking_R_Set_WrLocked"),
    ] {
        let each = (0..=RANGES).map(|n| ace(&pattern.replace("_R_", &format!("_{}_", range_name(n)))));
        l.same(object, each, set, expression);
    }
    l.same("Authority", [table::AUTHORITY], next, any);
    let told = "ACE_Authority_Get_All, ACE_Anybody_Get_CommonName";
    l.same("AuthorityObj", rows_of(table::AUTHORITY), get, told);
    l.same("Admin1", [authority::admin(1)], set, "ACE_Admins_Set_CommonName");
    let admin_set = "ACE_Authority_Set_Enabled, ACE_Admins_Set_CommonName";
    l.same("AdminXXXX", (2..=ADMINS).map(authority::admin), set, admin_set);
    let user_set = "ACE_Authority_Set_Enabled, ACE_UserMMMM_Set_CommonName";
    l.numbered("UserMMMM", 1..=USERS, authority::user, set, user_set);
    l.same("C_PIN", [table::C_PIN], next, any);
    let told = "ACE_C_PIN_Admins_Get_All_NOPIN";
    l.same("C_PIN_AdminXXXX", (1..=ADMINS).map(c_pin::admin), get, told);
    l.same("C_PIN_UserMMMM", (1..=USERS).map(c_pin::user), get, told);
    l.same("C_PIN_AdminXXXX", (1..=ADMINS).map(c_pin::admin), set, "ACE_C_PIN_Admins_Set_PIN");
    l.numbered("C_PIN_UserMMMM", 1..=USERS, c_pin::user, set, "ACE_C_PIN_UserMMMM_Set_PIN");
    l.same("LockingInfoObj", [locking::INFO], get, any);
    l.same("Locking", [table::LOCKING], next, any);
    let told = "ACE_Locking_RangeNNNN_Get_RangeStartToActiveKey, ACE_Anybody_Get_CommonName";
    l.numbered("Locking_{GlobalRange, RangeNNNN}", 0..=RANGES, locking::range, get, told);
    let acl = "ACE_Locking_GlblRng_Admins_Set, ACE_Locking_GlobalRange_Set_RdLocked, \
               ACE_Locking_GlobalRange_Set_WrLocked, ACE_Admins_Set_CommonName";
    l.same("Locking_GlobalRange", [locking::GLOBAL_RANGE], set, acl);
    let acl = "ACE_Locking_Admins_RangeStartToLOR, ACE_Locking_RangeNNNN_Set_RdLocked, \
               ACE_Locking_RangeNNNN_Set_WrLocked, ACE_Admins_Set_CommonName";
    l.numbered("Locking_RangeNNNN", 1..=RANGES, locking::range, set, acl);
    l.same("MBRControlObj", [locking::MBR_CONTROL], get, any);
    let acl = "ACE_MBRControl_Admins_Set, ACE_MBRControl_Set_DoneToDOR";
    l.same("MBRControlObj", [locking::MBR_CONTROL], set, acl);
    l.same("MBR", [table::MBR], get, any);
    l.same("MBR", [table::MBR], set, "ACE_Admin");
    let keys = "K_AES_256_{GlobalRange, RangeNNNN}_Key";
    l.same(keys, (0..=RANGES).map(locking::key_256), get, "ACE_K_AES_Mode");
    l.numbered(keys, 0..=RANGES, locking::key_256, method::GEN_KEY, "ACE_K_AES_256_RangeNNNN_GenKey");
    l.same("DataStore", [table::DATA_STORE], get, "ACE_DataStore_Get_All");
    l.same("DataStore", [table::DATA_STORE], set, "ACE_DataStore_Set_All");
    let single_user = l.rows.len();
    l.same("ThisSP", [Uid::THIS_SP], method::REACTIVATE, "ACE_SP_Reactivate_Admin");
    l.rows[single_user..].iter_mut().for_each(|r| r.of = "Single User Mode");
    l.rows
}
