//! The host and the virtual drive, each other's counterpart, in one process: a drive's whole life.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

use keyway_sed::host::owner::LifeCycle;
use keyway_sed::host::ranges::Lock;
use keyway_sed::host::shadow::ByteTable;
use keyway_sed::host::{Credential, Host, HostError, Operation};
use keyway_sed::transport::{Identity, SecurityTransport, TransportError};
use keyway_sed::uid::authority;
use keyway_sed::{Status, Uid};
use keyway_store::MemStore;
use keyway_testkit::Rng;
use keyway_virtual_drive::VirtualTransport;
use keyway_virtual_drive::{Drive, DriveConfig, Label};
use std::ops::ControlFlow;
use std::sync::Arc;

const PSID: &str = "PSIDPSIDPSIDPSIDPSIDPSIDPSIDPSID";
const OWNER: &[u8] = b"the owner's secret";
const USER: &[u8] = b"the user's secret";

fn made() -> (Arc<Drive>, Host) {
    let label = Label { serial: "KWTEST0001".into(), msid: "factory".into(), psid: PSID.into() };
    let config = DriveConfig {
        pin_iterations: 10,
        mbr_bytes: 256 << 10,
        data_store_bytes: 64 << 10,
        ..DriveConfig::opal(8192, 512, label)
    };
    let store = Arc::new(MemStore::new(config.medium_bytes() as usize));
    let drive = Arc::new(Drive::create(store, &config).expect("a drive"));
    let host = Host::open(Box::new(VirtualTransport::new(drive.clone()))).expect("discovery");
    (drive, host)
}

fn as_(authority: Uid, pin: &[u8]) -> Option<Credential<'_>> {
    Some(Credential { authority, pin })
}

/// A drive with an owner, locking in use, and a user who may unlock the global range.
fn set_up() -> (Arc<Drive>, Host) {
    let (drive, mut host) = made();
    host.take_ownership(OWNER).expect("owned");
    host.activate(OWNER, &[]).expect("activated");
    host.rediscover().expect("discovery");
    let mut session = host.locking(as_(authority::admin(1), OWNER)).expect("the owner's PIN is admin 1's");
    session.set_pin(authority::user(1), USER).expect("a PIN");
    session.enable_authority(authority::user(1), true).expect("enabled");
    session.allow_unlock(0, 1).expect("allowed");
    session.allow_shadow_done(1).expect("allowed");
    session.enable_locking(0, true).expect("enabled");
    session.end().expect("ended");
    (drive, host)
}

fn refused<T>(result: Result<T, HostError>) -> (Operation, Status) {
    match result.err().expect("refused") {
        HostError::Refused(refused) => (refused.operation, refused.status),
        other => panic!("{other}"),
    }
}

#[test]
fn from_the_factory_to_a_locked_drive_and_back() {
    let (drive, mut host) = made();
    assert_eq!(host.msid().expect("told").to_vec(), b"factory");
    assert!(host.is_unowned().expect("told"));
    assert_eq!(host.locking_life().expect("told"), LifeCycle::ManufacturedInactive);
    drive.write(0, &[0xA5; 4096]).expect("unlocked");
    drop(host);

    let (drive, mut host) = set_up();
    drive.write(0, &[0xA5; 4096]).expect("unlocked");
    assert!(!host.is_unowned().expect("told"));
    assert_eq!(host.locking_life().expect("told"), LifeCycle::Manufactured);
    let mut block = [0; 4096];
    let mut session = host.locking(as_(authority::user(1), USER)).expect("the user");
    session.lock(0, Lock::Locked).expect("locked");
    session.end().expect("ended");
    assert!(drive.read(0, &mut block).is_err() && block == [0; 4096]);
    assert!(host.rediscover().expect("discovery").locking().expect("there").locked);

    let mut session = host.locking(as_(authority::user(1), USER)).expect("the user");
    session.lock(0, Lock::ReadOnly).expect("unlocked for reading");
    session.end().expect("ended");
    drive.read(0, &mut block).expect("readable");
    assert_eq!(block, [0xA5; 4096]);
    assert!(drive.write(0, &block).is_err());

    drive.power_cycle().expect("power");
    assert!(drive.read(0, &mut block).is_err(), "a power cycle locks it");
    assert_eq!(
        refused(host.locking(as_(authority::user(1), b"wrong")).map(drop)),
        (Operation::Authenticate, Status::NotAuthorized)
    );
    let mut session = host.locking(as_(authority::admin(1), OWNER)).expect("the administrator");
    session.lock(0, Lock::Unlocked).expect("unlocked");
    session.end().expect("ended");
    drive.write(0, &block).expect("writable");

    host.revert_locking(Credential { authority: authority::admin(1), pin: OWNER }, true).expect("reverted");
    drive.read(0, &mut block).expect("kept");
    assert_eq!(block, [0xA5; 4096]);
    assert_eq!(host.locking_life().expect("told"), LifeCycle::ManufacturedInactive);
    host.activate(OWNER, &[]).expect("activated again");
    host.revert(Credential { authority: authority::PSID, pin: PSID.as_bytes() }).expect("reverted");
    assert!(host.is_unowned().expect("told"));
    drive.read(0, &mut block).expect("unlocked");
    assert_ne!(block, [0xA5; 4096], "a new key");
}

