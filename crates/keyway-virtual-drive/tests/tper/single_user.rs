//! Single User Mode and further DataStore tables: what Activate's parameters make of the Locking SP.

use crate::rig::*;
use keyway_sed::Status;
use keyway_sed::Uid;
use keyway_sed::token::Encoder;
use keyway_sed::uid::{authority, c_pin, locking, method, parameter, sp, table};
use keyway_store::Store;
use keyway_virtual_drive::DriveConfig;
use keyway_virtual_drive::{Drive, IoError};
use std::sync::Arc;

const BYTES: usize = 8 * 512;

fn selection(ranges: &[u16]) -> impl Fn(&mut Encoder) {
    move |to| {
        to.named(parameter::SINGLE_USER_SELECTION_LIST, |to| {
            to.list(|to| {
                for n in ranges {
                    to.uid(locking::range(*n));
                }
            });
        });
    }
}

fn activate(drive: &Drive, arguments: impl FnOnce(&mut Encoder)) -> Result<(), Status> {
    let owner = Host::login(drive, sp::ADMIN, authority::SID, MSID.as_bytes()).unwrap();
    let done = owner.call(sp::LOCKING, method::ACTIVATE, arguments);
    owner.end();
    done
}

fn admin(drive: &Drive) -> Host<'_> {
    Host::login(drive, sp::LOCKING, authority::admin(1), MSID.as_bytes()).unwrap()
}

/// A drive with range 1 in Single User Mode, placed at 1024 and enabled by its user, whose PIN is "user".
fn with_a_users_range(store: Arc<dyn Store>) -> Drive {
    let drive = Drive::create(store, &config()).unwrap();
    activate(&drive, selection(&[1])).unwrap();
    let user = Host::login(&drive, sp::LOCKING, authority::user(2), b"").unwrap();
    user.set_pin(c_pin::user(2), b"user").unwrap();
    let place = [(3, Cell::Uint(1024)), (4, Cell::Uint(64))];
    user.set(locking::range(1), &place).unwrap();
    user.set(locking::range(1), &[(5, Cell::Uint(1)), (6, Cell::Uint(1))]).unwrap();
    user.end();
    drive.write(1024, &[7; BYTES]).unwrap();
    drive
}

fn read(drive: &Drive, lba: u64) -> Result<Vec<u8>, IoError> {
    let mut bytes = vec![0; BYTES];
    drive.read(lba, &mut bytes).map(|()| bytes)
}

fn lock_as_user(drive: &Drive, pin: &[u8], locked: bool) -> Result<(), Status> {
    lock(drive, authority::user(2), pin, 1, locked, locked)
}

#[test]
fn a_range_belongs_to_its_user_alone() {
    let drive = with_a_users_range(store());
    let keyway_sed::discovery::Feature::SingleUser(told) =
        drive.discovery().features.into_iter().find(|f| f.code() == 0x0201).unwrap()
    else {
        panic!("no such feature")
    };
    assert_eq!((told.ranges, told.any, told.all, told.policy), (9, true, false, false));
    let a = admin(&drive);
    let who = [Ok(authority::ADMINS)];
    let refused = [
        a.set_uint(locking::range(1), 7, 1),
        a.set_uint(locking::range(1), 3, 0),
        a.set_pin(c_pin::user(2), b"mine"),
        a.set_uint(authority::user(2), 5, 0),
        a.call(locking::key_256(1), method::GEN_KEY, |_| {}),
        a.set(locking::ace_set_read_locked(1), &[(3, Cell::Expression(&who))]),
        a.set(locking::ace_gen_key_256(1), &[(3, Cell::Expression(&who))]),
        a.set(locking::ace_get_range(1), &[(3, Cell::Expression(&who))]),
        a.set(Uid::row(8, 0x0003_a802), &[(3, Cell::Expression(&who))]),
    ];
    assert!(refused.iter().all(|r| *r == Err(Status::NotAuthorized)), "{refused:?}");
    // What is not in that mode is as ever.
    a.set_uint(locking::range(2), 7, 1).unwrap();
    a.set_pin(c_pin::user(1), b"x").unwrap();
    a.end();
    // Where the range lies is told to everybody, and the state of the PIN too.
    let nobody = Host::anybody(&drive, sp::LOCKING).unwrap();
    assert_eq!(nobody.get_uint(locking::range(1), 3), 1024);
    assert_eq!(nobody.get_uint(c_pin::user(2), 6), 0);
    assert_eq!(nobody.get(locking::range(2), 3), Ok(None));
    nobody.end();
    lock_as_user(&drive, b"user", true).unwrap();
    assert!(matches!(read(&drive, 1024), Err(IoError::Locked { .. })));
    drive.power_cycle().unwrap();
    assert_eq!(lock_as_user(&drive, b"", false), Err(Status::NotAuthorized));
    lock_as_user(&drive, b"user", false).unwrap();
    assert_eq!(read(&drive, 1024).unwrap(), [7; BYTES]);
    let user = Host::login(&drive, sp::LOCKING, authority::user(2), b"user").unwrap();
    assert_eq!(user.set_uint(locking::range(2), 7, 0), Err(Status::NotAuthorized));
    user.call(locking::key_256(1), method::GEN_KEY, |_| {}).unwrap();
    user.end();
    assert_ne!(read(&drive, 1024).unwrap(), [7; BYTES]);
}

