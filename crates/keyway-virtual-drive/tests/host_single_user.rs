//! Single User Mode, from the host's side: whose a range is, who may do what with it, and how it ends.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_sed::discovery::Feature;
use keyway_sed::host::ranges::Lock;
use keyway_sed::host::setup::FirstSetup;
use keyway_sed::host::{Credential, Host, HostError, Operation};
use keyway_sed::uid::authority;
use keyway_sed::{Status, Uid};
use keyway_store::MemStore;
use keyway_virtual_drive::VirtualTransport;
use keyway_virtual_drive::{Drive, DriveConfig, Label};
use std::sync::Arc;

const OWNER: &[u8] = b"the owner's secret";
const USER: &[u8] = b"the user's secret";
const SECOND: &[u8] = b"the second user's";
const SINGLE: FirstSetup = FirstSetup { lock: Lock::Locked, single_user: true };

fn made(single_user: bool) -> (Arc<Drive>, Host) {
    let label = Label { serial: "KWTEST0002".into(), msid: "factory".into(), psid: "P".repeat(32) };
    let config = DriveConfig {
        single_user,
        pin_iterations: 1,
        mbr_bytes: 64 << 10,
        data_store_bytes: 64 << 10,
        ..DriveConfig::opal(4096, 512, label)
    };
    let store = Arc::new(MemStore::new(config.medium_bytes() as usize));
    let drive = Arc::new(Drive::create(store, &config).expect("a drive"));
    let host = Host::open(Box::new(VirtualTransport::new(drive.clone()))).expect("discovery");
    drive.write(0, &[0xA5; 512]).expect("unlocked");
    (drive, host)
}

fn as_(authority: Uid, pin: &[u8]) -> Option<Credential<'_>> {
    Some(Credential { authority, pin })
}

fn lock(host: &mut Host, who: Uid, pin: &[u8], range: u16, lock: Lock) -> Result<(), HostError> {
    let mut session = host.locking(as_(who, pin))?;
    session.lock(range, lock)?;
    session.end()
}

fn has(drive: &Drive, lba: u64, byte: u8) -> bool {
    let mut block = [0; 512];
    drive.read(lba, &mut block).is_ok() && block == [byte; 512]
}

#[test]
fn a_drive_of_its_users_alone() {
    let (drive, mut host) = made(true);
    host.set_up(OWNER, USER, SINGLE).expect("set up");
    assert!(!has(&drive, 0, 0xA5), "locked");
    let refused =
        lock(&mut host, authority::admin(1), OWNER, 0, Lock::Unlocked).expect_err("not the owner's");
    assert_eq!(refused.status(), Some(Status::NotAuthorized));
    lock(&mut host, authority::user(1), USER, 0, Lock::Unlocked).expect("the user's");
    assert!(has(&drive, 0, 0xA5));
    drive.power_cycle().expect("power");
    assert!(!has(&drive, 0, 0xA5), "a power cycle locks it");
    // The owner gives it up, and nothing is lost, only where the user has unlocked it.
    match host.release(OWNER) {
        Err(HostError::Refused(refused)) => {
            assert_eq!((refused.operation, refused.status), (Operation::RevertSp, Status::Fail));
        }
        other => panic!("{other:?}"),
    }
    lock(&mut host, authority::user(1), USER, 0, Lock::Unlocked).expect("the user's");
    host.release(OWNER).expect("released");
    assert!(has(&drive, 0, 0xA5) && host.is_unowned().expect("told"));
    // The owner may always erase it; then it is anybody's who moves in.
    host.set_up(OWNER, USER, SINGLE).expect("set up");
    let mut session = host.locking(as_(authority::admin(1), OWNER)).expect("the owner");
    assert!(session.erase(0).expect("erased"), "a user's");
    session.end().expect("ended");
    assert!(!has(&drive, 0, 0xA5));
    assert!(lock(&mut host, authority::user(1), USER, 0, Lock::Locked).is_err(), "the PIN is gone");
    host.move_in(0, SECOND, Lock::Unlocked).expect("moved in");
    lock(&mut host, authority::user(1), SECOND, 0, Lock::Locked).expect("the user's");
}

#[test]
fn ranges_are_given_to_users_and_keep_what_is_in_them() {
    let (drive, mut host) = made(true);
    let plan = FirstSetup { lock: Lock::Unlocked, single_user: false };
    host.set_up(OWNER, USER, plan).expect("set up");
    let mut session = host.locking(as_(authority::admin(1), OWNER)).expect("the owner");
    session.place_range(1, 2048, 512).expect("placed");
    session.end().expect("ended");
    drive.write(2048, &[0x5A; 512]).expect("unlocked");
    drive.power_cycle().expect("power");

    host.give_to_users(OWNER, &[1]).expect("given");
    let told = host.discovery().features.iter().find_map(|f| match f {
        Feature::SingleUser(s) => Some((s.any, s.all)),
        _ => None,
    });
    assert_eq!(told, Some((true, false)));
    assert!(has(&drive, 0, 0xA5) && has(&drive, 2048, 0x5A), "nothing locks, and all is there");
    host.move_in(1, SECOND, Lock::Locked).expect("moved in");
    assert!(host.move_in(1, SECOND, Lock::Locked).is_err(), "the PIN is not empty any more");
    assert!(!has(&drive, 2048, 0x5A) && has(&drive, 0, 0xA5));
    assert!(lock(&mut host, authority::admin(1), OWNER, 1, Lock::Unlocked).is_err());

    // It can't be taken from its user while it is locked.
    let refused = host.give_to_users(OWNER, &[]).expect_err("locked");
    assert!(matches!(&refused, HostError::Refused(r) if r.operation == Operation::Reactivate), "{refused}");
    lock(&mut host, authority::user(2), SECOND, 1, Lock::Unlocked).expect("the user's");
    host.give_to_users(OWNER, &[]).expect("taken back");
    assert!(has(&drive, 2048, 0x5A));
    let mut session = host.locking(as_(authority::admin(1), OWNER)).expect("the owner");
    assert!(!session.erase(1).expect("erased"), "nobody's alone");
    session.end().expect("ended");
    assert!(!has(&drive, 2048, 0x5A));
}

#[test]
fn a_drive_without_the_mode_is_left_alone() {
    let (_, mut host) = made(false);
    assert!(matches!(host.set_up(OWNER, USER, SINGLE), Err(HostError::Unsupported(_))));
    assert!(host.is_unowned().expect("told"));
    host.set_up(OWNER, USER, FirstSetup { single_user: false, ..SINGLE }).expect("set up");
    assert!(matches!(host.give_to_users(OWNER, &[0]), Err(HostError::Unsupported(_))));
}
