//! What no good client says: the server answers with the right error or hangs up, and goes on
//! serving the others.

use crate::client::{
    Client, DF, DISC, EINVAL, ENOSPC, ENOTSUP, EOVERFLOW, EPERM, FAST_ZERO, FLUSH, FUA, NO_HOLE, READ,
    REP_ACK, REP_ERR_POLICY, REP_INFO, TRIM, WRITE, WRITE_ZEROES,
};
use crate::rig::{Rig, device_on};
use keyway_attach::nbd::Options;
use keyway_engine::Access;
use keyway_store::MemStore;
use keyway_testkit::{PATIENCE, wait_until};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

const MIB: u32 = 1 << 20;

#[test]
fn requests_that_make_no_sense_get_the_error_the_protocol_names() {
    let rig = Rig::in_memory(MIB as usize);
    for mut client in [rig.client(), Client::connect(&rig.socket).go()] {
        let size = u64::from(MIB);
        assert_eq!(client.size, size);
        assert_eq!(client.error_of(0, READ, size - 1, 2), EINVAL);
        assert_eq!(client.error_of(0, READ, u64::MAX, 2), EINVAL);
        assert_eq!(client.error_of(0, WRITE, size, 1), ENOSPC);
        assert_eq!(client.error_of(0, WRITE, u64::MAX - 100, 5000), ENOSPC);
        assert_eq!(client.error_of(0, WRITE_ZEROES, size - 4096, 4097), ENOSPC);
        assert_eq!(client.error_of(0, TRIM, size, 4096), EINVAL);
        assert_eq!(client.error_of(0, 5, 0, 4096), EINVAL, "CACHE is not offered");
        assert_eq!(client.error_of(0, 7, 0, 4096), EINVAL, "BLOCK_STATUS was not negotiated");
        assert_eq!(client.error_of(0, 0xffff, 0, 0), EINVAL);
        assert_eq!(client.error_of(0x8000, READ, 0, 512), EINVAL);
        assert_eq!(client.error_of(NO_HOLE, WRITE, 0, 512), EINVAL);
        assert_eq!(client.error_of(0, READ, 0, 33 * MIB), EOVERFLOW);
        assert_eq!(client.error_of(0, WRITE, 0, 33 * MIB), EOVERFLOW);
        assert_eq!(client.error_of(FAST_ZERO, WRITE_ZEROES, 0, 4096), ENOTSUP);
        // And the stream is still in step.
        client.write(4096, &[7; 100]);
        assert_eq!(client.read(4096, 100), [7; 100]);
        assert_eq!(client.ask(0, READ, 0, 0, &[]).error, 0);
        assert_eq!(client.ask(0, WRITE, 0, 0, &[]).error, 0);
    }
    let mut old = Client::connect(&rig.socket).go();
    assert_eq!(old.error_of(DF, READ, 0, 512), EINVAL, "DF was not offered");
    assert_eq!(old.flags & 1 << 7, 0);
    let mut new = rig.client();
    assert_eq!(new.error_of(DF, READ, 0, MIB), 0);
    assert_ne!(new.flags & 1 << 7, 0);
}

#[test]
fn a_read_only_export_refuses_writes_and_stays_in_step() {
    let rig = Rig::new(device_on(MemStore::from_vec(vec![9; 65536]).read_only(), Access::ReadWrite));
    let mut client = rig.client();
    assert_eq!(client.flags & 2, 2, "the flags say so");
    for command in [WRITE, TRIM, WRITE_ZEROES] {
        assert_eq!(client.error_of(0, command, 0, 50_000), EPERM);
    }
    assert_eq!(client.error_of(0, FLUSH, 0, 0), 0);
    assert_eq!(client.read(0, 65536), vec![9; 65536]);
}

