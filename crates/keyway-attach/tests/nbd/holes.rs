//! Parts of a volume that read as zeros by nature: told to clients that ask, and not sent.

use crate::client::{BLOCK_STATUS, Client, DF, EINVAL, READ, REP_ACK, REP_META_CONTEXT, REQ_ONE};
use crate::rig::Rig;
use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_store::MemStore;
use keyway_testkit::{Rng, require_tool};
use std::process::Command;

const MIB: u64 = 1 << 20;

/// 1 MiB of data, 2 MiB of zeros in two segments, 1 MiB of data, 1 MiB of zeros.
fn device() -> (Device, Vec<u8>) {
    let bytes = Rng::new(9).bytes(2 << 20);
    let plain = |start, len, store_offset| Segment { start, len, mapping: Mapping::Plain { store_offset } };
    let zero = |start, len| Segment { start, len, mapping: Mapping::Zero };
    let segments = vec![
        plain(0, MIB, 0),
        zero(MIB, MIB / 2),
        zero(MIB * 3 / 2, MIB * 3 / 2),
        plain(3 * MIB, MIB, MIB),
        zero(4 * MIB, MIB),
    ];
    let mut expected = vec![0; 5 << 20];
    expected[..1 << 20].copy_from_slice(&bytes[..1 << 20]);
    expected[3 << 20..4 << 20].copy_from_slice(&bytes[1 << 20..]);
    let layout = Layout::new(512, segments).unwrap();
    (Device::new(Box::new(MemStore::from_vec(bytes)), layout, Access::ReadWrite).unwrap(), expected)
}

fn question(contexts: &[&str]) -> Vec<u8> {
    let mut data = vec![0; 4];
    data.extend((contexts.len() as u32).to_be_bytes());
    for context in contexts {
        data.extend((context.len() as u32).to_be_bytes());
        data.extend(context.as_bytes());
    }
    data
}

/// The context's number, and runs of length and state.
fn runs(answer: &[u8]) -> (u32, Vec<(u32, u32)>) {
    let words: Vec<u32> = answer.as_chunks::<4>().0.iter().map(|b| u32::from_be_bytes(*b)).collect();
    (words[0], words[1..].as_chunks::<2>().0.iter().map(|[len, state]| (*len, *state)).collect())
}

fn with_context(rig: &Rig) -> Client {
    let mut client = Client::connect(&rig.socket).structured();
    let replies = client.option(10, &question(&["base:allocation"]));
    assert_eq!(replies[0].kind, REP_META_CONTEXT);
    assert_eq!(&replies[0].data[4..], b"base:allocation");
    client.go()
}

#[test]
fn block_status_tells_what_reads_as_zeros() {
    let rig = Rig::new(device().0);
    let mut client = with_context(&rig);
    let mut ask = |flags, offset: u64, len: u64| {
        let reply = client.ask(flags, BLOCK_STATUS, offset, len as u32, &[]);
        assert_eq!(reply.error, 0);
        runs(&reply.data).1
    };
    let (one, two) = (1 << 20, 2 << 20);
    assert_eq!(ask(0, 0, 5 * MIB), [(one, 0), (two, 3), (one, 0), (one, 3)]);
    assert_eq!(ask(REQ_ONE, 0, 5 * MIB), [(one, 0)]);
    assert_eq!(ask(REQ_ONE, MIB + 512, 5 * MIB - MIB - 512), [(two - 512, 3)]);
    assert_eq!(ask(0, 2 * MIB, 512), [(512, 3)]);
    for (flags, offset, len) in [(0, 5 * MIB, 1), (0, 0, 0), (DF, 0, 512), (0, u64::MAX, 512)] {
        assert_eq!(client.error_of(flags, BLOCK_STATUS, offset, len), EINVAL);
    }
}

#[test]
fn reads_come_with_holes_unless_the_client_wants_them_whole() {
    let (device, expected) = device();
    let rig = Rig::new(device);
    let mut client = rig.client();
    for (offset, len) in [(0, 5 << 20), (MIB - 100, 300), (MIB + 7, 5), (3 * MIB - 1, 2), (0, 1 << 20)] {
        let end = offset as usize + len;
        let before = client.holes;
        assert!(client.read(offset, len) == expected[offset as usize..end], "{len} at {offset}");
        let zeros = expected[offset as usize..end].iter().filter(|byte| **byte == 0).count();
        assert!(client.holes - before <= zeros);
        let whole = client.ask(DF, READ, offset, len as u32, &[]);
        assert!(whole.data == expected[offset as usize..end]);
    }
    assert_eq!(client.holes, (3 << 20) + 200 + 5 + 1, "the zeros were sent after all");
}

#[test]
fn contexts_are_listed_chosen_and_dropped() {
    let rig = Rig::new(device().0);
    let mut client = Client::connect(&rig.socket);
    // Before structured replies there is nothing to answer with.
    assert_eq!(client.option(10, &question(&["base:allocation"]))[0].kind, (1 << 31) + 3);
    let mut client = client.structured();
    for (contexts, found) in [(&[][..], 1), (&["base:"], 1), (&["base:allocation"], 1), (&["qemu:"], 0)] {
        let replies = client.option(9, &question(contexts));
        assert_eq!(replies.len(), 1 + found, "{contexts:?}");
        assert_eq!(replies[found].kind, REP_ACK);
    }
    let mut elsewhere = question(&["base:allocation"]);
    elsewhere.splice(..4, [0, 0, 0, 1, b'x']);
    assert_eq!(client.option(10, &elsewhere)[0].kind, (1 << 31) + 6);
    client.option(10, &question(&["base:allocation"]));
    // A new choice replaces the old one.
    assert_eq!(client.option(10, &question(&["base:"])).len(), 1);
    let mut client = client.go();
    assert_eq!(client.error_of(0, BLOCK_STATUS, 0, 512), EINVAL);
}

#[test]
fn nbdinfo_and_qemu_img_show_the_same_map() {
    let (device, expected) = device();
    let rig = Rig::new(device);
    if let Some(nbdinfo) = require_tool("nbdinfo") {
        let map = Command::new(&nbdinfo).args(["--map", "--json", &rig.uri]).output().unwrap();
        let map: serde_json::Value = serde_json::from_slice(&map.stdout).unwrap();
        let runs: Vec<_> = map
            .as_array()
            .unwrap()
            .iter()
            .map(|run| (run["length"].as_u64(), run["type"].as_u64()))
            .collect();
        let run = |len, state| (Some(len), Some(state));
        assert_eq!(runs, [run(MIB, 0), run(2 * MIB, 3), run(MIB, 0), run(MIB, 3)]);
    }
    if let Some(qemu_img) = require_tool("qemu-img") {
        let map =
            Command::new(&qemu_img).args(["map", "-f", "raw", "--output=json", &rig.uri]).output().unwrap();
        let map: serde_json::Value = serde_json::from_slice(&map.stdout).unwrap();
        let zeros: Vec<_> = map
            .as_array()
            .unwrap()
            .iter()
            .map(|run| (run["length"].as_u64(), run["zero"].as_bool()))
            .collect();
        let run = |len, zero| (Some(len), Some(zero));
        assert_eq!(zeros, [run(MIB, false), run(2 * MIB, true), run(MIB, false), run(MIB, true)]);
    }
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    if let Some(nbdcopy) = require_tool("nbdcopy") {
        let done = Command::new(nbdcopy).arg(&rig.uri).arg(&copy).status().unwrap();
        assert!(done.success() && std::fs::read(&copy).unwrap() == expected, "the copy differs");
    }
}
