//! An NVMe/TCP host of the simplest kind: an admin queue, one queue for requests, one request at a time.
//!
//! Layouts: NVM Express TCP Transport Specification 1.0 (PDUs), Base Specification 2.0 (commands).

use crate::ledger::SECTOR;
use crate::way::PATIENCE;
use std::io::{self, Read, Write};
use std::net::TcpStream;

/// What `keyway serve --nvme-tcp` calls its subsystem.
const NQN: &[u8] = b"nqn.2026-11.keyway:volume";

/// PDU types.
const COMMAND: u8 = 4;
const RESPONSE: u8 = 5;
const DATA_TO_CONTROLLER: u8 = 6;
const DATA_TO_HOST: u8 = 7;
const READY_TO_TRANSFER: u8 = 9;
/// "This was the last": of the data that one R2T asked for.
const LAST: u8 = 1 << 2;

/// Opcodes.
const FLUSH: u8 = 0;
const WRITE: u8 = 1;
const READ: u8 = 2;
const FABRICS: u8 = 0x7f;

/// What is sent within the command, in bytes; more is waited to be asked for.
const IN_CAPSULE: usize = 4096;
/// Bytes of data in one PDU.
const PIECE: usize = 100_000;

/// A connected controller.
pub(crate) struct Nvme {
    /// The controller is there for as long as this is.
    _admin: Queue,
    io: Queue,
}

impl Nvme {
    pub(crate) fn connect(address: &str) -> io::Result<Self> {
        let mut admin = Queue::new(address)?;
        // Any controller.
        let number = admin.connect(0, 0xffff)? as u16;
        // CC: enabled, submission entries of 2^6 bytes, completions of 2^4.
        let enable: [(usize, &[u8]); 3] =
            [(4, &[0]), (44, &0x14u32.to_le_bytes()), (48, &0x0046_0001u64.to_le_bytes())];
        admin.ask(&entry(FABRICS, 0, false, &enable), 0, &[])?;
        let mut io = Queue::new(address)?;
        io.connect(1, number)?;
        Ok(Self { _admin: admin, io })
    }

    pub(crate) fn read(&mut self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        self.io.ask(&transfer(READ, offset, len, false), len, &[])
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let inside = bytes.len() <= IN_CAPSULE;
        self.io.ask(&transfer(WRITE, offset, bytes.len(), inside), 0, bytes).map(drop)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.io.ask(&entry(FLUSH, 0, false, &[(4, &1u32.to_le_bytes())]), 0, &[]).map(drop)
    }

    /// Begins a write and sends half of what belongs to it.
    pub(crate) fn begin(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let bytes = &bytes[..bytes.len().min(IN_CAPSULE)];
        let whole = capsule(&transfer(WRITE, offset, bytes.len(), true), bytes, 1);
        self.io.stream.write_all(&whole[..whole.len() - bytes.len() / 2])
    }
}

struct Queue {
    stream: TcpStream,
    next: u16,
    result: u64,
}

