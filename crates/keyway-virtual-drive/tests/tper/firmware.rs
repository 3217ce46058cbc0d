//! Drives of other kinds: the SSCs, drives that can be bought, and firmware that misbehaves.

use crate::rig::*;
use keyway_error::{Advice, Explain};
use keyway_sed::discovery::{Discovery, Feature};
use keyway_sed::host::{Credential, Host as RealHost, HostError};
use keyway_sed::uid::{authority, locking, sp};
use keyway_sed::{Status, Uid};
use keyway_store::MemStore;
use keyway_virtual_drive::VirtualTransport;
use keyway_virtual_drive::{Drive, DriveConfig, Fault, IoError, Label, Profile, SecurityError, SscKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn made(profile: Profile) -> (Arc<Drive>, Arc<MemStore>) {
    let label = Label { serial: "KW0000000001".into(), msid: MSID.into(), psid: PSID.into() };
    let full = profile.config(2048, 512, label);
    let config = DriveConfig { mbr_bytes: 64 * 1024, pin_iterations: 1, ..full };
    let store = Arc::new(MemStore::new(config.medium_bytes() as usize));
    (Arc::new(Drive::create(store.clone(), &config).expect("a drive")), store)
}

fn host(drive: &Arc<Drive>) -> RealHost {
    RealHost::open(Box::new(VirtualTransport::new(drive.clone()))).expect("discovery")
}

/// Taken into use, locked, opened by the admin, locked again by a power cycle, and taken back.
fn whole_life(profile: Profile) {
    let name = profile.name();
    let (drive, store) = made(profile);
    let text = [0x5a; 4096];
    drive.write(64, &text).unwrap();
    assert_eq!(
        store.snapshot().windows(64).any(|w| w == &text[..64]),
        !drive.config().ssc.encrypts(),
        "{name}"
    );
    let mut host = host(&drive);
    host.take_ownership(b"owner").unwrap_or_else(|e| panic!("{name}: {e}"));
    host.activate(b"owner", &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut session =
        host.locking(Some(Credential { authority: authority::admin(1), pin: b"owner" })).expect("the admin");
    session.enable_locking(0, true).unwrap_or_else(|e| panic!("{name}: {e}"));
    session.end().expect("ended");
    drive.power_cycle().unwrap();
    let mut back = [0; 4096];
    assert!(matches!(drive.read(64, &mut back), Err(IoError::Locked { .. })), "{name}");
    assert_eq!(back, [0; 4096]);
    let mut session =
        host.locking(Some(Credential { authority: authority::admin(1), pin: b"owner" })).expect("the admin");
    session.lock(0, keyway_sed::host::ranges::Lock::Unlocked).unwrap_or_else(|e| panic!("{name}: {e}"));
    session.end().expect("ended");
    drive.read(64, &mut back).unwrap();
    assert_eq!(back, text, "{name}");
    host.revert(Credential { authority: authority::PSID, pin: PSID.as_bytes() })
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    drive.read(64, &mut back).unwrap();
    // Pyrite 1.00 does not say that reverting removes anything.
    assert_eq!(back == text, profile == Profile::Of(SscKind::Pyrite1), "{name}");
}

#[test]
fn every_profile_lives_a_whole_life() {
    // An Enterprise drive is only read.
    let read_only = Profile::Of(SscKind::Enterprise);
    Profile::ALL.into_iter().filter(|profile| *profile != read_only).for_each(whole_life);
    assert!(Profile::ALL.into_iter().all(|p| Profile::named(p.name()) == Some(p)));
    assert_eq!(Profile::named("opal"), None);
}

#[test]
fn discovery_and_tables_agree_on_what_a_drive_is() {
    for profile in Profile::ALL {
        let (drive, _) = made(profile);
        let told = drive.discovery();
        let read = Discovery::parse(&drive.security_receive(1, 1, 2048).unwrap()).unwrap();
        assert_eq!(read, told);
        let config = drive.config();
        assert_eq!(told.locking().unwrap().media_encryption, config.ssc.encrypts());
        assert_eq!(told.base_com_id(), Some(config.firmware.com_id));
        if config.ssc == SscKind::Enterprise {
            // What it has of tables is read in module `enterprise`.
            continue;
        }
        let mut host = host(&drive);
        let mut session = host.admin(None).unwrap();
        // DataRemovalMechanism is there where discovery names mechanisms; a table that is not has no rows to read.
        let removal = told.features.iter().any(|f| matches!(f, Feature::DataRemoval(_)));
        assert_eq!(session.get(Uid::row(0x1101, 1), 0..=1).is_ok(), removal, "{}", profile.name());
        session.end().unwrap();
        host.activate(MSID.as_bytes(), &[]).unwrap();
        let mut session =
            host.locking(Some(Credential { authority: authority::admin(1), pin: MSID.as_bytes() })).unwrap();
        let has_keys = session.get(locking::key_256(0), 4..=4).is_ok();
        assert_eq!(has_keys, config.ssc.encrypts(), "{}", profile.name());
        let limits = session.range_limits().unwrap();
        let geometry = *told.geometry().unwrap();
        let granularity = if geometry.align_required { geometry.alignment_granularity } else { 1 };
        assert_eq!((limits.alignment, limits.ranges), (granularity, config.ranges), "{}", profile.name());
        session.end().unwrap();
    }
}

#[test]
fn a_samsung_850_evos_discovery_is_as_published() {
    // Bytes 0 to 0xac of sedutil's issue 304; what follows is cut off there. That drive is owned and locked.
    let published = "000000b4000000010000000000000000\
        00000000000000000000000000000000\
        00000000000000000000000000000000\
        0001100c110000000000000000000000\
        0002100c1f0000000000000000000000\
        0003101c000000000000000000000200\
        00000000000000010000000000000000\
        02001010100400010000000000000000\
        000000000201100c0000000904000000\
        000000000202100c0000000900a00000\
        00000001020310101004000100";
    let published: Vec<u8> = (0..published.len() / 2)
        .map(|n| u8::from_str_radix(&published[2 * n..2 * n + 2], 16).unwrap())
        .collect();
    let (drive, _) = made(Profile::Samsung850Evo);
    let mut told = drive.security_receive(1, 1, 2048).unwrap();
    // What is that drive's state, not its kind: locking is enabled, something locked, the shadow shown.
    assert_eq!(told[0x44] & 0x09, 0x09);
    told[0x44] = 0x1f;
    // And our name in the maker's own bytes.
    told[16..48].fill(0);
    assert_eq!(told[..published.len()], published);
    assert_eq!(told.len(), 0xb8);
}

fn message(result: Result<(), HostError>) -> String {
    result.expect_err("it fails").to_string()
}

#[test]
fn each_fault_is_told_in_time_and_in_words() {
    let quick = Duration::from_millis(60);
    let with = |fault: &str| {
        let (drive, _) = made(Profile::Of(SscKind::Opal2));
        drive.inject(&[fault.parse().unwrap()]);
        drive
    };
    let take_within = |drive: &Arc<Drive>, patience: Option<Duration>| {
        let mut host = RealHost::open(Box::new(VirtualTransport::new(drive.clone())))?;
        if let Some(patience) = patience {
            host.set_patience(patience);
        }
        host.take_ownership(b"owner")
    };
    let take = |drive: &Arc<Drive>| take_within(drive, None);
    for (fault, words) in [
        ("stall", "it had no answer ready after"),
        ("lost-answers", "it had no answer ready after"),
        ("stale-comid", "ComID 0x1000 is not in use"),
        ("stale-session", "SP_BUSY"),
        ("short-discovery", "it offers no channel"),
        ("blocked-sid", "NOT_AUTHORIZED"),
    ] {
        let drive = with(fault);
        let begun = Instant::now();
        let told = message(take_within(&drive, Some(quick)));
        assert!(told.contains(words), "{fault}: {told}");
        assert!(begun.elapsed() < Duration::from_secs(25), "{fault}");
        // Without it all is well.
        drive.inject(&[]);
        drive.power_cycle().unwrap();
        take(&drive).unwrap_or_else(|e| panic!("after {fault}: {e}"));
    }
    // What a host gets over by itself.
    for fault in ["stall=5", "wrong-properties"] {
        take(&with(fault)).unwrap_or_else(|e| panic!("{fault}: {e}"));
    }
    // The reset of a channel ends a session that was left behind, and forgets an answer.
    for fault in ["stale-session", "stale-answer"] {
        let drive = with(fault);
        let mut host = host(&drive);
        host.stack_reset().unwrap();
        host.take_ownership(b"owner").unwrap_or_else(|e| panic!("{fault}: {e}"));
    }
    let drive = with("stale-answer");
    assert_eq!(drive.security_send(1, COM_ID, &[0; 512]), Err(SecurityError::AnswerWaiting));
}

#[test]
fn faults_have_words_and_stay_over_power_cycles() {
    for word in [
        "stall",
        "stall=250",
        "lost-answers",
        "stale-comid",
        "stale-session",
        "stale-answer",
        "wrong-properties",
        "short-discovery",
        "blocked-sid",
    ] {
        assert_eq!(word.parse::<Fault>().unwrap().to_string(), word);
    }
    for word in ["", "stall=", "stall=x", "slow"] {
        let advice = word.parse::<Fault>().unwrap_err().advice();
        assert!(matches!(&advice[..], [Advice::TakeFault { faults }] if faults.starts_with("stall, ")));
    }
    let (drive, _) = made(Profile::Of(SscKind::Opal2));
    drive.inject(&[Fault::BlockedSid]);
    drive.power_cycle().unwrap();
    assert!(drive.discovery().block_sid().unwrap().blocked);
    let login = Host::login(&drive, sp::ADMIN, authority::SID, MSID.as_bytes()).err();
    assert_eq!(login, Some(Status::NotAuthorized));
}
