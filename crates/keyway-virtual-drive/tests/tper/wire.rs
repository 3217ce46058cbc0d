//! Sessions, transactions, and the channel below them.

use crate::rig::*;
use keyway_sed::comid::{ComIdState, Request, Response};
use keyway_sed::message::{Message, write_call};
use keyway_sed::packet::{ComPacket, wrap};
use keyway_sed::token::{Encoder, Value};
use keyway_sed::uid::{authority, locking, method, sp};
use keyway_sed::{Status, Uid};
use keyway_virtual_drive::SecurityError;

#[test]
fn properties_are_exchanged() {
    let drive = drive();
    let host = Host::new(&drive);
    let mut call = Encoder::new();
    write_call(&mut call, Uid::SESSION_MANAGER, method::PROPERTIES, |to| {
        to.named(0, |to| {
            to.list(|to| {
                to.value(&Value::Named(Box::new((Value::Bytes(b"MaxComPacketSize"), Value::Uint(4096)))));
            });
        });
    });
    let answer = host.exchange(0, 0, call.as_bytes());
    let Ok(Message::Call(call)) = Message::parse(&answer) else { panic!("{answer:02x?}") };
    assert_eq!(call.method, method::PROPERTIES);
    let of = |list: &Value<'_>, name: &[u8]| {
        let list = list.list().unwrap();
        list.iter().filter_map(Value::named).find(|(n, _)| n.bytes() == Some(name)).unwrap().1.uint().unwrap()
    };
    assert_eq!(of(&call.arguments[0], b"MaxComPacketSize"), 65536);
    assert_eq!(of(&call.arguments[0], b"MaxSessions"), 1);
    assert_eq!(of(call.optional(0).unwrap(), b"MaxComPacketSize"), 4096);
}

#[test]
fn there_is_one_session_and_it_can_be_reset() {
    let drive = activated(store(), b"owner");
    let first = Host::anybody(&drive, sp::ADMIN).unwrap();
    assert_eq!(Host::anybody(&drive, sp::ADMIN).err(), Some(Status::SpBusy));
    assert_eq!(Host::anybody(&drive, sp::LOCKING).err(), Some(Status::NoSessionsAvailable));
    let ask = |request: Request, com_id| {
        drive.security_send(2, COM_ID, &request.write(com_id, 0)).unwrap();
        Response::parse(&drive.security_receive(2, COM_ID, 512).unwrap()).unwrap().2
    };
    assert_eq!(ask(Request::Verify, COM_ID), Response::State(ComIdState::Associated));
    assert_eq!(ask(Request::Verify, 0x1234), Response::State(ComIdState::Invalid));
    assert_eq!(ask(Request::StackReset, COM_ID), Response::Reset(true));
    assert_eq!(ask(Request::Verify, COM_ID), Response::State(ComIdState::Issued));
    assert_eq!(first.raw(&[0xfa]), [], "it is gone");
    Host::anybody(&drive, sp::LOCKING).unwrap().end();
}

#[test]
fn an_answer_is_fetched_once_and_before_the_next_command() {
    let drive = drive();
    let mut call = Encoder::new();
    write_call(&mut call, Uid::SESSION_MANAGER, method::PROPERTIES, |_| {});
    let bytes = wrap(COM_ID, 0, 0, 0, call.as_bytes());
    drive.security_send(1, COM_ID, &bytes).unwrap();
    assert_eq!(drive.security_send(1, COM_ID, &bytes), Err(SecurityError::AnswerWaiting));
    let short = drive.security_receive(1, COM_ID, 64).unwrap();
    let told = ComPacket::parse(&short).unwrap();
    assert!(told.outstanding > 64 && told.min_transfer == told.outstanding && told.packets.is_empty());
    let whole = drive.security_receive(1, COM_ID, 2048).unwrap();
    assert_eq!(whole.len(), told.outstanding as usize);
    assert_eq!(ComPacket::parse(&whole).unwrap().packets.len(), 1);
    let nothing = ComPacket::parse(&drive.security_receive(1, COM_ID, 2048).unwrap()).unwrap().outstanding;
    assert_eq!(nothing, 0);
}

