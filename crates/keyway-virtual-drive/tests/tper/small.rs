//! The virtual drive against Opalite SSC 1.00's and Pyrite SSC 2.01's own preconfiguration: which rows there are, every
//! ACE, and every access control row and no other. Written from their texts (tables 14 to 38 and 18 to 43), with the rows
//! that the PSID feature set adds; rows that they leave optional are left out, but for the MBR shadow's.

use crate::rig::*;
use crate::spec::access::METHODS;
use crate::spec::cells::Value;
use crate::spec::{Ace, admin_sp_aces, locking_sp_aces};
use keyway_sed::uid::{authority, c_pin, locking, method, sp, table};
use keyway_sed::{Status, Uid};
use keyway_store::MemStore;
use keyway_virtual_drive::{Drive, Profile, SscKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Objects, a method, and its ACEs.
type Rows = Vec<(Vec<Uid>, Uid, Vec<&'static str>)>;

/// What an SP's tables hold.
struct Sp {
    uid: Uid,
    /// Tables that are listed, and their rows.
    tables: Vec<(Uid, Vec<Uid>)>,
    aces: Vec<&'static str>,
    access: Rows,
}

const ANY: &str = "ACE_Anybody";
const TPER_INFO: Uid = Uid::row(0x0201, 0x0003_0001);
const REMOVAL: Uid = Uid::row(0x1101, 1);

fn templates(n: u32) -> Vec<Uid> {
    (1..=n).map(|row| Uid::row(3, row)).collect()
}

fn table_rows(tables: &[u32]) -> Vec<Uid> {
    tables.iter().map(|number| Uid::row(1, *number)).collect()
}

fn admin_sp(ssc: SscKind) -> Sp {
    let removes = ssc == SscKind::Pyrite2;
    let mut numbers = vec![1, 2, 3, 6, 7, 8, 9, 0xb, 0x201, 0x204, 0x205];
    numbers.extend(removes.then_some(0x1101));
    let methods = [
        method::NEXT,
        method::GET_ACL,
        method::GET,
        method::SET,
        method::AUTHENTICATE,
        method::REVERT,
        method::ACTIVATE,
        method::RANDOM,
    ];
    let mut aces = vec![
        ANY,
        "ACE_C_PIN_SID_Get_NOPIN",
        "ACE_C_PIN_SID_Set_PIN",
        "ACE_C_PIN_MSID_Get_PIN",
        "ACE_TPerInfo_Set_ProgrammaticResetEnable",
        "ACE_SP_SID",
        "ACE_SP_PSID",
        "ACE_C_PIN_Get_PSID_NoPIN",
    ];
    let set_removal = "ACE_DataRemovalMechanism_Set_ActiveDataRemovalMechanism";
    aces.extend(removes.then_some(set_removal));
    let ace_rows = uids(&admin_sp_aces(), &aces);
    let tables = vec![
        (table::TABLE, table_rows(&numbers)),
        (table::SP_TEMPLATES, templates(2)),
        (table::METHOD_ID, methods.to_vec()),
        (table::ACE, ace_rows),
        (table::AUTHORITY, vec![authority::ANYBODY, authority::ADMINS, authority::SID, authority::PSID]),
        (table::C_PIN, vec![c_pin::SID, c_pin::MSID, c_pin::PSID]),
        (table::TEMPLATE, [1, 2, 6].map(|n| Uid::row(0x0204, n)).to_vec()),
        (table::SP, vec![sp::ADMIN, sp::LOCKING]),
    ];
    let mut access: Rows = Vec::new();
    for (table, rows) in &tables {
        access.push((vec![*table], method::NEXT, vec![ANY]));
        if *table != table::C_PIN {
            access.push((rows.clone(), method::GET, vec![ANY]));
        }
    }
    access.extend([
        (vec![Uid::row(2, 1)], method::GET, vec![ANY]),
        (vec![c_pin::SID], method::GET, vec!["ACE_C_PIN_SID_Get_NOPIN"]),
        (vec![c_pin::SID], method::SET, vec!["ACE_C_PIN_SID_Set_PIN"]),
        (vec![c_pin::MSID], method::GET, vec!["ACE_C_PIN_MSID_Get_PIN"]),
        (vec![c_pin::PSID], method::GET, vec!["ACE_C_PIN_Get_PSID_NoPIN"]),
        (vec![TPER_INFO], method::GET, vec![ANY]),
        (vec![TPER_INFO], method::SET, vec!["ACE_TPerInfo_Set_ProgrammaticResetEnable"]),
        (vec![Uid::THIS_SP], method::AUTHENTICATE, vec![ANY]),
        (vec![Uid::THIS_SP], method::RANDOM, vec![ANY]),
        (vec![sp::ADMIN], method::REVERT, vec!["ACE_SP_SID", "ACE_SP_PSID"]),
        (vec![sp::LOCKING], method::REVERT, vec!["ACE_SP_SID"]),
        (vec![sp::ADMIN, sp::LOCKING], method::ACTIVATE, vec!["ACE_SP_SID"]),
    ]);
    if removes {
        access.push((vec![REMOVAL], method::GET, vec![ANY]));
        access.push((vec![REMOVAL], method::SET, vec![set_removal]));
    }
    Sp { uid: sp::ADMIN, tables, aces, access }
}

fn locking_sp(ssc: SscKind) -> Sp {
    let encrypts = ssc == SscKind::Opalite;
    let mut numbers = vec![1, 2, 3, 6, 7, 8, 9, 0xb];
    numbers.extend(encrypts.then_some(0x1d));
    numbers.extend([0x801, 0x802, 0x803, 0x804]);
    numbers.extend(encrypts.then_some(0x806));
    numbers.push(0x1001);
    let mut methods = vec![method::NEXT, method::GET_ACL];
    methods.extend(encrypts.then_some(method::GEN_KEY));
    methods.extend([method::REVERT_SP, method::GET, method::SET, method::AUTHENTICATE, method::RANDOM]);
    // Those whose expression an admin may change, and those that are fixed.
    let mut settable = vec![
        "ACE_ACE_Get_All",
        "ACE_Authority_Get_All",
        "ACE_C_PIN_User1_Set_PIN",
        "ACE_C_PIN_User2_Set_PIN",
        "ACE_Locking_GlobalRange_Get_RangeStartToActiveKey",
        "ACE_Locking_GlobalRange_Set_RdLocked",
        "ACE_Locking_GlobalRange_Set_WrLocked",
        "ACE_MBRControl_Set_DoneToDOR",
        "ACE_DataStore_Get_All",
        "ACE_DataStore_Set_All",
    ];
    let mut fixed = vec![
        ANY,
        "ACE_Admin",
        "ACE_ACE_Set_BooleanExpression",
        "ACE_Authority_Set_Enabled",
        "ACE_C_PIN_Admins_Get_All_NOPIN",
        "ACE_C_PIN_Admins_Set_PIN",
        "ACE_Locking_GlblRng_Admins_Set",
        "ACE_MBRControl_Admins_Set",
    ];
    if encrypts {
        settable.push("ACE_K_AES_256_GlobalRange_GenKey");
        fixed.push("ACE_K_AES_Mode");
    }
    let all = locking_sp_aces();
    let aces: Vec<_> = settable.iter().chain(&fixed).copied().collect();
    let (admin, users) = (authority::admin(1), [authority::user(1), authority::user(2)]);
    let secrets = [c_pin::admin(1), c_pin::user(1), c_pin::user(2)];
    let mut tables = vec![
        (table::TABLE, table_rows(&numbers)),
        (table::SP_TEMPLATES, templates(2)),
        (table::METHOD_ID, methods),
        (table::ACE, uids(&all, &aces)),
        (
            table::AUTHORITY,
            [vec![authority::ANYBODY, authority::ADMINS, admin, authority::USERS], users.to_vec()].concat(),
        ),
        (table::C_PIN, secrets.to_vec()),
        (table::LOCKING, vec![locking::GLOBAL_RANGE]),
    ];
    if encrypts {
        tables.push((table::SECRET_PROTECT, vec![Uid::row(0x1d, 0x1e)]));
    }
    let readers = |table: Uid| match table {
        table::ACE => Some("ACE_ACE_Get_All"),
        table::AUTHORITY => Some("ACE_Authority_Get_All"),
        table::C_PIN => Some("ACE_C_PIN_Admins_Get_All_NOPIN"),
        table::LOCKING => Some("ACE_Locking_GlobalRange_Get_RangeStartToActiveKey"),
        _ => Some(ANY),
    };
    let mut access: Rows = Vec::new();
    for (table, rows) in &tables {
        access.push((vec![*table], method::NEXT, vec![ANY]));
        access.extend(readers(*table).map(|ace| (rows.clone(), method::GET, vec![ace])));
    }
    access.extend([
        (vec![Uid::THIS_SP], method::AUTHENTICATE, vec![ANY]),
        (vec![Uid::THIS_SP], method::RANDOM, vec![ANY]),
        (vec![Uid::THIS_SP], method::REVERT_SP, vec!["ACE_Admin"]),
        (vec![Uid::row(2, 1)], method::GET, vec![ANY]),
        (uids(&all, &settable), method::SET, vec!["ACE_ACE_Set_BooleanExpression"]),
        (users.to_vec(), method::SET, vec!["ACE_Authority_Set_Enabled"]),
        (vec![c_pin::admin(1)], method::SET, vec!["ACE_C_PIN_Admins_Set_PIN"]),
        (vec![c_pin::user(1)], method::SET, vec!["ACE_C_PIN_User1_Set_PIN"]),
        (vec![c_pin::user(2)], method::SET, vec!["ACE_C_PIN_User2_Set_PIN"]),
        (vec![locking::INFO], method::GET, vec![ANY]),
        (
            vec![locking::GLOBAL_RANGE],
            method::SET,
            vec![
                "ACE_Locking_GlblRng_Admins_Set",
                "ACE_Locking_GlobalRange_Set_RdLocked",
                "ACE_Locking_GlobalRange_Set_WrLocked",
            ],
        ),
        (vec![locking::MBR_CONTROL], method::GET, vec![ANY]),
        (
            vec![locking::MBR_CONTROL],
            method::SET,
            vec!["ACE_MBRControl_Admins_Set", "ACE_MBRControl_Set_DoneToDOR"],
        ),
        (vec![table::MBR], method::GET, vec![ANY]),
        (vec![table::MBR], method::SET, vec!["ACE_Admin"]),
        (vec![table::DATA_STORE], method::GET, vec!["ACE_DataStore_Get_All"]),
        (vec![table::DATA_STORE], method::SET, vec!["ACE_DataStore_Set_All"]),
    ]);
    if encrypts {
        let key = vec![locking::key_256(0)];
        access.push((key.clone(), method::GET, vec!["ACE_K_AES_Mode"]));
        access.push((key, method::GEN_KEY, vec!["ACE_K_AES_256_GlobalRange_GenKey"]));
    }
    Sp { uid: sp::LOCKING, tables, aces, access }
}

fn find<'a>(aces: &'a [Ace], name: &str) -> &'a Ace {
    aces.iter().find(|a| a.name == name).unwrap_or_else(|| panic!("no {name}"))
}

