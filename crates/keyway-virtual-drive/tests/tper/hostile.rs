//! Hosts that mean harm: no bytes make the drive panic, stall, grow, or unlock.

use crate::rig::*;
use keyway_sed::Uid;
use keyway_sed::message::write_call;
use keyway_sed::packet::wrap;
use keyway_sed::token::Encoder;
use keyway_sed::uid::{authority, c_pin, locking, method, sp, table};
use keyway_virtual_drive::Drive;
use keyway_virtual_drive::IoError;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::sync::OnceLock;

/// A drive with a locked global range, made once for each test: nothing that follows may unlock it.
fn locked_drive(place: &'static OnceLock<Drive>) -> &'static Drive {
    place.get_or_init(|| {
        let drive = activated(store(), b"owner");
        set_up_range(&drive, b"owner", 0, 0, 0);
        drive.write(0, &[7; 512]).unwrap();
        drive.power_cycle().unwrap();
        drive
    })
}

fn still_locked(drive: &Drive) {
    let mut block = [0; 512];
    assert!(matches!(drive.read(0, &mut block), Err(IoError::Locked { .. })));
    assert_eq!(block, [0; 512]);
}

fn some_uid() -> impl Strategy<Value = Uid> {
    let known = vec![
        Uid::THIS_SP,
        Uid::SESSION_MANAGER,
        sp::ADMIN,
        sp::LOCKING,
        table::TABLE,
        table::ACE,
        table::MBR,
        table::DATA_STORE,
        table::LOCKING,
        table::ACCESS_CONTROL,
        authority::SID,
        authority::admin(1),
        authority::user(1),
        c_pin::SID,
        c_pin::admin(1),
        c_pin::user(1),
        locking::GLOBAL_RANGE,
        locking::range(1),
        locking::key_256(0),
        locking::MBR_CONTROL,
        locking::ace_set_read_locked(0),
        locking::INFO,
        method::GET,
        method::SET,
        method::NEXT,
        method::GEN_KEY,
        method::REVERT,
        method::REVERT_SP,
        method::ACTIVATE,
        method::RANDOM,
        method::AUTHENTICATE,
        method::GET_ACL,
        method::START_SESSION,
        method::PROPERTIES,
    ];
    prop_oneof![9 => prop::sample::select(known), 1 => any::<u64>().prop_map(Uid::new)]
}

/// Tokens that are mostly well-formed.
#[derive(Debug, Clone)]
enum Node {
    Uint(u64),
    Bytes(Vec<u8>),
    Uid(Uid),
    List(Vec<Node>),
    Named(u64, Box<Node>),
    Raw(u8),
}

impl Node {
    fn write(&self, to: &mut Encoder) {
        match self {
            Self::Uint(n) => {
                to.uint(*n);
            }
            Self::Bytes(bytes) => {
                to.bytes(bytes);
            }
            Self::Uid(uid) => {
                to.uid(*uid);
            }
            Self::List(list) => {
                to.list(|to| list.iter().for_each(|node| node.write(to)));
            }
            Self::Named(name, node) => {
                to.named(*name, |to| node.write(to));
            }
            Self::Raw(byte) => {
                to.token(keyway_sed::token::Token::Bytes(&[*byte]));
            }
        }
    }
}

fn node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        prop_oneof![0u64..12, any::<u64>()].prop_map(Node::Uint),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(Node::Bytes),
        some_uid().prop_map(Node::Uid),
        any::<u8>().prop_map(Node::Raw),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Node::List),
            (prop_oneof![0u64..12, any::<u64>()], inner).prop_map(|(n, node)| Node::Named(n, Box::new(node))),
        ]
    })
}

fn reset(drive: &Drive) {
    drive.security_send(2, COM_ID, &keyway_sed::comid::Request::StackReset.write(COM_ID, 0)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_on_any_channel(
        protocol in 0u8..4, com_id in prop_oneof![Just(COM_ID), 0u16..8, any::<u16>()],
        bytes in prop::collection::vec(any::<u8>(), 0..200), len in 0usize..3000,
    ) {
        static DRIVE: OnceLock<Drive> = OnceLock::new();
        let drive = locked_drive(&DRIVE);
        let _ = drive.security_send(protocol, com_id, &bytes);
        let got = drive.security_receive(protocol, com_id, len);
        prop_assert!(got.is_err() || got.unwrap().len() <= len);
        reset(drive);
        still_locked(drive);
    }

    #[test]
    fn calls_of_a_host_that_has_no_pin(
        in_locking in any::<bool>(),
        calls in prop::collection::vec((some_uid(), some_uid(), prop::collection::vec(node(), 0..5)), 1..6),
    ) {
        static DRIVE: OnceLock<Drive> = OnceLock::new();
        let drive = locked_drive(&DRIVE);
        let sp = if in_locking { sp::LOCKING } else { sp::ADMIN };
        let host = Host::anybody(drive, sp).unwrap();
        for (object, method, nodes) in &calls {
            let mut call = Encoder::new();
            write_call(&mut call, *object, *method, |to| nodes.iter().for_each(|n| n.write(to)));
            let _ = drive.security_send(1, COM_ID, &wrap(COM_ID, 0, host.tsn, host.hsn, call.as_bytes()));
            let answer = drive.security_receive(1, COM_ID, 65536).unwrap();
            prop_assert!(answer.len() <= 2048);
        }
        reset(drive);
        still_locked(drive);
    }
}

/// More with KEYWAY_SLOW.
fn cases() -> u32 {
    if std::env::var_os("KEYWAY_SLOW").is_some() { 200_000 } else { 400 }
}

#[test]
fn an_admin_who_sends_nonsense_breaks_nothing() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let drive = activated(store(), b"owner");
    let strategy = (some_uid(), some_uid(), prop::collection::vec(node(), 0..5));
    for _ in 0..cases() {
        let (object, method, nodes) = strategy.new_tree(&mut runner).unwrap().current();
        // What an admin may do to itself.
        if method == method::REVERT_SP || object == c_pin::admin(1) {
            continue;
        }
        let host = Host::login(&drive, sp::LOCKING, authority::admin(1), b"owner").expect("still its PIN");
        let mut call = Encoder::new();
        write_call(&mut call, object, method, |to| nodes.iter().for_each(|n| n.write(to)));
        let _ = drive.security_send(1, COM_ID, &wrap(COM_ID, 0, host.tsn, host.hsn, call.as_bytes()));
        reset(&drive);
    }
    drive.power_cycle().expect("its state makes sense");
}