#[test]
fn zeroes_and_trim() {
    let rig = Rig::new(device_on(MemStore::from_vec(vec![1; 1 << 20]), Access::ReadWrite));
    let mut client = rig.client();
    assert_eq!(client.error_of(NO_HOLE | FUA, WRITE_ZEROES, 1000, 200_000), 0);
    assert_eq!(client.error_of(FUA, TRIM, 500_000, 4096), 0);
    let all = client.read(0, 1 << 20);
    assert!(all[1000..201_000].iter().all(|b| *b == 0));
    assert!(all[..1000].iter().chain(&all[201_000..500_000]).all(|b| *b == 1));
}

#[test]
fn options_are_answered_or_refused_one_by_one() {
    let rig = Rig::in_memory(65536);
    let mut client = Client::connect(&rig.socket);
    const UNSUPPORTED: u32 = (1 << 31) + 1;
    const INVALID: u32 = (1 << 31) + 3;
    const UNKNOWN: u32 = (1 << 31) + 6;
    const TOO_BIG: u32 = (1 << 31) + 9;
    let list = client.option(3, &[]);
    assert_eq!(list[0].data, [&[0, 0, 0, 6][..], b"keyway"].concat());
    assert_eq!(client.option(3, b"x")[0].kind, INVALID);
    assert_eq!(client.option(5, &[])[0].kind, UNSUPPORTED, "TLS");
    assert_eq!(client.option(0xdead_beef, &[1; 100])[0].kind, UNSUPPORTED);
    assert_eq!(client.option(11, &[1; 60_000])[0].kind, TOO_BIG);
    assert_eq!(client.option(8, b"?")[0].kind, INVALID);
    assert_eq!(client.option(6, &[])[0].kind, INVALID);
    assert_eq!(client.option(7, &[0xff; 8])[0].kind, INVALID);
    assert_eq!(client.option(7, b"\0\0\0\x05other\0\0")[0].kind, UNKNOWN);
    // INFO with the name and the block sizes asked for.
    let info = client.option(6, b"\0\0\0\x06keyway\0\x02\0\x01\0\x03");
    let of = |kind: u16| info.iter().find(|r| r.kind == REP_INFO && r.data[..2] == kind.to_be_bytes());
    assert_eq!(&of(1).unwrap().data[2..], b"keyway");
    let sizes = [512u32, 4096, 32 * MIB].map(u32::to_be_bytes).concat();
    assert_eq!(of(3).unwrap().data[2..], sizes);
    assert_eq!(info.last().unwrap().kind, REP_ACK);
    let mut client = client.structured().go();
    assert_eq!(client.read(0, 512), [0; 512]);
}

#[test]
fn the_old_way_to_choose_an_export_still_works() {
    let rig = Rig::in_memory(65536);
    for (flags, len) in [(1u32, 134), (3, 10), (0, 134)] {
        let mut client = Client::connect_with(&rig.socket, flags);
        client.send_option(1, b"keyway");
        let reply = client.bytes(len);
        assert_eq!(reply[..8], 65536u64.to_be_bytes());
        assert!(reply[10..].iter().all(|b| *b == 0));
        client.write(0, b"old but good");
        assert_eq!(client.read(0, 12), b"old but good");
    }
    let mut wrong = Client::connect(&rig.socket);
    wrong.send_option(1, b"another");
    wrong.expect_end();
}

#[test]
fn abort_is_acknowledged() {
    let rig = Rig::in_memory(65536);
    let mut client = Client::connect(&rig.socket);
    assert_eq!(client.option(2, b"why not")[0].kind, REP_ACK);
    client.expect_end();
    assert_eq!(rig.counters.broken(), 0);
}

