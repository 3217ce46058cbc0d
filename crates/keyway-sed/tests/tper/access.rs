//! Who may call what: every row of the access control tables, asked for as each kind of caller.

use crate::rig::*;
use keyway_sed::uid::{authority, c_pin, locking, method, sp, table};
use keyway_sed::{Status, Uid};

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

fn rows(host: &Host<'_>, table: Uid) -> Vec<Uid> {
    host.call_with(
        table,
        method::NEXT,
        |_| {},
        |results| results[0].list().unwrap().iter().map(|v| v.uid().unwrap()).collect(),
    )
    .unwrap()
}

#[test]
fn the_mandatory_tables_of_both_sps_are_there() {
    // Opal SSC 2.01, tables 13 (Admin SP) and 24 (Locking SP).
    let drive = activated(store(), b"owner");
    let host = Host::anybody(&drive, sp::ADMIN).unwrap();
    let admin = [
        table::TABLE,
        table::SP_INFO,
        table::SP_TEMPLATES,
        table::METHOD_ID,
        table::ACCESS_CONTROL,
        table::ACE,
        table::AUTHORITY,
        table::C_PIN,
        table::TPER_INFO,
        table::TEMPLATE,
        table::SP,
        table::DATA_REMOVAL,
    ];
    let listed: Vec<u32> = rows(&host, table::TABLE).iter().map(|uid| uid.row_number()).collect();
    for table in admin {
        assert!(listed.contains(&table.table_number()), "{table}");
    }
    assert_eq!(rows(&host, table::SP), [sp::ADMIN, sp::LOCKING]);
    assert_eq!(rows(&host, table::TEMPLATE).len(), 3);
    assert_eq!(rows(&host, table::C_PIN).len(), 4);
    assert_eq!(rows(&host, table::METHOD_ID).len(), 8);
    host.end();
    let host = Host::anybody(&drive, sp::LOCKING).unwrap();
    let locking = [
        table::TABLE,
        table::SP_INFO,
        table::SP_TEMPLATES,
        table::METHOD_ID,
        table::ACCESS_CONTROL,
        table::ACE,
        table::AUTHORITY,
        table::C_PIN,
        table::SECRET_PROTECT,
        table::LOCKING_INFO,
        table::LOCKING,
        table::MBR_CONTROL,
        table::MBR,
        table::K_AES_256,
        table::DATA_STORE,
    ];
    let listed: Vec<u32> = rows(&host, table::TABLE).iter().map(|uid| uid.row_number()).collect();
    for table in locking {
        assert!(listed.contains(&table.table_number()), "{table}");
    }
    assert_eq!(rows(&host, table::LOCKING).len(), 9);
    assert_eq!(rows(&host, table::K_AES_256).len(), 9);
    // Three classes, four admins, nine users; and their PINs.
    assert_eq!(rows(&host, table::AUTHORITY).len(), 16);
    assert_eq!(rows(&host, table::C_PIN).len(), 13);
    assert_eq!(host.get_uint(Uid::row(1, 0x0804), 7), 64 * 1024);
    assert_eq!(host.get_uint(Uid::row(1, 0x0804), 4), 2);
    assert_eq!(host.get_uint(locking::INFO, 4), 8);
    assert_eq!(host.get_uint(locking::INFO, 8), 512);
    assert_eq!(host.get_uint(locking::INFO, 9), 8);
    host.end();
}

#[test]
fn next_goes_on_from_a_row() {
    let drive = activated(store(), b"owner");
    let host = Host::anybody(&drive, sp::LOCKING).unwrap();
    let all = rows(&host, table::LOCKING);
    let some = host.call_with(
        table::LOCKING,
        method::NEXT,
        |to| {
            to.named(0, |to| {
                to.uid(all[2]);
            });
            to.named(1, |to| {
                to.uint(3);
            });
        },
        |results| results[0].list().unwrap().iter().map(|v| v.uid().unwrap()).collect::<Vec<_>>(),
    );
    assert_eq!(some.unwrap(), all[2..5]);
    host.end();
}

#[test]
fn every_access_control_row_admits_whom_it_names_and_nobody_else() {
    // For each row that GetACL tells: Get as nobody, as a user and as an admin, or as the owner. The rows'
    // ACEs are those of Opal SSC 2.01, tables 17 and 28.
    let drive = activated(store(), b"owner");
    add_user(&drive, b"owner", 1, b"user", 8);
    let any = Uid::row(8, 1);
    let expected: Vec<(Uid, Uid, Uid, Vec<Uid>)> = expected(any);
    for (sp, object, method, aces) in &expected {
        let host = Host::anybody(&drive, *sp).unwrap();
        assert_eq!(acl(&host, *object, *method).as_deref(), Ok(&aces[..]), "{sp} {object} {method}");
        if *method == method::GET && !object.is_table() {
            let got = host.get_row(*object);
            let for_anybody = [
                any,
                Uid::row(8, 3),
                Uid::row(8, 0x8c04),
                Uid::row(8, 0x0001_00e1),
                Uid::row(8, 0x0003_bfff),
            ];
            assert_eq!(got.is_ok(), aces.iter().any(|ace| for_anybody.contains(ace)), "{object}: {got:?}");
        }
        host.end();
        let who = if *sp == sp::ADMIN { authority::SID } else { authority::admin(1) };
        let host = Host::login(&drive, *sp, who, b"owner").unwrap();
        if *method == method::GET && !object.is_table() {
            assert!(host.get_row(*object).is_ok(), "{object}");
        }
        host.end();
    }
}

