//! Every table, its columns, its rows and what stands in them when the SP leaves the factory.
//!
//! Written from the specification and not from `src/tper`, down to how a cell goes over the wire: what both share, both
//! would have wrong.

use super::{ADMINS, RANGES, USERS, admin_sp_aces, locking_sp_aces, range_name};
use crate::rig::{MSID, config};
use keyway_sed::Uid;
use keyway_sed::token::{Encoder, Token};
use keyway_sed::uid::{authority, c_pin, locking, method, parameter, sp, table};

/// What stands in a cell.
#[derive(Clone)]
pub(crate) enum Value {
    Uint(u64),
    Bytes(Vec<u8>),
    Id(Uid),
    Set(Vec<u64>),
    Names(Vec<&'static str>),
    AnyOf(Vec<Uid>),
    /// There, and the maker's own.
    Some,
}

impl Value {
    pub(crate) fn tokens(&self) -> Option<Vec<u8>> {
        let mut to = Encoder::new();
        match self {
            Self::Uint(n) => {
                to.uint(*n);
            }
            Self::Bytes(bytes) => {
                to.bytes(bytes);
            }
            Self::Id(uid) => {
                to.uid(*uid);
            }
            Self::Set(list) => {
                to.list(|to| {
                    for n in list {
                        to.uint(*n);
                    }
                });
            }
            Self::Names(list) => {
                to.list(|to| {
                    for name in list {
                        to.bytes(name.as_bytes());
                    }
                });
            }
            Self::AnyOf(who) => {
                to.list(|to| {
                    for (n, uid) in who.iter().enumerate() {
                        to.token(Token::StartName).bytes(&parameter::AUTHORITY_REF).uid(*uid);
                        to.token(Token::EndName);
                        if n > 0 {
                            to.token(Token::StartName).bytes(&parameter::BOOLEAN_ACE).uint(1);
                            to.token(Token::EndName);
                        }
                    }
                });
            }
            Self::Some => return None,
        }
        Some(to.as_bytes().to_vec())
    }
}

fn name(text: &str) -> Value {
    Value::Bytes(text.as_bytes().to_vec())
}

pub(crate) struct Row {
    pub(crate) uid: Uid,
    pub(crate) cells: Vec<(u64, Value)>,
}

pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) uid: Uid,
    /// Number and name of each column that the SSC asks for.
    pub(crate) columns: &'static [(u64, &'static str)],
    pub(crate) rows: Vec<Row>,
    /// Bytes of a byte table at least.
    pub(crate) bytes: Option<u64>,
}

