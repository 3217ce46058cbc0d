//! Power cuts at every write of the drive's state: it is as before or as after, never unlocked, never dead.

use crate::rig::*;
use keyway_sed::uid::{authority, c_pin, locking, method, sp};
use keyway_store::{FaultPlan, FaultStore, MemStore};
use keyway_virtual_drive::{Drive, IoError};
use std::sync::Arc;

/// What is done while the power fails: whatever of it fails, fails.
fn changes(drive: &Drive) {
    let Ok(admin) = Host::login(drive, sp::LOCKING, authority::admin(1), b"owner") else { return };
    let _ = admin.set_uint(locking::GLOBAL_RANGE, 7, 0);
    let _ = admin.set_uint(locking::GLOBAL_RANGE, 8, 0);
    let _ = admin.set(
        locking::range(1),
        &[(3, Cell::Uint(1024)), (4, Cell::Uint(64)), (5, Cell::Uint(1)), (6, Cell::Uint(1))],
    );
    let _ = admin.set_uint(authority::user(1), 5, 1);
    let _ = admin.set_pin(c_pin::user(1), b"user");
    let _ = admin.call(locking::key_256(1), method::GEN_KEY, |_| {});
    let _ = admin.set_pin(c_pin::admin(1), b"second");
    let _ = admin.raw(&[0xfa]);
}

#[test]
fn a_power_cut_at_any_write_leaves_a_locked_drive_that_opens() {
    let base = store();
    let drive = activated(base.clone(), b"owner");
    set_up_range(&drive, b"owner", 0, 0, 0);
    drive.write(0, &[7; 512]).unwrap();
    drop(drive);
    let base = base.snapshot();
    let medium = || MemStore::from_vec(base.clone());
    let steps = {
        let faulty = Arc::new(FaultStore::new(medium(), FaultPlan::default()));
        changes(&Drive::open(faulty.clone()).unwrap());
        faulty.steps()
    };
    assert!(steps > 20, "{steps} steps");
    let rounds = if std::env::var_os("KEYWAY_SLOW").is_some() { 10_000 / steps + 1 } else { 3 };
    let (mut with_old, mut with_new) = (0, 0);
    for cut in 0..=steps {
        for seed in 0..rounds {
            let survivors = (seed > 0).then_some(cut * 1000 + seed);
            let plan = FaultPlan { power_cut_before: Some(cut), survivors, ..FaultPlan::default() };
            let faulty = Arc::new(FaultStore::new(medium(), plan));
            let drive = Drive::open(faulty.clone()).unwrap();
            changes(&drive);
            drop(drive);
            let after = Arc::into_inner(faulty).expect("the only one").into_medium().unwrap();
            let drive = Drive::open(Arc::new(after)).unwrap_or_else(|e| panic!("cut at {cut}: {e}"));
            let mut block = [0; 512];
            assert!(matches!(drive.read(0, &mut block), Err(IoError::Locked { .. })), "cut at {cut}");
            let old = lock(&drive, authority::admin(1), b"owner", 0, false, false).is_ok();
            let new = !old && lock(&drive, authority::admin(1), b"second", 0, false, false).is_ok();
            assert!(old || new, "cut at {cut}: no PIN opens it");
            drive.read(0, &mut block).unwrap();
            assert_eq!(block, [7; 512], "cut at {cut}");
            with_old += u32::from(old);
            with_new += u32::from(new);
        }
    }
    assert!(with_old > 0 && with_new > 0);
}

#[test]
fn a_cut_activation_is_done_or_not() {
    let base = store();
    drop(Drive::create(base.clone(), &config()).unwrap());
    let base = base.snapshot();
    for cut in 0..12 {
        let plan =
            FaultPlan { power_cut_before: Some(cut), survivors: Some(cut + 1), ..FaultPlan::default() };
        let faulty = Arc::new(FaultStore::new(MemStore::from_vec(base.clone()), plan));
        let drive = Drive::open(faulty.clone()).unwrap();
        if let Ok(host) = Host::login(&drive, sp::ADMIN, authority::SID, MSID.as_bytes()) {
            let _ = host.call(sp::LOCKING, method::ACTIVATE, |_| {});
        }
        drop(drive);
        let after = Arc::into_inner(faulty).expect("the only one").into_medium().unwrap();
        let drive = Drive::open(Arc::new(after)).unwrap();
        let active = drive.discovery().locking().unwrap().enabled;
        let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), MSID.as_bytes());
        assert_eq!(admin.is_ok(), active);
        assert!(cut >= 4 || !active || cut >= 2, "cut at {cut}");
    }
}

#[test]
fn a_failing_medium_is_said_and_locks_everything() {
    let base = store();
    let drive = activated(base.clone(), b"owner");
    set_up_range(&drive, b"owner", 0, 0, 0);
    drop(drive);
    let plan = FaultPlan { flushes_fail_from: Some(2), ..FaultPlan::default() };
    let drive = Drive::open(Arc::new(FaultStore::new(MemStore::from_vec(base.snapshot()), plan))).unwrap();
    lock(&drive, authority::admin(1), b"owner", 0, false, false).unwrap_or_default();
    assert!(drive.power_cycle().is_err());
    assert!(matches!(drive.read(0, &mut [0; 512]), Err(IoError::Locked { .. })));

    let plan = FaultPlan { writes_fail_from: Some((2, 5)), ..FaultPlan::default() };
    let drive = Drive::open(Arc::new(FaultStore::new(MemStore::from_vec(base.snapshot()), plan))).unwrap();
    lock(&drive, authority::admin(1), b"owner", 0, false, false).unwrap();
    let failed = lock(&drive, authority::admin(1), b"owner", 0, true, true);
    assert_eq!(failed, Err(keyway_sed::Status::TPerMalfunction));
    assert!(matches!(drive.read(0, &mut [0; 512]), Err(IoError::Locked { .. })));
}

#[test]
fn a_state_as_large_as_an_admin_can_make_it_is_read_back() {
    let store = store();
    let drive = activated(store.clone(), b"owner");
    let admin = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    // As many terms as an expression may have: 32 authorities, 31 operators.
    let terms: Vec<_> =
        (0..63).map(|n| if n == 0 || n % 2 == 1 { Ok(authority::ADMINS) } else { Err(1) }).collect();
    let aces = (0..=8).flat_map(|n| {
        [
            locking::ace_get_range(n),
            locking::ace_set_read_locked(n),
            locking::ace_set_write_locked(n),
            locking::ace_gen_key_256(n),
        ]
    });
    let users = (1..=9).map(|n| keyway_sed::Uid::row(8, 0x0003_a800 + n));
    for ace in aces.chain(users).chain([locking::ACE_MBR_CONTROL_DONE, locking::ACE_DATA_STORE_GET]) {
        admin.set(ace, &[(3, Cell::Expression(&terms))]).unwrap();
    }
    admin.end();
    drop(drive);
    let drive = Drive::open(store).expect("the state makes sense");
    Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap().end();
}
