//! A small NBD client that can also say wrong things.
//!
//! Its constants are written out again from the specification rather than shared with the server:
//! the two must not be wrong together.

use keyway_testkit::PATIENCE;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

pub(crate) const READ: u16 = 0;
pub(crate) const WRITE: u16 = 1;
pub(crate) const DISC: u16 = 2;
pub(crate) const FLUSH: u16 = 3;
pub(crate) const TRIM: u16 = 4;
pub(crate) const WRITE_ZEROES: u16 = 6;
pub(crate) const BLOCK_STATUS: u16 = 7;

pub(crate) const FUA: u16 = 1;
pub(crate) const NO_HOLE: u16 = 2;
pub(crate) const DF: u16 = 4;
pub(crate) const REQ_ONE: u16 = 8;
pub(crate) const FAST_ZERO: u16 = 16;

pub(crate) const EPERM: u32 = 1;
pub(crate) const EIO: u32 = 5;
pub(crate) const EINVAL: u32 = 22;
pub(crate) const ENOSPC: u32 = 28;
pub(crate) const EOVERFLOW: u32 = 75;
pub(crate) const ENOTSUP: u32 = 95;

pub(crate) const REP_ACK: u32 = 1;
pub(crate) const REP_INFO: u32 = 3;
pub(crate) const REP_META_CONTEXT: u32 = 4;
pub(crate) const REP_ERR_POLICY: u32 = (1 << 31) + 2;

/// `NBD_OPT_EXPORT_NAME`.
pub(crate) const EXPORT_NAME: u32 = 1;

pub(crate) struct Client {
    pub(crate) stream: UnixStream,
    pub(crate) size: u64,
    pub(crate) flags: u16,
    structured: bool,
    next_cookie: u64,
    /// Bytes that came as holes.
    pub(crate) holes: usize,
    /// Reads under way, by their cookies.
    reads: HashMap<u64, Pending>,
}

/// What has come of a read's answer.
struct Pending {
    offset: u64,
    len: usize,
    data: Vec<u8>,
}

impl Pending {
    fn take(&mut self, offset: &[u8], part: &[u8]) {
        assert_eq!(be64(offset), self.offset + self.data.len() as u64, "ours come in order, each byte once");
        self.data.extend_from_slice(part);
        assert!(self.data.len() <= self.len, "more than was asked for");
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) cookie: u64,
    pub(crate) error: u32,
    pub(crate) data: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct OptionReply {
    pub(crate) kind: u32,
    pub(crate) data: Vec<u8>,
}

fn be16(b: &[u8]) -> u16 {
    u16::from_be_bytes(b.try_into().unwrap())
}
fn be32(b: &[u8]) -> u32 {
    u32::from_be_bytes(b.try_into().unwrap())
}
fn be64(b: &[u8]) -> u64 {
    u64::from_be_bytes(b.try_into().unwrap())
}

impl Client {
    /// Connected, greeted, flags answered; nothing negotiated.
    pub(crate) fn connect(socket: &Path) -> Self {
        Self::connect_with(socket, 3)
    }

    /// The other half of a connection that is already talking.
    pub(crate) fn talking(stream: UnixStream) -> Self {
        Self { stream, size: 0, flags: 0, structured: false, next_cookie: 1, holes: 0, reads: HashMap::new() }
    }

    pub(crate) fn connect_with(socket: &Path, flags: u32) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut client = Self::talking(stream);
        let greeting = client.bytes(18);
        assert_eq!(&greeting[..8], b"NBDMAGIC");
        assert_eq!(&greeting[8..16], b"IHAVEOPT");
        assert_eq!(be16(&greeting[16..]), 3, "fixed newstyle, no zeroes");
        client.stream.write_all(&flags.to_be_bytes()).unwrap();
        client
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        self.try_bytes(n).expect("the server keeps talking")
    }

    pub(crate) fn try_bytes(&mut self, n: usize) -> io::Result<Vec<u8>> {
        let mut buf = vec![0; n];
        self.stream.read_exact(&mut buf)?;
        Ok(buf)
    }