fn object(name: &'static str, uid: Uid, columns: &'static [(u64, &'static str)], rows: Vec<Row>) -> Table {
    Table { name, uid, columns, rows, bytes: None }
}

fn bytes(name: &'static str, uid: Uid, len: u64) -> Table {
    Table { name, uid, columns: &[], rows: Vec::new(), bytes: Some(len) }
}

fn row(uid: Uid, cells: Vec<(u64, Value)>) -> Row {
    Row { uid, cells }
}

const TABLE: &[(u64, &str)] = &[
    (0, "UID"),
    (1, "Name"),
    (4, "Kind"),
    (7, "Rows"),
    (13, "MandatoryWriteGranularity"),
    (14, "RecommendedAccessGranularity"),
];
const SP_INFO: &[(u64, &str)] = &[(0, "UID"), (1, "SPID"), (2, "Name"), (6, "Enabled")];
const SP_TEMPLATES: &[(u64, &str)] = &[(0, "UID"), (1, "TemplateID"), (2, "Name"), (3, "Version")];
const METHOD_ID: &[(u64, &str)] = &[(0, "UID"), (1, "Name")];
const ACE: &[(u64, &str)] = &[(0, "UID"), (1, "Name"), (3, "BooleanExpr"), (4, "Columns")];
const AUTHORITY: &[(u64, &str)] = &[
    (0, "UID"),
    (1, "Name"),
    (2, "CommonName"),
    (3, "IsClass"),
    (4, "Class"),
    (5, "Enabled"),
    (6, "Secure"),
    (7, "HashAndSign"),
    (8, "PresentCertificate"),
    (9, "Operation"),
    (10, "Credential"),
    (11, "ResponseSign"),
    (12, "ResponseExch"),
];
const C_PIN: &[(u64, &str)] =
    &[(0, "UID"), (1, "Name"), (3, "PIN"), (4, "CharSet"), (5, "TryLimit"), (6, "Tries"), (7, "Persistence")];
const TPER_INFO: &[(u64, &str)] =
    &[(0, "UID"), (2, "GUDID"), (5, "ProtocolVersion"), (7, "SSC"), (8, "ProgrammaticResetEnable")];
const TEMPLATE: &[(u64, &str)] =
    &[(0, "UID"), (1, "Name"), (2, "RevisionNumber"), (3, "Instances"), (4, "MaxInstances")];
const SP: &[(u64, &str)] = &[(0, "UID"), (1, "Name"), (6, "LifeCycle"), (7, "Frozen")];
const DATA_REMOVAL: &[(u64, &str)] = &[(0, "UID"), (1, "ActiveDataRemovalMechanism")];
const SECRET_PROTECT: &[(u64, &str)] =
    &[(0, "UID"), (1, "Table"), (2, "ColumnNumber"), (3, "ProtectMechanisms")];
const LOCKING_INFO: &[(u64, &str)] = &[
    (0, "UID"),
    (3, "EncryptSupport"),
    (4, "MaxRanges"),
    (7, "AlignmentRequired"),
    (8, "LogicalBlockSize"),
    (9, "AlignmentGranularity"),
    (10, "LowestAlignedLBA"),
];
const LOCKING: &[(u64, &str)] = &[
    (0, "UID"),
    (1, "Name"),
    (2, "CommonName"),
    (3, "RangeStart"),
    (4, "RangeLength"),
    (5, "ReadLockEnabled"),
    (6, "WriteLockEnabled"),
    (7, "ReadLocked"),
    (8, "WriteLocked"),
    (9, "LockOnReset"),
    (10, "ActiveKey"),
];
const MBR_CONTROL: &[(u64, &str)] = &[(0, "UID"), (1, "Enable"), (2, "Done"), (3, "DoneOnReset")];
const K_AES: &[(u64, &str)] = &[(0, "UID"), (1, "Name"), (3, "Key"), (4, "Mode")];

/// SPInfo and SPTemplates (tables 18, 19, 34, 35).
fn about(which: Uid, text: &'static str, second: (u32, &'static str)) -> [Table; 2] {
    let info = vec![row(Uid::row(2, 1), vec![(1, Value::Id(which)), (2, name(text)), (6, Value::Uint(1))])];
    let templates = [(1, (1, "Base")), (2, second)].map(|(n, (template, text))| {
        let id = Value::Id(Uid::row(0x0204, template));
        row(Uid::row(3, n), vec![(1, id), (2, name(text)), (3, Value::Bytes(vec![0, 0, 0, 2]))])
    });
    [
        object("SPInfo", table::SP_INFO, SP_INFO, info),
        object("SPTemplates", table::SP_TEMPLATES, SP_TEMPLATES, templates.into()),
    ]
}

fn methods(list: &[(Uid, &str)]) -> Table {
    let rows = list.iter().map(|(uid, text)| row(*uid, vec![(1, name(text))])).collect();
    object("MethodID", table::METHOD_ID, METHOD_ID, rows)
}

fn aces(list: Vec<super::Ace>) -> Table {
    let cells = |ace: &super::Ace| {
        let columns = Value::Set(ace.columns.clone());
        vec![(1, name(&ace.name)), (3, Value::AnyOf(ace.who.clone())), (4, columns)]
    };
    object("ACE", table::ACE, ACE, list.iter().map(|ace| row(ace.uid, cells(ace))).collect())
}

/// An authority (tables 24 and 40).
fn who(uid: Uid, text: &str, class: Uid, enabled: bool, credential: Uid) -> Row {
    let is_class = matches!(text, "Admins" | "Makers" | "Users");
    let mut cells = vec![
        (1, name(text)),
        (3, Value::Uint(is_class.into())),
        (4, Value::Id(class)),
        (5, Value::Uint(enabled.into())),
    ];
    cells.extend([6, 7, 8].map(|column| (column, Value::Uint(0))));
    cells.push((9, Value::Uint(u64::from(credential != Uid::NULL))));
    cells.push((10, Value::Id(credential)));
    cells.extend([11, 12].map(|column| (column, Value::Id(Uid::NULL))));
    row(uid, cells)
}

/// A PIN (tables 25 and 41).
fn pin(uid: Uid, limit: Value) -> Row {
    let none = Value::Uint(0);
    row(uid, vec![(4, Value::Id(Uid::NULL)), (5, limit), (6, none.clone()), (7, none)])
}

fn table_of_tables(tables: &[Table]) -> Table {
    let of = |t: &Table| {
        let (kind, granule) = if t.bytes.is_some() { (2, Value::Some) } else { (1, Value::Uint(0)) };
        let cells = vec![(1, name(t.name)), (4, Value::Uint(kind)), (13, granule.clone()), (14, granule)];
        row(Uid::row(1, t.uid.table_number()), cells)
    };
    let rows = [
        row(Uid::row(1, 1), vec![(1, name("Table"))]),
        row(Uid::row(1, 7), vec![(1, name("AccessControl"))]),
    ];
    let mut rows: Vec<Row> = rows.into_iter().chain(tables.iter().map(of)).collect();
    rows.sort_by_key(|r| r.uid);
    object("Table", table::TABLE, TABLE, rows)
}

/// 4.2, and the PSID feature set.
pub(crate) fn admin_sp_tables() -> Vec<Table> {
    let (null, one) = (Uid::NULL, Value::Uint(1));
    let mut tables: Vec<Table> = about(sp::ADMIN, "Admin", (2, "Admin")).into();
    tables.push(methods(&[
        (method::NEXT, "Next"),
        (method::GET_ACL, "GetACL"),
        (method::GET, "Get"),
        (method::SET, "Set"),
        (method::AUTHENTICATE, "Authenticate"),
        (method::REVERT, "Revert"),
        (method::ACTIVATE, "Activate"),
        (method::RANDOM, "Random"),
    ]));
    tables.push(aces(admin_sp_aces()));
    let admin1 = (authority::admin_sp_admin(1), c_pin::admin_sp_admin(1));
    let rows = vec![
        who(authority::ANYBODY, "Anybody", null, true, null),
        who(authority::ADMINS, "Admins", null, true, null),
        who(authority::MAKERS, "Makers", null, true, null),
        who(authority::SID, "SID", null, true, c_pin::SID),
        who(admin1.0, "Admin1", authority::ADMINS, false, admin1.1),
        who(authority::PSID, "PSID", null, true, c_pin::PSID),
    ];
    tables.push(object("Authority", table::AUTHORITY, AUTHORITY, rows));
    let rows = vec![
        pin(c_pin::SID, Value::Some),
        row(c_pin::MSID, vec![(3, name(MSID))]),
        pin(admin1.1, Value::Uint(0)),
        pin(c_pin::PSID, Value::Some),
    ];
    tables.push(object("C_PIN", table::C_PIN, C_PIN, rows));
    let cells =
        vec![(2, Value::Some), (5, one.clone()), (7, Value::Names(vec!["Opal"])), (8, Value::Uint(0))];
    tables.push(object(
        "TPerInfo",
        table::TPER_INFO,
        TPER_INFO,
        vec![row(Uid::row(0x0201, 0x0003_0001), cells)],
    ));
    let template = |n, text, instances: Value| {
        let cells = vec![(1, name(text)), (2, one.clone()), (3, instances.clone()), (4, instances)];
        row(Uid::row(0x0204, n), cells)
    };
    let rows = vec![
        template(1, "Base", Value::Some),
        template(2, "Admin", one.clone()),
        template(6, "Locking", one.clone()),
    ];
    tables.push(object("Template", table::TEMPLATE, TEMPLATE, rows));
    let life =
        |uid, text, state| row(uid, vec![(1, name(text)), (6, Value::Uint(state)), (7, Value::Uint(0))]);
    let rows = vec![life(sp::ADMIN, "Admin", 9), life(sp::LOCKING, "Locking", 8)];
    tables.push(object("SP", table::SP, SP, rows));
    let rows = vec![row(Uid::row(0x1101, 1), vec![(1, Value::Some)])];
    tables.push(object("DataRemovalMechanism", table::DATA_REMOVAL, DATA_REMOVAL, rows));
    tables.insert(0, table_of_tables(&tables));
    tables
}

/// 4.3, and Single User Mode's methods.
pub(crate) fn locking_sp_tables() -> Vec<Table> {
    let (null, zero, one) = (Uid::NULL, Value::Uint(0), Value::Uint(1));
    let mut tables: Vec<Table> = about(sp::LOCKING, "Locking", (6, "Locking")).into();
    tables.push(methods(&[
        (method::NEXT, "Next"),
        (method::GET_ACL, "GetACL"),
        (method::GEN_KEY, "GenKey"),
        (method::REVERT_SP, "RevertSP"),
        (method::GET, "Get"),
        (method::SET, "Set"),
        (method::AUTHENTICATE, "Authenticate"),
        (method::RANDOM, "Random"),
        (method::REACTIVATE, "Reactivate"),
        (method::ERASE, "Erase"),
    ]));
    tables.push(aces(locking_sp_aces()));
    let mut rows = vec![
        who(authority::ANYBODY, "Anybody", null, true, null),
        who(authority::ADMINS, "Admins", null, true, null),
        who(authority::USERS, "Users", null, true, null),
    ];
    let mut pins = Vec::new();
    for n in 1..=ADMINS {
        rows.push(who(authority::admin(n), &format!("Admin{n}"), authority::ADMINS, n == 1, c_pin::admin(n)));
        pins.push(pin(c_pin::admin(n), zero.clone()));
    }
    for n in 1..=USERS {
        rows.push(who(authority::user(n), &format!("User{n}"), authority::USERS, false, c_pin::user(n)));
        pins.push(pin(c_pin::user(n), zero.clone()));
    }
    rows.iter_mut().for_each(|r| r.cells.push((2, name(""))));
    tables.push(object("Authority", table::AUTHORITY, AUTHORITY, rows));
    tables.push(object("C_PIN", table::C_PIN, C_PIN, pins));
    let of_keys = Value::Id(Uid::row(1, 0x0806));
    let cells = vec![(1, of_keys), (2, Value::Uint(3)), (3, Value::Some)];
    tables.push(object(
        "SecretProtect",
        table::SECRET_PROTECT,
        SECRET_PROTECT,
        vec![row(Uid::row(0x1d, 0x1e), cells)],
    ));
    let cells = vec![
        (3, one.clone()),
        (4, Value::Uint(RANGES.into())),
        (7, one.clone()),
        (8, Value::Uint(config().block_bytes.into())),
        (9, Value::Uint(8)),
        (10, zero.clone()),
    ];
    tables.push(object("LockingInfo", table::LOCKING_INFO, LOCKING_INFO, vec![row(locking::INFO, cells)]));
    let range = |n| {
        let mut cells = vec![(2, name(""))];
        cells.extend((3..=8).map(|column| (column, zero.clone())));
        cells.extend([(9, Value::Set(vec![0])), (10, Value::Id(locking::key_256(n)))]);
        row(locking::range(n), cells)
    };
    tables.push(object("Locking", table::LOCKING, LOCKING, (0..=RANGES).map(range).collect()));
    let cells = vec![(1, zero.clone()), (2, zero), (3, Value::Set(vec![0]))];
    tables.push(object(
        "MBRControl",
        table::MBR_CONTROL,
        MBR_CONTROL,
        vec![row(locking::MBR_CONTROL, cells)],
    ));
    tables.push(bytes("MBR", table::MBR, 0x0800_0000));
    let keys = (0..=RANGES).map(|n| row(locking::key_256(n), vec![(4, Value::Some)])).collect();
    tables.push(object("K_AES_256", table::K_AES_256, K_AES, keys));
    tables.push(bytes("DataStore", table::DATA_STORE, 0x00a0_0000));
    debug_assert_eq!(range_name(0), "GlobalRange");
    tables.insert(0, table_of_tables(&tables));
    tables
}
