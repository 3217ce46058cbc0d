//! Reading drives of the Enterprise SSC: from bytes put together by hand, in the order that sedutil's comments show
//! of a drive's answer, so that what the host reads was not written by the code that reads it.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

use keyway_sed::comid::{PROTOCOL_COMID, PROTOCOL_TCG, Request, Response};
use keyway_sed::discovery::{BasicSsc, Discovery, Feature, LockingFeature};
use keyway_sed::host::enterprise::{Band, Bands};
use keyway_sed::host::ranges::Range;
use keyway_sed::host::{Host, HostError};
use keyway_sed::message::Message;
use keyway_sed::packet::{ComPacket, wrap};
use keyway_sed::transport::{Identity, Interface, SecurityTransport, TransportError};
use std::sync::{Arc, Mutex};

const COM_ID: u16 = 0x07fe;
const SUCCESS: u8 = 0x00;
const NOT_AUTHORIZED: u8 = 0x01;

/// A string of bytes as a token.
fn bytes(text: &[u8]) -> Vec<u8> {
    let len = u8::try_from(text.len()).unwrap();
    let head = if len < 16 { vec![0xa0 | len] } else { vec![0xd0, len] };
    [head, text.to_vec()].concat()
}

fn named(name: &str, value: &[u8]) -> Vec<u8> {
    [&[0xf2], bytes(name.as_bytes()).as_slice(), value, &[0xf3]].concat()
}

fn list(parts: &[Vec<u8>]) -> Vec<u8> {
    [&[0xf0], parts.concat().as_slice(), &[0xf1]].concat()
}

/// The end of a message.
fn status(code: u8) -> Vec<u8> {
    vec![0xf9, 0xf0, code, 0, 0, 0xf1]
}

/// A row that Get tells: results, rows, the row.
fn row(cells: &[Vec<u8>]) -> Vec<u8> {
    [list(&[list(&[list(cells)])]), status(SUCCESS)].concat()
}

fn refused() -> Vec<u8> {
    [list(&[]), status(NOT_AUTHORIZED)].concat()
}

/// A call of the session manager's.
fn call(method: u8, arguments: &[Vec<u8>]) -> Vec<u8> {
    let (to, method) = ([0, 0, 0, 0, 0, 0, 0, 0xff], [0, 0, 0, 0, 0, 0, 0xff, method]);
    [vec![0xf8], bytes(&to), bytes(&method), list(arguments), status(SUCCESS)].concat()
}

fn band(start: u8, blocks: u8, enabled: u8, locked: u8) -> Vec<u8> {
    row(&[
        named("RangeStart", &[start]),
        named("RangeLength", &[blocks]),
        named("ReadLockEnabled", &[enabled]),
        named("WriteLockEnabled", &[enabled]),
        named("ReadLocked", &[locked]),
        named("WriteLocked", &[locked]),
        named("LockOnReset", &[0xf0, 0, 0xf1]),
    ])
}

/// Whom a Get is about, and what it sent.
type Answers = Box<dyn Fn([u8; 8], &[u8]) -> Vec<u8> + Send>;

struct Scripted {
    identity: Identity,
    answers: Answers,
    sent: Arc<Mutex<Vec<Vec<u8>>>>,
    waiting: Vec<u8>,
}

impl SecurityTransport for Scripted {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn send(&mut self, protocol: u8, com_id: u16, data: &[u8]) -> Result<(), TransportError> {
        assert_eq!(com_id, COM_ID);
        if protocol == PROTOCOL_COMID {
            self.waiting = Response::Reset(true).write(COM_ID, 0, Request::StackReset);
            return Ok(());
        }
        let packet = ComPacket::parse(data).unwrap();
        let (head, payload) = packet.single().unwrap().expect("a message");
        self.sent.lock().unwrap().push(payload.to_vec());
        let mut hsn = head.hsn;
        let answer = match Message::parse(payload).unwrap() {
            Message::EndOfSession => vec![0xfa],
            Message::Call(asked) if asked.invoking == keyway_sed::Uid::SESSION_MANAGER => {
                if asked.method == keyway_sed::uid::method::PROPERTIES {
                    call(1, &[list(&[named("MaxComPacketSize", &[0x82, 0x08, 0x00])])])
                } else {
                    hsn = u32::try_from(asked.required().next().unwrap().uint().unwrap()).unwrap();
                    let answer = call(3, &[vec![u8::try_from(hsn).unwrap()], vec![0x82, 0x10, 0x01]]);
                    self.waiting = wrap(COM_ID, 0, 0, 0, &answer).to_vec();
                    return Ok(());
                }
            }
            Message::Call(asked) => (self.answers)(asked.invoking.to_bytes(), payload),
            other => panic!("{other:?}"),
        };
        self.waiting = wrap(COM_ID, 0, head.tsn, hsn, &answer).to_vec();
        Ok(())
    }

