//! Ranges: who locks and unlocks them, and what can be read then.

use crate::rig::*;
use keyway_sed::Status;
use keyway_sed::uid::{authority, c_pin, locking, method, sp, table};
use keyway_virtual_drive::{Drive, IoError};

const BLOCKS: usize = 8;

fn write(drive: &Drive, lba: u64, byte: u8) -> Result<(), IoError> {
    drive.write(lba, &[byte; BLOCKS * 512])
}

fn read(drive: &Drive, lba: u64) -> Result<Vec<u8>, IoError> {
    let mut buf = vec![0xee; BLOCKS * 512];
    match drive.read(lba, &mut buf) {
        Ok(()) => Ok(buf),
        Err(e) => {
            assert!(buf.iter().all(|b| *b == 0xee), "something leaked");
            Err(e)
        }
    }
}

fn is_locked<T>(result: Result<T, IoError>) -> bool {
    matches!(result, Err(IoError::Locked { .. }))
}

#[test]
fn a_range_locks_on_its_own_and_over_a_power_cycle() {
    let store = store();
    let drive = activated(store.clone(), b"owner");
    set_up_range(&drive, b"owner", 1, 1024, 64);
    add_user(&drive, b"owner", 1, b"user", 1);
    write(&drive, 0, 1).unwrap();
    write(&drive, 1024, 2).unwrap();
    assert!(!drive.discovery().locking().unwrap().locked);
    drive.power_cycle().unwrap();
    assert!(drive.discovery().locking().unwrap().locked);
    assert_eq!(read(&drive, 0).unwrap(), [1; BLOCKS * 512]);
    assert!(is_locked(read(&drive, 1024)));
    assert!(is_locked(write(&drive, 1024, 3)));
    // A request that reaches into it fails as a whole, from either side.
    assert!(is_locked(read(&drive, 1024 - 1)));
    assert!(is_locked(read(&drive, 1024 + 63)));
    assert!(is_locked(drive.discard(1020, 8)));

    assert_eq!(lock(&drive, authority::user(1), b"wrong", 1, false, false), Err(Status::NotAuthorized));
    assert_eq!(lock(&drive, authority::user(2), b"user", 1, false, false), Err(Status::NotAuthorized));
    lock(&drive, authority::user(1), b"user", 1, false, false).unwrap();
    assert_eq!(read(&drive, 1024).unwrap(), [2; BLOCKS * 512]);
    // Read-only.
    lock(&drive, authority::user(1), b"user", 1, false, true).unwrap();
    assert_eq!(read(&drive, 1024).unwrap(), [2; BLOCKS * 512]);
    assert!(is_locked(write(&drive, 1024, 3)));
    lock(&drive, authority::user(1), b"user", 1, true, true).unwrap();
    assert!(is_locked(read(&drive, 1024)));
    // An admin has its own way.
    lock(&drive, authority::admin(1), b"owner", 1, false, false).unwrap();
    assert_eq!(read(&drive, 1024).unwrap(), [2; BLOCKS * 512]);
    drop(drive);

    let drive = Drive::open(store).unwrap();
    assert!(is_locked(read(&drive, 1024)), "a new process finds it locked");
    lock(&drive, authority::user(1), b"user", 1, false, false).unwrap();
    assert_eq!(read(&drive, 1024).unwrap(), [2; BLOCKS * 512]);
}

#[test]
fn a_locked_ranges_key_is_not_on_the_medium() {
    // What an attacker has who reads the whole medium: nothing in it, at any place, is the key, or the
    // drive itself would have to find it there without the PIN. A changed PIN record shows that it can't.
    let store = store();
    let drive = activated(store.clone(), b"owner");
    set_up_range(&drive, b"owner", 0, 0, 0);
    write(&drive, 0, 7).unwrap();
    let unlocked = store.snapshot();
    drive.power_cycle().unwrap();
    assert!(is_locked(read(&drive, 0)));
    // The medium was last written while the range was unlocked: that leaves no key behind either.
    assert_eq!(store.snapshot(), unlocked, "a power cycle writes nothing");
    assert!(!unlocked.windows(32).any(|w| w == [7; 32]), "the data is encrypted");
    // Anybody who forges the tables, but has no key, gets nowhere: see `keys` and `refresh_keys`.
    let host = Host::anybody(&drive, sp::LOCKING).unwrap();
    assert_eq!(host.set_uint(locking::GLOBAL_RANGE, 7, 0), Err(Status::NotAuthorized));
    host.end();
}