/// (SP, object, method, ACEs)
fn expected(any: Uid) -> Vec<(Uid, Uid, Uid, Vec<Uid>)> {
    let ace = |row| Uid::row(8, row);
    let (get, set, next) = (method::GET, method::SET, method::NEXT);
    let (a, l) = (sp::ADMIN, sp::LOCKING);
    let tper_info = Uid::row(0x0201, 0x0003_0001);
    let mut rows = vec![
        (a, Uid::THIS_SP, method::AUTHENTICATE, vec![any]),
        (a, Uid::THIS_SP, method::RANDOM, vec![any]),
        (a, table::TABLE, next, vec![any]),
        (a, Uid::row(1, 0x0b), get, vec![any]),
        (a, Uid::row(2, 1), get, vec![any]),
        (a, table::SP_TEMPLATES, next, vec![any]),
        (a, Uid::row(3, 1), get, vec![any]),
        (a, table::METHOD_ID, next, vec![any]),
        (a, method::RANDOM, get, vec![any]),
        (a, table::ACE, next, vec![any]),
        (a, ace(0x8c03), get, vec![any]),
        (a, table::AUTHORITY, next, vec![any]),
        (a, authority::SID, get, vec![any]),
        (a, authority::admin_sp_admin(1), set, vec![ace(0x0003_0001)]),
        (a, table::C_PIN, next, vec![any]),
        (a, c_pin::SID, get, vec![ace(0x8c02)]),
        (a, c_pin::SID, set, vec![ace(0x8c03)]),
        (a, c_pin::MSID, get, vec![ace(0x8c04)]),
        (a, c_pin::PSID, get, vec![ace(0x0001_00e1)]),
        (a, c_pin::admin_sp_admin(1), get, vec![ace(0x8c02)]),
        (a, c_pin::admin_sp_admin(1), set, vec![ace(0x0003_a001)]),
        (a, tper_info, get, vec![any]),
        (a, tper_info, set, vec![ace(0x0003_0003)]),
        (a, table::TEMPLATE, next, vec![any]),
        (a, Uid::row(0x0204, 6), get, vec![any]),
        (a, table::SP, next, vec![any]),
        (a, sp::LOCKING, get, vec![any]),
        (a, sp::ADMIN, method::REVERT, vec![ace(0x0003_0002), ace(2), ace(0x0001_00e0)]),
        (a, sp::LOCKING, method::REVERT, vec![ace(0x0003_0002), ace(2)]),
        (a, sp::LOCKING, method::ACTIVATE, vec![ace(0x0003_0002)]),
        (l, Uid::THIS_SP, method::AUTHENTICATE, vec![any]),
        (l, Uid::THIS_SP, method::RANDOM, vec![any]),
        (l, Uid::THIS_SP, method::REVERT_SP, vec![ace(2)]),
        (l, table::TABLE, next, vec![any]),
        (l, Uid::row(1, 0x0804), get, vec![any]),
        (l, table::ACE, next, vec![any]),
        (l, ace(0x0003_e001), get, vec![ace(0x0003_8000)]),
        (l, ace(0x0003_e001), set, vec![ace(0x0003_8001)]),
        (l, table::AUTHORITY, next, vec![any]),
        (l, authority::ADMINS, get, vec![any]),
        (l, authority::admin(2), get, vec![ace(0x0003_9000), ace(3)]),
        (l, authority::admin(2), set, vec![ace(0x0003_9001), ace(4)]),
        (l, authority::user(3), set, vec![ace(0x0003_9001), ace(0x0003_9803)]),
        (l, table::C_PIN, next, vec![any]),
        (l, c_pin::admin(1), get, vec![ace(0x0003_a000)]),
        (l, c_pin::admin(1), set, vec![ace(0x0003_a001)]),
        (l, c_pin::user(3), set, vec![ace(0x0003_a803)]),
        (l, Uid::row(0x1d, 0x1e), get, vec![any]),
        (l, locking::INFO, get, vec![any]),
        (l, table::LOCKING, next, vec![any]),
        (l, locking::MBR_CONTROL, get, vec![any]),
        (l, locking::MBR_CONTROL, set, vec![ace(0x0003_f800), ace(0x0003_f801)]),
        (l, table::MBR, get, vec![any]),
        (l, table::MBR, set, vec![ace(2)]),
        (l, table::DATA_STORE, get, vec![ace(0x0003_fc00)]),
        (l, table::DATA_STORE, set, vec![ace(0x0003_fc01)]),
    ];
    for n in 0..=8 {
        let row = u32::from(n);
        let admins = if n == 0 { ace(0x0003_f000) } else { ace(0x0003_f001) };
        rows.extend([
            (l, locking::range(n), get, vec![ace(0x0003_d000 + row), ace(3)]),
            (l, locking::range(n), set, vec![ace(0x0003_e000 + row), ace(0x0003_e800 + row), admins, ace(4)]),
            (l, locking::key_256(n), get, vec![ace(0x0003_bfff)]),
            (l, locking::key_256(n), method::GEN_KEY, vec![ace(0x0003_b800 + row)]),
        ]);
    }
    rows
}