#[test]
fn ranges_users_and_their_rights() {
    let (drive, mut host) = set_up();
    drive.write(1024, &[7; 512]).expect("unlocked");
    let mut session = host.locking(as_(authority::admin(1), OWNER)).expect("the administrator");
    let limits = session.range_limits().expect("told");
    assert_eq!((limits.ranges, limits.block_bytes), (8, Some(512)));
    session.place_range(2, 1024, 2048).expect("placed");
    session.enable_locking(2, true).expect("enabled");
    let range = session.range(2).expect("told");
    assert_eq!((range.start, range.blocks, range.locks_on_power_cycle), (1024, 2048, true));
    assert_eq!(refused(session.place_range(3, 2048, 64)).0, Operation::SetRange, "ranges don't overlap");
    session.set_pin(authority::user(2), b"second").expect("a PIN");
    session.enable_authority(authority::user(2), true).expect("enabled");
    session.allow_unlock(2, 2).expect("allowed");
    let who = session.unlockers(2).expect("told");
    assert!(who.contains(&authority::user(2)) && who.contains(&authority::ADMINS), "{who:?}");
    assert!(session.user(2).expect("told").enabled && !session.user(3).expect("told").enabled);
    session.end().expect("ended");
    drive.write(1024, &[9; 512]).expect("unlocked");

    let mut session = host.locking(as_(authority::user(2), b"second")).expect("user 2");
    session.lock(2, Lock::Locked).expect("may");
    assert_eq!(refused(session.lock(0, Lock::Locked)), (Operation::Set, Status::NotAuthorized), "may not");
    session.end().expect("ended");
    let mut block = [0; 512];
    assert!(drive.read(1024, &mut block).is_err());
    drive.read(0, &mut block).expect("another range");

    let mut session = host.locking(as_(authority::admin(1), OWNER)).expect("the administrator");
    session.lock(2, Lock::Unlocked).expect("may");
    session.forbid_unlock(2, 2).expect("taken away");
    assert!(!session.unlockers(2).expect("told").contains(&authority::user(2)));
    session.new_key(2).expect("erased");
    session.end().expect("ended");
    drive.read(1024, &mut block).expect("unlocked");
    assert_ne!(block, [9; 512], "a new key");
    let mut session = host.locking(as_(authority::user(2), b"second")).expect("user 2");
    assert_eq!(refused(session.lock(2, Lock::Locked)).1, Status::NotAuthorized);
}

#[test]
fn the_shadow_and_the_data_store() {
    let (drive, mut host) = set_up();
    let image: Vec<u8> = (0..50_000u32).map(|n| n as u8).collect();
    let mut session = host.locking(as_(authority::admin(1), OWNER)).expect("the administrator");
    assert_eq!(session.table_bytes(ByteTable::Shadow).expect("told"), 256 << 10);
    let mut told = 0;
    session
        .write_table(ByteTable::Shadow, 0, &image, |n| {
            told = n;
            ControlFlow::Continue(())
        })
        .expect("written");
    assert_eq!(told, 50_000);
    let mut back = vec![0; 50_000];
    session.read_table(ByteTable::Shadow, 0, &mut back, |_| ControlFlow::Continue(())).expect("read");
    assert!(back == image);
    session.enable_shadow(true).expect("enabled");
    session.write_table(ByteTable::DataStore, 100, b"notes", |_| ControlFlow::Continue(())).expect("written");
    let mut notes = [0; 7];
    session.read_table(ByteTable::DataStore, 99, &mut notes, |_| ControlFlow::Continue(())).expect("read");
    assert_eq!(&notes, b"\0notes\0");
    assert!(
        session
            .write_table(ByteTable::DataStore, (64 << 10) - 2, b"notes", |_| ControlFlow::Continue(()))
            .is_err()
    );
    session.end().expect("ended");

    drive.power_cycle().expect("power");
    let mut block = vec![0; 4096];
    drive.read(0, &mut block).expect("the shadow");
    assert!(block == image[..4096]);
    let mut session = host.locking(as_(authority::user(1), USER)).expect("the user");
    session.lock(0, Lock::Unlocked).expect("unlocked");
    session.shadow_done(true).expect("may");
    session.end().expect("ended");
    drive.read(0, &mut block).expect("the drive");
    assert!(block != image[..4096]);
}