#[test]
fn users_together_unlock_what_neither_does_alone() {
    let drive = activated(store(), b"owner");
    set_up_range(&drive, b"owner", 1, 0, 64);
    add_user(&drive, b"owner", 1, b"one", 2);
    add_user(&drive, b"owner", 2, b"two", 2);
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    let both = [Ok(authority::user(1)), Ok(authority::user(2)), Err(0)];
    for ace in [locking::ace_set_read_locked(1), locking::ace_set_write_locked(1)] {
        admin.set(ace, &[(3, Cell::Expression(&both))]).unwrap();
    }
    admin.end();
    write(&drive, 0, 5).unwrap();
    drive.power_cycle().unwrap();
    for (n, pin) in [(1, b"one"), (2, b"two")] {
        let alone = lock(&drive, authority::user(n), pin, 1, false, false);
        assert_eq!(alone, Err(Status::NotAuthorized));
    }
    let host = Host::login(&drive, sp::LOCKING, authority::user(1), b"one").unwrap();
    let authenticate = |pin: &[u8]| {
        host.call_with(
            keyway_sed::Uid::THIS_SP,
            method::AUTHENTICATE,
            |to| {
                to.uid(authority::user(2)).named(0, |to| {
                    to.bytes(pin);
                });
            },
            |results| results[0].boolean().unwrap(),
        )
    };
    assert_eq!(authenticate(b"wrong"), Ok(false));
    assert_eq!(authenticate(b"two"), Ok(true));
    host.set(locking::range(1), &[(7, Cell::Uint(0)), (8, Cell::Uint(0))]).unwrap();
    host.end();
    assert_eq!(read(&drive, 0).unwrap(), [5; BLOCKS * 512]);
}

#[test]
fn a_new_pin_opens_and_the_old_one_does_not() {
    let drive = activated(store(), b"owner");
    set_up_range(&drive, b"owner", 1, 0, 64);
    add_user(&drive, b"owner", 1, b"user", 1);
    write(&drive, 0, 5).unwrap();
    // By itself, and by an admin who does not know the old one.
    let user = Host::login(&drive, sp::LOCKING, authority::user(1), b"user").unwrap();
    user.set_pin(c_pin::user(1), b"second").unwrap();
    assert_eq!(user.set_pin(c_pin::user(2), b"x"), Err(Status::NotAuthorized));
    assert_eq!(user.set_pin(c_pin::user(1), &[0; 33]), Err(Status::InvalidParameter));
    user.end();
    for (old, new) in [(&b"user"[..], &b"second"[..]), (b"second", b"third")] {
        if new == b"third" {
            let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
            admin.set_pin(c_pin::user(1), b"third").unwrap();
            admin.end();
        }
        drive.power_cycle().unwrap();
        assert_eq!(lock(&drive, authority::user(1), old, 1, false, false), Err(Status::NotAuthorized));
        lock(&drive, authority::user(1), new, 1, false, false).unwrap();
        assert_eq!(read(&drive, 0).unwrap(), [5; BLOCKS * 512]);
    }
}

