//! Requests over io_uring: a queue per CPU, a few entries per queue, a thread per entry.

use super::out_header;
use super::pace::{Gate, Pace};
use super::place::{Crowd, Place};
use crate::fuse::abi::{self, InHeader};
use crate::fuse::volume_file::{MAX_TRANSFER, Request, VolumeFile};
use keyway_sys::FuseRing;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Instant;
use zerocopy::{FromBytes, IntoBytes};

pub(crate) use super::permit::Permit;

/// One entry, offered to the kernel. Belongs to the thread that makes it.
pub(crate) struct Entry {
    ring: FuseRing,
    place: Place,
}

impl Entry {
    /// Offers an entry in the queue of `cpu`.
    pub(crate) fn register(fuse: BorrowedFd<'_>, cpu: u16) -> io::Result<Self> {
        Ok(Self { ring: FuseRing::register(fuse, cpu, MAX_TRANSFER)?, place: Place::new(cpu) })
    }

    /// Serves requests until the file system is unmounted; `crowd` has those of all entries. Opens
    /// the gate for further entries when they would help.
    pub(crate) fn serve(mut self, file: &VolumeFile, crowd: &Crowd, further: &Gate) -> io::Result<()> {
        let mut pace = Pace::default();
        let mut watch = further.is_closed();
        while let Some(mut ring) = self.ring.wait()? {
            let alone = crowd.join();
            let (header, fixed, buffer, payload_len) = ring.parts();
            let (header, _) = InHeader::read_from_prefix(header)
                .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
            let fixed = fixed.get(..abi::fixed_len(header.opcode)).unwrap_or_default();
            let request = Request { header, fixed, payload_len };
            let before = watch.then(Instant::now);
            let answer = file.answer(&request, buffer);
            // An entry is offered again by answering, so what needs no answer gets an empty one;
            // the kernel sends such requests over /dev/fuse anyhow.
            let (out, len) = out_header(header.unique, answer)
                .unwrap_or((abi::OutHeader { len: 16, error: 0, unique: header.unique }, 0));
            ring.commit(out.as_bytes(), len)?;
            crowd.leave();
            if let Some(before) = before {
                let moved = if header.opcode == abi::op::WRITE { payload_len } else { len };
                if pace.is_slow(header.opcode, moved, before.elapsed()) {
                    further.open();
                }
                watch = further.is_closed();
            }
            self.place.note(alone);
        }
        Ok(())
    }
}

/// How many queues the kernel has: one for each CPU that could ever be there.
pub(crate) fn queues() -> u16 {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit(['-', ',']).next().and_then(|n| n.parse::<u16>().ok());
    last.map_or(1, |n| n.saturating_add(1))
}