impl Queue {
    fn new(address: &str) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        // ICReq: no digests, data right behind the header.
        let mut request = [0; 128];
        (request[2], request[4]) = (128, 128);
        stream.write_all(&request)?;
        stream.read_exact(&mut request)?;
        Ok(Self { stream, next: 1, result: 0 })
    }

    /// Joins a controller: its number.
    fn connect(&mut self, queue: u16, controller: u16) -> io::Result<u64> {
        let mut data = vec![0; 1024];
        data[16..18].copy_from_slice(&controller.to_le_bytes());
        data[256..256 + NQN.len()].copy_from_slice(NQN);
        let fields: [(usize, &[u8]); 3] = [(4, &[1]), (42, &queue.to_le_bytes()), (44, &31u16.to_le_bytes())];
        self.ask(&entry(FABRICS, data.len(), true, &fields), 0, &data)?;
        Ok(self.result)
    }

    /// Sends a command, gives `data` with it or when it is asked for, and waits for the end: the bytes that came.
    fn ask(&mut self, entry: &[u8; 64], len: usize, data: &[u8]) -> io::Result<Vec<u8>> {
        let cid = self.next;
        self.next = self.next.wrapping_add(1);
        let inside = entry[39] == IN_PLACE;
        self.stream.write_all(&capsule(entry, if inside { data } else { &[] }, cid))?;
        let mut read = vec![0; len];
        loop {
            let (kind, head, bytes) = self.pdu()?;
            match kind {
                RESPONSE => {
                    if word(&head, 20) as u16 != cid {
                        return Err(nonsense("it answers another command"));
                    }
                    let status = word(&head, 20) >> 17 & 0x3fff;
                    self.result = u64::from(word(&head, 8));
                    return if status == 0 { Ok(read) } else { Err(refused(status)) };
                }
                DATA_TO_HOST => {
                    let at = word(&head, 12) as usize;
                    let place = at.checked_add(bytes.len()).and_then(|end| read.get_mut(at..end));
                    place.ok_or_else(|| nonsense("more came than was wanted"))?.copy_from_slice(&bytes);
                }
                READY_TO_TRANSFER => self.give(&head, data)?,
                _ => return Err(nonsense("an unexpected PDU")),
            }
        }
    }

    /// What an R2T asks for.
    fn give(&mut self, wanted: &[u8], data: &[u8]) -> io::Result<()> {
        let (from, len) = (word(wanted, 12) as usize, word(wanted, 16) as usize);
        let part = from.checked_add(len).and_then(|end| data.get(from..end));
        let part = part.ok_or_else(|| nonsense("it asks for what there is not"))?;
        let mut at = from;
        while at < from + part.len() {
            let piece = &data[at..(at + PIECE).min(from + part.len())];
            let last = if at + piece.len() == from + part.len() { LAST } else { 0 };
            let mut pdu = vec![DATA_TO_CONTROLLER, last, 24, 24];
            pdu.extend((24 + piece.len() as u32).to_le_bytes());
            // The command's number, and the transfer's.
            pdu.extend(&wanted[8..12]);
            pdu.extend((at as u32).to_le_bytes());
            pdu.extend((piece.len() as u32).to_le_bytes());
            pdu.extend([0; 4]);
            pdu.extend(piece);
            self.stream.write_all(&pdu)?;
            at += piece.len();
        }
        Ok(())
    }

    /// The next PDU: its type, its header with what all have in common, its data.
    fn pdu(&mut self) -> io::Result<(u8, Vec<u8>, Vec<u8>)> {
        let mut head = vec![0; 8];
        self.stream.read_exact(&mut head)?;
        let (kind, len, whole) = (head[0], usize::from(head[2]), word(&head, 4) as usize);
        if !(24..=whole).contains(&len) || whole > 2 << 20 {
            return Err(nonsense("a PDU's lengths"));
        }
        head.resize(len, 0);
        self.stream.read_exact(&mut head[8..])?;
        let mut data = vec![0; whole - len];
        self.stream.read_exact(&mut data)?;
        Ok((kind, head, data))
    }
}

/// SGL types: data in the capsule at an offset, and data that the transport moves.
const IN_PLACE: u8 = 0x01;
const BY_TRANSPORT: u8 = 0x5a;

/// A submission queue entry.
fn entry(opcode: u8, len: usize, inside: bool, fields: &[(usize, &[u8])]) -> [u8; 64] {
    let mut entry = [0; 64];
    (entry[0], entry[1]) = (opcode, 0x40);
    entry[32..36].copy_from_slice(&(len as u32).to_le_bytes());
    entry[39] = if inside { IN_PLACE } else { BY_TRANSPORT };
    for (at, field) in fields {
        entry[*at..at + field.len()].copy_from_slice(field);
    }
    entry
}

fn transfer(opcode: u8, offset: u64, len: usize, inside: bool) -> [u8; 64] {
    let (first, blocks) = (offset / SECTOR as u64, (len / SECTOR - 1) as u16);
    let fields: [(usize, &[u8]); 3] =
        [(4, &1u32.to_le_bytes()), (40, &first.to_le_bytes()), (48, &blocks.to_le_bytes())];
    entry(opcode, len, inside, &fields)
}

fn capsule(entry: &[u8; 64], data: &[u8], cid: u16) -> Vec<u8> {
    let mut pdu = vec![COMMAND, 0, 72, if data.is_empty() { 0 } else { 72 }];
    pdu.extend((72 + data.len() as u32).to_le_bytes());
    pdu.extend(entry);
    pdu[10..12].copy_from_slice(&cid.to_le_bytes());
    pdu.extend(data);
    pdu
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn nonsense(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn refused(status: u32) -> io::Error {
    io::Error::other(format!("NVMe status {status:#x}"))
}
