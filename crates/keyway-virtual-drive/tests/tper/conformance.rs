//! The virtual drive against Opal SSC 2.02's preconfiguration: every table, column and row, every access control
//! row as every kind of caller, and `docs/reference/opal-conformance.md`, whose lists are made of the same data.

use crate::rig::*;
use crate::spec::access::{self, METHODS, Rows, method_name};
use crate::spec::cells::{self, Table, Value};
use crate::spec::{Ace, admin_sp_aces, locking_sp_aces};
use keyway_model::SparseStore;
use keyway_sed::uid::{authority, c_pin, method, sp, table};
use keyway_sed::{Status, Uid};
use keyway_store::MemStore;
use keyway_virtual_drive::{Drive, DriveConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Everybody's PIN, so that setting one changes nothing.
const PIN: &[u8] = b"owner";

fn aces_of(sp: Uid) -> Vec<Ace> {
    if sp == sp::ADMIN { admin_sp_aces() } else { locking_sp_aces() }
}

fn tables_of(sp: Uid) -> Vec<Table> {
    if sp == sp::ADMIN { cells::admin_sp_tables() } else { cells::locking_sp_tables() }
}

fn access_of(sp: Uid) -> Vec<Rows> {
    if sp == sp::ADMIN { access::admin_sp() } else { access::locking_sp() }
}

/// A caller, and the authorities that take part when it has proved itself.
fn callers(sp: Uid) -> Vec<(Option<Uid>, Vec<Uid>)> {
    let any = authority::ANYBODY;
    let admin1 = authority::admin_sp_admin(1);
    if sp == sp::ADMIN {
        vec![
            (None, vec![any]),
            (Some(authority::SID), vec![any, authority::SID]),
            (Some(admin1), vec![any, admin1, authority::ADMINS]),
            (Some(authority::PSID), vec![any, authority::PSID]),
        ]
    } else {
        let user = authority::user(1);
        vec![
            (None, vec![any]),
            (Some(authority::admin(1)), vec![any, authority::admin(1), authority::ADMINS]),
            (Some(user), vec![any, user, authority::USERS]),
        ]
    }
}

fn session<'d>(drive: &'d Drive, sp: Uid, who: Option<Uid>) -> Host<'d> {
    match who {
        None => Host::anybody(drive, sp),
        Some(authority::PSID) => Host::login(drive, sp, authority::PSID, PSID.as_bytes()),
        Some(who) => Host::login(drive, sp, who, PIN),
    }
    .expect("a session")
}

/// A drive of the sizes that Opal asks for, with its memory only where something is written.
fn full_size() -> Drive {
    let small = config();
    let config = DriveConfig {
        pin_iterations: 1,
        try_limit: 0,
        ..DriveConfig::opal(small.blocks, small.block_bytes, small.label)
    };
    Drive::create(Arc::new(SparseStore::new(config.medium_bytes(), 512)), &config).unwrap()
}

/// Takes ownership and activates; the Admin SP's Admin1 and the Locking SP's User1 can be proved.
fn people(drive: &Drive) {
    let host = Host::login(drive, sp::ADMIN, authority::SID, MSID.as_bytes()).unwrap();
    host.set_pin(c_pin::SID, PIN).unwrap();
    host.end();
    let host = Host::login(drive, sp::ADMIN, authority::SID, PIN).unwrap();
    host.set_pin(c_pin::admin_sp_admin(1), PIN).unwrap();
    host.set_uint(authority::admin_sp_admin(1), 5, 1).unwrap();
    host.call(sp::LOCKING, method::ACTIVATE, |_| {}).unwrap();
    host.end();
    let host = Host::login(drive, sp::LOCKING, authority::admin(1), PIN).unwrap();
    host.set_pin(c_pin::user(1), PIN).unwrap();
    host.set_uint(authority::user(1), 5, 1).unwrap();
    host.end();
}

fn acl(host: &Host<'_>, object: Uid, method: Uid) -> Result<Vec<Uid>, Status> {
    host.call_with(
        table::ACCESS_CONTROL,
        method::GET_ACL,
        |to| {
            to.uid(object).uid(method);
        },
        |results| results[0].list().unwrap().iter().map(|v| v.uid().unwrap()).collect(),
    )
}

fn next(host: &Host<'_>, table: Uid) -> Result<Vec<Uid>, Status> {
    let uids = |results: &[keyway_sed::token::Value<'_>]| {
        results[0].list().unwrap().iter().map(|v| v.uid().unwrap()).collect()
    };
    host.call_with(table, method::NEXT, |_| {}, uids)
}

