//! The virtual drive against any host: it has a range that is locked, and whatever is sent to it without a PIN,
//! it stays locked, answers within its limits, and its state can be read after a power cycle. The host's parsers
//! get the same bytes.
//!
//! An input is a run of operations: a kind, a length, so many bytes.
use keyway_sed::Uid;
use keyway_sed::comid::{Request, Response};
use keyway_sed::discovery::Discovery;
use keyway_sed::message::{Message, write_call};
use keyway_sed::packet::{ComPacket, wrap};
use keyway_sed::token::Encoder;
use keyway_sed::uid::{authority, c_pin, locking, method, parameter, sp};
use keyway_store::MemStore;
use keyway_virtual_drive::{Drive, DriveConfig, IoError, Label};
use std::sync::{Arc, OnceLock};

const COM_ID: u16 = 0x1000;
const MSID: &str = "factory";

/// Sends a payload, hands the answer's on.
fn exchange(drive: &Drive, tsn: u32, hsn: u32, payload: &[u8]) -> Vec<u8> {
    if drive.security_send(1, COM_ID, &wrap(COM_ID, 0, tsn, hsn, payload)).is_err() {
        return Vec::new();
    }
    let answer = drive.security_receive(1, COM_ID, 65536).expect("it answers");
    let answer = ComPacket::parse(&answer).expect("the drive's own packets are whole");
    answer.single().expect("there is one").map(|(_, payload)| payload.to_vec()).unwrap_or_default()
}

/// The numbers of a new session.
fn start(drive: &Drive, sp: Uid, pin: Option<(Uid, &[u8])>) -> Option<(u32, u32)> {
    let mut call = Encoder::new();
    write_call(&mut call, Uid::SESSION_MANAGER, method::START_SESSION, |to| {
        to.uint(1).uid(sp).uint(1);
        if let Some((who, pin)) = pin {
            to.named(parameter::HOST_CHALLENGE, |to| {
                to.bytes(pin);
            });
            to.named(parameter::HOST_SIGNING_AUTHORITY, |to| {
                to.uid(who);
            });
        }
    });
    let answer = exchange(drive, 0, 0, call.as_bytes());
    let Ok(Message::Call(sync)) = Message::parse(&answer) else { return None };
    let mut numbers = sync.required().filter_map(|v| v.uint());
    let (hsn, tsn) = (numbers.next()? as u32, numbers.next()? as u32);
    (tsn != 0).then_some((tsn, hsn))
}

fn set(drive: &Drive, (tsn, hsn): (u32, u32), row: Uid, cells: impl FnOnce(&mut Encoder)) {
    let mut call = Encoder::new();
    write_call(&mut call, row, method::SET, |to| {
        to.named(parameter::VALUES, |to| {
            to.list(cells);
        });
    });
    let answer = exchange(drive, tsn, hsn, call.as_bytes());
    assert!(matches!(Message::parse(&answer), Ok(Message::Answer(a)) if a.status.code() == 0));
}

/// The medium of a drive that is owned, activated, and locked as a whole.
fn medium() -> Vec<u8> {
    let label = Label { serial: "FUZZ".into(), msid: MSID.into(), psid: "psid".into() };
    // Few ranges: each has keys in locked memory, which takes the system longer than all else here.
    let opal = DriveConfig { ranges: 2, users: 3, ..DriveConfig::opal(64, 512, label) };
    let config = DriveConfig { mbr_bytes: 4096, data_store_bytes: 4096, pin_iterations: 1, ..opal };
    let store = Arc::new(MemStore::new(config.medium_bytes() as usize));
    let drive = Drive::create(store.clone(), &config).expect("a drive");
    let session = start(&drive, sp::ADMIN, Some((authority::SID, MSID.as_bytes()))).expect("the owner");
    set(&drive, session, c_pin::SID, |to| {
        to.named(3, |to| {
            to.bytes(b"pin");
        });
    });
    let mut call = Encoder::new();
    write_call(&mut call, sp::LOCKING, method::ACTIVATE, |_| {});
    exchange(&drive, session.0, session.1, call.as_bytes());
    exchange(&drive, session.0, session.1, &[0xfa]);
    let session = start(&drive, sp::LOCKING, Some((authority::admin(1), b"pin"))).expect("the admin");
    set(&drive, session, locking::GLOBAL_RANGE, |to| {
        for column in 5..=8 {
            to.named(column, |to| {
                to.uint(1);
            });
        }
    });
    exchange(&drive, session.0, session.1, &[0xfa]);
    store.snapshot()
}