#[test]
fn what_is_not_allowed_changes_nothing() {
    let drive = activated(store(), b"owner");
    add_user(&drive, b"owner", 1, b"user", 1);
    let host = Host::login(&drive, sp::LOCKING, authority::user(1), b"user").unwrap();
    let refused = [
        host.set_uint(locking::range(1), 5, 1),
        host.set(locking::range(1), &[(7, Cell::Uint(1)), (5, Cell::Uint(1))]),
        host.set_uint(authority::user(2), 5, 1),
        host.set(locking::ace_set_read_locked(1), &[(3, Cell::Expression(&[Ok(authority::user(1))]))]),
        host.set_pin(c_pin::admin(1), b"x"),
        host.set_uint(locking::MBR_CONTROL, 1, 1),
        host.call(table::MBR, method::SET, |to| {
            to.named(1, |to| {
                to.bytes(b"x");
            });
        }),
        host.call(Uid::THIS_SP, method::REVERT_SP, |_| {}),
        host.call(Uid::row(0x7777, 1), method::GET, |_| {}),
        host.call(locking::range(1), Uid::row(6, 0x7777), |_| {}),
    ];
    assert!(refused.iter().all(|r| *r == Err(Status::NotAuthorized)), "{refused:?}");
    // Of a row it is partly admitted to, it is told that part.
    assert_eq!(host.get_row(authority::user(1)).unwrap().len(), 2);
    host.end();
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    assert_eq!(admin.get_uint(locking::range(1), 7), 0);
    assert_eq!(admin.get_uint(locking::range(1), 5), 0);
    // NOT is no operator here, and authorities must exist.
    let ace = locking::ace_set_read_locked(1);
    for terms in [&[Ok(authority::user(1)), Err(2)][..], &[Ok(authority::user(99))], &[Err(1)]] {
        assert_eq!(admin.set(ace, &[(3, Cell::Expression(terms))]), Err(Status::InvalidParameter));
    }
    admin.end();
    // A session that may not write.
    let mut host = Host::new(&drive);
    host.start_with(sp::LOCKING, false, Some((authority::admin(1), b"owner"))).unwrap();
    assert_eq!(host.set_uint(locking::range(1), 5, 1), Err(Status::NotAuthorized));
    host.end();
}

#[test]
fn the_data_store_is_the_admins_until_they_share_it() {
    let drive = activated(store(), b"owner");
    add_user(&drive, b"owner", 1, b"user", 1);
    let get = |host: &Host<'_>, from: u64, to_row: u64| {
        host.call_with(
            table::DATA_STORE,
            method::GET,
            |to| {
                to.list(|to| {
                    to.named(1, |to| {
                        to.uint(from);
                    });
                    to.named(2, |to| {
                        to.uint(to_row);
                    });
                });
            },
            |results| results[0].bytes().unwrap().to_vec(),
        )
    };
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    admin
        .call(table::DATA_STORE, method::SET, |to| {
            to.named(0, |to| {
                to.uint(100);
            });
            to.named(1, |to| {
                to.bytes(b"hello");
            });
        })
        .unwrap();
    assert_eq!(get(&admin, 99, 105).unwrap(), b"\0hello\0");
    assert_eq!(get(&admin, 5, 4), Err(Status::InvalidParameter));
    assert_eq!(get(&admin, 0, 16 * 1024), Err(Status::InvalidParameter));
    // More than the host can take; and as much as Linux asks for at once.
    assert_eq!(get(&admin, 0, 2047), Err(Status::ResponseOverflow));
    assert_eq!(get(&admin, 0, 0x7bd).unwrap().len(), 0x7be);
    admin.end();
    let user = || Host::login(&drive, sp::LOCKING, authority::user(1), b"user").unwrap();
    let host = user();
    assert_eq!(get(&host, 0, 1), Err(Status::NotAuthorized));
    host.end();
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    admin.set(locking::ACE_DATA_STORE_GET, &[(3, Cell::Expression(&[Ok(authority::user(1))]))]).unwrap();
    admin.end();
    let host = user();
    assert_eq!(get(&host, 100, 104).unwrap(), b"hello");
    host.end();
}
