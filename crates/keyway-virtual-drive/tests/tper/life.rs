//! Ownership, activation, and the ways back to the factory.

use crate::rig::*;
use keyway_sed::Status;
use keyway_sed::uid::{authority, c_pin, method, sp};
use keyway_virtual_drive::IoError;

#[test]
fn the_factorys_pin_is_there_for_everybody_and_is_the_owners() {
    let drive = drive();
    let host = Host::anybody(&drive, sp::ADMIN).unwrap();
    let told = host.get(c_pin::MSID, 3).unwrap().unwrap();
    assert!(told.ends_with(MSID.as_bytes()));
    assert_eq!(host.get(c_pin::SID, 3), Err(Status::NotAuthorized));
    assert_eq!(host.get_uint(sp::LOCKING, 6), 8);
    host.end();
    assert!(Host::login(&drive, sp::ADMIN, authority::SID, b"wrong").is_err());
    let owner = Host::login(&drive, sp::ADMIN, authority::SID, MSID.as_bytes()).unwrap();
    // Its PIN is never told, not even to itself.
    assert_eq!(owner.get(c_pin::SID, 3), Ok(None));
    assert_eq!(owner.get_uint(c_pin::SID, 5), 5);
    owner.end();
}

#[test]
fn the_locking_sp_is_there_once_activated() {
    let store = store();
    let drive = activated(store, b"owner");
    let discovery = drive.discovery();
    assert!(discovery.locking().unwrap().enabled);
    assert!(discovery.block_sid().unwrap().sid_differs_from_msid);
    assert!(Host::login(&drive, sp::ADMIN, authority::SID, MSID.as_bytes()).is_err());
    let host = Host::login(&drive, sp::ADMIN, authority::SID, b"owner").unwrap();
    assert_eq!(host.get_uint(sp::LOCKING, 6), 9);
    // A second time changes nothing.
    host.call(sp::LOCKING, method::ACTIVATE, |_| {}).unwrap();
    host.end();
    Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap().end();
    for n in 2..=4 {
        assert_eq!(
            Host::login(&drive, sp::LOCKING, authority::admin(n), b"").err(),
            Some(Status::NotAuthorized)
        );
    }
    assert_eq!(Host::login(&drive, sp::LOCKING, authority::user(1), b"").err(), Some(Status::NotAuthorized));
}

#[test]
fn an_inactive_locking_sp_has_no_sessions_and_only_the_owner_activates_it() {
    let drive = drive();
    assert_eq!(Host::anybody(&drive, sp::LOCKING).err(), Some(Status::InvalidParameter));
    let host = Host::anybody(&drive, sp::ADMIN).unwrap();
    assert_eq!(host.call(sp::LOCKING, method::ACTIVATE, |_| {}), Err(Status::NotAuthorized));
    assert_eq!(host.call(sp::ADMIN, method::REVERT, |_| {}), Err(Status::NotAuthorized));
    host.end();
    let owner = Host::login(&drive, sp::ADMIN, authority::SID, MSID.as_bytes()).unwrap();
    owner.end();
}

/// What a range holds, in one byte for all of its blocks.
fn fill(drive: &keyway_virtual_drive::Drive, lba: u64, byte: u8) {
    drive.write(lba, &[byte; 8 * 512]).unwrap();
}

fn holds(drive: &keyway_virtual_drive::Drive, lba: u64) -> Result<Vec<u8>, IoError> {
    let mut buf = vec![0; 8 * 512];
    drive.read(lba, &mut buf).map(|()| buf)
}

#[test]
fn reverting_erases_every_block_and_forgets_every_pin() {
    for psid in [false, true] {
        let drive = activated(store(), b"owner");
        set_up_range(&drive, b"owner", 1, 1024, 64);
        add_user(&drive, b"owner", 1, b"user", 1);
        fill(&drive, 0, 1);
        fill(&drive, 1024, 2);
        let (who, pin) =
            if psid { (authority::PSID, PSID.as_bytes()) } else { (authority::SID, &b"owner"[..]) };
        let host = Host::login(&drive, sp::ADMIN, who, pin).unwrap();
        host.call(sp::ADMIN, method::REVERT, |_| {}).unwrap();
        // The session went with it.
        assert_eq!(host.raw(&[0xfa]), []);
        assert!(!drive.discovery().locking().unwrap().enabled);
        assert!(!drive.discovery().block_sid().unwrap().sid_differs_from_msid);
        Host::login(&drive, sp::ADMIN, authority::SID, MSID.as_bytes()).unwrap().end();
        for lba in [0, 1024] {
            let bytes = holds(&drive, lba).unwrap();
            assert!(bytes.iter().any(|b| *b != bytes[0]), "block {lba} is still there");
        }
    }
}