    fn receive(&mut self, protocol: u8, com_id: u16, into: &mut [u8]) -> Result<(), TransportError> {
        into.fill(0);
        let answer = if (protocol, com_id) == (PROTOCOL_TCG, 1) {
            let locking = LockingFeature { supported: true, enabled: true, ..LockingFeature::default() };
            let ssc = BasicSsc { base_com_id: COM_ID, com_ids: 2, range_crossing_fails: false };
            let features = vec![Feature::Locking(locking), Feature::Enterprise(ssc)];
            Discovery { revision: (0, 1), vendor: [0; 32], features }.write()
        } else {
            std::mem::take(&mut self.waiting)
        };
        into.iter_mut().zip(answer).for_each(|(to, from)| *to = from);
        Ok(())
    }
}

/// What the host makes of the answers, and what it sent.
fn read(
    answers: impl Fn([u8; 8], &[u8]) -> Vec<u8> + Send + 'static,
) -> (Result<Bands, HostError>, Vec<Vec<u8>>) {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let identity = Identity::new(Interface::Virtual, "Enterprise", "1", "1");
    let drive = Scripted { identity, answers: Box::new(answers), sent: sent.clone(), waiting: Vec::new() };
    let mut host = Host::open(Box::new(drive)).unwrap();
    let told = host.bands();
    drop(host);
    (told, Arc::into_inner(sent).unwrap().into_inner().unwrap())
}

fn contains(sent: &[u8], text: &str) -> bool {
    sent.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn bands_are_read_by_the_names_of_their_columns() {
    let (told, sent) = read(|object, payload| match object {
        [0, 0, 8, 1, 0, 0, 0, 1] => {
            assert!(contains(payload, "startColumn") && contains(payload, "MaxRanges"));
            row(&[named("MaxRanges", &[3])])
        }
        [0, 0, 8, 2, 0, 0, 0, 1] => {
            assert!(contains(payload, "RangeStart") && contains(payload, "LockOnReset"));
            band(0, 0, 0, 1)
        }
        [0, 0, 8, 2, 0, 0, 0, 2] => band(8, 32, 1, 1),
        [0, 0, 0, 9, 0, 0, 0x80, 1] => row(&[named("Enabled", &[1])]),
        [0, 0, 0, 9, 0, 0, 0x80, 2] => row(&[named("Enabled", &[0])]),
        // The third is told to its master only.
        _ => refused(),
    });
    let told = told.unwrap();
    assert_eq!(told.most, Some(3));
    let everything = Range {
        number: 0,
        start: 0,
        blocks: 0,
        read_lock_enabled: false,
        write_lock_enabled: false,
        read_locked: true,
        write_locked: true,
        locks_on_power_cycle: true,
    };
    let global = Band { range: everything, master_enabled: Some(true) };
    let placed = Range {
        number: 1,
        start: 8,
        blocks: 32,
        read_lock_enabled: true,
        write_lock_enabled: true,
        ..everything
    };
    let first = Band { range: placed, master_enabled: Some(false) };
    assert_eq!(told.bands, [global, first]);
    // Parameters have names, too; the Locking SP is this SSC's own.
    assert!(contains(&sent[0], "HostProperties"));
    assert!(sent[1].windows(8).any(|uid| uid == [0, 0, 2, 5, 0, 1, 0, 1]));
    assert_eq!(sent.last().unwrap(), &[0xfa]);
}

#[test]
fn the_table_is_asked_where_its_row_is_refused() {
    let (told, _) = read(|object, _| match object {
        [0, 0, 8, 1, 0, 0, 0, 0] => row(&[named("MaxRanges", &[1])]),
        [0, 0, 8, 2, 0, 0, 0, n] => band(n, n, 1, 0),
        _ => refused(),
    });
    let told = told.unwrap();
    assert_eq!((told.most, told.bands.len()), (Some(1), 2));
    assert!(told.bands.iter().all(|band| band.master_enabled.is_none()));
}

#[test]
fn a_drive_that_tells_nobody_is_no_error_and_one_that_lies_is() {
    assert_eq!(read(|_, _| refused()).0.unwrap(), Bands::default());
    for answer in [
        row(&[named("MaxRanges", &bytes(b"three"))]),
        row(&[]),
        [list(&[vec![3]]), status(SUCCESS)].concat(),
        [list(&[]), status(SUCCESS)].concat(),
    ] {
        assert!(read(move |_, _| answer.clone()).0.is_err());
    }
    // As many as a number can say, and no more than the SSC has.
    let (told, sent) = read(|object, _| match object {
        [0, 0, 8, 1, ..] => row(&[named("MaxRanges", &[0x88, 255, 255, 255, 255, 255, 255, 255, 255])]),
        [0, 0, 8, 2, ..] => band(0, 1, 0, 0),
        _ => refused(),
    });
    assert_eq!(told.unwrap().bands.len(), 1024);
    assert!(sent.len() < 1100);
}