#[test]
fn a_user_who_is_disabled_or_no_longer_admitted_has_no_key() {
    let drive = activated(store(), b"owner");
    set_up_range(&drive, b"owner", 1, 0, 64);
    add_user(&drive, b"owner", 1, b"user", 1);
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    admin.set_uint(authority::user(1), 5, 0).unwrap();
    // Admin1 can't be disabled.
    assert_eq!(admin.set_uint(authority::admin(1), 5, 0), Err(Status::NotAuthorized));
    admin.end();
    drive.power_cycle().unwrap();
    assert_eq!(lock(&drive, authority::user(1), b"user", 1, false, false), Err(Status::NotAuthorized));
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    admin.set_uint(authority::user(1), 5, 1).unwrap();
    admin.end();
    lock(&drive, authority::user(1), b"user", 1, false, false).unwrap();
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    for ace in [locking::ace_set_read_locked(1), locking::ace_set_write_locked(1)] {
        admin.set(ace, &[(3, Cell::Expression(&[Ok(authority::ADMINS)]))]).unwrap();
    }
    admin.end();
    assert_eq!(lock(&drive, authority::user(1), b"user", 1, true, true), Err(Status::NotAuthorized));
}

#[test]
fn a_second_admin_is_one_once_enabled() {
    let drive = activated(store(), b"owner");
    set_up_range(&drive, b"owner", 0, 0, 0);
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    admin.set_pin(c_pin::admin(2), b"second").unwrap();
    admin.set_uint(authority::admin(2), 5, 1).unwrap();
    admin.end();
    write(&drive, 0, 9).unwrap();
    drive.power_cycle().unwrap();
    lock(&drive, authority::admin(2), b"second", 0, false, false).unwrap();
    assert_eq!(read(&drive, 0).unwrap(), [9; BLOCKS * 512]);
}

#[test]
fn a_new_key_erases_its_range_and_no_other() {
    let drive = activated(store(), b"owner");
    set_up_range(&drive, b"owner", 1, 1024, 64);
    add_user(&drive, b"owner", 1, b"user", 1);
    write(&drive, 0, 1).unwrap();
    write(&drive, 1024, 2).unwrap();
    let user = Host::login(&drive, sp::LOCKING, authority::user(1), b"user").unwrap();
    assert_eq!(user.call(locking::key_256(1), method::GEN_KEY, |_| {}), Err(Status::NotAuthorized));
    user.end();
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    assert_eq!(admin.get(locking::range(1), 10).unwrap().unwrap()[1..], locking::key_256(1).to_bytes());
    admin.call(locking::key_256(1), method::GEN_KEY, |_| {}).unwrap();
    admin.end();
    assert_eq!(read(&drive, 0).unwrap(), [1; BLOCKS * 512]);
    assert_ne!(read(&drive, 1024).unwrap(), [2; BLOCKS * 512]);
    write(&drive, 1024, 3).unwrap();
    drive.power_cycle().unwrap();
    lock(&drive, authority::user(1), b"user", 1, false, false).unwrap();
    assert_eq!(read(&drive, 1024).unwrap(), [3; BLOCKS * 512]);
}

#[test]
fn ranges_are_aligned_and_do_not_overlap() {
    let drive = activated(store(), b"owner");
    set_up_range(&drive, b"owner", 1, 1024, 64);
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    let set = |start, len| admin.set(locking::range(2), &[(3, Cell::Uint(start)), (4, Cell::Uint(len))]);
    for (start, len) in [
        (1024, 8),
        (1080, 16),
        (1016, 16),
        (0, 2048),
        (4, 8),
        (8, 4),
        (2040, 16),
        (u64::MAX - 7, 8),
        (8, u64::MAX - 7),
    ] {
        assert_eq!(set(start, len), Err(Status::InvalidParameter), "{start} {len}");
    }
    for (start, len) in [(1088, 960), (0, 1024), (1024, 0)] {
        set(start, len).unwrap();
    }
    assert_eq!(admin.set_uint(locking::GLOBAL_RANGE, 3, 8), Err(Status::NotAuthorized));
    assert_eq!(admin.set(locking::range(2), &[(9, Cell::Uints(&[3]))]), Err(Status::InvalidParameter));
    assert_eq!(admin.set_uint(locking::range(2), 10, 0), Err(Status::NotAuthorized));
    admin.end();
}