#[test]
fn no_admin_has_the_key_of_a_users_range() {
    let store = store();
    let drive = with_a_users_range(store.clone());
    lock_as_user(&drive, b"user", true).unwrap();
    // The admin's changes go on, locked ranges of others or not.
    let a = admin(&drive);
    a.set_uint(authority::user(5), 5, 1).unwrap();
    a.set_uint(locking::range(3), 5, 1).unwrap();
    assert_eq!(
        a.call(Uid::THIS_SP, method::REACTIVATE, |_| {}),
        Err(Status::Fail),
        "what is locked can't be handed over"
    );
    a.end();
    drop(drive);
    let drive = Drive::open(store).unwrap();
    assert!(matches!(read(&drive, 1024), Err(IoError::Locked { .. })));
    lock_as_user(&drive, b"user", false).unwrap();
    assert_eq!(read(&drive, 1024).unwrap(), [7; BYTES]);
}

#[test]
fn all_ranges_can_be_their_users() {
    let drive = drive();
    activate(&drive, |to| {
        to.named(parameter::SINGLE_USER_SELECTION_LIST, |to| {
            to.uid(table::LOCKING);
        });
    })
    .unwrap();
    for n in 1..=9 {
        Host::login(&drive, sp::LOCKING, authority::user(n), b"").unwrap().end();
    }
    drive.write(0, &[5; BYTES]).unwrap();
    let user = Host::login(&drive, sp::LOCKING, authority::user(1), b"").unwrap();
    user.set(locking::GLOBAL_RANGE, &[(5, Cell::Uint(1)), (6, Cell::Uint(1))]).unwrap();
    user.set(locking::GLOBAL_RANGE, &[(7, Cell::Uint(1)), (8, Cell::Uint(0))]).unwrap();
    user.end();
    // It is locked for reading only: its key is at hand, and can be kept.
    let a = admin(&drive);
    let keep = a.call(Uid::THIS_SP, method::REVERT_SP, |to| {
        to.named(parameter::KEEP_GLOBAL_RANGE_KEY, |to| {
            to.boolean(true);
        });
    });
    keep.unwrap();
    assert_eq!(read(&drive, 0).unwrap(), [5; BYTES]);
    assert!(!drive.discovery().locking().unwrap().enabled);
}

#[test]
fn admins_place_ranges_where_the_policy_says_so() {
    let drive = drive();
    activate(&drive, |to| {
        selection(&[1])(to);
        to.named(parameter::RANGE_POLICY, |to| {
            to.uint(1);
        });
    })
    .unwrap();
    let place = [(3, Cell::Uint(1024)), (4, Cell::Uint(64))];
    let user = Host::login(&drive, sp::LOCKING, authority::user(2), b"").unwrap();
    assert_eq!(user.set(locking::range(1), &place), Err(Status::NotAuthorized));
    user.set_uint(locking::range(1), 5, 1).unwrap();
    user.end();
    let a = admin(&drive);
    a.set(locking::range(1), &place).unwrap();
    assert_eq!(a.set_uint(locking::range(1), 5, 0), Err(Status::NotAuthorized));
    a.end();
}

#[test]
fn erase_gives_the_range_back_empty() {
    for (by_admin, locked) in [(false, false), (true, false), (true, true)] {
        let drive = with_a_users_range(store());
        // The user also may unlock a range of the admins', together with nobody.
        if locked {
            lock_as_user(&drive, b"user", true).unwrap();
        }
        let (who, pin) = if by_admin {
            (authority::admin(1), MSID.as_bytes())
        } else {
            (authority::user(2), &b"user"[..])
        };
        let host = Host::login(&drive, sp::LOCKING, who, pin).unwrap();
        assert_eq!(host.call(locking::range(2), method::ERASE, |_| {}), Err(Status::NotAuthorized));
        host.call(locking::range(1), method::ERASE, |_| {}).unwrap();
        assert_eq!(host.get_uint(locking::range(1), 5), 0);
        assert_eq!(host.get_uint(locking::range(1), 3), 1024, "it stays where it is");
        host.end();
        assert_ne!(read(&drive, 1024).unwrap(), [7; BYTES]);
        // The PIN is empty, and the range can be locked again by who sets a new one.
        let user = Host::login(&drive, sp::LOCKING, authority::user(2), b"").unwrap();
        user.set_pin(c_pin::user(2), b"second").unwrap();
        user.set(locking::range(1), &[(5, Cell::Uint(1)), (6, Cell::Uint(1))]).unwrap();
        user.end();
        drive.write(1024, &[8; BYTES]).unwrap();
        drive.power_cycle().unwrap();
        assert!(matches!(read(&drive, 1024), Err(IoError::Locked { .. })));
        assert_eq!(lock_as_user(&drive, b"user", false), Err(Status::NotAuthorized));
        lock_as_user(&drive, b"second", false).unwrap();
        assert_eq!(read(&drive, 1024).unwrap(), [8; BYTES]);
    }
}

