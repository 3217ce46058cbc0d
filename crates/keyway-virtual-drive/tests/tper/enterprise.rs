//! An Enterprise drive: it is read, by the host of this project and by hand; nothing of it is changed.

use crate::rig::{MSID, PSID};
use keyway_sed::host::Host;
use keyway_sed::message::{Message, write_call};
use keyway_sed::packet::{ComPacket, wrap};
use keyway_sed::token::{Encoder, Token, Value};
use keyway_sed::uid::{authority, c_pin, locking, method, sp};
use keyway_sed::{Status, Uid};
use keyway_store::MemStore;
use keyway_virtual_drive::VirtualTransport;
use keyway_virtual_drive::{Drive, DriveConfig, Label, Profile};
use std::sync::Arc;

const COM_ID: u16 = 0x07fe;

fn made() -> Arc<Drive> {
    let label = Label { serial: "KW0000000001".into(), msid: MSID.into(), psid: PSID.into() };
    let full = Profile::named("enterprise").unwrap().config(2048, 512, label);
    let config = DriveConfig { pin_iterations: 1, ..full };
    Arc::new(Drive::create(Arc::new(MemStore::new(config.medium_bytes() as usize)), &config).unwrap())
}

fn exchange(drive: &Drive, (tsn, hsn): (u32, u32), payload: &[u8]) -> Vec<u8> {
    drive.security_send(1, COM_ID, &wrap(COM_ID, 0, tsn, hsn, payload)).unwrap();
    let answer = drive.security_receive(1, COM_ID, 65536).unwrap();
    let answer = ComPacket::parse(&answer).unwrap();
    answer.single().unwrap().map(|(_, payload)| payload.to_vec()).unwrap_or_default()
}

fn named(to: &mut Encoder, name: &str, value: &[u8]) {
    to.token(Token::StartName).bytes(name.as_bytes()).bytes(value).token(Token::EndName);
}

/// A session, whose timeout is asked for by name.
fn session(drive: &Drive, sp: Uid) -> Result<(u32, u32), Status> {
    let mut call = Encoder::new();
    write_call(&mut call, Uid::SESSION_MANAGER, method::START_SESSION, |to| {
        to.uint(7).uid(sp).uint(1);
        to.token(Token::StartName).bytes(b"SessionTimeout").uint(60_000).token(Token::EndName);
    });
    let answer = exchange(drive, (0, 0), call.as_bytes());
    let Ok(Message::Call(sync)) = Message::parse(&answer) else { panic!("no answer") };
    let tsn = sync.required().nth(1).and_then(Value::uint).unwrap() as u32;
    if sync.status == Status::Success { Ok((tsn, 7)) } else { Err(sync.status) }
}

fn call(
    drive: &Drive,
    session: (u32, u32),
    object: Uid,
    method: Uid,
    arguments: impl FnOnce(&mut Encoder),
) -> (Status, Vec<u8>) {
    let mut call = Encoder::new();
    write_call(&mut call, object, method, arguments);
    let answer = exchange(drive, session, call.as_bytes());
    let Ok(Message::Answer(told)) = Message::parse(&answer) else { panic!("no answer") };
    (told.status, answer.clone())
}

fn get(drive: &Drive, session: (u32, u32), row: Uid, first: &str, last: &str) -> (Status, Vec<u8>) {
    call(drive, session, row, method::ENTERPRISE_GET, |to| {
        to.list(|to| {
            named(to, "startColumn", first.as_bytes());
            named(to, "endColumn", last.as_bytes());
        });
    })
}

fn authenticate(drive: &Drive, session: (u32, u32), who: Uid, pin: &str) -> Result<bool, Status> {
    let (status, answer) = call(drive, session, Uid::THIS_SP, method::ENTERPRISE_AUTHENTICATE, |to| {
        to.uid(who);
        named(to, "Challenge", pin.as_bytes());
    });
    match (status, answer.get(1)) {
        (Status::Success, told) => Ok(told == Some(&1)),
        (status, _) => Err(status),
    }
}

#[test]
fn the_host_reads_its_bands() {
    let drive = made();
    let mut host = Host::open(Box::new(VirtualTransport::new(drive.clone()))).unwrap();
    assert!(host.discovery().speaks_enterprise());
    assert_eq!(host.discovery().features.len(), 3);
    let told = host.bands().unwrap();
    assert_eq!((told.most, told.bands.len()), (Some(15), 16));
    assert!(
        told.bands
            .iter()
            .all(|b| !b.range.read_lock_enabled && b.range.read_locked && b.master_enabled == Some(true))
    );
    assert!(told.bands.iter().zip(0..).all(|(band, n)| band.range.number == n));
    // Its blocks are there, and are kept.
    drive.write(8, &[5; 1024]).unwrap();
    drive.power_cycle().unwrap();
    let mut back = [0; 1024];
    drive.read(8, &mut back).unwrap();
    assert_eq!(back, [5; 1024]);
    assert_eq!(host.bands().unwrap(), told);
}

#[test]
fn the_factorys_pin_is_everybodys_and_no_other() {
    let drive = made();
    let open = session(&drive, sp::ADMIN).unwrap();
    let (status, answer) = get(&drive, open, c_pin::MSID, "PIN", "PIN");
    assert_eq!(status, Status::Success);
    assert!(answer.windows(MSID.len()).any(|w| w == MSID.as_bytes()));
    let (status, answer) = get(&drive, open, c_pin::SID, "UID", "Persistence");
    assert_eq!(status, Status::Success);
    assert!(!answer.windows(4).any(|w| w == b"\xa3PIN"), "the owner's PIN is not even named");
    // What goes by numbers is another SSC's.
    let by_number = call(&drive, open, c_pin::MSID, method::GET, |to| {
        to.list(|_| {});
    });
    assert_eq!(by_number.0, Status::NotAuthorized);
}

#[test]
fn masters_prove_themselves_and_change_nothing() {
    let drive = made();
    assert_eq!(session(&drive, sp::LOCKING), Err(Status::InvalidParameter), "Opal's Locking SP");
    let open = session(&drive, sp::ENTERPRISE_LOCKING).unwrap();
    assert_eq!(authenticate(&drive, open, authority::band_master(3), MSID), Ok(true));
    assert_eq!(authenticate(&drive, open, authority::ERASE_MASTER, "wrong"), Ok(false));
    let (status, _) = call(&drive, open, locking::band(3), method::ENTERPRISE_SET, |to| {
        to.list(|to| {
            to.list(|_| {}).list(|to| {
                to.list(|to| {
                    to.token(Token::StartName).bytes(b"ReadLockEnabled").uint(1).token(Token::EndName);
                });
            });
        });
    });
    assert_eq!(status, Status::NotAuthorized);
    for method in [method::SET, method::REVERT, method::REVERT_SP, method::GEN_KEY, method::ERASE] {
        assert_eq!(call(&drive, open, locking::band(3), method, |_| {}).0, Status::NotAuthorized);
    }
    // Names that there are not, and the wrong way round.
    for (first, last) in [("Nothing", "LockOnReset"), ("RangeStart", ""), ("WriteLocked", "RangeStart")] {
        assert_eq!(get(&drive, open, locking::band(0), first, last).0, Status::InvalidParameter);
    }
    assert_eq!(get(&drive, open, locking::band(16), "Name", "Name").0, Status::NotAuthorized);
    let whole = call(&drive, open, locking::band(15), method::ENTERPRISE_GET, |to| {
        to.list(|_| {});
    });
    assert!(whole.0 == Status::Success && whole.1.windows(6).any(|w| w == b"Band15"));
}
