//! The byte stream between server and client: a socket, or memory in tests and fuzzing.

use crate::pace::{deadline, not_after};
use rustix::io::retry_on_intr;
use rustix::net::sockopt::{Timeout, set_socket_send_buffer_size, set_socket_timeout};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, recv, sendmsg, shutdown};
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Bytes in both directions. One thread at a time receives and one at a time sends, but a receiver
/// and a sender work side by side.
pub trait Wire: Send + Sync {
    /// Receives into `buf`, waiting for at least one byte; 0 at the end of the stream,
    /// [`io::ErrorKind::WouldBlock`] where nothing came for as long as nothing may come in the middle of a message.
    fn receive(&self, buf: &mut [u8]) -> io::Result<usize>;

    /// Sends some of the bytes and says how many.
    fn send(&self, parts: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Ends the stream in both directions, also under threads that wait for it.
    fn hang_up(&self);
}

/// Fills `buf`; an end of the stream before that is [`io::ErrorKind::UnexpectedEof`].
pub(crate) fn receive_all(wire: &impl Wire, mut buf: &mut [u8]) -> io::Result<()> {
    let deadline = deadline(buf.len());
    while !buf.is_empty() {
        not_after(deadline)?;
        match wire.receive(buf)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => buf = buf.get_mut(n..).unwrap_or_default(),
        }
    }
    Ok(())
}

/// Sends all parts.
pub(crate) fn send_all(wire: &impl Wire, mut parts: &mut [IoSlice<'_>]) -> io::Result<()> {
    // Drops empty parts at the front.
    IoSlice::advance_slices(&mut parts, 0);
    let deadline = deadline(parts.iter().map(|part| part.len()).sum());
    while !parts.is_empty() {
        not_after(deadline)?;
        match wire.send(parts)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            n => IoSlice::advance_slices(&mut parts, n),
        }
    }
    Ok(())
}

/// A connected stream socket.
pub(crate) struct Socket(OwnedFd);

/// Room for a large reply, so that the worker need not wait for the client to fetch it piece by
/// piece. The kernel gives less where `net.core.wmem_max` says so.
const SEND_BUFFER: usize = 1 << 20;

impl Socket {
    /// `stall`: how long nothing may move in the middle of a message.
    pub(crate) fn new(fd: OwnedFd, stall: Duration) -> Self {
        // Only makes it faster.
        let _ = set_socket_send_buffer_size(&fd, SEND_BUFFER);
        for direction in [Timeout::Recv, Timeout::Send] {
            // Fails only for times that are no times.
            let _ = set_socket_timeout(&fd, direction, Some(stall));
        }
        Self(fd)
    }

    /// Lets receivers see the end of the stream; what is being sent still arrives.
    pub(crate) fn stop_receiving(&self) {
        // Fails only on a socket that is already down.
        let _ = shutdown(&self.0, Shutdown::Read);
    }
}

impl Wire for Socket {
    fn receive(&self, buf: &mut [u8]) -> io::Result<usize> {
        let (n, _) = retry_on_intr(|| recv(&self.0, &mut *buf, RecvFlags::empty()))?;
        Ok(n)
    }

    fn send(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        // A client that has gone is an error here, not a signal that ends the process.
        let flags = SendFlags::NOSIGNAL;
        Ok(retry_on_intr(|| sendmsg(&self.0, parts, &mut SendAncillaryBuffer::default(), flags))?)
    }

    fn hang_up(&self) {
        // Fails only on a socket that is already down.
        let _ = shutdown(&self.0, Shutdown::Both);
    }
}
