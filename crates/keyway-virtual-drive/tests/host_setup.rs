//! Setting a drive up, cut at every command: nothing is lost, and the owner's secret always leads back.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_sed::host::ranges::Lock;
use keyway_sed::host::setup::FirstSetup;
use keyway_sed::host::{Credential, Host, Session};
use keyway_sed::transport::{Identity, SecurityTransport, TransportError};
use keyway_sed::uid::authority;
use keyway_store::MemStore;
use keyway_virtual_drive::VirtualTransport;
use keyway_virtual_drive::{Drive, DriveConfig, Label};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

const OWNER: &[u8] = b"the owner's secret";
const USER: &[u8] = b"the user's secret";

/// Which commands do not get through: those from the first to the last of these numbers. The drive has done what
/// a lost answer would have said.
#[derive(Clone, Copy)]
struct Cut {
    first: usize,
    last: usize,
}

/// A cable with a loose contact.
struct Loose {
    to: VirtualTransport,
    commands: Rc<Cell<usize>>,
    cut: Cut,
}

impl Loose {
    fn gets_through(&self) -> Result<(), TransportError> {
        let now = self.commands.get();
        self.commands.set(now + 1);
        if (self.cut.first..=self.cut.last).contains(&now) { Err(TransportError::TimedOut) } else { Ok(()) }
    }
}

impl SecurityTransport for Loose {
    fn identity(&self) -> &Identity {
        self.to.identity()
    }
    fn send(&mut self, protocol: u8, com_id: u16, data: &[u8]) -> Result<(), TransportError> {
        self.gets_through()?;
        self.to.send(protocol, com_id, data)
    }
    fn receive(&mut self, protocol: u8, com_id: u16, into: &mut [u8]) -> Result<(), TransportError> {
        self.gets_through()?;
        self.to.receive(protocol, com_id, into)
    }
}

fn made() -> Arc<Drive> {
    let label = Label { serial: "KWTEST0001".into(), msid: "factory".into(), psid: "P".repeat(32) };
    let config = DriveConfig {
        pin_iterations: 1,
        mbr_bytes: 64 << 10,
        data_store_bytes: 64 << 10,
        ..DriveConfig::opal(1024, 512, label)
    };
    let store = Arc::new(MemStore::new(config.medium_bytes() as usize));
    let drive = Arc::new(Drive::create(store, &config).expect("a drive"));
    drive.write(0, &[0xA5; 512]).expect("unlocked");
    drive
}

fn connected(drive: &Arc<Drive>, cut: Cut) -> (Host, Rc<Cell<usize>>) {
    let commands = Rc::new(Cell::new(0));
    let to = VirtualTransport::new(drive.clone());
    let loose = Loose { to, commands: commands.clone(), cut };
    // The first command is discovery's.
    (Host::open(Box::new(loose)).expect("discovery"), commands)
}

/// The drive's, and its user's alone.
const PLANS: [FirstSetup; 2] = [
    FirstSetup { lock: Lock::Locked, single_user: false },
    FirstSetup { lock: Lock::Locked, single_user: true },
];

const NEVER: Cut = Cut { first: usize::MAX, last: usize::MAX };

/// Commands that a whole set-up takes, discovery included.
fn all_commands(plan: FirstSetup) -> usize {
    let (mut host, commands) = connected(&made(), NEVER);
    host.set_up(OWNER, USER, plan).expect("set up");
    commands.get()
}

fn is_as_before(drive: &Arc<Drive>, case: &str) {
    let mut block = [0; 512];
    drive.read(0, &mut block).unwrap_or_else(|e| panic!("{case}: {e}"));
    assert_eq!(block, [0xA5; 512], "{case}");
    let (mut host, _) = connected(drive, NEVER);
    assert!(host.is_unowned().expect("told"), "{case}");
    let [plan, _] = PLANS;
    host.set_up(OWNER, USER, plan).unwrap_or_else(|e| panic!("{case}: {e}"));
}

/// What someone does who has the recovery sheet, and the password.
fn release(host: &mut Host, case: &str) {
    host.take_back(OWNER, USER).unwrap_or_else(|e| panic!("{case}: {e}"));
}