/// Does what one input says: to a drive that was just switched on, or else to one whose channel was reset, which is
/// most of it and takes a tenth of the time. What came of it, in a number: inputs of another number did something else.
pub(crate) fn one(data: &[u8], fresh: bool) -> u64 {
    let mut seen = Seen::default();
    seen.add(u64::from(Discovery::parse(data).is_ok()));
    seen.add(u64::from(ComPacket::parse(data).is_ok()));
    seen.add(u64::from(Message::parse(data).is_ok()));
    seen.add(u64::from(Response::parse(data).is_ok()));

    // One drive for all: a power cycle brings it back to where it began, for without a PIN nothing that outlives one
    // can be changed. To make it anew each time takes ten times as long.
    static DRIVE: OnceLock<Drive> = OnceLock::new();
    let drive = DRIVE.get_or_init(|| Drive::open(Arc::new(MemStore::from_vec(medium()))).expect("it opens"));
    if fresh {
        drive.power_cycle().expect("its state makes sense");
    } else {
        drive.security_send(2, COM_ID, &Request::StackReset.write(COM_ID, 0)).expect("it is taken");
    }
    let mut session = (0, 0);
    let mut rest = data;
    // Operation, length, bytes.
    while let [kind, len, tail @ ..] = rest {
        let (bytes, tail) = tail.split_at(usize::from(*len).min(tail.len()));
        rest = tail;
        match kind % 8 {
            // By its own number alone: it takes ten times as long as all else.
            _ if *kind == 6 => drive.power_cycle().expect("its state makes sense"),
            0 => session = start(drive, sp::ADMIN, None).unwrap_or(session),
            1 => session = start(drive, sp::LOCKING, None).unwrap_or(session),
            2 | 3 | 6 => {
                let answer = exchange(drive, session.0, session.1, bytes);
                assert!(answer.len() <= 2048);
                seen.answer(&answer);
            }
            4 => seen.answer(&exchange(drive, 0, 0, bytes)),
            5 => {
                let [protocol, high, low, bytes @ ..] = bytes else { continue };
                let com_id = if *high < 0x80 { COM_ID } else { u16::from(*low) };
                let sent = drive.security_send(protocol % 4, com_id, bytes);
                let got = drive.security_receive(protocol % 4, com_id, usize::from(*low) * 16);
                seen.add(u64::from(sent.is_ok()) << 1 | u64::from(got.is_ok()));
            }
            _ => drive.security_send(2, COM_ID, &Request::StackReset.write(COM_ID, 0)).expect("it is taken"),
        }
        let _ = drive.security_receive(1, COM_ID, 65536);
    }
    let mut block = [0; 512];
    assert!(matches!(drive.read(0, &mut block), Err(IoError::Locked { .. })));
    assert_eq!(block, [0; 512]);
    seen.0
}

/// What an input did, as far as a host can see: the kinds of its answers, in their order.
#[derive(Default)]
struct Seen(u64);

impl Seen {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn answer(&mut self, answer: &[u8]) {
        let (kind, length) = match Message::parse(answer) {
            Ok(Message::Answer(told)) => (1 + u64::from(told.status.code()), told.results.len()),
            Ok(Message::Call(told)) => (0x100 + u64::from(told.status.code()), told.arguments.len()),
            Ok(_) => (0x200, 0),
            Err(_) => (0x300, 0),
        };
        self.add(kind << 8 | length.min(15) as u64);
        self.add(answer.len().next_power_of_two() as u64);
    }
}
