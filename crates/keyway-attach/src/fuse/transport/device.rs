//! Requests over `/dev/fuse`: each thread reads one, does it, and writes the answer.
//!
//! A request is read into two buffers at once: header and fixed structure of a READ or WRITE are
//! together 80 bytes, so that data to write lands at the start of an aligned buffer.

use super::out_header;
use crate::fuse::abi::{self, InHeader};
use crate::fuse::request::{FileSystem, MAX_TRANSFER, Request};
use keyway_store::AlignedBuf;
use rustix::io::{Errno, IoSlice, IoSliceMut};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use zerocopy::{FromBytes, IntoBytes};

const HEADER: usize = size_of::<InHeader>();
/// Header and `fuse_write_in`.
const HEAD: usize = HEADER + size_of::<abi::TransferIn>();
/// As much of any other request as we look at: the largest fixed structure and a name longer
/// than any that we tell.
const SMALL: usize = 1024;

/// Buffers of one thread.
pub(crate) struct Channel {
    head: [u8; HEAD],
    buffer: AlignedBuf,
}

impl Channel {
    pub(crate) fn new() -> Self {
        Self { head: [0; HEAD], buffer: AlignedBuf::zeroed(MAX_TRANSFER + 4096) }
    }

    /// Reads one request; `None` when the file system is unmounted.
    fn receive(&mut self, fuse: BorrowedFd<'_>) -> io::Result<Option<usize>> {
        loop {
            let into = &mut [IoSliceMut::new(&mut self.head), IoSliceMut::new(&mut self.buffer)];
            match rustix::io::readv(fuse, into) {
                Ok(len) => return Ok(Some(len)),
                // ENODEV: unmounted. ENOENT: the request was taken back. ECONNABORTED: aborted.
                Err(Errno::NODEV | Errno::CONNABORTED) => return Ok(None),
                Err(Errno::NOENT | Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Header, fixed structure and what belongs to the payload of the request just read.
    fn parse<'a>(
        head: &'a [u8; HEAD],
        buffer: &mut [u8],
        small: &'a mut [u8; SMALL],
        len: usize,
    ) -> Option<Request<'a>> {
        let (header, _) = InHeader::read_from_prefix(head.get(..len.min(HEAD))?).ok()?;
        let behind = len.saturating_sub(HEAD);
        let fixed_len = abi::fixed_len(header.opcode);
        if HEADER + fixed_len == HEAD {
            return Some(Request { header, fixed: &head[HEADER..], payload_len: behind });
        }
        // Everything after the header, in one piece.
        let in_head = len.min(HEAD).checked_sub(HEADER)?;
        let spilled = behind.min(SMALL - in_head);
        small[..in_head].copy_from_slice(&head[HEADER..HEADER + in_head]);
        small[in_head..in_head + spilled].copy_from_slice(buffer.get(..spilled)?);
        let all: &'a [u8; SMALL] = small;
        let (fixed, rest) = all[..in_head + spilled].split_at_checked(fixed_len)?;
        buffer.get_mut(..rest.len())?.copy_from_slice(rest);
        Some(Request { header, fixed, payload_len: rest.len() })
    }

    fn send(&self, fuse: BorrowedFd<'_>, header: &abi::OutHeader, len: usize) -> io::Result<()> {
        let from = [IoSlice::new(header.as_bytes()), IoSlice::new(&self.buffer[..len])];
        match rustix::io::writev(fuse, &from) {
            // ENOENT: the request was interrupted and nobody waits for the answer.
            Ok(_) | Err(Errno::NOENT | Errno::NODEV) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Reads the INIT request, which the mount has put there, and answers it. Says whether both
    /// sides agreed on io_uring.
    pub(crate) fn init(
        &mut self,
        fuse: impl AsFd,
        file: &impl FileSystem,
        want_uring: bool,
    ) -> io::Result<bool> {
        let fuse = fuse.as_fd();
        let protocol = || io::Error::from(io::ErrorKind::InvalidData);
        let len = self.receive(fuse)?.ok_or_else(protocol)?;
        let (header, _) = InHeader::read_from_prefix(&self.head).map_err(|_| protocol())?;
        if header.opcode != abi::op::INIT {
            return Err(protocol());
        }
        // 16 bytes of `fuse_init_in` and the upper flags fit into the head.
        let fixed = self.head.get(HEADER..len.min(HEAD)).ok_or_else(protocol)?;
        let answer = file.init(fixed, want_uring);
        let (error, body, uring) = match &answer {
            Ok((out, uring)) => (0, out.as_bytes(), *uring),
            Err(e) => (-e.raw_os_error(), &[][..], false),
        };
        let total = size_of::<abi::OutHeader>() + body.len();
        let out = abi::OutHeader { len: total as u32, error, unique: header.unique };
        rustix::io::writev(fuse, &[IoSlice::new(out.as_bytes()), IoSlice::new(body)])?;
        answer.map(|_| uring).map_err(io::Error::from)
    }

    /// Serves requests until the file system is unmounted.
    pub(crate) fn serve(mut self, fuse: impl AsFd, file: &impl FileSystem) -> io::Result<()> {
        let fuse = fuse.as_fd();
        let mut small = [0; SMALL];
        while let Some(len) = self.receive(fuse)? {
            let Some(request) = Self::parse(&self.head, &mut self.buffer, &mut small, len) else {
                continue;
            };
            let unique = request.header.unique;
            let answer = file.answer(&request, &mut self.buffer);
            if let Some((header, len)) = out_header(unique, answer) {
                self.send(fuse, &header, len)?;
            }
            file.after(&request);
        }
        Ok(())
    }
}