/// The ACEs of an access control row, by their names.
fn resolve<'a>(aces: &'a [Ace], names: &[String]) -> Vec<&'a Ace> {
    let find = |name: &String| aces.iter().find(|a| a.name == *name).unwrap_or_else(|| panic!("no {name}"));
    names.iter().map(find).collect()
}

#[test]
fn every_table_has_its_columns_and_rows_as_the_factory_leaves_them() {
    let drive = full_size();
    let owner = Host::login(&drive, sp::ADMIN, authority::SID, MSID.as_bytes()).unwrap();
    check_tables(&owner, sp::ADMIN, &[authority::ANYBODY, authority::SID]);
    owner.call(sp::LOCKING, method::ACTIVATE, |_| {}).unwrap();
    owner.end();
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), MSID.as_bytes()).unwrap();
    check_tables(&admin, sp::LOCKING, &[authority::ANYBODY, authority::admin(1), authority::ADMINS]);
    admin.end();
}

fn check_tables(host: &Host<'_>, which: Uid, present: &[Uid]) {
    let aces = aces_of(which);
    let listed = next(host, table::TABLE).unwrap();
    let expected = tables_of(which);
    let rows: Vec<Uid> = expected[0].rows.iter().map(|r| r.uid).collect();
    assert_eq!(listed, rows, "the tables there are");
    for t in &expected {
        if let Some(least) = t.bytes {
            let row = Uid::row(1, t.uid.table_number());
            assert!(host.get_uint(row, 7) >= least, "{}", t.name);
            continue;
        }
        if acl(host, t.uid, method::NEXT).is_ok() {
            let mut rows: Vec<Uid> = t.rows.iter().map(|r| r.uid).collect();
            rows.sort_unstable();
            assert_eq!(next(host, t.uid).unwrap(), rows, "{}", t.name);
        }
        let numbers: BTreeSet<u64> = t.columns.iter().map(|(n, _)| *n).collect();
        for row in &t.rows {
            let names = access_of(which)
                .into_iter()
                .filter(|r| r.method == method::GET)
                .flat_map(|r| r.each)
                .find(|(uid, _)| *uid == row.uid)
                .unwrap_or_else(|| panic!("{} is not to be read", row.uid))
                .1;
            let admitting: Vec<_> = resolve(&aces, &names)
                .into_iter()
                .filter(|a| a.who.iter().any(|w| present.contains(w)))
                .collect();
            let covered = |n: u64| admitting.iter().any(|a| a.columns.is_empty() || a.columns.contains(&n));
            if admitting.is_empty() {
                assert_eq!(host.get_row(row.uid), Err(Status::NotAuthorized), "{} {}", t.name, row.uid);
                continue;
            }
            let told: BTreeMap<u64, Vec<u8>> = host.get_row(row.uid).unwrap().into_iter().collect();
            let values: BTreeMap<u64, &Value> = row.cells.iter().map(|(n, v)| (*n, v)).collect();
            assert!(row.cells.iter().all(|(n, _)| numbers.contains(n)), "{}: a value in no column", t.name);
            for n in numbers.iter().copied() {
                let place = format!("{} {} column {n}", t.name, row.uid);
                // The factory's PIN is the only one told, and it has no other columns.
                let there = row.uid != c_pin::MSID || [0, 3].contains(&n);
                assert_eq!(told.contains_key(&n), covered(n) && there, "{place}");
                let Some(is) = told.get(&n) else { continue };
                if n == 0 {
                    assert_eq!(is[1..], row.uid.to_bytes(), "{place}");
                } else if let Some(tokens) = values.get(&n).and_then(|v| v.tokens()) {
                    assert_eq!(*is, tokens, "{place}");
                }
            }
        }
    }
}

#[test]
fn getacl_tells_every_access_control_row_and_no_other() {
    let drive = Drive::create(store(), &config()).unwrap();
    people(&drive);
    for which in [sp::ADMIN, sp::LOCKING] {
        let aces = aces_of(which);
        let host = session(&drive, which, None);
        let mut expected: BTreeMap<(Uid, Uid), Vec<Uid>> = BTreeMap::new();
        for row in access_of(which) {
            for (object, names) in row.each {
                let list = resolve(&aces, &names).iter().map(|a| a.uid).collect();
                assert!(expected.insert((object, row.method), list).is_none(), "{object} twice");
            }
        }
        let mut objects = vec![Uid::THIS_SP, Uid::SESSION_MANAGER, table::ACCESS_CONTROL];
        for t in tables_of(which) {
            objects.push(t.uid);
            objects.extend(t.rows.iter().map(|r| r.uid));
        }
        for object in objects {
            for (method, name) in METHODS {
                let told = acl(&host, object, method);
                match expected.remove(&(object, method)) {
                    Some(list) => assert_eq!(told, Ok(list), "{object} {name}"),
                    None => assert_eq!(told, Err(Status::NotAuthorized), "{object} {name}"),
                }
            }
        }
        assert!(expected.is_empty(), "rows of objects that are in no table: {expected:?}");
        host.end();
    }
}

