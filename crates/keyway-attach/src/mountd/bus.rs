//! The system bus: a connection to it, and calls one after the other (*D-Bus Specification*, "Authentication Protocol").

use super::message::{Answer, Call, HEAD, length, parse};
use rustix::io::IoSlice;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Where the bus is where nobody says otherwise, and who says so.
const SOCKET: &str = "/run/dbus/system_bus_socket";
const VARIABLE: &str = "DBUS_SYSTEM_BUS_ADDRESS";
/// The longest line of the conversation before the first message.
const LINE: usize = 1024;

/// A connection. Whatever others send to it besides answers is read and dropped.
pub(super) struct Bus {
    stream: UnixStream,
    serial: u32,
}

impl Bus {
    /// Connects as this user.
    pub(super) fn system(patience: Duration) -> io::Result<Self> {
        let stream = UnixStream::connect(socket()?)?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        let mut bus = Self { stream, serial: 0 };
        // A user's number in digits, and these in hexadecimal.
        let user = rustix::process::geteuid().as_raw().to_string();
        let user: String = user.bytes().map(|digit| format!("{digit:02x}")).collect();
        bus.says(&format!("\0AUTH EXTERNAL {user}\r\n"), "OK")?;
        bus.says("NEGOTIATE_UNIX_FD\r\n", "AGREE_UNIX_FD")?;
        bus.stream.write_all(b"BEGIN\r\n")?;
        let hello = bus.call(&Call::to_the_bus("Hello"), None, patience)?;
        hello.error().map_or(Ok(bus), |(_, text)| Err(io::Error::other(text)))
    }

    /// Makes a call, and waits for its answer.
    pub(super) fn call(
        &mut self,
        call: &Call<'_>,
        descriptor: Option<BorrowedFd<'_>>,
        patience: Duration,
    ) -> io::Result<Answer> {
        self.serial += 1;
        let bytes = call.to_bytes(self.serial);
        let descriptors: Vec<_> = descriptor.into_iter().collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        let sent = sendmsg(&self.stream, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL)?;
        self.stream.write_all(bytes.get(sent..).unwrap_or_default())?;
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
            let answer = self.message()?;
            if answer.is_to(self.serial) {
                return Ok(answer);
            }
        }
    }

    /// The next message, whoever it is of. Descriptors that come along are closed by the kernel: there is no room for them.
    fn message(&mut self) -> io::Result<Answer> {
        let mut head = [0; HEAD];
        self.stream.read_exact(&mut head)?;
        let mut bytes = head.to_vec();
        bytes.resize(length(&head)?, 0);
        self.stream.read_exact(bytes.get_mut(HEAD..).unwrap_or_default())?;
        parse(&bytes)
    }

    /// Says a line, and hears one that begins with that word.
    fn says(&mut self, line: &str, answer: &str) -> io::Result<()> {
        self.stream.write_all(line.as_bytes())?;
        let (mut heard, mut byte) = (Vec::new(), [0]);
        while !heard.ends_with(b"\r\n") && heard.len() < LINE {
            self.stream.read_exact(&mut byte)?;
            heard.extend(byte);
        }
        match heard.starts_with(answer.as_bytes()) {
            true => Ok(()),
            false => {
                Err(io::Error::new(io::ErrorKind::PermissionDenied, "the bus does not let this user in"))
            }
        }
    }
}

/// The bus' socket. Of addresses, those that name one by its path are understood.
fn socket() -> io::Result<PathBuf> {
    let Ok(addresses) = std::env::var(VARIABLE) else { return Ok(SOCKET.into()) };
    path_in(&addresses).ok_or_else(|| {
        io::Error::new(io::ErrorKind::Unsupported, format!("{VARIABLE} names no socket by its path"))
    })
}

fn path_in(addresses: &str) -> Option<PathBuf> {
    let by_socket = addresses.split(';').filter_map(|address| address.strip_prefix("unix:"));
    let mut paths =
        by_socket.filter_map(|parts| parts.split(',').find_map(|part| part.strip_prefix("path=")));
    // What is escaped is somewhere else than it looks.
    paths.find(|path| !path.contains('%')).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_path_among_others() {
        let path = |text: &str| path_in(text).map(|path| path.display().to_string());
        assert_eq!(path("unix:path=/run/bus").as_deref(), Some("/run/bus"));
        assert_eq!(path("tcp:host=x;unix:guid=12,path=/run/bus,x=y").as_deref(), Some("/run/bus"));
        assert_eq!(path("unix:abstract=/run/bus"), None);
        assert_eq!(path("unix:path=/run/%41"), None);
    }

    /// A bus that is a file's worth of nonsense, and one that says nothing.
    #[test]
    fn who_is_no_bus_is_an_error_and_no_hang() {
        for said in
            [&b""[..], b"REJECTED\r\n", b"OK 12\r\nERROR\r\n", b"OK 12\r\nAGREE_UNIX_FD\r\nl\x02\x01\x01"]
        {
            let (ours, mut theirs) = UnixStream::pair().expect("sockets");
            theirs.write_all(said).expect("room");
            drop(theirs);
            let mut bus = Bus { stream: ours, serial: 0 };
            let heard = bus.says("", "OK").and_then(|()| bus.says("", "AGREE")).and_then(|()| bus.message());
            assert!(heard.is_err(), "{said:?}");
        }
    }
}