#[test]
fn the_shadow_is_shown_until_it_is_done() {
    let drive = activated(store(), b"owner");
    write(&drive, 0, 1).unwrap();
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    admin
        .call(table::MBR, method::SET, |to| {
            to.named(0, |to| {
                to.uint(512);
            });
            to.named(1, |to| {
                to.bytes(&[0xab; 512]);
            });
        })
        .unwrap();
    let past = admin.call(table::MBR, method::SET, |to| {
        to.named(0, |to| {
            to.uint(64 * 1024 - 1);
        });
        to.named(1, |to| {
            to.bytes(&[0; 2]);
        });
    });
    assert_eq!(past, Err(Status::InvalidParameter));
    admin.set_uint(locking::MBR_CONTROL, 1, 1).unwrap();
    admin.end();
    let shown = |drive: &Drive| {
        let flags = *drive.discovery().locking().unwrap();
        (flags.mbr_enabled, flags.mbr_done)
    };
    for _ in 0..2 {
        assert_eq!(shown(&drive), (true, false));
        let bytes = read(&drive, 0).unwrap();
        assert_eq!((&bytes[..512], &bytes[512..1024]), (&[0; 512][..], &[0xab; 512][..]));
        assert!(matches!(write(&drive, 0, 2), Err(IoError::Shadowed { lba: 0 })));
        assert!(matches!(read(&drive, 124), Err(IoError::Shadowed { .. })));
        read(&drive, 128).unwrap();
        let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
        admin.set_uint(locking::MBR_CONTROL, 2, 1).unwrap();
        admin.end();
        assert_eq!(shown(&drive), (true, true));
        assert_eq!(read(&drive, 0).unwrap(), [1; BLOCKS * 512]);
        drive.power_cycle().unwrap();
    }
}

#[test]
fn a_programmatic_reset_locks_what_it_is_to_lock() {
    let drive = activated(store(), b"owner");
    for (n, start) in [(1, 1024), (2, 1536)] {
        set_up_range(&drive, b"owner", n, start, 64);
    }
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    admin.set(locking::range(1), &[(9, Cell::Uints(&[0, 3]))]).unwrap();
    admin.end();
    assert!(drive.security_send(2, 4, &[0; 512]).is_err(), "it is not enabled");
    let owner = Host::login(&drive, sp::ADMIN, authority::SID, b"owner").unwrap();
    owner.set_uint(keyway_sed::Uid::row(0x0201, 0x0003_0001), 8, 1).unwrap();
    // The session that is open ends with it.
    drive.security_send(2, 4, &[0; 512]).unwrap();
    assert_eq!(owner.raw(&[0xfa]), []);
    assert!(is_locked(read(&drive, 1024)));
    read(&drive, 1536).unwrap();
    lock(&drive, authority::admin(1), b"owner", 1, false, false).unwrap();
    read(&drive, 1024).unwrap();
}

/// A reset that is no loss of power, as SCSI's of a unit.
#[test]
fn a_reset_ends_sessions_and_locks_nothing() {
    let drive = activated(store(), b"owner");
    set_up_range(&drive, b"owner", 1, 1024, 64);
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    // In an open transaction, so that it is taken back.
    admin.raw(&[0xfb, 0x00]);
    admin.set_uint(locking::range(1), 3, 1032).unwrap();
    drive.reset();
    assert_eq!(admin.raw(&[0xfa]), [], "the session is gone");
    read(&drive, 1024).unwrap();
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    assert_eq!(admin.get_uint(locking::range(1), 3), 1024);
    // An answer that was not fetched stands in nobody's way.
    drive.security_send(2, drive.config().firmware.com_id, &[0; 512]).unwrap();
    drive.reset();
    Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap().end();
    // Block SID ends by it only if it was asked for so.
    let drive = Drive::create(store(), &config()).unwrap();
    for (ends_by_reset, blocked) in [(1u8, false), (0, true)] {
        drive.security_send(2, 5, &[vec![ends_by_reset], vec![0; 511]].concat()).unwrap();
        drive.reset();
        let owner = Host::login(&drive, sp::ADMIN, authority::SID, MSID.as_bytes());
        assert_eq!(owner.is_err(), blocked);
        owner.into_iter().for_each(Host::end);
        drive.power_cycle().unwrap();
    }
    assert_eq!(drive.power_cycles(), 2);
}
