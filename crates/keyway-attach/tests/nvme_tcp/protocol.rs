//! The commands that a host sends, over TCP.

use crate::client::{Client, NQN, capsule, connect, entry};
use crate::namespace::{BLOCKS, LOCKED_FROM, Memory};
use keyway_attach::Stop;
use keyway_attach::nvme_tcp::{AuthSecret, Credentials, NvmeError, Options, Server};
use keyway_testkit::wait_until;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub(crate) fn served(test: impl FnOnce(SocketAddr, &Memory)) {
    served_as(&Options::default(), test);
}

pub(crate) fn served_as(options: &Options, test: impl FnOnce(SocketAddr, &Memory)) {
    let memory = Arc::new(Memory::new());
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), memory.clone(), options).unwrap();
    let stop = Stop::new().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| server.run(&stop).unwrap());
        let ended =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(server.address(), &memory)));
        stop.request();
        if let Err(panic) = ended {
            std::panic::resume_unwind(panic);
        }
    });
}

#[test]
fn a_controller_says_what_it_is() {
    served(|address, _| {
        let (mut admin, _) = Client::admin(address);
        let get = |client: &mut Client, offset: u32, eight: bool| {
            let fields: [(usize, &[u8]); 3] =
                [(4, &[4]), (40, &[u8::from(eight)]), (44, &offset.to_le_bytes())];
            client.simple(0x7f, 0, 0, &fields)
        };
        assert_eq!(get(&mut admin, 0, true).result & 0xffff, 127);
        assert_eq!(get(&mut admin, 8, false).result, 0x0001_0400);
        assert_eq!(get(&mut admin, 0x1c, false).result, 1);
        assert_eq!(get(&mut admin, 0x30, false).status, 2);
        let identify =
            |client: &mut Client, cns: u8, namespace| client.simple(6, namespace, 4096, &[(40, &[cns])]);
        let controller = identify(&mut admin, 1, 0).data;
        assert_eq!(&controller[4..10], b"SERIAL");
        assert_eq!(controller[256], 1, "security commands");
        assert_eq!(&controller[768..768 + NQN.len()], NQN.as_bytes());
        let namespace = identify(&mut admin, 0, 1).data;
        assert_eq!(namespace[..8], BLOCKS.to_le_bytes());
        assert_eq!(namespace[130], 9);
        assert_eq!(identify(&mut admin, 2, 0).data[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(identify(&mut admin, 2, 1).data[..4], [0; 4]);
        assert_eq!(identify(&mut admin, 3, 1).data[..2], [2, 16]);
        assert_eq!(identify(&mut admin, 0, 7).status, 0x0b);
        assert_eq!(admin.simple(9, 0, 0, &[(40, &[7])]).result, 0x0003_0003);
        assert_eq!(admin.simple(0x18, 0, 0, &[]).status, 0);
        assert_eq!(admin.simple(0x42, 0, 0, &[]).status, 1);
    });
}

#[test]
fn blocks_are_read_and_written_in_every_way() {
    served(|address, memory| {
        let (_admin, controller) = Client::admin(address);
        let mut io = Client::io(address, controller);
        let large: Vec<u8> = (0..1 << 20).map(|n: u32| (n % 251) as u8).collect();
        assert_eq!(io.write(16, &large, false).status, 0);
        assert_eq!(io.write(8, &[7; 4096], true).status, 0);
        assert_eq!(io.read(8, 8).data, [7; 4096]);
        assert!(io.read(16, 2048).data == large);
        assert_eq!(io.simple(0, 1, 0, &[]).status, 0);
        assert_eq!(memory.flushes.load(Ordering::Relaxed), 1);
        // What is refused, and how it is called.
        assert_eq!(io.read(LOCKED_FROM, 1).status, 0x286);
        assert_eq!(io.write(LOCKED_FROM - 1, &[0; 1024], true).status, 0x286);
        assert_eq!(io.write(LOCKED_FROM - 1, &[0; 16384], false).status, 0x286);
        assert_eq!(io.read(BLOCKS, 1).status, 0x80);
        assert_eq!(io.read(u64::MAX, 1).status, 0x80);
        // Length and blocks disagree.
        assert_eq!(io.simple(2, 1, 512, &[(48, &[1])]).status, 0x0f);
        assert_eq!(io.simple(2, 2, 512, &[]).status, 0x0b);
        let mut range = [0; 16];
        range[4] = 9;
        range[8] = 3;
        let deallocate = entry(9, 1, 16, true, &[(44, &[4])]);
        assert_eq!(io.send(capsule(&deallocate, &range), &[]).status, 0);
        assert_eq!(*memory.discarded.lock().unwrap(), [(3, 9)]);
    });
}

#[test]
fn security_commands_carry_bytes_both_ways() {
    served(|address, _| {
        let (mut admin, _) = Client::admin(address);
        let field =
            |com_id: u16, len: u32| [[0, com_id as u8, (com_id >> 8) as u8, 1], len.to_le_bytes()].concat();
        let send = entry(0x81, 0, 2048, true, &[(40, &field(0x1234, 2048))]);
        assert_eq!(admin.send(capsule(&send, &[9; 2048]), &[]).status, 0);
        let send = entry(0x81, 0, 16384, false, &[(40, &field(0x1234, 16384))]);
        assert_eq!(admin.send(capsule(&send, &[]), &[8; 16384]).status, 0);
        let got = admin.simple(0x82, 0, 20480, &[(40, &field(0x1234, 20480))]).data;
        assert_eq!((&got[..16384], &got[16384..]), (&[8; 16384][..], &[0; 4096][..]));
        assert_eq!(admin.simple(0x82, 0, 512, &[(40, &field(1, 512))]).status, 0x0c);
        let send = entry(0x81, 0, 4, true, &[(40, &field(1, 4))]);
        assert_eq!(admin.send(capsule(&send, &[0; 4]), &[]).status, 2);
        let send = entry(0x81, 0, 4, true, &[(40, &field(0x1234, 8))]);
        assert_eq!(admin.send(capsule(&send, &[0; 4]), &[]).status, 0x0f);
    });
}

#[test]
fn who_is_not_connected_gets_nothing() {
    served(|address, _| {
        let mut stranger = Client::new(address);
        assert_eq!(stranger.read(0, 1).status, 0x0c);
        assert_eq!(stranger.send(connect(0, 0xffff, "nqn.somebody.else"), &[]).status, 0x182);
        assert_eq!(stranger.send(connect(1, 99, NQN), &[]).status, 0x182);
        assert_eq!(stranger.send(connect(0, 0xffff, NQN), &[]).status, 0);
        // Connected, but the controller is not enabled.
        assert_eq!(stranger.simple(6, 0, 4096, &[(40, &[1])]).status, 0x0c);
        // Controllers are few; one that goes makes room.
        let mut others: Vec<_> = (0..15).map(|_| Client::admin(address)).collect();
        assert_eq!(Client::new(address).send(connect(0, 0xffff, NQN), &[]).status, 0x181);
        drop(others.pop());
        wait_until("there is room again", || {
            Client::new(address).send(connect(0, 0xffff, NQN), &[]).status == 0
        });
    });
}

/// What only hosts get in with that know it.
pub(crate) fn guarded() -> Options {
    // 32 bytes, and their check.
    let host = AuthSecret::parse(b"DHHC-1:00:ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n:").unwrap();
    Options { credentials: Some(Arc::new(Credentials { host, controller: None })), ..Options::default() }
}

#[test]
fn who_proves_nothing_gets_nothing_and_does_not_stay() {
    const REQUIRED: u16 = 0x191;
    // Before the 10 s are over that any silent connection has.
    const SOON: std::time::Duration = std::time::Duration::from_secs(9);
    let protocol: (usize, &[u8]) = (41, &[1, 1, 0xe9]);
    let proof = |kind: u8, len: usize, more: &[u8]| {
        let fields: [(usize, &[u8]); 3] = [(4, &[kind]), protocol, (44, &(len as u32).to_le_bytes())];
        capsule(&entry(0x7f, 0, len, kind == 5, &fields), more)
    };
    served_as(&guarded(), |address, memory| {
        // Identify, a register, a read on another queue.
        for (queue, opcode, fields) in
            [(0, 6, [(40, &[1][..])]), (0, 0x7f, [(4, &[4][..])]), (1, 2, [(40, &[0][..])])]
        {
            let mut admin = Client::new(address);
            let done = admin.send(connect(0, 0xffff, NQN), &[]);
            assert_eq!((done.status, done.result >> 16), (0, 2), "it is told to prove itself");
            let mut client = match queue {
                0 => admin,
                _ => {
                    let mut io = Client::new(address);
                    assert_eq!(io.send(connect(1, done.result as u16, NQN), &[]).result >> 16, 2);
                    io
                }
            };
            assert_eq!(client.simple(opcode, 1, 4096, &fields).status, REQUIRED);
            assert!(client.ended_within(SOON));
        }
        // A write of a megabyte is not even asked for.
        let mut client = Client::new(address);
        assert_eq!(client.send(connect(0, 0xffff, NQN), &[]).status, 0);
        assert_eq!(client.send(capsule(&entry(1, 1, 1 << 20, false, &[]), &[]), &[]).status, 2);
        // Messages out of turn.
        assert_eq!(client.send(proof(6, 512, &[]), &[]).status, 0x0c, "nothing to be fetched");
        assert_eq!(client.send(proof(5, 8, &[1, 2, 0, 0, 0, 0, 32, 0]), &[]).status, 0);
        let told = client.send(proof(6, 512, &[]), &[]);
        assert_eq!((told.data.len(), &told.data[..2]), (512, &[0, 0xf1][..]));
        assert!(client.ended_within(SOON));
        assert_eq!(memory.flushes.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn other_machines_are_not_let_in_by_accident() {
    let bind = |at: &str, nqn: &str| {
        let options = Options { nqn: nqn.into(), ..Options::default() };
        Server::bind(at.parse().unwrap(), Arc::new(Memory::new()), &options)
    };
    assert!(matches!(bind("0.0.0.0:0", NQN), Err(NvmeError::Remote(_))));
    assert!(matches!(bind("127.0.0.1:0", "drive"), Err(NvmeError::Name(_))));
    assert!(Server::bind("0.0.0.0:0".parse().unwrap(), Arc::new(Memory::new()), &guarded()).is_ok());
    assert!(bind("[::1]:0", NQN).is_ok() || bind("127.0.0.1:0", NQN).is_ok());
}
