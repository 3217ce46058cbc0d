//! A host that does one command at a time.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

pub(crate) const NQN: &str = "nqn.2026-11.keyway:drive";

pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    next: u16,
}

/// A completion: result and status, without its "do not retry".
pub(crate) struct Done {
    pub(crate) result: u64,
    pub(crate) status: u16,
    pub(crate) data: Vec<u8>,
}

/// A submission queue entry: opcode, namespace, data length, whether the data is in the capsule, and fields.
pub(crate) fn entry(
    opcode: u8,
    namespace: u32,
    len: usize,
    in_capsule: bool,
    fields: &[(usize, &[u8])],
) -> [u8; 64] {
    let mut entry = [0; 64];
    entry[0] = opcode;
    entry[1] = 0x40;
    entry[4..8].copy_from_slice(&namespace.to_le_bytes());
    entry[32..36].copy_from_slice(&(len as u32).to_le_bytes());
    entry[39] = if in_capsule { 0x01 } else { 0x5a };
    for (at, field) in fields {
        entry[*at..at + field.len()].copy_from_slice(field);
    }
    entry
}

pub(crate) fn capsule(entry: &[u8; 64], data: &[u8]) -> Vec<u8> {
    let mut pdu = vec![4, 0, 72, if data.is_empty() { 0 } else { 72 }];
    pdu.extend_from_slice(&(72 + data.len() as u32).to_le_bytes());
    pdu.extend_from_slice(entry);
    pdu.extend_from_slice(data);
    pdu
}

pub(crate) fn ic_req() -> Vec<u8> {
    let mut pdu = vec![0; 128];
    pdu[2] = 128;
    pdu[4] = 128;
    pdu
}

pub(crate) fn connect(queue: u16, controller: u16, nqn: &str) -> Vec<u8> {
    connect_for(queue, controller, nqn, 0)
}