/// A value that the column takes and that changes nothing that matters here.
fn harmless(aces: &[Ace], object: Uid, column: u64) -> (u64, OwnedCell) {
    let value = match (object.table(), column) {
        (table::AUTHORITY | table::LOCKING, 2) => OwnedCell::Bytes(b"name".to_vec()),
        (table::AUTHORITY, 5) => OwnedCell::Uint(1),
        (table::C_PIN, 3) => OwnedCell::Bytes(PIN.to_vec()),
        (table::ACE, 3) => {
            let who = &aces.iter().find(|a| a.uid == object).expect("an ACE").who;
            let mut terms: Vec<Result<Uid, u64>> = Vec::new();
            for (n, uid) in who.iter().enumerate() {
                terms.push(Ok(*uid));
                terms.extend((n > 0).then_some(Err(1)));
            }
            OwnedCell::Expression(terms)
        }
        (table::LOCKING | table::MBR_CONTROL, _)
            if (object.table(), column) == (table::MBR_CONTROL, 3) || column == 9 =>
        {
            OwnedCell::Uints(vec![0])
        }
        (table::DATA_REMOVAL, 1) => OwnedCell::Uint(2),
        _ => OwnedCell::Uint(0),
    };
    (column, value)
}

enum OwnedCell {
    Uint(u64),
    Bytes(Vec<u8>),
    Uints(Vec<u64>),
    Expression(Vec<Result<Uid, u64>>),
}

impl OwnedCell {
    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Uint(n) => Cell::Uint(*n),
            Self::Bytes(b) => Cell::Bytes(b),
            Self::Uints(l) => Cell::Uints(l),
            Self::Expression(t) => Cell::Expression(t),
        }
    }
}

#[test]
fn every_access_control_row_admits_whom_its_aces_name_and_nobody_else() {
    let medium = store();
    let drive = Drive::create(medium.clone(), &config()).unwrap();
    people(&drive);
    let snapshot = medium.snapshot();
    for which in [sp::ADMIN, sp::LOCKING] {
        let aces = aces_of(which);
        let columns: BTreeMap<Uid, Vec<u64>> =
            tables_of(which).iter().map(|t| (t.uid, t.columns.iter().map(|(n, _)| *n).collect())).collect();
        for (who, present) in callers(which) {
            let host = session(&drive, which, who);
            for row in access_of(which) {
                for (object, names) in &row.each {
                    let list = resolve(&aces, names);
                    let admitting: Vec<_> =
                        list.into_iter().filter(|a| a.who.iter().any(|w| present.contains(w))).collect();
                    let place = format!("{} {object} {} as {who:?}", row.object, method_name(row.method));
                    let told = |status: Result<(), Status>, admitted: bool| match status {
                        Err(Status::NotAuthorized) => assert!(!admitted, "{place}: not admitted"),
                        Ok(()) => assert!(admitted, "{place}: admitted"),
                        Err(other) => panic!("{place}: {other}"),
                    };
                    match row.method {
                        method::SET if object.is_table() => {
                            let set = host.call(*object, method::SET, |to| {
                                to.named(0, |to| {
                                    to.uint(0);
                                });
                                to.named(1, |to| {
                                    to.bytes(b"x");
                                });
                            });
                            told(set, !admitting.is_empty());
                        }
                        method::SET => {
                            for n in columns[&object.table()].iter().copied().filter(|n| *n != 0) {
                                let (n, value) = harmless(&aces, *object, n);
                                let admitted = admitting.iter().any(|a| a.columns.contains(&n));
                                // Of a column that nobody may set, the value is looked at by nobody either.
                                told(host.set(*object, &[(n, value.cell())]), admitted);
                            }
                        }
                        method::GET => {
                            let got = if object.is_table() {
                                host.call(*object, method::GET, |to| {
                                    to.list(|to| {
                                        to.named(1, |to| {
                                            to.uint(0);
                                        });
                                        to.named(2, |to| {
                                            to.uint(1);
                                        });
                                    });
                                })
                            } else {
                                host.get_row(*object).map(drop)
                            };
                            told(got, !admitting.is_empty());
                        }
                        method::NEXT => told(next(&host, *object).map(drop), !admitting.is_empty()),
                        method::RANDOM => {
                            let random = host.call(*object, method::RANDOM, |to| {
                                to.uint(32);
                            });
                            told(random, !admitting.is_empty());
                        }
                        method::AUTHENTICATE => {
                            let proved = host.call(*object, method::AUTHENTICATE, |to| {
                                to.uid(authority::ANYBODY);
                            });
                            told(proved, !admitting.is_empty());
                        }
                        // What changes everything is called on a copy of the drive.
                        _ => {
                            let copy = Drive::open(Arc::new(MemStore::from_vec(snapshot.clone()))).unwrap();
                            let host = session(&copy, which, who);
                            told(host.call(*object, row.method, |_| {}), !admitting.is_empty());
                        }
                    }
                }
            }
            host.end();
        }
    }
}

