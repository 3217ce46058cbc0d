//! Streams of any bytes: a connection ends in an error, not in a panic, a stall or a gigabyte.

use crate::client::{Client, NQN, capsule, connect, entry, ic_req};
use crate::namespace::Memory;
use keyway_attach::nvme_tcp::{ConnectionError, Options, Violation, serve_connection};
use keyway_testkit::PATIENCE;
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;

fn serve(bytes: &[u8]) -> (ConnectionError, usize) {
    let mut out = Vec::new();
    let ended = serve_connection(Arc::new(Memory::new()), NQN, bytes, &mut out);
    (ended.expect_err("every connection ends"), out.len())
}

fn violation(bytes: &[u8]) -> Violation {
    match serve(bytes).0 {
        ConnectionError::Host(violation) => violation,
        ConnectionError::Wire(e) => panic!("{e}"),
    }
}

#[test]
fn what_a_host_must_not_do() {
    assert_eq!(violation(&[5, 0, 24, 0, 24, 0, 0, 0]), Violation::PduType(5));
    assert_eq!(violation(&capsule(&[0; 64], &[])), Violation::PduType(4));
    assert_eq!(violation(&[0, 0, 127, 0, 128, 0, 0, 0]), Violation::PduLength(128));
    let mut format = ic_req();
    format[8] = 1;
    assert_eq!(violation(&format), Violation::Format(1));
    let data = |cid: u8, offset: u8, len: u32| {
        let mut pdu = vec![6, 0, 24, 24];
        pdu.extend_from_slice(&(24 + len).to_le_bytes());
        pdu.extend_from_slice(&[cid, 0, cid, 0, offset, 0, 0, 0]);
        pdu.extend_from_slice(&len.to_le_bytes());
        pdu.extend_from_slice(&[0; 4]);
        pdu.extend(std::iter::repeat_n(7, len as usize));
        pdu
    };
    let start = [ic_req(), connect(0, 0xffff, NQN)].concat();
    let write = capsule(&entry(1, 1, 8192, false, &[(48, &[15])]), &[]);
    assert_eq!(violation(&[start.clone(), data(0, 0, 4)].concat()), Violation::Identifier(0));
    assert_eq!(violation(&[start.clone(), write.clone(), write.clone()].concat()), Violation::Identifier(0));
    assert_eq!(violation(&[start.clone(), write.clone(), data(0, 4, 4)].concat()), Violation::DataOffset(4));
    assert_eq!(
        violation(&[start.clone(), write.clone(), data(0, 0, 8196)].concat()),
        Violation::DataOffset(0)
    );
    assert_eq!(
        violation(&[start, vec![4, 0, 72, 72, 0xff, 0xff, 0xff, 0x7f], vec![0; 64]].concat()),
        Violation::PduLength(0x7fff_ffff - 72)
    );
}

/// Whoever connects and does not become a queue's host is hung up on; a host may be silent.
#[test]
fn who_says_too_little_does_not_stay() {
    let options = Options { handshake: Duration::from_millis(500), ..Options::default() };
    crate::protocol::served_as(&options, |address, _| {
        let mut silent = Client::new(address);
        let (mut admin, _) = Client::admin(address);
        let ended = silent.ended_within(PATIENCE);
        assert!(ended, "a handshake alone does not keep a connection");
        assert_eq!(admin.simple(0x18, 0, 0, &[]).status, 0, "a host that has connected may be silent");
    });
}

fn some_entry() -> impl Strategy<Value = [u8; 64]> {
    let code = prop::sample::select(vec![0u8, 1, 2, 6, 8, 9, 0x0a, 0x0c, 0x18, 0x7f, 0x81, 0x82]);
    (
        code,
        0u32..3,
        prop_oneof![0usize..9000, any::<u32>().prop_map(|n| n as usize)],
        any::<bool>(),
        prop::array::uniform24(prop_oneof![9 => Just(0u8), 1 => any::<u8>()]),
    )
        .prop_map(|(code, namespace, len, in_capsule, rest)| {
            entry(code, namespace, len, in_capsule, &[(40, &rest)])
        })
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        serve(&bytes);
        serve(&[ic_req(), bytes.clone()].concat());
        serve(&[ic_req(), connect(0, 0xffff, NQN), bytes].concat());
    }

    #[test]
    fn any_commands(
        commands in prop::collection::vec((some_entry(), prop::collection::vec(any::<u8>(), 0..100)), 1..20),
    ) {
        let enable = entry(0x7f, 0, 0, false, &[(44, &0x14u32.to_le_bytes()), (48, &[1])]);
        let mut bytes = [ic_req(), connect(0, 0xffff, NQN), capsule(&enable, &[])].concat();
        for (n, (entry, data)) in commands.iter().enumerate() {
            let mut entry = *entry;
            entry[2] = n as u8;
            bytes.extend_from_slice(&capsule(&entry, data));
        }
        let (_, out) = serve(&bytes);
        // At most one transfer of 1 MiB and its headers for each.
        prop_assert!(out <= 200 + commands.len() * ((1 << 20) + 48));
    }
}