#[test]
fn garbage_ends_the_connection_and_no_other() {
    let rig = Rig::in_memory(65536);
    let mut good = rig.client();
    let garbage: [(&str, Vec<u8>); 5] = [
        ("client flags", vec![0xff; 4]),
        ("an option's head", [&3u32.to_be_bytes()[..], &[0x41; 16]].concat()),
        (
            "an option of 4 GiB",
            [&3u32.to_be_bytes()[..], b"IHAVEOPT", &[0, 0, 0, 9, 255, 255, 255, 255]].concat(),
        ),
        ("HTTP", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec()),
        ("options without end", {
            let option = [&b"IHAVEOPT"[..], &[0, 0, 0, 99, 0, 0, 0, 0]].concat();
            [&3u32.to_be_bytes()[..], &option.repeat(100)].concat()
        }),
    ];
    for (what, bytes) in garbage {
        let mut stream = UnixStream::connect(&rig.socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // The server may hang up before it has taken everything.
        let _ = stream.write_all(&bytes);
        let mut said = Vec::new();
        let end = std::io::Read::read_to_end(&mut stream, &mut said);
        assert!(end.is_ok() || end.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset), "{what}");
    }
    let mut client = rig.client();
    client.stream.write_all(&[0xee; 28]).unwrap();
    client.expect_end();
    // Disconnects in the middle of everything.
    drop(UnixStream::connect(&rig.socket).unwrap());
    let mut client = rig.client();
    client.stream.write_all(&[0x25, 0x60, 0x95]).unwrap();
    drop(client);
    let mut client = rig.client();
    client.send(0, WRITE, 0, 4096, &[1; 100]);
    drop(client);
    let mut client = rig.client();
    for _ in 0..64 {
        client.send(0, READ, 0, 65536, &[]);
    }
    drop(client);
    let mut client = rig.client();
    client.send(0, DISC, 0, 0, &[]);
    client.expect_end();
    assert_eq!(good.read(0, 4096), vec![0; 4096], "half a write is no write");
}

#[test]
fn a_handshake_that_takes_for_ever_is_cut_off() {
    // So long that a client of this machine is in time, however busy it is.
    let handshake = Duration::from_secs(5);
    let options = Options { handshake, ..Options::default() };
    let rig = Rig::with(device_on(MemStore::new(65536), Access::ReadWrite), options);
    let mut in_time = rig.client();
    let mut silent = UnixStream::connect(&rig.socket).unwrap();
    silent.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut slow = UnixStream::connect(&rig.socket).unwrap();
    let drip = std::thread::spawn(move || {
        // One byte at a time, each well before any timeout between two bytes: flags, and too little of an option.
        let mut bytes = [0, 0, 0, 3].into_iter().chain(std::iter::repeat(b'I'));
        wait_until("the server no longer listens to a client that drips", || {
            std::thread::sleep(handshake / 8);
            slow.write_all(&[bytes.next().unwrap()]).is_err()
        });
    });
    let mut said = Vec::new();
    std::io::Read::read_to_end(&mut silent, &mut said).unwrap();
    assert_eq!(said.len(), 18, "the greeting and then nothing");
    drip.join().unwrap();
    assert_eq!(in_time.read(0, 512), [0; 512], "whoever was in time may be silent as long as it likes");
    wait_until("both are counted", || rig.counters.broken() == 2);
}

#[test]
fn one_client_too_many_is_turned_away() {
    let rig = Rig::in_memory(65536);
    let mut clients: Vec<Client> = (0..64).map(|_| rig.client()).collect();
    // Who is answered has its place.
    let mut refused = Client::connect(&rig.socket).structured();
    let replies = refused.option(7, &[0, 0, 0, 0, 0, 0]);
    assert_eq!(replies.iter().map(|reply| reply.kind).collect::<Vec<_>>(), [REP_ERR_POLICY], "{replies:?}");
    assert_eq!(replies[0].data, b"all places are taken");
    for client in &mut clients {
        assert_eq!(client.read(0, 512), [0; 512]);
    }
    drop(refused);
    clients.truncate(63);
    wait_until("one of them is gone", || rig.counters.open() == 63);
    assert_eq!(rig.client().read(0, 512), [0; 512]);
}
