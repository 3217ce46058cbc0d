//! The byte stream of a connection, which moves on in time or ends.
//!
//! The socket below gives up with [`io::ErrorKind::WouldBlock`] where nothing moved for as long as nothing may move in
//! the middle of a message.

use crate::pace::{deadline, not_after};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::time::Instant;

/// Bytes received at a time.
const BUFFER: usize = 64 * 1024;

/// What a host sends.
pub(super) struct Input<R> {
    from: BufReader<R>,
    deadline: Instant,
}

impl<R: Read> Input<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from: BufReader::with_capacity(BUFFER, from), deadline: deadline(0) }
    }

    /// Waits for the next message, for ever where it may be silent now. The message then has its time.
    pub(super) fn wait(&mut self, may_be_silent: bool, bytes: usize) -> io::Result<()> {
        loop {
            match self.from.fill_buf() {
                // Nothing is the end, which whoever reads finds out.
                Ok(_) => break,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock && may_be_silent => {}
                Err(e) => return Err(e),
            }
        }
        self.deadline = deadline(bytes);
        Ok(())
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        not_after(self.deadline)?;
        self.from.read(buf)
    }
}

/// What a host is sent.
pub(super) struct Output<W> {
    to: W,
    deadline: Instant,
}

impl<W> Output<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to, deadline: deadline(0) }
    }

    /// What comes now has its time.
    pub(super) fn begin(&mut self, bytes: usize) {
        self.deadline = deadline(bytes);
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        not_after(self.deadline)?;
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