    /// The stream ends here, with nothing more on it.
    pub(crate) fn expect_end(&mut self) {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => assert!(rest.is_empty(), "the server said {rest:02x?} instead of leaving"),
            Err(e) => assert_eq!(e.kind(), io::ErrorKind::ConnectionReset, "{e}"),
        }
    }

    pub(crate) fn send_option(&mut self, number: u32, data: &[u8]) {
        let mut message = b"IHAVEOPT".to_vec();
        message.extend(number.to_be_bytes());
        message.extend((data.len() as u32).to_be_bytes());
        message.extend(data);
        self.stream.write_all(&message).unwrap();
    }

    pub(crate) fn option_reply(&mut self, number: u32) -> OptionReply {
        let head = self.bytes(20);
        assert_eq!(be64(&head[..8]), 0x3_e889_0455_65a9);
        assert_eq!(be32(&head[8..12]), number);
        let data = self.bytes(be32(&head[16..]) as usize);
        OptionReply { kind: be32(&head[12..16]), data }
    }

    /// Sends an option and takes all its replies, the last one last.
    pub(crate) fn option(&mut self, number: u32, data: &[u8]) -> Vec<OptionReply> {
        self.send_option(number, data);
        let mut replies = Vec::new();
        loop {
            let reply = self.option_reply(number);
            let last = reply.kind == REP_ACK || reply.kind >> 31 == 1;
            replies.push(reply);
            if last {
                return replies;
            }
        }
    }

    pub(crate) fn structured(mut self) -> Self {
        assert_eq!(self.option(8, &[])[0].kind, REP_ACK);
        self.structured = true;
        self
    }

    /// Chooses the default export with GO.
    pub(crate) fn go(mut self) -> Self {
        let replies = self.option(7, &[0, 0, 0, 0, 0, 0]);
        assert_eq!(replies.last().unwrap().kind, REP_ACK, "{replies:?}");
        let export = replies.iter().find(|r| r.kind == REP_INFO && be16(&r.data[..2]) == 0).unwrap();
        self.size = be64(&export.data[2..10]);
        self.flags = be16(&export.data[10..]);
        self
    }

    /// Sends a request; the cookie it got.
    pub(crate) fn send(&mut self, flags: u16, command: u16, offset: u64, len: u32, data: &[u8]) -> u64 {
        let cookie = self.next_cookie;
        self.next_cookie += 1;
        if command == READ {
            self.reads.insert(cookie, Pending { offset, len: len as usize, data: Vec::new() });
        }
        let mut message = 0x2560_9513u32.to_be_bytes().to_vec();
        message.extend(flags.to_be_bytes());
        message.extend(command.to_be_bytes());
        message.extend(cookie.to_be_bytes());
        message.extend(offset.to_be_bytes());
        message.extend(len.to_be_bytes());
        message.extend(data);
        self.stream.write_all(&message).unwrap();
        cookie
    }

    /// The next answer that is whole, of whatever kind. Chunks of several answers may come mixed: those of one request
    /// are always free to stand between another's.
    pub(crate) fn reply(&mut self) -> Reply {
        loop {
            let magic = be32(&self.bytes(4));
            match magic {
                0x6744_6698 => return self.simple(),
                0x668e_33ef => {
                    if let Some(reply) = self.chunk() {
                        return reply;
                    }
                }
                other => panic!("{other:#x} is no reply"),
            }
        }
    }

    fn simple(&mut self) -> Reply {
        let rest = self.bytes(12);
        let (error, cookie) = (be32(&rest[..4]), be64(&rest[4..]));
        let read = self.reads.remove(&cookie);
        assert!(!(self.structured && read.is_some()), "a read must be answered structured");
        let len = if error == 0 { read.map_or(0, |read| read.len) } else { 0 };
        Reply { cookie, error, data: self.bytes(len) }
    }

    /// A chunk; the answer, if it was its last. Holes come out as zeros, and are counted.
    fn chunk(&mut self) -> Option<Reply> {
        assert!(self.structured, "structured replies were not asked for");
        let head = self.bytes(16);
        let (flags, kind, cookie) = (be16(&head[..2]), be16(&head[2..4]), be64(&head[4..12]));
        let payload = self.bytes(be32(&head[12..]) as usize);
        assert!(flags <= 1, "unknown flags {flags:#x}");
        let (mut error, mut data) = (0, Vec::new());
        match kind {
            0 => assert!(payload.is_empty() && flags == 1),
            1 => self.reads.get_mut(&cookie).expect("a read is under way").take(&payload[..8], &payload[8..]),
            2 => {
                assert_eq!(payload.len(), 12);
                let hole = be32(&payload[8..]) as usize;
                let read = self.reads.get_mut(&cookie).expect("a read is under way");
                read.take(&payload[..8], &vec![0; hole]);
                self.holes += hole;
            }
            5 => data = payload,
            0x8001 => {
                let words = be16(&payload[4..6]) as usize;
                assert_eq!(payload.len(), 6 + words);
                assert!(std::str::from_utf8(&payload[6..]).is_ok_and(|text| !text.is_empty()));
                assert_eq!(flags, 1, "ours ends an answer with its error");
                error = be32(&payload[..4]);
            }
            other => panic!("an unexpected chunk of type {other:#x}"),
        }
        if flags == 0 {
            return None;
        }
        if let Some(read) = self.reads.remove(&cookie).filter(|_| error == 0) {
            assert_eq!(read.data.len(), read.len, "a read is answered whole");
            data = read.data;
        }
        Some(Reply { cookie, error, data })
    }

    /// One request and its answer.
    pub(crate) fn ask(&mut self, flags: u16, command: u16, offset: u64, len: u32, data: &[u8]) -> Reply {
        let cookie = self.send(flags, command, offset, len, data);
        let reply = self.reply();
        assert_eq!(reply.cookie, cookie);
        reply
    }

    pub(crate) fn read(&mut self, offset: u64, len: usize) -> Vec<u8> {
        let reply = self.ask(0, READ, offset, len as u32, &[]);
        assert_eq!((reply.error, reply.data.len()), (0, len));
        reply.data
    }

    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) {
        assert_eq!(self.ask(0, WRITE, offset, data.len() as u32, data).error, 0);
    }

    pub(crate) fn error_of(&mut self, flags: u16, command: u16, offset: u64, len: u32) -> u32 {
        let data = if command == WRITE { vec![0x5a; len as usize] } else { Vec::new() };
        self.ask(flags, command, offset, len, &data).error
    }
}