#[test]
fn wrong_secrets_are_counted_and_the_owner_can_be_blocked() {
    let (drive, mut host) = set_up();
    let mut session = host.admin(as_(authority::SID, OWNER)).expect("the owner");
    let before = session.tries(authority::SID).expect("told");
    assert_eq!(before.wrong, 0);
    let random = session.random(80).expect("random");
    assert!(random.len() == 80 && random.iter().any(|b| *b != 0));
    session.end().expect("ended");
    for _ in 0..before.limit {
        assert_eq!(refused(host.admin(as_(authority::SID, b"wrong")).map(drop)).1, Status::NotAuthorized);
    }
    if before.limit > 0 {
        assert_eq!(
            refused(host.admin(as_(authority::SID, OWNER)).map(drop)).1,
            Status::AuthorityLockedOut,
            "not even the right one"
        );
        drive.power_cycle().expect("power");
    }
    host.admin(as_(authority::SID, OWNER)).expect("the owner").end().expect("ended");

    let (drive, mut host) = made();
    host.block_sid(false).expect("blocked");
    assert!(host.rediscover().expect("discovery").block_sid().expect("there").blocked);
    assert!(refused(host.take_ownership(OWNER)).0 == Operation::Authenticate);
    drive.power_cycle().expect("power");
    host.rediscover().expect("discovery");
    host.take_ownership(OWNER).expect("unblocked");
    let mut session = host.admin(as_(authority::SID, OWNER)).expect("the owner");
    session.set_pin(authority::SID, b"another").expect("set");
    session.end().expect("ended");
    host.admin(as_(authority::SID, b"another")).expect("the new one").end().expect("ended");
}

/// A drive's bytes on a bad day: now and then one is changed, an answer is cut off, or comes twice.
struct Corrupting {
    inner: VirtualTransport,
    rng: Rng,
    /// How many of 256 answers stay whole.
    whole: usize,
    last: Vec<u8>,
}

impl SecurityTransport for Corrupting {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }
    fn send(&mut self, protocol: u8, com_id: u16, data: &[u8]) -> Result<(), TransportError> {
        self.inner.send(protocol, com_id, data)
    }
    fn receive(&mut self, protocol: u8, com_id: u16, into: &mut [u8]) -> Result<(), TransportError> {
        let dice: Vec<usize> = self.rng.bytes(8).into_iter().map(usize::from).collect();
        if dice[5] < self.whole {
            return self.inner.receive(protocol, com_id, into);
        }
        if dice[0] < 32 && !self.last.is_empty() {
            into.fill(0);
            into.iter_mut().zip(&self.last).for_each(|(to, from)| *to = *from);
            return Ok(());
        }
        self.inner.receive(protocol, com_id, into)?;
        self.last = into.to_vec();
        let at = (dice[2] << 8 | dice[3]) % 160;
        match dice[1] {
            0..120 => into[at] = dice[4] as u8,
            120..200 => into[at] ^= 1 << (dice[4] % 8),
            _ => into[at..].fill(0),
        }
        Ok(())
    }
}

#[test]
fn corrupted_answers_end_in_errors_not_in_panics() {
    let slow = std::env::var_os("KEYWAY_SLOW").is_some_and(|v| v == "1");
    let rounds = if slow { 200_000 } else { 600 };
    let (drive, _) = set_up();
    let mut went_well = 0;
    for seed in 0..rounds {
        // A session of the round before, whose end was lost, would be in the way.
        drive.power_cycle().expect("power");
        let inner = VirtualTransport::new(drive.clone());
        let whole = [0, 128, 230, 250][seed as usize % 4];
        let corrupting = Corrupting { inner, rng: Rng::new(seed), whole, last: Vec::new() };
        let begun = std::time::Instant::now();
        let Ok(mut host) = Host::open(Box::new(corrupting)) else { continue };
        host.set_patience(std::time::Duration::ZERO);
        let mut life = || -> Result<(), HostError> {
            host.msid()?;
            host.locking_life()?;
            let mut session = host.locking(as_(authority::admin(1), OWNER))?;
            session.range_limits()?;
            session.range(0)?;
            session.unlockers(0)?;
            session.user(1)?;
            session.media_key(0)?;
            session.table_bytes(ByteTable::DataStore)?;
            session.read_table(ByteTable::DataStore, 0, &mut [0; 600], |_| ControlFlow::Continue(()))?;
            session.random(40)?;
            session.end()
        };
        went_well += u32::from(life().is_ok());
        drop(host);
        assert!(begun.elapsed() < std::time::Duration::from_secs(25), "seed {seed}: {:?}", begun.elapsed());
    }
    assert!(went_well > rounds as u32 / 20, "{went_well} of {rounds} went well");
}

#[test]
fn a_channel_left_in_the_middle_is_taken_over() {
    let (drive, mut first) = set_up();
    // A session that nobody ends, and an answer that nobody fetches.
    std::mem::forget(first.locking(as_(authority::admin(1), OWNER)).expect("a session"));
    drive.security_send(1, drive.discovery().base_com_id().expect("there"), &[0; 512]).ok();
    let mut second = Host::open(Box::new(VirtualTransport::new(drive))).expect("discovery");
    second.stack_reset().expect("reset");
    second.locking(as_(authority::admin(1), OWNER)).expect("a session").end().expect("ended");
}