#[test]
fn other_protocols_and_channels_are_refused() {
    let drive = drive();
    assert_eq!(drive.security_receive(0, 0, 512).unwrap(), [0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 2]);
    assert_eq!(drive.security_receive(6, 0, 512), Err(SecurityError::Protocol(6)));
    assert_eq!(drive.security_receive(1, 0x2000, 512), Err(SecurityError::ComId(0x2000)));
    assert_eq!(drive.security_send(1, 1, &[]), Err(SecurityError::ComId(1)));
    assert_eq!(drive.security_send(1, COM_ID, &vec![0; 65537]), Err(SecurityError::TransferLength(65537)));
    assert_eq!(drive.security_receive(1, 1, 20).unwrap().len(), 20);
}

#[test]
fn a_transaction_is_all_or_nothing() {
    let store = store();
    let drive = activated(store.clone(), b"owner");
    let begin = |host: &Host<'_>| assert_eq!(host.raw(&[0xfb, 0]), [0xfb, 0]);
    let host = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    begin(&host);
    host.set_uint(locking::range(1), 5, 1).unwrap();
    assert_eq!(host.get_uint(locking::range(1), 5), 1);
    assert_eq!(host.raw(&[0xfc, 1]), [0xfc, 0]);
    assert_eq!(host.get_uint(locking::range(1), 5), 0, "aborted");
    let before = store.snapshot();
    begin(&host);
    assert_eq!(host.raw(&[0xfb, 0]), [0xfb, 1], "they do not nest");
    host.set_uint(locking::range(1), 5, 1).unwrap();
    assert_eq!(store.snapshot(), before, "nothing is kept before its end");
    assert_eq!(host.raw(&[0xfc, 0]), [0xfc, 0]);
    begin(&host);
    host.set_uint(locking::range(1), 6, 1).unwrap();
    host.end();
    drive.power_cycle().unwrap();
    let host = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").unwrap();
    assert_eq!(host.get_uint(locking::range(1), 5), 1);
    assert_eq!(host.get_uint(locking::range(1), 6), 0, "the session ended first");
    host.end();
}

#[test]
fn random_bytes_are_random() {
    let drive = drive();
    let host = Host::anybody(&drive, sp::ADMIN).unwrap();
    let random = |count: u64| {
        host.call_with(
            Uid::THIS_SP,
            method::RANDOM,
            |to| {
                to.uint(count);
            },
            |results| results[0].bytes().unwrap().to_vec(),
        )
    };
    assert_eq!(random(32).unwrap().len(), 32);
    assert_ne!(random(32).unwrap(), random(32).unwrap());
    assert_eq!(random(1 << 40), Err(Status::InvalidParameter));
    host.end();
}

#[test]
fn what_is_no_message_ends_the_session() {
    let drive = drive();
    let host = Host::anybody(&drive, sp::ADMIN).unwrap();
    let told = host.raw(&[0xf9, 0xf1, 0xe4]);
    let Ok(Message::Call(close)) = Message::parse(&told) else { panic!("{told:02x?}") };
    assert_eq!(close.method, method::CLOSE_SESSION);
    assert_eq!(close.arguments, [Value::Uint(host.hsn.into()), Value::Uint(host.tsn.into())]);
    Host::anybody(&drive, sp::ADMIN).unwrap().end();
}

#[test]
fn packets_of_other_sessions_are_dropped() {
    let drive = drive();
    let host = Host::anybody(&drive, sp::ADMIN).unwrap();
    assert_eq!(host.exchange(host.tsn + 1, host.hsn, &[0xfa]), []);
    assert_eq!(host.exchange(host.tsn, 0, &[0xfa]), []);
    host.end();
}