/// A Connect that promises to be heard of every so many milliseconds (KATO; 0: never).
pub(crate) fn connect_for(queue: u16, controller: u16, nqn: &str, keep_alive: u32) -> Vec<u8> {
    let mut data = vec![0; 1024];
    data[16..18].copy_from_slice(&controller.to_le_bytes());
    data[256..256 + nqn.len()].copy_from_slice(nqn.as_bytes());
    let fields: [(usize, &[u8]); 4] =
        [(4, &[1]), (42, &queue.to_le_bytes()), (44, &31u16.to_le_bytes()), (48, &keep_alive.to_le_bytes())];
    capsule(&entry(0x7f, 0, 1024, true, &fields), &data)
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(keyway_testkit::PATIENCE)).unwrap();
        stream.write_all(&ic_req()).unwrap();
        let mut answer = [0; 128];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer[..4], [1, 0, 128, 0]);
        assert_eq!(answer[11], 0, "no digests");
        Self { stream, next: 1 }
    }

    /// A controller that is enabled, and the client of its admin queue.
    pub(crate) fn admin(address: SocketAddr) -> (Self, u16) {
        Self::admin_for(address, 0)
    }

    /// As [`Client::admin`], with a promise to be heard of.
    pub(crate) fn admin_for(address: SocketAddr, keep_alive: u32) -> (Self, u16) {
        let mut client = Self::new(address);
        let done = client.send(connect_for(0, 0xffff, NQN, keep_alive), &[]);
        assert_eq!(done.status, 0);
        let enable: [(usize, &[u8]); 3] =
            [(4, &[0]), (44, &0x14u32.to_le_bytes()), (48, &0x0046_0001u64.to_le_bytes())];
        assert_eq!(client.send(capsule(&entry(0x7f, 0, 0, false, &enable), &[]), &[]).status, 0);
        (client, done.result as u16)
    }

    pub(crate) fn io(address: SocketAddr, controller: u16) -> Self {
        let mut client = Self::new(address);
        assert_eq!(client.send(connect(1, controller, NQN), &[]).status, 0);
        client
    }

    /// Whether the other side hangs up before that.
    pub(crate) fn ended_within(&mut self, limit: std::time::Duration) -> bool {
        self.stream.set_read_timeout(Some(limit)).unwrap();
        // With what was sent and not taken, it is a reset.
        self.stream.read(&mut [0]).map_or_else(|e| e.kind() == ErrorKind::ConnectionReset, |n| n == 0)
    }

    pub(crate) fn pdu(&mut self) -> (u8, Vec<u8>, Vec<u8>) {
        let mut common = [0; 8];
        self.stream.read_exact(&mut common).unwrap();
        let (head, whole) =
            (usize::from(common[2]), u32::from_le_bytes(common[4..].try_into().unwrap()) as usize);
        let mut rest = vec![0; whole - 8];
        self.stream.read_exact(&mut rest).unwrap();
        let data = rest.split_off(head - 8);
        (common[0], rest, data)
    }

    /// Sends a capsule, gives `data` when it is asked for, and waits for the end.
    pub(crate) fn send(&mut self, mut capsule: Vec<u8>, data: &[u8]) -> Done {
        let cid = self.next.to_le_bytes();
        self.next += 1;
        capsule[10..12].copy_from_slice(&cid);
        self.stream.write_all(&capsule).unwrap();
        let mut read = Vec::new();
        loop {
            let (kind, head, bytes) = self.pdu();
            match kind {
                // A completion.
                5 => {
                    assert_eq!(head[12..14], cid);
                    let result = u64::from_le_bytes(head[..8].try_into().unwrap());
                    let status = u16::from_le_bytes(head[14..16].try_into().unwrap()) >> 1 & 0x3fff;
                    return Done { result, status, data: read };
                }
                7 => {
                    assert_eq!(head[..2], cid);
                    read.extend_from_slice(&bytes);
                }
                // R2T: in pieces, as Linux does.
                9 => {
                    let len = u32::from_le_bytes(head[8..12].try_into().unwrap()) as usize;
                    assert_eq!(len, data.len());
                    for (n, piece) in data.chunks(100_000).enumerate() {
                        let mut pdu = vec![6, 0, 24, 24];
                        pdu.extend_from_slice(&(24 + piece.len() as u32).to_le_bytes());
                        pdu.extend_from_slice(&head[..4]);
                        pdu.extend_from_slice(&(n as u32 * 100_000).to_le_bytes());
                        pdu.extend_from_slice(&(piece.len() as u32).to_le_bytes());
                        pdu.extend_from_slice(&[0; 4]);
                        pdu.extend_from_slice(piece);
                        self.stream.write_all(&pdu).unwrap();
                    }
                }
                other => panic!("PDU {other}"),
            }
        }
    }

    pub(crate) fn simple(
        &mut self,
        opcode: u8,
        namespace: u32,
        len: usize,
        fields: &[(usize, &[u8])],
    ) -> Done {
        self.send(capsule(&entry(opcode, namespace, len, false, fields), &[]), &[])
    }

    pub(crate) fn read(&mut self, lba: u64, blocks: u16) -> Done {
        let fields: [(usize, &[u8]); 2] = [(40, &lba.to_le_bytes()), (48, &(blocks - 1).to_le_bytes())];
        self.simple(2, 1, usize::from(blocks) * 512, &fields)
    }

    pub(crate) fn write(&mut self, lba: u64, data: &[u8], in_capsule: bool) -> Done {
        let blocks = (data.len() / 512 - 1) as u16;
        let fields: [(usize, &[u8]); 2] = [(40, &lba.to_le_bytes()), (48, &blocks.to_le_bytes())];
        let entry = entry(1, 1, data.len(), in_capsule, &fields);
        if in_capsule { self.send(capsule(&entry, data), &[]) } else { self.send(capsule(&entry, &[]), data) }
    }
}