fn uids(aces: &[Ace], names: &[&str]) -> Vec<Uid> {
    names.iter().map(|name| find(aces, name).uid).collect()
}

fn check(host: &Host<'_>, which: &Sp, place: &str) {
    let aces = if which.uid == sp::ADMIN { admin_sp_aces() } else { locking_sp_aces() };
    for (table, rows) in &which.tables {
        let mut rows = rows.clone();
        rows.sort_unstable();
        let listed = host
            .call_with(
                *table,
                method::NEXT,
                |_| {},
                |results| results[0].list().unwrap().iter().map(|v| v.uid().unwrap()).collect::<Vec<_>>(),
            )
            .unwrap();
        assert_eq!(listed, rows, "{place} {table}");
    }
    for name in &which.aces {
        let ace = find(&aces, name);
        let told: BTreeMap<u64, Vec<u8>> = host.get_row(ace.uid).unwrap().into_iter().collect();
        let expected = (Value::AnyOf(ace.who.clone()).tokens(), Value::Set(ace.columns.clone()).tokens());
        assert_eq!((told.get(&3).cloned(), told.get(&4).cloned()), expected, "{place} {name}");
    }
    let mut expected: BTreeMap<(Uid, Uid), Vec<Uid>> = BTreeMap::new();
    for (objects, method, acl) in &which.access {
        for object in objects {
            assert!(expected.insert((*object, *method), uids(&aces, acl)).is_none(), "{object} twice");
        }
    }
    // Everything that has a row here or in Opal: what Opal has besides is not there.
    let mut objects: BTreeSet<Uid> = expected.keys().map(|(object, _)| *object).collect();
    objects.extend(aces.iter().map(|a| a.uid));
    objects.extend([
        authority::MAKERS,
        authority::admin_sp_admin(1),
        c_pin::admin_sp_admin(1),
        Uid::SESSION_MANAGER,
    ]);
    objects.extend([
        locking::range(1),
        locking::key_256(1),
        authority::user(3),
        authority::admin(2),
        REMOVAL,
    ]);
    for object in objects {
        for (method, name) in METHODS {
            let told = host.call_with(
                table::ACCESS_CONTROL,
                method::GET_ACL,
                |to| {
                    to.uid(object).uid(method);
                },
                |results| results[0].list().unwrap().iter().map(|v| v.uid().unwrap()).collect::<Vec<_>>(),
            );
            let row = expected.remove(&(object, method)).ok_or(Status::NotAuthorized);
            assert_eq!(told, row, "{place} {object} {name}");
        }
    }
    assert!(expected.is_empty());
}

#[test]
fn opalite_and_pyrite_have_the_rows_of_their_own_texts_and_no_other() {
    for ssc in [SscKind::Opalite, SscKind::Pyrite2, SscKind::Pyrite1] {
        let small = config();
        let made = Profile::Of(ssc).config(small.blocks, small.block_bytes, small.label);
        let made = keyway_virtual_drive::DriveConfig { mbr_bytes: 64 * 1024, pin_iterations: 1, ..made };
        let store = Arc::new(MemStore::new(made.medium_bytes() as usize));
        let drive = Drive::create(store, &made).unwrap();
        let owner = Host::login(&drive, sp::ADMIN, authority::SID, MSID.as_bytes()).unwrap();
        check(&owner, &admin_sp(ssc), ssc.name());
        owner.call(sp::LOCKING, method::ACTIVATE, |_| {}).unwrap();
        owner.end();
        let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), MSID.as_bytes()).unwrap();
        check(&admin, &locking_sp(ssc), ssc.name());
        admin.end();
    }
}