#[test]
fn power_may_fail_at_every_command() {
    for plan in PLANS {
        let all = all_commands(plan);
        assert!(all > 30, "{all}");
        for first in 1..all {
            let drive = made();
            let case = format!("{plan:?} cut at command {first}");
            let (mut host, _) = connected(&drive, Cut { first, last: usize::MAX });
            assert!(host.set_up(OWNER, USER, plan).is_err(), "{case}");
            assert!(host.take_back(OWNER, USER).is_err(), "{case}: nobody may think that it worked");
            drop(host);
            drive.power_cycle().expect("power");
            release(&mut connected(&drive, NEVER).0, &case);
            is_as_before(&drive, &case);
        }
    }
}

#[test]
fn what_failed_is_taken_back() {
    for plan in PLANS {
        for first in 1..all_commands(plan) {
            let drive = made();
            let case = format!("{plan:?} command {first} lost");
            let (mut host, _) = connected(&drive, Cut { first, last: first });
            // Where it did not fail, nothing was lost but what a second question made good.
            let _ = host.set_up(OWNER, USER, plan);
            release(&mut host, &case);
            drop(host);
            is_as_before(&drive, &case);
        }
    }
}

#[test]
fn the_way_back_may_be_cut_too() {
    let [plan, _] = PLANS;
    let commands = {
        let drive = made();
        connected(&drive, NEVER).0.set_up(OWNER, USER, plan).expect("set up");
        let (mut host, commands) = connected(&drive, NEVER);
        host.release(OWNER).expect("released");
        commands.get()
    };
    for first in 1..commands {
        let drive = made();
        connected(&drive, NEVER).0.set_up(OWNER, USER, plan).expect("set up");
        let case = format!("release cut at command {first}");
        let (mut host, _) = connected(&drive, Cut { first, last: usize::MAX });
        assert!(host.release(OWNER).is_err(), "{case}");
        drop(host);
        drive.power_cycle().expect("power");
        release(&mut connected(&drive, NEVER).0, &case);
        is_as_before(&drive, &case);
    }
}

const NEXT: &[u8] = b"the owner's next secret";

#[test]
fn another_secret_for_the_owner_may_be_cut_at_every_command() {
    for plan in PLANS {
        let set_up = || {
            let drive = made();
            connected(&drive, NEVER).0.set_up(OWNER, USER, plan).expect("set up");
            drive
        };
        let (mut host, commands) = connected(&set_up(), NEVER);
        assert!(host.change_owner(OWNER, NEXT).expect("changed"), "the administrator, too");
        let all = commands.get();
        for first in 1..all {
            for last in [first, usize::MAX] {
                let drive = set_up();
                let case = format!("{plan:?} cut at commands {first} to {last}");
                let (mut host, _) = connected(&drive, Cut { first, last });
                let cut = host.change_owner(OWNER, NEXT);
                assert!(last == first || cut.is_err(), "{case}");
                drop(host);
                drive.power_cycle().expect("power");
                let (mut host, _) = connected(&drive, NEVER);
                assert!(host.change_owner(OWNER, NEXT).unwrap_or_else(|e| panic!("{case}: {e}")), "{case}");
                assert!(host.change_owner(USER, OWNER).is_err(), "{case}: a wrong one changes nothing");
                host.take_back(NEXT, USER).unwrap_or_else(|e| panic!("{case}: {e}"));
                drop(host);
                is_as_before(&drive, &case);
            }
        }
    }
}

#[test]
fn an_administrator_with_a_secret_of_its_own_keeps_it() {
    let [plan, _] = PLANS;
    let drive = made();
    let (mut host, _) = connected(&drive, NEVER);
    host.set_up(OWNER, USER, plan).expect("set up");
    let admin = |pin| Some(Credential { authority: authority::admin(1), pin });
    let mut session = host.locking(admin(OWNER)).expect("the administrator");
    session.set_pin(authority::admin(1), USER).expect("set");
    session.end().expect("ended");
    assert!(!host.change_owner(OWNER, NEXT).expect("changed"));
    host.locking(admin(USER)).and_then(Session::end).expect("as it was");
    let owner = Credential { authority: authority::SID, pin: NEXT };
    host.admin(Some(owner)).and_then(Session::end).expect("the new one");
}
