//! What virtio puts around a command (VIRTIO 1.2, section 5.6.6): queues 0 for control, 1 for events, and the others for
//! commands.

use super::cdb::CDB_BYTES;
use super::disk::{self, Data, Failed};
use super::sense;
use crate::nvme_tcp::Namespace;
use crate::vhost_user::front::{Front, MOST_QUEUES};
use keyway_store::AlignedBuf;
use std::io::{Read, Write};
use std::sync::Arc;
use virtio_queue::{DescriptorChain, Reader, Writer};
use vm_memory::GuestMemoryMmap;

/// The queue for what is not a command.
const CONTROL: usize = 0;
/// The queue that events come by, of which there are none.
const EVENTS: usize = 1;
/// The first queue for commands.
const COMMANDS: usize = 2;

/// Bytes in front of a command's data: unit, tag, attributes, command.
const REQUEST: usize = 19 + CDB_BYTES;
/// Bytes of the answer in front of its data: 12, and as many of sense data as the driver takes if it says nothing else.
const RESPONSE: usize = 12 + 96;

/// `VIRTIO_SCSI_F_CHANGE`.
const PARAMETERS_CHANGE: u64 = 1 << 2;

/// `VIRTIO_SCSI_S_*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Response {
    Done = 0,
    Overrun = 1,
    NoTarget = 3,
    Failure = 9,
    Rejected = 11,
}

/// SCSI's status: GOOD, CHECK CONDITION.
const GOOD: u8 = 0;
const CHECK_CONDITION: u8 = 2;

/// The host adapter: target 0 has unit 0, the disk.
pub(in crate::vhost_user) struct Scsi {
    disk: Arc<dyn Namespace>,
}

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    Disk,
    /// A unit that is not there, of a target that is.
    OtherUnit,
    NoTarget,
}

impl Goal {
    fn parse(unit: [u8; 8]) -> Self {
        match unit {
            // Bits 15 and 14 are how the unit's number is written; 00 and 01 are those that are in use.
            [1, 0, high, low, ..] if high & 0x80 == 0 => {
                if (high & 0x3F, low) == (0, 0) {
                    Self::Disk
                } else {
                    Self::OtherUnit
                }
            }
            _ => Self::NoTarget,
        }
    }
}

impl Scsi {
    pub(in crate::vhost_user) fn new(disk: Arc<dyn Namespace>) -> Self {
        Self { disk }
    }

    /// A task management function, or a question about events; the answer's bytes.
    fn control(&self, from: &mut Reader<'_>, to: &mut Writer<'_>) -> std::io::Result<()> {
        let mut kind = [0; 4];
        from.read_exact(&mut kind)?;
        match u32::from_le_bytes(kind) {
            // A function (0): which of eight, whose unit, tag.
            0 => {
                let mut rest = [0; 20];
                from.read_exact(&mut rest)?;
                let ([_, unit @ ..], _) = rest.as_chunks::<4>() else { return Ok(()) };
                let mut lun = [0; 8];
                lun.iter_mut().zip(unit.as_flattened()).for_each(|(to, from)| *to = *from);
                let answer = match Goal::parse(lun) {
                    Goal::NoTarget => Response::NoTarget,
                    // A command that is under way is carried out, and writes into the guest's memory: nobody may
                    // be told that it was aborted.
                    _ => Response::Rejected,
                };
                to.write_all(&[answer as u8])
            }
            // Which events there are (1), or shall be told (2): none.
            1 | 2 => to.write_all(&[0, 0, 0, 0, Response::Done as u8]),
            _ => to.write_all(&[Response::Failure as u8]),
        }
    }

    fn command(
        &self,
        from: &mut Reader<'_>,
        (head, to): (&mut Writer<'_>, &mut Writer<'_>),
        buffer: &mut [u8],
    ) -> std::io::Result<()> {
        let mut request = [0; REQUEST];
        from.read_exact(&mut request)?;
        let (unit, rest) = request.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
        let cdb = rest.last_chunk::<CDB_BYTES>().unwrap_or(&[0; CDB_BYTES]);
        let (brings, room) = (from.available_bytes(), to.available_bytes());
        let mut data = Data { from, brings, to, room };
        let ended = match Goal::parse(*unit) {
            Goal::Disk => Ok(disk::carry_out(&*self.disk, cdb, &mut data, buffer)),
            Goal::OtherUnit => Ok(disk::nothing_there(cdb, &mut data)),
            Goal::NoTarget => Err(Response::NoTarget),
        };
        let moved = (brings - from.available_bytes()) + to.bytes_written();
        let left = u32::try_from((brings + room).saturating_sub(moved)).unwrap_or(u32::MAX);
        let (response, status, told) = match ended {
            Ok(Ok(())) => (Response::Done, GOOD, Vec::new()),
            Ok(Err(Failed::Check(sense))) => (Response::Done, CHECK_CONDITION, sense.bytes()),
            Ok(Err(Failed::Overrun)) => (Response::Overrun, GOOD, Vec::new()),
            Ok(Err(Failed::Memory)) => (Response::Failure, GOOD, Vec::new()),
            Err(response) => (response, GOOD, Vec::new()),
        };
        let told = told.get(..told.len().min(sense::MOST)).unwrap_or_default();
        let mut answer = [0; RESPONSE];
        let fields = (told.len() as u32).to_le_bytes().into_iter().chain(left.to_le_bytes());
        let fields = fields.chain([0, 0, status, response as u8]).chain(told.iter().copied());
        answer.iter_mut().zip(fields).for_each(|(to, from)| *to = from);
        head.write_all(&answer)
    }
}

impl Front for Scsi {
    fn queues(&self) -> usize {
        COMMANDS + MOST_QUEUES
    }

    fn features(&self) -> u64 {
        // Changes of parameters would be told as events, and there are none. QEMU lets its guest agree to them
        // whatever we offer, and then takes our refusal for a failure.
        PARAMETERS_CHANGE
    }

    /// The monitor has it: which targets and units there are is found out by asking.
    fn space(&self) -> Vec<u8> {
        Vec::new()
    }

    fn takes(&self, queue: usize) -> bool {
        queue != EVENTS
    }

    fn serve(
        &self,
        queue: usize,
        memory: &GuestMemoryMmap,
        chain: DescriptorChain<Arc<GuestMemoryMmap>>,
        buffer: &mut AlignedBuf,
    ) -> u32 {
        let parts = (chain.clone().reader(memory), chain.writer(memory));
        let (Ok(mut from), Ok(mut head)) = parts else { return 0 };
        if queue == CONTROL {
            if self.control(&mut from, &mut head).is_err() {
                return 0;
            }
            return head.bytes_written() as u32;
        }
        let Ok(mut data) = head.split_at(RESPONSE) else { return 0 };
        if self.command(&mut from, (&mut head, &mut data), buffer).is_err() {
            return 0;
        }
        u32::try_from(head.bytes_written() + data.bytes_written()).unwrap_or(u32::MAX)
    }
}
