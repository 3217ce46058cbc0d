//! Calls that go wrong, and what Next and byte tables tell; who may call what is in `conformance`.

use crate::rig::*;
use keyway_sed::uid::{authority, c_pin, locking, method, sp, table};
use keyway_sed::{Status, Uid};

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