#[test]
fn the_document_lists_what_is_tested() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/opal-conformance.md");
    let text = std::fs::read_to_string(&path).expect("the document");
    let (head, rest) = text.split_once(BEGIN).expect("its lists begin");
    let (_, tail) = rest.split_once(END).expect("and end");
    let made = format!("{head}{BEGIN}{}{END}{tail}", lists());
    if std::env::var_os("KEYWAY_BLESS").is_some() {
        std::fs::write(&path, &made).expect("the document");
    }
    assert!(
        made == text,
        "docs/reference/opal-conformance.md is not what the tests ask for: run this test with KEYWAY_BLESS=1"
    );
    // Tests that it names are there.
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tper");
    for named in
        text.split('`').skip(1).step_by(2).filter(|t| t.contains("::") && !t.contains(['/', '(', ' ']))
    {
        let (module, test) = named.split_once("::").expect("checked");
        let file = sources.join(format!("{module}.rs"));
        let source =
            std::fs::read_to_string(&file).unwrap_or_else(|_| panic!("{named}: no {}", file.display()));
        assert!(source.contains(&format!("fn {test}(")), "{named} is no test");
    }
}

const BEGIN: &str = "<!-- made by conformance::the_document_lists_what_is_tested -->\n";
const END: &str = "<!-- end -->\n";

fn lists() -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "\n### Tables, their columns and rows\n\nTest of each: \
        `conformance::every_table_has_its_columns_and_rows_as_the_factory_leaves_them`.\n\n\
        | SP | table | columns | rows |\n|---|---|---|---|"
    );
    for (sp, name) in [(sp::ADMIN, "Admin"), (sp::LOCKING, "Locking")] {
        for t in tables_of(sp) {
            let columns: Vec<_> = t.columns.iter().map(|(_, name)| *name).collect();
            let rows = t.bytes.map_or(t.rows.len().to_string(), |b| format!("{b} bytes at least"));
            let _ = writeln!(out, "| {name} | {} | {} | {rows} |", t.name, columns.join(", "));
        }
    }
    let _ = writeln!(
        out,
        "\n### Access control rows\n\nTests of each: \
        `conformance::getacl_tells_every_access_control_row_and_no_other`, and as every kind of caller, column by \
        column,\n`conformance::every_access_control_row_admits_whom_its_aces_name_and_nobody_else`.\n\n\
        | SP | object | objects | method | ACL | of |\n|---|---|---|---|---|---|"
    );
    let mut count = 0;
    for (sp, name) in [(sp::ADMIN, "Admin"), (sp::LOCKING, "Locking")] {
        for row in access_of(sp) {
            count += row.each.len();
            let (each, method, acl) = (row.each.len(), method_name(row.method), row.acl);
            let _ = writeln!(out, "| {name} | {} | {each} | {method} | {acl} | {} |", row.object, row.of);
        }
    }
    let _ = writeln!(out, "\n{count} rows.\n");
    out
}

#[test]
fn the_lists_hold_what_the_specification_counts() {
    let rows = |sp| access_of(sp).iter().map(|r| r.each.len()).sum::<usize>();
    let aces = |sp| aces_of(sp).len();
    assert_eq!((aces(sp::ADMIN), aces(sp::LOCKING)), (12, 19 + 2 * 9 + 4 * 9));
    // One of PSID, one of Single User Mode among them.
    assert_eq!((rows(sp::ADMIN), rows(sp::LOCKING)), (72, 271));
}