#[test]
fn reactivate_keeps_data_and_changes_whose_it_is() {
    let store = store();
    let drive = with_a_users_range(store.clone());
    drive.write(0, &[3; BYTES]).unwrap();
    // From the user to the admins, with a new PIN; and range 2 becomes user 3's.
    let a = admin(&drive);
    a.call(Uid::THIS_SP, method::REACTIVATE, |to| {
        selection(&[2])(to);
        to.named(parameter::ADMIN1_PIN, |to| {
            to.bytes(b"renewed");
        });
    })
    .unwrap();
    assert_eq!(a.raw(&[0xfa]), [], "the session went with it");
    assert!(Host::login(&drive, sp::LOCKING, authority::admin(1), MSID.as_bytes()).is_err());
    assert!(Host::login(&drive, sp::LOCKING, authority::user(2), b"user").is_err());
    let a = Host::login(&drive, sp::LOCKING, authority::admin(1), b"renewed").unwrap();
    assert_eq!(a.get_uint(locking::range(1), 3), 1024);
    assert_eq!(a.get_uint(locking::range(1), 5), 0);
    a.set(locking::range(1), &[(5, Cell::Uint(1)), (6, Cell::Uint(1))]).unwrap();
    assert_eq!(a.set_uint(locking::range(2), 5, 1), Err(Status::NotAuthorized));
    a.end();
    drive.power_cycle().unwrap();
    assert!(matches!(read(&drive, 1024), Err(IoError::Locked { .. })));
    lock(&drive, authority::admin(1), b"renewed", 1, false, false).unwrap();
    assert_eq!(read(&drive, 1024).unwrap(), [7; BYTES]);
    assert_eq!(read(&drive, 0).unwrap(), [3; BYTES]);
    Host::login(&drive, sp::LOCKING, authority::user(3), b"").unwrap().end();
    drop(drive);
    let drive = Drive::open(store).expect("the set-up is kept");
    Host::login(&drive, sp::LOCKING, authority::user(3), b"").unwrap().end();
}

#[test]
fn data_stores_are_divided_as_activate_says() {
    let sizes = |list: &[u64]| {
        let list = list.to_vec();
        move |to: &mut Encoder| {
            to.named(parameter::DATA_STORE_TABLE_SIZES, |to| {
                to.list(|to| {
                    for n in &list {
                        to.uint(*n);
                    }
                });
            });
        }
    };
    let drive = drive();
    assert_eq!(activate(&drive, sizes(&[])), Err(Status::InvalidParameter));
    assert_eq!(activate(&drive, sizes(&[1024, 0])), Err(Status::InvalidParameter));
    assert_eq!(activate(&drive, sizes(&[16 * 1024, 1])), Err(Status::InsufficientSpace));
    assert_eq!(activate(&drive, sizes(&[1; 10])), Err(Status::InsufficientSpace));
    activate(&drive, sizes(&[4096, 8192])).unwrap();
    let second = Uid::row(0x1002, 0);
    let a = admin(&drive);
    assert_eq!(a.get_uint(Uid::row(1, 0x1001), 7), 4096);
    assert_eq!(a.get_uint(Uid::row(1, 0x1002), 7), 8192);
    let write = |table: Uid, at: u64| {
        a.call(table, method::SET, |to| {
            to.named(0, |to| {
                to.uint(at);
            });
            to.named(1, |to| {
                to.bytes(b"two");
            });
        })
    };
    assert_eq!(write(table::DATA_STORE, 4094), Err(Status::InvalidParameter));
    write(second, 8189).unwrap();
    let ace = Uid::row(8, 0x0003_fc02);
    a.set(ace, &[(3, Cell::Expression(&[Ok(authority::ANYBODY)]))]).unwrap();
    a.end();
    let nobody = Host::anybody(&drive, sp::LOCKING).unwrap();
    let get = |table: Uid, from: u64| {
        nobody.call_with(
            table,
            method::GET,
            |to| {
                to.list(|to| {
                    to.named(1, |to| {
                        to.uint(from);
                    });
                    to.named(2, |to| {
                        to.uint(from + 2);
                    });
                });
            },
            |results| results[0].bytes().unwrap().to_vec(),
        )
    };
    assert_eq!(get(second, 8189).unwrap(), b"two");
    assert_eq!(get(table::DATA_STORE, 0), Err(Status::NotAuthorized));
    nobody.end();
}

#[test]
fn a_drive_without_the_mode_refuses_it() {
    let config = DriveConfig { single_user: false, ..config() };
    let drive = Drive::create(store(), &config).unwrap();
    assert_eq!(activate(&drive, selection(&[1])), Err(Status::InvalidParameter));
    let drive = self::drive();
    assert_eq!(activate(&drive, selection(&[9])), Err(Status::InvalidParameter));
    activate(&drive, |_| {}).unwrap();
    let a = admin(&drive);
    assert_eq!(a.call(locking::range(1), method::ERASE, |_| {}), Err(Status::NotAuthorized));
    a.end();
}
