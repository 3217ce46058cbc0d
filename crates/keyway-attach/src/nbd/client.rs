//! A small NBD client.

use super::protocol::{
    FLAG_FIXED_NEWSTYLE, FLAG_NO_ZEROES, INIT_MAGIC, OPTION_MAGIC, OPTION_REPLY_MAGIC, OptionReply,
    REQUEST_MAGIC, SIMPLE_REPLY_MAGIC,
};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// `NBD_OPT_GO`: from here on it is served.
const OPT_GO: u32 = 7;
/// The longest answer to an option we read, in bytes.
const ANSWER_LIMIT: u32 = 64 << 10;

/// Commands, by the protocol's numbers.
const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;

/// A connection to an export, in its transmission phase.
pub struct Client {
    stream: UnixStream,
    cookie: u64,
}

impl Client {
    /// Connects to the default export of a server.
    ///
    /// # Errors
    /// Nobody listens there, or it is no NBD server.
    pub fn connect(socket: &Path) -> io::Result<Self> {
        let mut stream = UnixStream::connect(socket)?;
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting)?;
        if !greeting.starts_with(&[INIT_MAGIC.to_be_bytes(), OPTION_MAGIC.to_be_bytes()].concat()) {
            return Err(wrong("it does not greet as an NBD server"));
        }
        let mut hello = (FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES).to_be_bytes().to_vec();
        hello.extend(OPTION_MAGIC.to_be_bytes());
        hello.extend(OPT_GO.to_be_bytes());
        // The default export's name is empty, and nothing more is asked about it.
        hello.extend(6u32.to_be_bytes());
        hello.extend([0; 6]);
        stream.write_all(&hello)?;
        loop {
            let mut head = [0; 20];
            stream.read_exact(&mut head)?;
            let mut fields = &head[..];
            let magic = u64::from_be_bytes(take(&mut fields)?);
            let _option: [u8; 4] = take(&mut fields)?;
            let kind = u32::from_be_bytes(take(&mut fields)?);
            let len = u32::from_be_bytes(take(&mut fields)?);
            if magic != OPTION_REPLY_MAGIC || kind >> 31 == 1 || len > ANSWER_LIMIT {
                return Err(wrong("it does not serve the default export"));
            }
            io::copy(&mut Read::by_ref(&mut stream).take(u64::from(len)), &mut io::sink())?;
            if kind == OptionReply::Ack as u32 {
                return Ok(Self { stream, cookie: 0 });
            }
        }
    }

    /// Fills `buf` with the bytes at `offset`.
    ///
    /// # Errors
    /// The server's, by its number; or the connection is lost.
    pub fn read_at(&mut self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.request(READ, offset, buf.len(), &[])?;
        self.stream.read_exact(buf)
    }

    /// Writes `buf` at `offset`.
    pub fn write_at(&mut self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.request(WRITE, offset, buf.len(), buf)
    }

    /// Puts everything on the medium.
    pub fn flush(&mut self) -> io::Result<()> {
        self.request(FLUSH, 0, 0, &[])
    }

    fn request(&mut self, kind: u16, offset: u64, len: usize, data: &[u8]) -> io::Result<()> {
        self.send(kind, offset, len, data)?;
        let mut head = [0; 16];
        self.stream.read_exact(&mut head)?;
        let mut fields = &head[..];
        let magic = u32::from_be_bytes(take(&mut fields)?);
        let error = u32::from_be_bytes(take(&mut fields)?);
        let cookie = u64::from_be_bytes(take(&mut fields)?);
        if magic != SIMPLE_REPLY_MAGIC || cookie != self.cookie {
            return Err(wrong("it answers something else than was asked"));
        }
        match i32::try_from(error) {
            Ok(0) => Ok(()),
            // The protocol's error numbers are Linux's.
            Ok(errno) => Err(io::Error::from_raw_os_error(errno)),
            Err(_) => Err(wrong("it answers with an error that does not exist")),
        }
    }

    fn send(&mut self, kind: u16, offset: u64, len: usize, data: &[u8]) -> io::Result<()> {
        let len = u32::try_from(len).map_err(|_| wrong("the request is too long"))?;
        self.cookie += 1;
        let mut request = REQUEST_MAGIC.to_be_bytes().to_vec();
        request.extend([0, 0]);
        request.extend(kind.to_be_bytes());
        request.extend(self.cookie.to_be_bytes());
        request.extend(offset.to_be_bytes());
        request.extend(len.to_be_bytes());
        self.stream.write_all(&request)?;
        self.stream.write_all(data)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The server notices the end of the connection as well.
        let _ = self.send(DISCONNECT, 0, 0, &[]);
    }
}

fn take<const N: usize>(fields: &mut &[u8]) -> io::Result<[u8; N]> {
    let (first, rest) = fields.split_first_chunk().ok_or(io::ErrorKind::UnexpectedEof)?;
    *fields = rest;
    Ok(*first)
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}