#[test]
fn reverting_the_locking_sp_can_keep_the_global_ranges_data() {
    for keep in [false, true] {
        let drive = activated(store(), b"owner");
        set_up_range(&drive, b"owner", 0, 0, 0);
        set_up_range(&drive, b"owner", 1, 1024, 64);
        fill(&drive, 0, 1);
        fill(&drive, 1024, 2);
        let revert = || {
            let host = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
            let done = host.call(keyway_sed::Uid::THIS_SP, method::REVERT_SP, |to| {
                to.named(0x06_0000, |to| {
                    to.boolean(keep);
                });
            });
            if done.is_err() {
                host.end();
            }
            done
        };
        // What is locked can't be kept.
        lock(&drive, authority::admin(1), b"owner", 0, true, true).unwrap();
        if keep {
            assert_eq!(revert(), Err(Status::Fail));
            lock(&drive, authority::admin(1), b"owner", 0, false, false).unwrap();
        }
        revert().unwrap();
        assert_eq!(Host::anybody(&drive, sp::LOCKING).err(), Some(Status::InvalidParameter));
        // The owner stays.
        Host::login(&drive, sp::ADMIN, authority::SID, b"owner").unwrap().end();
        drive.power_cycle().unwrap();
        assert_eq!(holds(&drive, 0).unwrap() == [1; 8 * 512], keep);
        assert_ne!(holds(&drive, 1024).unwrap(), [2; 8 * 512]);
    }
}

#[test]
fn block_sid_keeps_the_owner_out_until_the_power_is_cycled() {
    let drive = drive();
    drive.security_send(2, 5, &[1; 512]).unwrap();
    let told = *drive.discovery().block_sid().unwrap();
    assert!(told.blocked && told.hardware_reset_clears);
    let login = || Host::login(&drive, sp::ADMIN, authority::SID, MSID.as_bytes());
    assert_eq!(login().err(), Some(Status::NotAuthorized));
    // Others are not concerned.
    Host::login(&drive, sp::ADMIN, authority::PSID, PSID.as_bytes()).unwrap().end();
    drive.power_cycle().unwrap();
    assert!(!drive.discovery().block_sid().unwrap().blocked);
    login().unwrap().end();
    let drive = activated(store(), b"owner");
    assert!(drive.security_send(2, 5, &[0; 512]).is_err(), "an owned drive can't be blocked");
}

#[test]
fn five_wrong_pins_lock_an_authority_until_the_power_is_cycled() {
    let drive = activated(store(), b"owner");
    let login = |pin: &[u8]| Host::login(&drive, sp::LOCKING, authority::admin(1), pin).map(Host::end);
    for round in 0..2 {
        for _ in 0..4 {
            assert_eq!(login(b"wrong"), Err(Status::NotAuthorized));
        }
        login(b"owner").unwrap();
        for _ in 0..5 {
            assert_eq!(login(b"wrong"), Err(Status::NotAuthorized));
        }
        assert_eq!(login(b"owner"), Err(Status::AuthorityLockedOut), "round {round}");
        drive.power_cycle().unwrap();
    }
    login(b"owner").unwrap();
}

#[test]
fn an_inactive_locking_sp_is_not_touched_by_a_revert() {
    for object in [sp::ADMIN, sp::LOCKING] {
        let drive = drive();
        fill(&drive, 0, 7);
        let owner = Host::login(&drive, sp::ADMIN, authority::SID, MSID.as_bytes()).unwrap();
        owner.call(sp::ADMIN, method::ACTIVATE, |_| {}).unwrap();
        owner.call(object, method::REVERT, |_| {}).unwrap();
        assert_eq!(holds(&drive, 0).unwrap(), [7; 8 * 512]);
    }
    let drive = activated(store(), b"owner");
    fill(&drive, 0, 7);
    let owner = Host::login(&drive, sp::ADMIN, authority::SID, b"owner").unwrap();
    owner.call(sp::LOCKING, method::REVERT, |_| {}).unwrap();
    assert_eq!(owner.get_uint(sp::LOCKING, 6), 8);
    owner.end();
    assert_ne!(holds(&drive, 0).unwrap(), [7; 8 * 512]);
}
